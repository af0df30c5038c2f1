// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* dma_test: its options, the checks against the card, the result. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "card.h"
#include "dma_test.h"
#include "litepcie_regs.h"

/* The options of dma_test. */

/* clang-format off */
const char *const sequence_names[] = {
	"write", "read", "read-then-write", "write-then-read", "read-and-write", NULL,
};
/* clang-format on */
const char *const pattern_names[] = { "prbs", "counter", "constant", "file", NULL };
static const char *const header_names[] = { "12", "16", NULL };

#define FIELD(name) offsetof(struct dma_options, name)

const struct option dma_option_table[] = {
	{ .name = "sequence",
	  .letter = 's',
	  .kind = OPTION_CHOICE,
	  .argument = "SEQUENCE",
	  .help = "directions and their order (default read-then-write); one of",
	  .where = FIELD(sequence),
	  .choices = sequence_names },
	{ .name = "length",
	  .letter = 'l',
	  .kind = OPTION_SIZE,
	  .argument = "BYTES",
	  .help = "bytes per transfer, such as 4K or 1M (default the file, or 100000 if it fits)",
	  .where = FIELD(length),
	  .min = 1,
	  .max = UINT64_C(1) << 40 },
	{ .name = "iterations",
	  .letter = 'n',
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "measured transfers per direction (default 20, none with --time)",
	  .where = FIELD(iterations),
	  .min = 1,
	  .max = 1000000000 },
	{ .name = "time",
	  .letter = 't',
	  .kind = OPTION_SECONDS,
	  .argument = "SECONDS",
	  .help = "end after this time, not after 20 iterations",
	  .where = FIELD(seconds),
	  .min = 1,
	  .max = 31536000000 },
	{ .name = "interval",
	  .letter = 'i',
	  .kind = OPTION_SECONDS,
	  .argument = "SECONDS",
	  .help = "also print the rates of each interval, at the end of a transfer",
	  .where = FIELD(interval),
	  .min = 1,
	  .max = 86400000 },
	{ .name = "json-lines",
	  .kind = OPTION_FLAG,
	  .help = "print JSON, an object in a line for each interval (default 1 s) and for the "
		  "result",
	  .where = FIELD(json_lines) },
	{ .name = "preserve",
	  .kind = OPTION_FLAG,
	  .help = "give the card's memory its bytes back at the end",
	  .where = FIELD(preserve) },
	{ .name = "offset",
	  .letter = 'o',
	  .kind = OPTION_SIZE,
	  .argument = "BYTES",
	  .help = "offset in the card's memory (default 0)",
	  .where = FIELD(offset),
	  .max = INT64_MAX },
	{ .name = "host-offset",
	  .kind = OPTION_SIZE,
	  .argument = "BYTES",
	  .help = "offset of the host buffers in a page, 0 to 4095 (default 0)",
	  .where = FIELD(host_offset),
	  .max = AREA_ALIGN - 1 },
	{ .name = "depth",
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "transfers in flight, 1 to 256 (default 1)",
	  .where = FIELD(depth),
	  .min = 1,
	  .max = LITEPCIE_QUEUE_MOST },
	{ .name = "cards",
	  .kind = OPTION_TEXT,
	  .argument = "N,N...",
	  .help = "test these cards at the same time, such as 0,1",
	  .where = FIELD(cards) },
	{ .name = "pattern",
	  .letter = 'p',
	  .kind = OPTION_CHOICE,
	  .argument = "PATTERN",
	  .help = "test data (default prbs); one of",
	  .where = FIELD(pattern),
	  .choices = pattern_names },
	{ .name = "value",
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "32 bit word of constant, first one of counter (default 0)",
	  .where = FIELD(value),
	  .max = UINT32_MAX },
	{ .name = "file",
	  .letter = 'f',
	  .kind = OPTION_TEXT,
	  .argument = "FILE",
	  .help = "the bytes of each transfer with --pattern file",
	  .where = FIELD(file) },
	{ .name = "seed",
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "seed of prbs (default 1)",
	  .where = FIELD(seed),
	  .max = UINT64_MAX },
	{ .name = "latency-ns",
	  .kind = OPTION_COUNT,
	  .argument = "NS",
	  .help = "time of the host to answer a read, for the bound (default 0)",
	  .where = FIELD(latency_ns),
	  .max = 1000000000 },
	{ .name = "header",
	  .kind = OPTION_CHOICE,
	  .argument = "BYTES",
	  .help = "request header in the theory; 16 for buffers above 4 GiB (default 12)",
	  .where = FIELD(header),
	  .choices = header_names },
	{ 0 },
};

static void *dma_defaults(void)
{
	struct dma_options *o = calloc(1, sizeof(*o));

	if (o)
		*o = (struct dma_options){
			.sequence = READ_THEN_WRITE,
			.seed = 1,
			.depth = 1,
			.value = NOT_GIVEN,
		};
	return o;
}

/* dma_test: the command line, the checks against the card, the result. */

bool sequence_has(unsigned int sequence, unsigned int direction)
{
	return sequence != (direction == LITEPCIE_TO_CARD ? WRITE : READ);
}

const char *direction_word(unsigned int direction)
{
	return direction == LITEPCIE_TO_CARD ? "read" : "write";
}

/* Every sequence needs both engines, because data is verified by a round trip. */
static int check_card(const struct dma_test *test)
{
	const struct litepcie_info *info = &test->info;
	const uint32_t needed = LITEPCIE_CAPABILITY_TO_CARD | LITEPCIE_CAPABILITY_FROM_CARD;
	uint32_t missing = needed & ~info->capabilities;
	char has[256], lacks[64];
	int code = need_channels(test->settings, info);

	if (code)
		return code;
	capability_names(info->capabilities, has, sizeof(has));
	capability_names(missing, lacks, sizeof(lacks));
	if (missing)
		return fail(
			EXIT_FAILED,
			"%s: the card has no %s, and dma_test needs reader and writer to verify "
			"its data (the card has: %s)",
			test->settings->device, lacks, *has ? has : "nothing");
	if (!info->clock_hz)
		return fail(EXIT_FAILED, "%s: the card reports a clock of 0 Hz: cannot measure",
			    test->settings->device);
	return 0;
}

/* read-and-write has two areas; the second one has the same alignment as the first. */
static int place_areas(struct dma_test *test)
{
	const struct dma_options *o = test->options;
	uint64_t memory = test->info.memory_bytes, gap = test->area + 2 * CARD_GUARD, second = 0;

	if (o->sequence == READ_AND_WRITE)
		second = (gap + AREA_ALIGN - 1) & ~(uint64_t)(AREA_ALIGN - 1);
	if (o->offset >= memory)
		return fail(EXIT_USAGE,
			    "--offset: %" PRIu64
			    " is past the end of the card's memory; the most is %" PRIu64,
			    o->offset, memory - 1);
	if (second + test->area > memory - o->offset)
		return fail(EXIT_USAGE,
			    "--length: %" PRIu64 " is too large at offset %" PRIu64
			    ": %s in the card's memory of %" PRIu64 " bytes",
			    test->length, o->offset,
			    second	   ? "the two areas of read-and-write do not fit"
			    : o->depth > 1 ? "the transfers in flight do not fit"
					   : "the area does not fit",
			    memory);
	test->sides[LITEPCIE_TO_CARD].offset = o->offset;
	test->sides[LITEPCIE_FROM_CARD].offset = o->offset + second;
	return 0;
}

/* Two buffers, which both directions use; two more if both run at the same time. */
static int allocate(struct dma_test *test)
{
	const struct dma_options *o = test->options;
	struct side *reader = &test->sides[LITEPCIE_TO_CARD];

	for (unsigned int i = 0; i < 2; i++) {
		struct side *side = &test->sides[i];

		side->direction = i;
		if (i == LITEPCIE_FROM_CARD && o->sequence != READ_AND_WRITE) {
			side->source = reader->source;
			side->landing = reader->landing;
			break;
		}
		if (!buffer_allocate(&side->source, test->area, o->host_offset) ||
		    !buffer_allocate(&side->landing, test->area, o->host_offset))
			return fail(EXIT_FAILED,
				    "not enough memory for buffers of %" PRIu64 " bytes",
				    test->area);
	}
	return 0;
}

static void release(struct dma_test *test)
{
	struct side *reader = &test->sides[LITEPCIE_TO_CARD];
	struct side *writer = &test->sides[LITEPCIE_FROM_CARD];

	if (writer->source.allocation != reader->source.allocation) {
		buffer_free(&writer->source);
		buffer_free(&writer->landing);
	}
	buffer_free(&reader->source);
	buffer_free(&reader->landing);
}

static int wrong_byte(const struct dma_test *test, const struct mismatch *m)
{
	const char *place = "of the data";
	char card[40] = "", pattern[300];

	if (m->what == host_guard)
		place = "outside the data in host memory";
	else
		snprintf(card, sizeof(card), " (card offset 0x%" PRIx64 ")", m->card_offset);
	if (m->what == card_guard)
		place = "outside the data in the card's memory";
	pattern_text(test, pattern, sizeof(pattern));
	return fail(EXIT_MISMATCH,
		    "%s: %s, iteration %" PRIu64 "%s: wrong byte %" PRId64
		    " %s%s: expected 0x%02x, got 0x%02x; %" PRIu64 " differ, %s%s%s",
		    test->settings->device, direction_word(m->direction), m->iteration,
		    m->iteration ? "" : " (warm-up)", m->position, place, card, m->expected, m->got,
		    m->differing, pattern, m->again ? "; read back again: " : "",
		    m->again ? m->again : "");
}

/* Prints why the test failed, in one line; returns the exit code. */
static int verdict(const struct dma_test *test)
{
	if (test->signal)
		return fail(128 + test->signal, "ended by signal %d in iteration %" PRIu64,
			    test->signal, test->iteration);
	if (test->error[0])
		return fail(exit_code_of(test->failure), "%s: %s%s%s", test->settings->device,
			    test->error, test->card_errors[0] ? "; the card counted: " : "",
			    test->card_errors);
	return test->mismatch.what ? wrong_byte(test, &test->mismatch) : 0;
}

/* Locks what the test overwrites, and the guard bytes around it. */
static int lock_areas(const struct dma_test *test)
{
	uint64_t memory = test->info.memory_bytes;
	int code = 0;

	for (unsigned int i = 0; i < 2 && !code; i++) {
		uint64_t offset = test->sides[i].offset;
		uint64_t start = offset < CARD_GUARD ? 0 : offset - CARD_GUARD;
		uint64_t end = offset + test->area + CARD_GUARD;

		if (sequence_has(test->options->sequence, i))
			code = memory_lock(test->settings, test->card, start,
					   (end < memory ? end : memory) - start);
	}
	return code;
}

static int test_card(struct dma_test *test)
{
	int code = check_card(test);

	if (!code)
		code = pattern_begin(test);
	if (!code)
		code = place_areas(test);
	if (!code)
		dma_catch_signals();
	if (!code)
		code = lock_areas(test);
	if (!code)
		code = allocate(test);
	if (code)
		return code;
	code = dma_preserve(test);
	if (code)
		return code;
	if (!test->json)
		dma_report_begin(test);
	dma_progress_begin(test);
	dma_run(test);
	dma_progress_end();
	dma_restore(test);
	dma_note_disturbed(test);
	dma_cards_report_begin();
	if (test->json)
		dma_report_json(test);
	else
		dma_report_text(test);
	dma_cards_report_end(test);
	return verdict(test);
}

int dma_test_card(const struct settings *settings, const struct dma_options *o, bool several)
{
	struct dma_test test = { .settings = settings, .options = o, .several = several };
	int code;

	test.json = settings->json || o->json_lines;
	test.iterations = o->iterations ? o->iterations : o->seconds ? UINT64_MAX - 1 : 20;
	test.interval = o->interval > 0 ? o->interval : o->json_lines ? 1 : 0;

	test.card = open_card(settings, &test.info, &code);
	if (!test.card)
		return code;
	code = test_card(&test);
	for (unsigned int i = 0; i < 2; i++) {
		litepcie_queue_close(test.sides[i].queue);
		free(test.sides[i].kept);
	}
	free(test.content);
	release(&test);
	litepcie_close(test.card);
	return code;
}

static int dma_test_run(const struct settings *settings, const void *values, const char *argument)
{
	const struct dma_options *o = values;

	(void)argument;
	return o->cards ? dma_cards(settings, o) : dma_test_card(settings, o, false);
}

const struct command command_dma_test = {
	.name = "dma_test",
	.summary = "move data by DMA, verify it, compare the rate with theory",
	.options = dma_option_table,
	.defaults = dma_defaults,
	.details =
		"Overwrites the card's memory from --offset on; with --preserve its bytes come "
		"back at\nthe end, also after an error or Ctrl-C. The memory is locked: a "
		"second test of it\nends with the process that has it.\n\n"
		"The first iteration is a warm-up: it is verified but not measured. Every byte of "
		"a\n"
		"transfer differs from the same byte of the 255 transfers before, so data that is\n"
		"left over from an earlier transfer is found; with a pattern other than prbs the\n"
		"card gets the inverse bytes before. For a write, the test first fills "
		"the\n"
		"card by a read that is not measured. After a read, it reads the data back by a\n"
		"write that is not measured. 128 guard bytes before and after the host buffer, "
		"and\n"
		"up to 64 bytes before and after the area in the card's memory, must not "
		"change.\n\n"
		"The rate of the hardware counter is the payload divided by the time from the\n"
		"doorbell to the last byte, which the card counts itself. It does not include the\n"
		"driver and the system call. The host wall clock is measured around the system\n"
		"call.\n\n"
		"Both are printed with two theoretical rates of the current link. The formula of\n"
		"Intel's application notes AN 456 and AN 855 includes the headers only. The "
		"formula\n"
		"of pcie-bench, corrected for the number of lanes, also includes ACK and flow\n"
		"control packets; a link that needs fewer of them can exceed it slightly. The "
		"bound\n"
		"is that of pcie-bench with the card's tags and --latency-ns.\n\n"
		"\"Waiting for\" is the share of the active cycles in which the engine moved\n"
		"nothing, by reason.\n\n"
		"The sequence read-and-write runs both directions at the same time, from two\n"
		"threads. Each direction has its own area in the card's memory, at a distance "
		"that\n"
		"is a multiple of 4096 bytes, and its own counter. The test prints how long the "
		"two\n"
		"calls overlapped; if that is short, give a larger --length.\n\n"
		"With --depth, as many transfers are in flight, one after the other in memory: an\n"
		"iteration starts all and waits for all. With --cards, the cards are tested at "
		"the\n"
		"same time by a process for each.",
	.run = dma_test_run,
};
