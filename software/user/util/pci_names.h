/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* Names of vendors, devices and classes, from the file pci.ids that the system has. */
#ifndef LITEPCIE_UTIL_PCI_NAMES_H
#define LITEPCIE_UTIL_PCI_NAMES_H

#include <stddef.h>

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

#endif /* LITEPCIE_UTIL_PCI_NAMES_H */
