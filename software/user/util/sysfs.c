// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Reads short files and links of sysfs. */
#include "sysfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
