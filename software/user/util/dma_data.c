// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Data of dma_test: buffers, patterns, comparisons, and what is left as it was. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dma_test.h"

/* Data of dma_test: buffers with guards, test patterns, comparisons. */

const char in_data[] = "data", host_guard[] = "host guard", card_guard[] = "card guard";

bool buffer_allocate(struct buffer *buffer, uint64_t bytes, uint64_t host_offset)
{
	uint64_t total = AREA_ALIGN + host_offset + bytes + HOST_GUARD;

	total = (total + AREA_ALIGN - 1) & ~(uint64_t)(AREA_ALIGN - 1);
	buffer->allocation = aligned_alloc(AREA_ALIGN, total);
	if (!buffer->allocation)
		return false;
	memset(buffer->allocation, GUARD_VALUE, total);
	buffer->data = (uint8_t *)buffer->allocation + AREA_ALIGN + host_offset;
	return true;
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->allocation);
}

/* The finalizer of splitmix64: similar inputs give unrelated outputs. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

/* Adds eight bytes in parallel, without a carry between them. */
static uint64_t add_bytes(uint64_t a, uint64_t b)
{
	const uint64_t low = 0x7f7f7f7f7f7f7f7f;

	return ((a & low) + (b & low)) ^ ((a ^ b) & ~low);
}

void fill_pattern(uint8_t *data, uint64_t bytes, uint64_t seed, uint64_t fill)
{
	/* With an odd factor, 256 fills give a byte 256 different values. */
	uint64_t step = (fill * 0x9d & 0xff) * 0x0101010101010101;
	uint64_t base = mix(seed);

	for (uint64_t i = 0; i < bytes; i += 8) {
		uint64_t word = add_bytes(mix(base + (i / 8 + 1) * 0x9e3779b97f4a7c15), step);

		memcpy(data + i, &word, bytes - i < 8 ? bytes - i : 8);
	}
}

void fill_inverse(uint8_t *data, const uint8_t *of, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++)
		data[i] = ~of[i];
}

static void note(struct dma_test *test, const struct side *side, const char *what, int64_t position,
		 uint8_t expected, uint8_t got)
{
	test->mismatch = (struct mismatch){
		.what = what,
		.direction = side->direction,
		.iteration = test->iteration,
		.position = position,
		.card_offset = side->offset + position,
		.expected = expected,
		.got = got,
	};
}

static uint64_t count_differing(const uint8_t *a, const uint8_t *b, uint64_t bytes)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i < bytes; i++)
		count += a[i] != b[i];
	return count;
}

static bool host_guard_is_right(struct dma_test *test, const struct side *side, int64_t from)
{
	const uint8_t *bytes = side->landing.data + from;

	for (int i = 0; i < HOST_GUARD; i++) {
		if (bytes[i] == GUARD_VALUE)
			continue;
		note(test, side, host_guard, from + i, GUARD_VALUE, bytes[i]);
		for (int j = i; j < HOST_GUARD; j++)
			test->mismatch.differing += bytes[j] != GUARD_VALUE;
		return false;
	}
	return true;
}

bool landing_is_source(const struct dma_test *test, const struct side *side)
{
	return !memcmp(side->source.data, side->landing.data, test->area);
}

bool landing_is_right(struct dma_test *test, const struct side *side)
{
	const uint8_t *expected = side->source.data, *got = side->landing.data;
	uint64_t length = test->area, i = 0;

	if (!landing_is_source(test, side)) {
		while (expected[i] == got[i])
			i++;
		note(test, side, in_data, (int64_t)i, expected[i], got[i]);
		test->mismatch.differing = count_differing(expected, got, length);
		return false;
	}
	return host_guard_is_right(test, side, -HOST_GUARD) &&
	       host_guard_is_right(test, side, (int64_t)length);
}

bool landing_is_inverse(struct dma_test *test, const struct side *side)
{
	for (uint64_t i = 0; i < test->area; i++) {
		uint8_t expected = ~side->source.data[i];

		if (side->landing.data[i] == expected)
			continue;
		note(test, side, in_data, (int64_t)i, expected, side->landing.data[i]);
		test->mismatch.differing = 1;
		while (++i < test->area)
			test->mismatch.differing +=
				(side->landing.data[i] ^ side->source.data[i]) != 0xff;
		return false;
	}
	return true;
}

/* The same for a guard in the card's memory; @now is its current content. */
static bool card_guard_is_right(struct dma_test *test, const struct side *side,
				const struct card_guard *guard, const uint8_t *now)
{
	for (size_t i = 0; i < guard->bytes; i++) {
		if (now[i] == guard->saved[i])
			continue;
		note(test, side, card_guard, (int64_t)(guard->offset - side->offset + i),
		     guard->saved[i], now[i]);
		test->mismatch.differing = count_differing(now, guard->saved, guard->bytes);
		return false;
	}
	return true;
}

/* The data of dma_test: what --pattern names. */

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

/* The bytes before and after an area of the card's memory, which no transfer may change. */

static int read_guard(struct dma_test *test, const struct card_guard *guard, uint8_t *bytes)
{
	ssize_t moved = litepcie_pread(test->card, bytes, guard->bytes, guard->offset);

	if (moved < 0)
		return (int)moved;
	return (size_t)moved == guard->bytes ? 0 : -ENOSPC;
}

int card_guards_save(struct dma_test *test, struct side *side)
{
	uint64_t end = side->offset + test->area, left = test->info.memory_bytes - end;
	struct card_guard *before = &side->guards[0], *after = &side->guards[1];
	int err;

	before->bytes = side->offset < CARD_GUARD ? side->offset : CARD_GUARD;
	before->offset = side->offset - before->bytes;
	after->bytes = left < CARD_GUARD ? left : CARD_GUARD;
	after->offset = end;
	err = read_guard(test, before, before->saved);
	if (err >= 0)
		err = read_guard(test, after, after->saved);
	return dma_failed(test, side, "reading the guard bytes", err);
}

int card_guards_check(struct dma_test *test, const struct side *side)
{
	uint8_t bytes[CARD_GUARD];

	for (int i = 0; i < 2; i++) {
		int err;

		/* If bytes do not arrive, the buffer must not contain the right ones. */
		fill_inverse(bytes, side->guards[i].saved, side->guards[i].bytes);
		err = read_guard(test, &side->guards[i], bytes);
		if (dma_failed(test, side, "reading the guard bytes", err))
			return -1;
		if (!card_guard_is_right(test, side, &side->guards[i], bytes))
			return -1;
	}
	return 0;
}

/* dma_test --preserve: keeps what the test overwrites in host memory, and writes it back. */

static bool overwritten(const struct dma_test *test, unsigned int direction)
{
	return test->options->preserve && sequence_has(test->options->sequence, direction) &&
	       (direction == LITEPCIE_TO_CARD || test->options->sequence == READ_AND_WRITE ||
		!sequence_has(test->options->sequence, LITEPCIE_TO_CARD));
}

int dma_preserve(struct dma_test *test)
{
	uint64_t length = test->area;

	for (unsigned int i = 0; i < 2; i++) {
		struct side *side = &test->sides[i];
		ssize_t got;

		if (!overwritten(test, i))
			continue;
		side->kept = malloc(length);
		if (!side->kept)
			return fail(EXIT_FAILED,
				    "not enough memory for buffers of %" PRIu64 " bytes", length);
		got = litepcie_pread(test->card, side->kept, length, side->offset);
		if (got < 0)
			return fail(exit_code_of((int)got),
				    "%s: reading the memory to preserve: %s",
				    test->settings->device, litepcie_strerror((int)got));
	}
	return 0;
}

void dma_restore(struct dma_test *test)
{
	size_t used;

	for (unsigned int i = 0; i < 2; i++) {
		struct side *side = &test->sides[i];
		ssize_t moved = -EINTR;

		/* A signal before the first byte moves nothing. */
		for (int tries = 0; side->kept && moved == -EINTR && tries < 3; tries++)
			moved = litepcie_pwrite(test->card, side->kept, test->area, side->offset);
		if (!side->kept || moved >= 0)
			continue;
		used = strlen(test->error);
		test->failure = (int)moved;
		test->lost = true;
		snprintf(test->error + used, sizeof(test->error) - used,
			 "%sthe memory was not restored, its bytes are lost: %s", used ? "; " : "",
			 litepcie_strerror((int)moved));
	}
}
