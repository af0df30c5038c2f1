// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Locks the card's memory that dma_test overwrites, so that two tests do not find each other's
 * bytes. The locks are advisory record locks on the device file, and end with the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "dma_test.h"
#include "sysfs.h"

static void name_of(pid_t pid, char *name, size_t size)
{
	char folder[32];

	snprintf(folder, sizeof(folder), "/proc/%d", (int)pid);
	if (!sysfs_line(folder, "comm", name, size))
		snprintf(name, size, "name not known");
}

/* Locks the area of @side and its guards. 0, or the exit code after one line on stderr. */
static int lock_side(const struct dma_test *test, const struct side *side)
{
	uint64_t memory = test->info.memory_bytes;
	uint64_t start = side->offset < CARD_GUARD ? 0 : side->offset - CARD_GUARD;
	uint64_t end = side->offset + test->options->length + CARD_GUARD;
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)start };
	char name[SYSFS_TEXT];

	lock.l_len = (off_t)((end < memory ? end : memory) - start);
	/* Where a file system has no locks, the test runs without. */
	if (!fcntl(litepcie_fd(test->card), F_SETLK, &lock) || (errno != EACCES && errno != EAGAIN))
		return 0;
	if (fcntl(litepcie_fd(test->card), F_GETLK, &lock) || lock.l_type == F_UNLCK)
		lock.l_pid = 0;
	name_of(lock.l_pid, name, sizeof(name));
	return fail(EXIT_FAILED,
		    "%s: process %d (%s) tests bytes %" PRId64 " to %" PRId64
		    " of the card's memory: wait for its end, or give another --offset",
		    test->settings->device, (int)lock.l_pid, name, (int64_t)lock.l_start,
		    (int64_t)(lock.l_start + lock.l_len - 1));
}

int dma_lock(const struct dma_test *test)
{
	for (unsigned int i = 0; i < 2; i++) {
		int code;

		if (!sequence_has(test->options->sequence, i))
			continue;
		code = lock_side(test, &test->sides[i]);
		if (code)
			return code;
	}
	return 0;
}
