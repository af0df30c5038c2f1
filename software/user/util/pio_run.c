// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * The loops of pio_test. Writes are posted: one read at the end of a run waits until the card has
 * them. The window's bytes are verified after the writes of each way.
 */
#include "pio_test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#include "signals.h"

#define SIGNAL_ACCESSES 4096

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What the word at @at has after @count writes in a circle. */
static uint32_t last_value(uint64_t count, uint64_t at)
{
	uint64_t rounds = count / PIO_WORDS + (at < count % PIO_WORDS);

	return (uint32_t)((rounds - 1) * PIO_WORDS + at);
}

/* Looks for a signal now and then. */
static int interrupted(struct pio *pio, uint64_t i)
{
	if (i % SIGNAL_ACCESSES == SIGNAL_ACCESSES - 1)
		pio->signal = signals_wait(0);
	return pio->signal;
}

static int loop(struct pio *pio, volatile uint32_t *words, bool write)
{
	uint64_t count = pio->options->count;

	for (uint64_t i = 0; i < count; i++) {
		if (write)
			words[i % PIO_WORDS] = (uint32_t)i;
		else
			(void)words[i % PIO_WORDS];
		if (interrupted(pio, i))
			return -EINTR;
	}
	/* The processor may hold combined writes back. */
	atomic_thread_fence(memory_order_seq_cst);
	if (write)
		(void)words[0];
	return 0;
}

static int window(struct pio *pio, bool write)
{
	return loop(pio, pio->words_of_window, write);
}

/* The driver writes the register and reads it. */
static int scratch(struct pio *pio, bool write)
{
	(void)write;
	for (uint64_t i = 0; i < pio->options->count; i++) {
		uint32_t got;
		int err = litepcie_scratch(pio->memory.card, (uint32_t)i, &got);

		if (err < 0)
			return err;
		if (got != (uint32_t)i)
			return -EIO;
		if (interrupted(pio, i))
			return -EINTR;
	}
	return 0;
}

static int user_words(struct pio *pio, bool write, unsigned int at_once)
{
	uint64_t left = pio->options->count;

	for (uint64_t i = 0; left; i++) {
		unsigned int count = left < at_once ? (unsigned int)left : at_once;
		uint32_t at = (uint32_t)(i * at_once % PIO_WORDS);
		uint32_t address = (uint32_t)pio->options->user + 4 * at;
		int err = write ? litepcie_user_write(pio->user_logic, address, pio->words + at,
						      count)
				: litepcie_user_read(pio->user_logic, address, pio->words + at,
						     count);

		if (err < 0)
			return err;
		left -= count;
		if (interrupted(pio, i))
			return -EINTR;
	}
	return 0;
}

static int one_call_each(struct pio *pio, bool write)
{
	return user_words(pio, write, 1);
}

static int one_call(struct pio *pio, bool write)
{
	return user_words(pio, write, PIO_WORDS);
}

static bool has_user(const struct pio *pio)
{
	return pio->user_logic;
}

struct pio_way pio_ways[] = {
	{ .name = "window", .what = "loads and stores of this program", .run = window },
	{ .name = "combined",
	  .what = "the same, the window mapped write-combined",
	  .run = window,
	  .combined = true },
	{ .name = "register",
	  .what = "a system call for a write and a read of the scratch register",
	  .run = scratch,
	  .both = true },
	{ .name = "call",
	  .what = "application-controlled: a system call for each word of the user's bus",
	  .run = one_call_each,
	  .there = has_user },
	{ .name = "calls",
	  .what = "driver-controlled: a system call for 1024 words of the user's bus",
	  .run = one_call,
	  .there = has_user },
	{ 0 },
};

static int verify(struct pio *pio, const struct pio_way *way)
{
	uint64_t count = pio->options->count, words = count < PIO_WORDS ? count : PIO_WORDS;
	const volatile uint32_t *at = pio->words_of_window;

	if (way->run != window)
		return 0;
	for (uint64_t i = 0; i < words; i++) {
		uint32_t got = at[i], wanted = last_value(count, i);

		if (got != wanted)
			return fail(EXIT_MISMATCH,
				    "%s: %s: the word at offset 0x%" PRIx64
				    " of the window is 0x%08" PRIx32 ", not 0x%08" PRIx32,
				    pio->memory.settings->device, way->name,
				    pio->options->offset + 4 * i, got, wanted);
	}
	return 0;
}

/* On x86 the window has one kind of mapping at a time. */
static int map_window(struct pio *pio, bool combined)
{
	struct memory *memory = &pio->memory;
	void *map;

	if (memory->window)
		munmap(memory->window, memory->info.window_bytes);
	memory->window = NULL;
	map = mmap(NULL, memory->info.window_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		   litepcie_fd(memory->card), combined ? (off_t)LITEPCIE_MMAP_COMBINED : 0);
	if (map == MAP_FAILED)
		return fail(exit_code_of(-errno), "%s: mapping the window%s: %s",
			    memory->settings->device, combined ? " write-combined" : "",
			    litepcie_strerror(-errno));
	memory->window = map;
	pio->words_of_window = (uint32_t *)(memory->window + pio->options->offset);
	return 0;
}

static int run_way(struct pio *pio, struct pio_way *way)
{
	int mapped = way->run == window ? map_window(pio, way->combined) : 0;

	if (mapped)
		return mapped;
	for (int write = 1; write >= way->both; write--) {
		for (unsigned int i = 0; i < PIO_RUNS; i++) {
			double began = now();
			int err = way->run(pio, write), code = 0;

			way->seconds[write][i] = now() - began;
			if (err == -EINTR)
				return fail(128 + pio->signal, "ended by signal %d", pio->signal);
			if (err < 0)
				return fail(exit_code_of(err), "%s: %s: %s",
					    pio->memory.settings->device, way->name,
					    litepcie_strerror(err));
			if (write)
				code = verify(pio, way);
			if (code)
				return code;
		}
	}
	return 0;
}

int pio_run(struct pio *pio)
{
	int code = 0;

	for (struct pio_way *way = pio_ways; way->name && !code; way++)
		if (!way->there || way->there(pio))
			code = run_way(pio, way);
	return code;
}
