/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* Short files and links of sysfs. */
#ifndef LITEPCIE_UTIL_SYSFS_H
#define LITEPCIE_UTIL_SYSFS_H

#include <stdbool.h>
#include <stddef.h>

#define SYSFS_CARDS   "/sys/class/litepcie"
#define SYSFS_DEVICES "/sys/bus/pci/devices"

#define SYSFS_TEXT    128 /* bytes of a line or name, with its end */

/* Reads the first line of FOLDER/NAME; false, and an empty @text, if there is none. */
bool sysfs_line(const char *folder, const char *name, char *text, size_t size);

/* The last part of what the link FOLDER/NAME points at; false, and an empty @text, without a link.
 */
bool sysfs_link(const char *folder, const char *name, char *text, size_t size);

/*
 * The names in @folder that do not begin with a dot, in the order of their text and numbers: an
 * array of *@count strings, which the caller frees together with each string. NULL if it is empty.
 */
char **sysfs_names(const char *folder, size_t *count);
void sysfs_free(char **names, size_t count);

#endif /* LITEPCIE_UTIL_SYSFS_H */
