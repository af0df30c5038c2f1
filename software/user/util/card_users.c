// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The processes that have a card open, from /proc. */
#include "card_users.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sysfs.h"

/* /dev/litepcie1_stream0 is of /dev/litepcie1, /dev/litepcie10 is not. */
static bool is_of(const char *path, const char *device)
{
	size_t length = strlen(device);

	return !strncmp(path, device, length) && (!path[length] || path[length] == '_');
}

static bool uses(const char *pid, const char *device)
{
	char folder[64], path[PATH_MAX], target[PATH_MAX];
	struct dirent *entry;
	bool found = false;
	DIR *files;

	snprintf(folder, sizeof(folder), "/proc/%.16s/fd", pid);
	files = opendir(folder);
	while (files && !found && (entry = readdir(files))) {
		ssize_t got;

		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		got = readlink(path, target, sizeof(target) - 1);
		if (got <= 0)
			continue;
		target[got] = 0;
		found = is_of(target, device);
	}
	if (files)
		closedir(files);
	return found;
}

size_t card_users(const char *device, struct card_user *users, size_t most)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	size_t count = 0;

	while (processes && count < most && (entry = readdir(processes))) {
		char folder[64], name[SYSFS_TEXT];
		int pid = atoi(entry->d_name);

		if (!isdigit((unsigned char)entry->d_name[0]) || pid == getpid() ||
		    !uses(entry->d_name, device))
			continue;
		snprintf(folder, sizeof(folder), "/proc/%.16s", entry->d_name);
		if (!sysfs_line(folder, "comm", name, sizeof(name)))
			snprintf(name, sizeof(name), "?");
		/* A process chooses its name, which must not control the terminal. */
		for (char *c = name; *c; c++)
			*c = isprint((unsigned char)*c) ? *c : '?';
		users[count].pid = pid;
		snprintf(users[count++].name, sizeof(users->name), "%.20s", name);
	}
	if (processes)
		closedir(processes);
	return count;
}
