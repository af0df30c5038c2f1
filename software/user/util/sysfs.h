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

/*
 * The name that the firmware gave the slot; empty if it is not known. A slot's address has no
 * function: 0000:01:00.
 */
void sysfs_slot(const char *address, char *slot, size_t size);

/* Whether the card is one of the simulator, by its PCI ids. False if they are not known. */
bool sysfs_simulated(const char *address);

/* A number such as 0x10ee; 0 if it is not there. */
unsigned int sysfs_hex(const char *folder, const char *name);

#endif /* LITEPCIE_UTIL_SYSFS_H */
