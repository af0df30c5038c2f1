// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* What the system says of devices: sysfs and pci.ids. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "card.h"

/* Reads short files and links of sysfs. */

bool sysfs_line(const char *folder, const char *name, char *text, size_t size)
{
	char path[PATH_MAX];
	ssize_t got;
	int fd;

	text[0] = 0;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, text, size - 1);
	close(fd);
	text[got > 0 ? got : 0] = 0;
	text[strcspn(text, "\n")] = 0;
	return got > 0;
}

bool sysfs_link(const char *folder, const char *name, char *text, size_t size)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *last;
	ssize_t got;

	text[0] = 0;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	got = readlink(path, target, sizeof(target) - 1);
	if (got <= 0)
		return false;
	target[got] = 0;
	last = strrchr(target, '/');
	snprintf(text, size, "%s", last ? last + 1 : target);
	return true;
}

static int by_name(const void *a, const void *b)
{
	/* Numbers in names are compared as numbers: litepcie10 comes after litepcie9. */
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

char **sysfs_names(const char *folder, size_t *count)
{
	DIR *directory = opendir(folder);
	char **names = NULL;
	struct dirent *entry;

	*count = 0;
	while (directory && (entry = readdir(directory))) {
		char **more;

		if (entry->d_name[0] == '.')
			continue;
		more = realloc(names, (*count + 1) * sizeof(*names));
		if (!more)
			break;
		names = more;
		names[*count] = strdup(entry->d_name);
		if (!names[*count])
			break;
		(*count)++;
	}
	if (directory)
		closedir(directory);
	if (*count)
		qsort(names, *count, sizeof(*names), by_name);
	return names;
}

void sysfs_free(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

void sysfs_slot(const char *address, char *slot, size_t size)
{
	const char *slots = "/sys/bus/pci/slots";
	size_t count;
	char **names = sysfs_names(slots, &count);

	slot[0] = 0;
	for (size_t i = 0; i < count && !slot[0]; i++) {
		char folder[SYSFS_TEXT], at[SYSFS_TEXT];

		snprintf(folder, sizeof(folder), "%s/%.64s", slots, names[i]);
		if (sysfs_line(folder, "address", at, sizeof(at)) &&
		    !strncmp(at, address, strcspn(address, ".")) &&
		    strlen(at) == strcspn(address, "."))
			snprintf(slot, size, "%s", names[i]);
	}
	sysfs_free(names, count);
}

unsigned int sysfs_hex(const char *folder, const char *name)
{
	char text[SYSFS_TEXT];

	sysfs_line(folder, name, text, sizeof(text));
	return (unsigned int)strtoul(text, NULL, 16);
}

bool sysfs_simulated(const char *address)
{
	char folder[SYSFS_TEXT];

	snprintf(folder, sizeof(folder), "%s/%.24s", SYSFS_DEVICES, address);
	/* The numbers of gateware/board/identity.py. */
	return sysfs_hex(folder, "vendor") == 0x1234 && sysfs_hex(folder, "device") == 0x1ce0;
}

/*
 * Looks names up in pci.ids. A line at its margin is a vendor ("10ee  Xilinx Corporation") or a
 * class ("C 06  Bridge"); the lines after it that begin with one tab are its devices or
 * sub-classes.
 */

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
