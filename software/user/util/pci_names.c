// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Looks names up in pci.ids. A line at its margin is a vendor ("10ee  Xilinx Corporation") or a
 * class ("C 06  Bridge"); the lines after it that begin with one tab are its devices or
 * sub-classes.
 */
#include "pci_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pci_names {
	char *text;
};

static const char *const places[] = {
	"/usr/share/misc/pci.ids",
	"/usr/share/hwdata/pci.ids",
	"/usr/share/pci.ids",
};

static char *read_text(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;
	ssize_t got = file ? getdelim(&text, &size, 0, file) : -1;

	if (file)
		fclose(file);
	if (got < 0) {
		free(text);
		return NULL;
	}
	return text;
}

struct pci_names *pci_names_open(const char *path)
{
	struct pci_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	if (!path)
		path = getenv("LITEPCIE_PCI_IDS");
	if (path)
		names->text = read_text(path);
	for (size_t i = 0; !path && !names->text && i < sizeof(places) / sizeof(places[0]); i++)
		names->text = read_text(places[i]);
	if (names->text)
		return names;
	free(names);
	return NULL;
}

void pci_names_close(struct pci_names *names)
{
	if (names)
		free(names->text);
	free(names);
}

/* The text after @key in a line that begins with it, from @from to the line at the margin after it.
 */
static const char *find_line(const char *from, const char *key)
{
	size_t length = strlen(key);

	while (from && *from) {
		if (!strncmp(from, key, length))
			return from + length;
		from = strchr(from, '\n');
		from += from ? 1 : 0;
		/* The next vendor or class ends the list of devices. */
		if (from && key[0] == '\t' && *from != '\t' && *from != '#')
			return NULL;
	}
	return NULL;
}

static void copy_line(const char *line, char *text, size_t size)
{
	text[0] = 0;
	if (line)
		snprintf(text, size, "%.*s", (int)strcspn(line, "\r\n"), line);
}

/* The line after that which begins with @key, or NULL. */
static const char *below(const struct pci_names *names, const char *key)
{
	const char *line = names ? find_line(names->text, key) : NULL;

	line = line ? strchr(line, '\n') : NULL;
	if (!line || (line[1] != '\t' && line[1] != '#'))
		return NULL;
	return line + 1;
}

void pci_vendor_name(const struct pci_names *names, unsigned int vendor, char *text, size_t size)
{
	char key[16];

	snprintf(key, sizeof(key), "%04x  ", vendor);
	copy_line(names ? find_line(names->text, key) : NULL, text, size);
}

void pci_device_name(const struct pci_names *names, unsigned int vendor, unsigned int device,
		     char *text, size_t size)
{
	const char *list;
	char key[16];

	snprintf(key, sizeof(key), "%04x  ", vendor);
	list = below(names, key);
	snprintf(key, sizeof(key), "\t%04x  ", device);
	copy_line(find_line(list, key), text, size);
}

void pci_class_name(const struct pci_names *names, unsigned int class, char *text, size_t size)
{
	char key[16];
	const char *list;

	snprintf(key, sizeof(key), "C %02x  ", class >> 8 & 0xff);
	list = below(names, key);
	snprintf(key, sizeof(key), "\t%02x  ", class & 0xff);
	copy_line(find_line(list, key), text, size);
	if (text[0])
		return;
	snprintf(key, sizeof(key), "C %02x  ", class >> 8 & 0xff);
	copy_line(names ? find_line(names->text, key) : NULL, text, size);
}
