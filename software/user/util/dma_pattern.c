// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The data of dma_test: what --pattern names. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dma_test.h"

#define DEFAULT_LENGTH 100000

static int refused(const struct dma_options *o)
{
	if (o->value != NOT_GIVEN && o->pattern != COUNTER && o->pattern != CONSTANT)
		return fail(EXIT_USAGE, "--value is for --pattern counter and --pattern constant");
	if (o->file && o->pattern != FROM_FILE)
		return fail(EXIT_USAGE, "--file is for --pattern file");
	if (!o->file && o->pattern == FROM_FILE)
		return fail(EXIT_USAGE, "--pattern file: give the file with --file");
	return 0;
}

/* Reads test->length bytes; if that is 0, all bytes of the file. */
static int load(struct dma_test *test)
{
	const char *name = test->options->file;
	FILE *file = fopen(name, "re");
	struct stat status;
	int code = 0;

	if (!file || fstat(fileno(file), &status)) {
		code = fail(EXIT_USAGE, "--file: %s: %s", name, strerror(errno));
	} else if (!S_ISREG(status.st_mode)) {
		code = fail(EXIT_USAGE, "--file: %s is not a plain file", name);
	} else if (!status.st_size || (uint64_t)status.st_size < test->length) {
		code = fail(EXIT_USAGE,
			    "--file: %s has %" PRId64 " bytes, fewer than --length, which is "
			    "%" PRIu64 ": give a smaller --length or a longer file",
			    name, (int64_t)status.st_size, test->length ? test->length : 1);
	} else {
		if (!test->length)
			test->length = (uint64_t)status.st_size;
		test->content = malloc(test->length);
		if (!test->content || fread(test->content, 1, test->length, file) != test->length)
			code = fail(EXIT_FAILED, "--file: %s: cannot read %" PRIu64 " bytes", name,
				    test->length);
	}
	if (file)
		fclose(file);
	return code;
}

/* What fits the card's memory, in whole blocks, at most DEFAULT_LENGTH. */
static uint64_t default_length(const struct dma_test *test)
{
	const struct dma_options *o = test->options;
	uint64_t memory = test->info.memory_bytes;
	uint64_t room = o->offset < memory ? memory - o->offset : 0;

	/* The second area begins at the next block after the first one and its guard bytes. */
	if (o->sequence == READ_AND_WRITE)
		room = room > 2 * AREA_ALIGN ? (room - 2 * AREA_ALIGN) / 2 : 0;
	room /= o->depth;
	if (room >= DEFAULT_LENGTH)
		return DEFAULT_LENGTH;
	return room > AREA_ALIGN ? room & ~(uint64_t)(AREA_ALIGN - 1) : room ? room : 1;
}

int pattern_begin(struct dma_test *test)
{
	const struct dma_options *o = test->options;
	int code = refused(o);

	test->length = o->length;
	if (!code && o->pattern == FROM_FILE)
		code = load(test);
	if (!test->length)
		test->length = default_length(test);
	test->area = test->length * o->depth;
	return code;
}

static uint32_t value_of(const struct dma_options *o)
{
	return o->value == NOT_GIVEN ? 0 : (uint32_t)o->value;
}

/* 32 bit words, little endian; a counter goes on from transfer to transfer of an iteration. */
static void fill_words(const struct dma_test *test, uint8_t *data)
{
	uint32_t value = value_of(test->options);

	for (uint64_t i = 0; i < test->area; i++) {
		data[i] = (uint8_t)(value >> 8 * (i & 3));
		if ((i & 3) == 3 && test->options->pattern == COUNTER)
			value++;
	}
}

void pattern_fill(const struct dma_test *test, uint8_t *data, uint64_t fill)
{
	if (test->options->pattern == PRBS)
		fill_pattern(data, test->area, test->options->seed, fill);
	else if (test->options->pattern == FROM_FILE)
		for (uint64_t i = 0; i < test->area; i += test->length)
			memcpy(data + i, test->content, test->length);
	else
		fill_words(test, data);
}

bool pattern_repeats(const struct dma_test *test)
{
	return test->options->pattern != PRBS;
}

void pattern_text(const struct dma_test *test, char *text, size_t size)
{
	const struct dma_options *o = test->options;

	switch (o->pattern) {
	case COUNTER:
		snprintf(text, size, "pattern counter from %" PRIu32, value_of(o));
		break;
	case CONSTANT:
		snprintf(text, size, "pattern constant 0x%08" PRIx32, value_of(o));
		break;
	case FROM_FILE:
		snprintf(text, size, "pattern file %.250s", o->file);
		break;
	default:
		snprintf(text, size, "seed %" PRIu64, o->seed);
	}
}
