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

/* Names of vendors, devices and classes, from the file pci.ids that the system has. */

struct pci_names; /* the text of the file */

/*
 * Reads @path; NULL: $LITEPCIE_PCI_IDS, or one of the usual places. NULL if there is no such file.
 */
struct pci_names *pci_names_open(const char *path);
void pci_names_close(struct pci_names *names);

/* Each writes a name, or an empty text if it is not known or @names is NULL. */
void pci_vendor_name(const struct pci_names *names, unsigned int vendor, char *text, size_t size);
void pci_device_name(const struct pci_names *names, unsigned int vendor, unsigned int device,
		     char *text, size_t size);
/* @class is the base class and the sub-class: 0x0604. */
void pci_class_name(const struct pci_names *names, unsigned int class, char *text, size_t size);

#endif /* LITEPCIE_UTIL_SYSFS_H */
