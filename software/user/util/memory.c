// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The card's memory by DMA or by the CPU, and locks of its ranges. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"
#include "sysfs.h"

/*
 * Locks the part of the card's memory that a command overwrites, so that two commands do not find
 * each other's bytes. The locks are advisory record locks on the device file, and end with the
 * process.
 */

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

/* Reads and writes the card's memory, by DMA or by accesses of the CPU to the mapped window. */

/* An access to the window of a card that is gone: there is nothing to return to. */
static void on_bus_error(int number)
{
	static const char text[] = PROGRAM ": the card is gone, or was reset, during an access\n";

	(void)number;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_FAILED);
	_exit(EXIT_GONE);
}

int memory_map(struct memory *memory)
{
	void *window = mmap(NULL, memory->info.window_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			    litepcie_fd(memory->card), 0);

	if (window == MAP_FAILED)
		return fail(exit_code_of(-errno), "%s: mapping the window: %s",
			    memory->settings->device, litepcie_strerror(-errno));
	memory->window = window;
	signal(SIGBUS, on_bus_error);
	return 0;
}

/* memcpy() may access a byte twice, or 64 at once: the window gets words, and bytes at the ends. */
static bool word_fits(uint64_t offset, uint64_t left)
{
	return !(offset & 3) && left >= 4;
}

static void window_read(const struct memory *memory, uint8_t *data, uint64_t bytes, uint64_t offset)
{
	for (uint64_t i = 0; i < bytes;) {
		const volatile uint8_t *at = memory->window + offset + i;
		uint32_t word;

		if (word_fits(offset + i, bytes - i)) {
			word = *(const volatile uint32_t *)at;
			memcpy(data + i, &word, 4);
			i += 4;
		} else {
			data[i++] = *at;
		}
	}
}

static void window_write(const struct memory *memory, const uint8_t *data, uint64_t bytes,
			 uint64_t offset)
{
	for (uint64_t i = 0; i < bytes;) {
		volatile uint8_t *at = memory->window + offset + i;
		uint32_t word;

		if (word_fits(offset + i, bytes - i)) {
			memcpy(&word, data + i, 4);
			*(volatile uint32_t *)at = word;
			i += 4;
		} else {
			*at = data[i++];
		}
	}
}

static int result(const struct memory *memory, ssize_t moved, uint64_t bytes, uint64_t offset)
{
	if (moved >= 0 && (uint64_t)moved == bytes)
		return 0;
	if (moved >= 0)
		moved = -ENOSPC;
	return fail(exit_code_of((int)moved),
		    "%s: %" PRIu64 " bytes at offset 0x%" PRIx64 " of the card's memory: %s",
		    memory->settings->device, bytes, offset, litepcie_strerror((int)moved));
}

int memory_read(const struct memory *memory, void *data, uint64_t bytes, uint64_t offset)
{
	if (!memory->window)
		return result(memory, litepcie_pread(memory->card, data, bytes, offset), bytes,
			      offset);
	window_read(memory, data, bytes, offset);
	return 0;
}

int memory_write(const struct memory *memory, const void *data, uint64_t bytes, uint64_t offset)
{
	if (!memory->window)
		return result(memory, litepcie_pwrite(memory->card, data, bytes, offset), bytes,
			      offset);
	window_write(memory, data, bytes, offset);
	return 0;
}
