// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* What mem does with the card's memory, in chunks. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "dma_test.h"
#include "json.h"
#include "mem.h"
#include "progress.h"

#define MOST_READ  (UINT64_C(1) << 20)
#define LINE_BYTES 16

int mem_file_bytes(const char *path, uint64_t *bytes)
{
	struct stat status;

	*bytes = NOT_GIVEN;
	if (!strcmp(path, "-"))
		return 0;
	if (stat(path, &status))
		return fail(EXIT_FAILED, "%s: cannot open the file: %s", path, strerror(errno));
	if (S_ISREG(status.st_mode))
		*bytes = (uint64_t)status.st_size;
	if (!*bytes)
		return fail(EXIT_USAGE, "--file: %s is empty", path);
	return 0;
}

static FILE *open_file(const char *path, const char *mode)
{
	FILE *file;

	if (!strcmp(path, "-"))
		return mode[0] == 'r' ? stdin : stdout;
	file = fopen(path, mode);
	if (!file)
		fail(EXIT_FAILED, "%s: cannot open the file: %s", path, strerror(errno));
	return file;
}

static int close_file(FILE *file, const char *path)
{
	bool bad = ferror(file);

	if (file != stdin && file != stdout)
		bad |= fclose(file);
	else if (file == stdout)
		bad |= fflush(file);
	return bad ? fail(EXIT_FAILED, "%s: cannot write the file: %s", path, strerror(errno)) : 0;
}

/* Bytes of the next chunk after @done. */
static uint64_t next(const struct memory *memory, uint64_t done)
{
	uint64_t left = memory->bytes - done;

	return left < MEMORY_CHUNK ? left : MEMORY_CHUNK;
}

static void begin_json(const struct memory *memory, const char *action, bool ok)
{
	json_document("mem");
	json_bool("ok", ok);
	json_text("device", memory->settings->device);
	json_text("action", action);
	json_text("access", memory->window ? "pio" : "dma");
	json_number("offset_bytes", memory->offset);
	json_number("bytes", memory->bytes);
}

/* The result of an action that moved all bytes. */
static int done(const struct memory *memory, const char *action, const char *said, bool quiet)
{
	progress_clear();
	if (quiet)
		return 0;
	if (memory->settings->json) {
		begin_json(memory, action, true);
		json_end();
	} else {
		printf("%" PRIu64 " bytes at offset 0x%" PRIx64 " %s\n", memory->bytes,
		       memory->offset, said);
	}
	return 0;
}

/* Fills @data with the bytes of the pattern that come @at bytes after the begin of the range. */
static void make_pattern(const struct mem_options *o, uint8_t *data, uint64_t bytes, uint64_t at)
{
	unsigned int mask = (1U << o->width) - 1;

	if (o->pattern == PATTERN_RANDOM) {
		fill_pattern(data, bytes, o->seed + at / MEMORY_CHUNK, 0);
		return;
	}
	for (uint64_t i = 0; i < bytes; i++) {
		uint64_t number = o->value;

		if (o->pattern == PATTERN_COUNTER)
			number += (at + i) >> o->width;
		data[i] = (uint8_t)(number >> 8 * (i & mask));
	}
}

/* A line of 16 bytes or fewer: numbers of @width bytes, and the characters. */
static void dump_line(const uint8_t *data, uint64_t bytes, uint64_t address, unsigned int width)
{
	int column = printf("0x%08" PRIx64 ":", address);
	int characters = column + 2 * LINE_BYTES + LINE_BYTES / (int)width + 2;

	for (uint64_t i = 0; i < bytes; i += width) {
		uint64_t last = bytes - i < width ? bytes : i + width;

		column += printf(" ");
		while (last-- > i)
			column += printf("%02x", data[last]);
	}
	printf("%*s|", characters - column, "");
	for (uint64_t i = 0; i < bytes; i++)
		putchar(data[i] >= ' ' && data[i] <= '~' ? data[i] : '.');
	printf("|\n");
}

int mem_read(struct memory *memory, const struct mem_options *o)
{
	static char digits[2 * MOST_READ + 1];
	int code;

	if (memory->bytes > MOST_READ)
		return fail(EXIT_USAGE,
			    "--length: %" PRIu64 " is too large to print; the most is %" PRIu64
			    ": use mem dump",
			    memory->bytes, MOST_READ);
	code = memory_read(memory, memory->chunk, memory->bytes, memory->offset);
	if (code)
		return code;
	for (uint64_t i = 0; memory->settings->json && i < memory->bytes; i++)
		snprintf(digits + 2 * i, 3, "%02x", memory->chunk[i]);
	if (memory->settings->json) {
		begin_json(memory, "read", true);
		json_text("data_hex", digits);
		json_end();
		return 0;
	}
	for (uint64_t i = 0; i < memory->bytes; i += LINE_BYTES)
		dump_line(memory->chunk + i,
			  memory->bytes - i < LINE_BYTES ? memory->bytes - i : LINE_BYTES,
			  memory->offset + i, 1U << o->width);
	return 0;
}

int mem_write(struct memory *memory, const struct mem_options *o)
{
	uint64_t before = 0;
	char said[64];
	int code;

	if (memory->bytes != UINT64_C(1) << o->width)
		return fail(EXIT_USAGE, "mem write writes one number: give --width, or use "
					"mem fill");
	code = memory_read(memory, memory->chunk, memory->bytes, memory->offset);
	if (code)
		return code;
	for (uint64_t i = memory->bytes; i-- > 0;)
		before = before << 8 | memory->chunk[i];
	make_pattern(o, memory->chunk, memory->bytes, 0);
	code = memory_write(memory, memory->chunk, memory->bytes, memory->offset);
	snprintf(said, sizeof(said), "written; the number before was 0x%0*" PRIx64, 2 << o->width,
		 before);
	return code ? code : done(memory, "write", said, false);
}

int mem_fill(struct memory *memory, const struct mem_options *o)
{
	int code = 0;

	for (uint64_t at = 0; !code && at < memory->bytes; at += next(memory, at)) {
		progress_bytes(at, memory->bytes);
		make_pattern(o, memory->chunk, next(memory, at), at);
		code = memory_write(memory, memory->chunk, next(memory, at), memory->offset + at);
	}
	return code ? code : done(memory, "fill", "filled", false);
}

int mem_dump(struct memory *memory, const struct mem_options *o)
{
	FILE *file = open_file(o->file, "we");
	int code = file ? 0 : EXIT_FAILED, closed;

	for (uint64_t at = 0; !code && at < memory->bytes; at += next(memory, at)) {
		progress_bytes(at, memory->bytes);
		uint64_t bytes = next(memory, at);

		code = memory_read(memory, memory->chunk, bytes, memory->offset + at);
		if (!code && fwrite(memory->chunk, 1, bytes, file) != bytes)
			break;
	}
	closed = file ? close_file(file, o->file) : 0;
	if (code || closed)
		return code ? code : closed;
	return done(memory, "dump", "written to the file", file == stdout);
}

/* The next bytes of the file, or of the pattern if there is no file. */
static int expected(FILE *file, const struct mem_options *o, uint8_t *data, uint64_t bytes,
		    uint64_t at)
{
	size_t got;

	if (!file) {
		make_pattern(o, data, bytes, at);
		return 0;
	}
	got = fread(data, 1, bytes, file);
	if (got == bytes)
		return 0;
	return fail(EXIT_FAILED, "%s: the file ended after %" PRIu64 " bytes", o->file, at + got);
}

int mem_load(struct memory *memory, const struct mem_options *o)
{
	FILE *file = open_file(o->file, "re");
	int code = file ? 0 : EXIT_FAILED;

	for (uint64_t at = 0; !code && at < memory->bytes; at += next(memory, at)) {
		progress_bytes(at, memory->bytes);
		uint64_t bytes = next(memory, at);

		code = expected(file, o, memory->chunk, bytes, at);
		if (!code)
			code = memory_write(memory, memory->chunk, bytes, memory->offset + at);
	}
	if (file && file != stdin)
		fclose(file);
	return code ? code : done(memory, "load", "loaded", false);
}

static int wrong(const struct memory *memory, uint64_t at, uint8_t want, uint8_t got,
		 uint64_t differing)
{
	if (memory->settings->json) {
		begin_json(memory, "verify", false);
		json_object("mismatch");
		json_number("card_offset_bytes", at);
		json_number("expected", want);
		json_number("got", got);
		json_number("differing_bytes", differing);
		json_end();
		json_end();
	}
	return fail(EXIT_MISMATCH,
		    "%s: wrong byte at offset 0x%" PRIx64 " of the card's memory: expected 0x%02x, "
		    "got 0x%02x; %" PRIu64 " of %" PRIu64 " bytes differ",
		    memory->settings->device, at, want, got, differing, memory->bytes);
}

int mem_verify(struct memory *memory, const struct mem_options *o)
{
	FILE *file = o->file ? open_file(o->file, "re") : NULL;
	int code = o->file && !file ? EXIT_FAILED : 0;
	uint64_t differing = 0, first = 0;
	uint8_t want = 0, got = 0;

	for (uint64_t at = 0; !code && at < memory->bytes; at += next(memory, at)) {
		progress_bytes(at, memory->bytes);
		uint64_t bytes = next(memory, at);

		code = expected(file, o, memory->other, bytes, at);
		if (!code)
			code = memory_read(memory, memory->chunk, bytes, memory->offset + at);
		for (uint64_t i = 0; !code && i < bytes; i++) {
			if (memory->other[i] == memory->chunk[i] || differing++)
				continue;
			first = memory->offset + at + i;
			want = memory->other[i];
			got = memory->chunk[i];
		}
	}
	if (file && file != stdin)
		fclose(file);
	if (code)
		return code;
	return differing ? wrong(memory, first, want, got, differing)
			 : done(memory, "verify", "are right", false);
}
