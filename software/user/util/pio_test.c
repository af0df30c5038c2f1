// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* pio_test and scratch_test: accesses by the processor, timed and verified. */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "card.h"
#include "output.h"

/* pio_test: the time of accesses by the processor. */

#define PIO_RUNS  3
#define PIO_WORDS 1024 /* words that the accesses go round in */

struct pio_options {
	uint64_t count, offset, user;
};

struct pio {
	struct memory memory;
	const struct pio_options *options;
	int signal;		   /* that ended the test, 0: none */
	uint32_t *words_of_window; /* from options->offset on, mapped for the way that runs */
	struct litepcie_user *user_logic; /* NULL without --user-address */
	uint32_t kept[PIO_WORDS], words[PIO_WORDS];
};

/* A way to access the card, and the seconds of each of its runs. */
struct pio_way {
	const char *name, *what;
	/* Makes options->count accesses of 4 bytes. 0 or a negative errno. */
	int (*run)(struct pio *pio, bool write);
	bool (*there)(const struct pio *pio); /* NULL: always */
	bool combined;			      /* how the window is mapped */
	bool both;			      /* an access writes and reads */
	double seconds[2][PIO_RUNS];	      /* [write] */
};

/*
 * The loops of pio_test. Writes are posted: one read at the end of a run waits until the card has
 * them. The window's bytes are verified after the writes of each way.
 */

#define SIGNAL_ACCESSES 4096

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

/* Ends with a NULL name. */
static struct pio_way pio_ways[] = {
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

/* Runs all ways. 0, or the exit code after one line on stderr. */
static int pio_run(struct pio *pio)
{
	int code = 0;

	for (struct pio_way *way = pio_ways; way->name && !code; way++)
		if (!way->there || way->there(pio))
			code = run_way(pio, way);
	return code;
}

/* pio_test: the processor's own accesses to the card, timed, beside published figures. */

#define MB     1e6
#define NOBODY UINT64_MAX

/* Of a card at Gen1 x1, published in 2007: bench/published/pio_2007.csv has the rows. */
static const struct {
	const char *what, *note;
	double write, read; /* MB/s */
} published[] = {
	{ "driver-controlled loop", "one call carries all the words", 30, 2.5 },
	{ "application-controlled loop (Linux)", "one system call for each word", 7, 1.8 },
	{ "application-controlled loop (Windows)", "below 1", 1, 1 },
};

#define PUBLISHED     (sizeof(published) / sizeof(published[0]))

#define FIELD(member) offsetof(struct pio_options, member)

static const struct option pio_option_table[] = {
	{ .name = "count",
	  .letter = 'n',
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "accesses of a run (default 1000000)",
	  .where = FIELD(count),
	  .min = 1,
	  .max = 1000000000 },
	{ .name = "offset",
	  .letter = 'o',
	  .kind = OPTION_SIZE,
	  .argument = "BYTES",
	  .help = "first of 4096 bytes of the window, a multiple of 4096 (default 0)",
	  .where = FIELD(offset),
	  .max = UINT32_MAX },
	{ .name = "user-address",
	  .kind = OPTION_COUNT,
	  .argument = "ADDRESS",
	  .help = "also write and read 4096 bytes of the user's bus, a memory of yours",
	  .where = FIELD(user),
	  .max = UINT32_MAX },
	{ 0 },
};

static void *pio_defaults(void)
{
	struct pio_options *o = calloc(1, sizeof(*o));

	if (o)
		*o = (struct pio_options){ .count = 1000000, .user = NOBODY };
	return o;
}

static double rate(const struct pio *pio, double seconds)
{
	return 4 * (double)pio->options->count / seconds;
}

static void text_of_way(const struct pio *pio, const struct pio_way *way, bool write)
{
	double least = way->seconds[write][0];

	printf("  %-9s %-5s", way->name, way->both ? "both" : write ? "write" : "read");
	for (unsigned int i = 0; i < PIO_RUNS; i++) {
		printf(" %9.2f", rate(pio, way->seconds[write][i]) / MB);
		least = way->seconds[write][i] < least ? way->seconds[write][i] : least;
	}
	printf(" %11.1f\n", 1e9 * least / (double)pio->options->count);
}

static void text(const struct pio *pio)
{
	const struct litepcie_info *i = &pio->memory.info;
	char line[128];

	printf("%s at %s, Gen%" PRIu32 " x%" PRIu32 ": %" PRIu64 " accesses of 4 bytes, %d runs\n\n"
	       "  way       what      run 1     run 2     run 3   best of\n"
	       "                       MB/s      MB/s      MB/s   all, ns\n",
	       pio->memory.settings->device, i->bus_address, i->link_gen, i->link_lanes,
	       pio->options->count, PIO_RUNS);
	for (const struct pio_way *way = pio_ways; way->name; way++)
		for (int write = 1; write >= way->both; write--)
			if (way->seconds[write][PIO_RUNS - 1] > 0)
				text_of_way(pio, way, write);
	putchar('\n');
	for (const struct pio_way *way = pio_ways; way->name; way++) {
		if (way->seconds[1][PIO_RUNS - 1] > 0) {
			printf("  %-9s ", way->name);
			print_wrapped(way->what, 12, 12);
		}
	}
	if (sysfs_simulated(i->bus_address))
		printf("  a simulated card: the times show the simulator's speed\n");
	printf("\npublished in 2007 for Gen1 x1, MB/s:\n");
	for (size_t n = 0; n < PUBLISHED; n++) {
		printf("  write %4.1f, read %4.1f  ", published[n].write, published[n].read);
		snprintf(line, sizeof(line), "%s: %s", published[n].what, published[n].note);
		print_wrapped(line, 25, 25);
	}
}

static void json_of_way(const struct pio *pio, const struct pio_way *way, bool write)
{
	json_object(NULL);
	json_text("way", way->name);
	json_text("direction", way->both ? "both" : write ? "write" : "read");
	json_text("by", way->what);
	json_array("runs");
	for (unsigned int i = 0; i < PIO_RUNS; i++) {
		json_object(NULL);
		json_real("elapsed_seconds", way->seconds[write][i], 9);
		json_real("bytes_per_second", rate(pio, way->seconds[write][i]), 0);
		json_end();
	}
	json_end();
	json_end();
}

static void json(const struct pio *pio)
{
	json_document("pio_test");
	json_bool("ok", true);
	json_text("device", pio->memory.settings->device);
	json_number("gen", pio->memory.info.link_gen);
	json_number("lanes", pio->memory.info.link_lanes);
	json_number("accesses", pio->options->count);
	json_number("access_bytes", 4);
	json_array("ways");
	for (const struct pio_way *way = pio_ways; way->name; way++)
		for (int write = 1; write >= way->both; write--)
			if (way->seconds[write][PIO_RUNS - 1] > 0)
				json_of_way(pio, way, write);
	json_end();
	json_array("published_2007_gen1_x1");
	for (size_t n = 0; n < PUBLISHED; n++) {
		json_object(NULL);
		json_text("by", published[n].what);
		json_text("note", published[n].note);
		json_real("write_bytes_per_second", published[n].write * MB, 0);
		json_real("read_bytes_per_second", published[n].read * MB, 0);
		json_end();
	}
	json_end();
	json_end();
}

static int prepare(struct pio *pio)
{
	const struct settings *settings = pio->memory.settings;
	const struct pio_options *o = pio->options;
	uint64_t window = pio->memory.info.window_bytes;
	char path[80];
	int code, err;

	if (!window)
		return fail(EXIT_FAILED, "%s: the card has no window", settings->device);
	if (o->offset % sizeof(pio->kept) || o->offset + sizeof(pio->kept) > window)
		return fail(EXIT_USAGE,
			    "--offset: %" PRIu64 " is not a multiple of 4096 in the window of "
			    "%" PRIu64 " bytes",
			    o->offset, window);
	code = memory_map(&pio->memory);
	if (!code)
		code = memory_lock(settings, pio->memory.card, o->offset, sizeof(pio->kept));
	if (code)
		return code;
	if (o->user == NOBODY)
		return 0;
	snprintf(path, sizeof(path), "%.60s_user", settings->device);
	err = litepcie_user_open(&pio->user_logic, path);
	if (err < 0)
		return fail(exit_code_of(err), "%s: %s", path, litepcie_strerror(err));
	return 0;
}

static int measure(struct pio *pio)
{
	struct memory *memory = &pio->memory;
	int code = memory_read(memory, pio->kept, sizeof(pio->kept), pio->options->offset), lost;

	if (code)
		return code;
	signals_hold();
	code = pio_run(pio);
	/* By DMA, whatever is mapped; without a memory channel by the last mapping. */
	if (memory->info.channels)
		memory->window = NULL;
	lost = memory_write(memory, pio->kept, sizeof(pio->kept), pio->options->offset);
	__sync_synchronize(); /* The mapping may be write-combined. */
	if (code || lost)
		return code ? code : lost;
	if (memory->settings->json)
		json(pio);
	else
		text(pio);
	return 0;
}

static int pio_test_run(const struct settings *settings, const void *values, const char *argument)
{
	struct pio pio = { .memory = { .settings = settings }, .options = values };
	int code = 0;

	(void)argument;
	pio.memory.card = open_card(settings, &pio.memory.info, &code);
	if (!pio.memory.card)
		return code;
	code = prepare(&pio);
	if (!code)
		code = measure(&pio);
	litepcie_user_close(pio.user_logic);
	litepcie_close(pio.memory.card);
	return code;
}

const struct command command_pio_test = {
	.name = "pio_test",
	.summary = "time loads and stores of the processor, beside published figures",
	.options = pio_option_table,
	.defaults = pio_defaults,
	.details =
		"Writes and reads words of 4 bytes in the window, uncached and write-combined, and "
		"a\nregister, three runs each. The window's bytes come back at the end. With\n"
		"--user-address, also words of the user's bus: by a system call for each, which "
		"the\napplication controls, and by one for many, in which the driver has the "
		"loop.\n\nThe times are those of the host's clock.",
	.run = pio_test_run,
};

/* scratch_test: writes the scratch register over the link, reads it back and compares. */

#define WALKING	 32
#define PATTERNS (4 + 2 * WALKING)

/* All zeros, all ones, both checkerboards, a walking one, a walking zero. */
static uint32_t scratch_pattern(unsigned int i)
{
	static const uint32_t first[] = { 0x00000000, 0xffffffff, 0x55555555, 0xaaaaaaaa };

	if (i < 4)
		return first[i];
	if (i < 4 + WALKING)
		return UINT32_C(1) << (i - 4);
	return ~(UINT32_C(1) << (i - 4 - WALKING));
}

static void scratch_report(const struct settings *settings, unsigned int done, uint32_t got)
{
	bool ok = done == PATTERNS;

	if (!settings->json) {
		if (ok)
			printf("scratch register: %u patterns written and read back\n", done);
		return;
	}
	json_document("scratch_test");
	json_bool("ok", ok);
	json_text("device", settings->device);
	json_number("patterns", done);
	if (!ok) {
		json_object("mismatch");
		json_number("expected", scratch_pattern(done));
		json_number("got", got);
		json_end();
	}
	json_end();
}

static int scratch_test_run(const struct settings *settings, const void *values,
			    const char *argument)
{
	struct litepcie_info info;
	uint32_t got = 0;
	unsigned int done;
	int err = 0, code = 0;
	struct litepcie *card = open_card(settings, &info, &code);

	(void)values;
	(void)argument;
	if (!card)
		return code;
	for (done = 0; done < PATTERNS; done++) {
		err = litepcie_scratch(card, scratch_pattern(done), &got);
		if (err < 0 || got != scratch_pattern(done))
			break;
	}
	litepcie_close(card);
	if (err < 0)
		return fail(exit_code_of(err), "%s: scratch register, pattern 0x%08" PRIx32 ": %s",
			    settings->device, scratch_pattern(done), litepcie_strerror(err));
	scratch_report(settings, done, got);
	if (done == PATTERNS)
		return 0;
	return fail(EXIT_MISMATCH,
		    "%s: scratch register: expected 0x%08" PRIx32 ", got 0x%08" PRIx32 "%s",
		    settings->device, scratch_pattern(done), got,
		    got == UINT32_MAX ? " (all ones: the card may be gone)" : "");
}

const struct command command_scratch_test = {
	.name = "scratch_test",
	.summary = "write patterns to the scratch register and read them back",
	.run = scratch_test_run,
};
