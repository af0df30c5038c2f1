/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* A card: its errors, users and interrupts, its memory, and its files in sysfs. */
#ifndef LITEPCIE_UTIL_CARD_H
#define LITEPCIE_UTIL_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util.h"

/* The error counters of a card by name. */

struct card_error {
	const char *key;  /* in JSON */
	const char *text; /* in text output */
	size_t where;	  /* in struct litepcie_errors */
};

extern const struct card_error card_errors[]; /* ends with a NULL key */

uint32_t card_error_count(const struct litepcie_errors *errors, const struct card_error *which);

/* "timeout 1, refused 2": what was counted between @before and @now; empty if nothing. */
void card_errors_since(const struct litepcie_errors *before, const struct litepcie_errors *now,
		       char *text, size_t size);

/* The processes that have a card open. */

struct card_user {
	int pid;
	char name[24];
};

/*
 * Fills @users with the other processes that have @device or one of its streams open, as far as
 * this user may see them. Returns their number, at most @most.
 */
size_t card_users(const char *device, struct card_user *users, size_t most);

/* Counts of the card's interrupts. */

/* The open file, or -1. */
int interrupts_open(void);

/* Interrupts named @name, or @name with a dash and more, since the start; 0 if they are not there.
 */
uint64_t interrupts_count(int fd, const char *name);

/* The card's memory: a range of it, by DMA or by the CPU. */

#define MEMORY_CHUNK (UINT64_C(1) << 20) /* bytes moved at once */

struct memory {
	const struct settings *settings;
	struct litepcie *card;
	struct litepcie_info info;
	uint8_t *window; /* mapped for --pio, NULL: DMA */
	uint64_t offset, bytes;
	uint8_t *chunk, *other; /* MEMORY_CHUNK bytes each */
};

/* Maps the window. 0, or the exit code after one line on stderr. */
int memory_map(struct memory *memory);

/* Move @bytes at @offset of the card's memory. The same results. */
int memory_read(const struct memory *memory, void *data, uint64_t bytes, uint64_t offset);
int memory_write(const struct memory *memory, const void *data, uint64_t bytes, uint64_t offset);

/*
 * Locks a range of the card's memory for this process, until it ends. 0, or the exit code after one
 * line on stderr if another process of this tool uses it.
 */
int memory_lock(const struct settings *settings, const struct litepcie *card, uint64_t start,
		uint64_t bytes);

/* Short files and links of sysfs. */

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

#endif /* LITEPCIE_UTIL_CARD_H */
