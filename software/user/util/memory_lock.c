// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Locks the part of the card's memory that a command overwrites, so that two commands do not find
 * each other's bytes. The locks are advisory record locks on the device file, and end with the
 * process.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "memory.h"
#include "sysfs.h"

static void name_of(pid_t pid, char *name, size_t size)
{
	char folder[32];

	snprintf(folder, sizeof(folder), "/proc/%d", (int)pid);
	if (!sysfs_line(folder, "comm", name, size))
		snprintf(name, size, "name not known");
}

int memory_lock(const struct settings *settings, const struct litepcie *card, uint64_t start,
		uint64_t bytes)
{
	struct flock lock = { .l_type = F_WRLCK,
			      .l_whence = SEEK_SET,
			      .l_start = (off_t)start,
			      .l_len = (off_t)bytes };
	char name[SYSFS_TEXT];

	/* Where a file system has no locks, the command runs without. */
	if (!fcntl(litepcie_fd(card), F_SETLK, &lock) || (errno != EACCES && errno != EAGAIN))
		return 0;
	if (fcntl(litepcie_fd(card), F_GETLK, &lock) || lock.l_type == F_UNLCK)
		lock.l_pid = 0;
	name_of(lock.l_pid, name, sizeof(name));
	return fail(EXIT_FAILED,
		    "%s: process %d (%s) uses bytes %" PRId64 " to %" PRId64
		    " of the card's memory: wait for its end, or give another --offset",
		    settings->device, (int)lock.l_pid, name, (int64_t)lock.l_start,
		    (int64_t)(lock.l_start + lock.l_len - 1));
}
