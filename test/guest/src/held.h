/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* How much memory an open file holds: what the memory cgroup of the process is charged, and what nobody is. */
#ifndef LITEPCIE_TEST_HELD_H
#define LITEPCIE_TEST_HELD_H

#include "check.h"

#define MOST_BESIDE (16 << 20) /* bytes that one open file may hold and nobody is charged for */

/* The kernel charges up to 64 pages of a processor in advance, so this much may have been charged before. */
#define ADVANCE (64 * 4096)

struct held {
	int current, meminfo;
	long long before, unused; /* charged, and free in the machine, at the beginning */
	long long charged, beside;
};

static inline long long held_number(int file)
{
	char text[32] = { 0 };

	lseek(file, 0, SEEK_SET); /* not possible, and not needed, in debugfs */
	check(read(file, text, sizeof(text) - 1) > 0, "%s", strerror(errno));
	return atoll(text);
}

/* Free memory of the machine. The text is short enough for one read. */
static inline long long held_unused(int meminfo)
{
	char text[4096] = { 0 }, *line;

	check(pread(meminfo, text, sizeof(text) - 1, 0) > 0, "%s", strerror(errno));
	line = strstr(text, "MemFree:");
	check(line, "no MemFree");
	return atoll(line + strlen("MemFree:")) * 1024;
}

static inline void held_again(struct held *h)
{
	h->before = held_number(h->current);
	h->unused = held_unused(h->meminfo);
}

static inline struct held held_begin(const char *group)
{
	struct held h = { .meminfo = open("/proc/meminfo", O_RDONLY) };
	char path[256];

	snprintf(path, sizeof(path), "%s/memory.current", group);
	h.current = open(path, O_RDONLY);
	check(h.current >= 0 && h.meminfo >= 0, "%s", strerror(errno));
	held_again(&h);
	return h;
}

static inline void held_end(struct held *h)
{
	h->charged = held_number(h->current) - h->before;
	h->beside = h->unused - held_unused(h->meminfo) - h->charged;
}

static inline void held_check(const struct held *h, long long least)
{
	check(h->charged + ADVANCE >= least, "%lld bytes were charged for %lld", h->charged, least);
	check(h->beside <= MOST_BESIDE, "%lld bytes are held that nobody is charged for", h->beside);
}

#endif
