// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* mem: reads, writes, fills, saves and compares the card's memory. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "card.h"
#include "dma_test.h"
#include "output.h"

#define NO_WIDTH UINT_MAX

enum mem_pattern { PATTERN_CONSTANT, PATTERN_COUNTER, PATTERN_RANDOM };

struct mem_options {
	uint64_t offset, length, to; /* length 0, to NOT_GIVEN: not given */
	uint64_t value, seed;
	unsigned int width, pattern; /* 1 << width bytes, NO_WIDTH: not given; enum mem_pattern */
	const char *file;
	bool pio;
};

/* The actions work on the range of @memory in chunks, and return the exit code. */

#define MOST_READ  (UINT64_C(1) << 20)
#define LINE_BYTES 16

/*
 * The size of a regular file in *@bytes; NOT_GIVEN for a pipe. 0, or the exit code after one line
 * on stderr.
 */
static int mem_file_bytes(const char *path, uint64_t *bytes)
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

static int mem_read(struct memory *memory, const struct mem_options *o)
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

static int mem_write(struct memory *memory, const struct mem_options *o)
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

static int mem_fill(struct memory *memory, const struct mem_options *o)
{
	int code = 0;

	for (uint64_t at = 0; !code && at < memory->bytes; at += next(memory, at)) {
		progress_bytes(at, memory->bytes);
		make_pattern(o, memory->chunk, next(memory, at), at);
		code = memory_write(memory, memory->chunk, next(memory, at), memory->offset + at);
	}
	return code ? code : done(memory, "fill", "filled", false);
}

static int mem_dump(struct memory *memory, const struct mem_options *o)
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

static int mem_load(struct memory *memory, const struct mem_options *o)
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

static int mem_verify(struct memory *memory, const struct mem_options *o)
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

/* mem: the command line, the checks against card and file, the action. */

#define DEFAULT_READ 256

static const char *const mem_pattern_names[] = { "constant", "counter", "random", NULL };
static const char *const width_names[] = { "1", "2", "4", "8", NULL };

#define WHERE(name) offsetof(struct mem_options, name)

static const struct option options[] = {
	{ .name = "offset",
	  .letter = 'o',
	  .kind = OPTION_SIZE,
	  .argument = "BYTES",
	  .help = "first address in the card's memory (default 0)",
	  .where = WHERE(offset),
	  .max = INT64_MAX },
	{ .name = "length",
	  .letter = 'l',
	  .kind = OPTION_SIZE,
	  .argument = "BYTES",
	  .help = "bytes (default: read 256, load and verify the file, others the rest)",
	  .where = WHERE(length),
	  .min = 1,
	  .max = INT64_MAX },
	{ .name = "to",
	  .kind = OPTION_SIZE,
	  .argument = "BYTES",
	  .help = "last address, instead of --length",
	  .where = WHERE(to),
	  .max = INT64_MAX },
	{ .name = "file",
	  .letter = 'f',
	  .kind = OPTION_TEXT,
	  .argument = "FILE",
	  .help = "the file of dump, load and verify; - is the standard input or output",
	  .where = WHERE(file) },
	{ .name = "value",
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "the number of write, and of the pattern constant (default 0)",
	  .where = WHERE(value),
	  .max = UINT64_MAX },
	{ .name = "width",
	  .letter = 'w',
	  .kind = OPTION_CHOICE,
	  .argument = "BYTES",
	  .help = "bytes of a number, least significant first (default 4, of read 1); one of",
	  .where = WHERE(width),
	  .choices = width_names },
	{ .name = "pattern",
	  .kind = OPTION_CHOICE,
	  .argument = "PATTERN",
	  .help = "what fill writes, and verify expects without --file (default constant); one of",
	  .where = WHERE(pattern),
	  .choices = mem_pattern_names },
	{ .name = "seed",
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "seed of the pattern random (default 1)",
	  .where = WHERE(seed),
	  .max = UINT64_MAX },
	{ .name = "pio",
	  .kind = OPTION_FLAG,
	  .help = "by the CPU in the card's window, not by DMA",
	  .where = WHERE(pio) },
	{ 0 },
};

static void *defaults(void)
{
	struct mem_options *o = calloc(1, sizeof(*o));

	if (o)
		*o = (struct mem_options){ .width = NO_WIDTH, .seed = 1, .to = NOT_GIVEN };
	return o;
}

static const struct mem_action {
	const char *name;
	int (*run)(struct memory *memory, const struct mem_options *o);
	bool writes, file; /* overwrites the memory; needs --file */
} actions[] = {
	{ "read", mem_read, false, false }, { "write", mem_write, true, false },
	{ "fill", mem_fill, true, false },  { "dump", mem_dump, false, true },
	{ "load", mem_load, true, true },   { "verify", mem_verify, false, false },
};

static const struct mem_action *find_action(const char *name)
{
	for (size_t i = 0; name && i < sizeof(actions) / sizeof(actions[0]); i++)
		if (!strcmp(actions[i].name, name))
			return &actions[i];
	return NULL;
}

/* Bytes that neither --length nor --to gives. */
static uint64_t usual_bytes(const struct mem_action *action, const struct mem_options *o,
			    uint64_t rest, uint64_t file_bytes)
{
	if (action->run == mem_write)
		return UINT64_C(1) << o->width;
	if (action->run == mem_read)
		return rest < DEFAULT_READ ? rest : DEFAULT_READ;
	return o->file && action->run != mem_dump ? file_bytes : rest;
}

static int check_file(const struct mem_options *o, uint64_t bytes, uint64_t file_bytes)
{
	if (file_bytes == NOT_GIVEN || bytes <= file_bytes)
		return 0;
	return fail(EXIT_USAGE,
		    "--length: %" PRIu64 " is too large; the file %s has %" PRIu64 " bytes", bytes,
		    o->file, file_bytes);
}

/* Sets the range, which must be inside the memory or the window. */
static int place(struct memory *memory, const struct mem_action *action,
		 const struct mem_options *o)
{
	uint64_t all = o->pio ? memory->info.window_bytes : memory->info.memory_bytes;
	const char *what = o->pio ? "window" : "memory";
	uint64_t file_bytes = NOT_GIVEN;
	int code = 0;

	if (o->file && action->run != mem_dump)
		code = mem_file_bytes(o->file, &file_bytes);
	if (code)
		return code;
	if (!all)
		return fail(EXIT_USAGE, "--pio: the card has no window");
	if (o->offset >= all)
		return fail(EXIT_USAGE,
			    "--offset: %" PRIu64
			    " is past the end of the card's %s; the most is %" PRIu64,
			    o->offset, what, all - 1);
	if (o->to != NOT_GIVEN && (o->length || o->to < o->offset))
		return fail(EXIT_USAGE, "%s",
			    o->length ? "give --length or --to, not both"
				      : "--to: the last address is before --offset");
	memory->offset = o->offset;
	memory->bytes = o->to != NOT_GIVEN ? o->to - o->offset + 1 : o->length;
	if (!memory->bytes)
		memory->bytes = usual_bytes(action, o, all - o->offset, file_bytes);
	/* A pipe does not say its size. */
	if (memory->bytes == NOT_GIVEN)
		return fail(EXIT_USAGE, "give --length: the size of %s is not known", o->file);
	if (memory->bytes > all - o->offset)
		return fail(EXIT_USAGE,
			    "--length: %" PRIu64 " is too large at offset %" PRIu64
			    "; the card's %s has %" PRIu64 " bytes",
			    memory->bytes, o->offset, what, all);
	return check_file(o, memory->bytes, file_bytes);
}

static int act(struct memory *memory, const struct mem_action *action, const struct mem_options *o)
{
	int code = place(memory, action, o);

	if (!code && !o->pio && !memory->info.channels)
		return fail(EXIT_FAILED, "%s: the card has no memory channels; give --pio",
			    memory->settings->device);
	if (!code && action->writes)
		code = memory_lock(memory->settings, memory->card, memory->offset, memory->bytes);
	if (!code && o->pio)
		code = memory_map(memory);
	if (code)
		return code;
	memory->chunk = malloc(MEMORY_CHUNK);
	memory->other = malloc(MEMORY_CHUNK);
	if (memory->chunk && memory->other)
		code = action->run(memory, o);
	else
		code = fail(EXIT_FAILED, "%s", litepcie_strerror(-ENOMEM));
	free(memory->chunk);
	free(memory->other);
	if (memory->window)
		munmap(memory->window, memory->info.window_bytes);
	return code;
}

static int mem_run(const struct settings *settings, const void *values, const char *argument)
{
	const struct mem_action *action = find_action(argument);
	struct mem_options o = *(const struct mem_options *)values;
	struct memory memory = { .settings = settings };
	int code;

	if (!action)
		return fail(EXIT_USAGE,
			    "mem: %s%s%s; choose one of read, write, fill, dump, load, verify",
			    argument ? "'" : "no action is given", argument ? argument : "",
			    argument ? "' is not an action" : "");
	if (o.width == NO_WIDTH)
		o.width = action->run == mem_read ? 0 : 2;
	if (action->file && !o.file)
		return fail(EXIT_USAGE, "mem %s: give --file", action->name);
	if (o.width < 3 && o.value >> (8 << o.width))
		return fail(EXIT_USAGE, "--value: %" PRIu64 " does not fit in --width %s", o.value,
			    width_names[o.width]);
	memory.card = open_card(settings, &memory.info, &code);
	if (!memory.card)
		return code;
	code = act(&memory, action, &o);
	litepcie_close(memory.card);
	return code;
}

const struct command command_mem = {
	.name = "mem",
	.summary = "read, write, fill, dump, load or verify the card's memory",
	.details = "ACTION is one of:\n\n"
		   "read: print bytes, or numbers of --width bytes. write: write one number. fill: "
		   "write a pattern. dump: the "
		   "memory\ninto a file. load: a file into the memory. verify: compare the memory "
		   "with a file,\nor with a pattern that fill wrote; a difference is exit status "
		   "3.\n\n"
		   "write, fill and load overwrite the card's memory from --offset on, and refuse "
		   "what\na dma_test uses at that time.",
	.argument = "ACTION",
	.options = options,
	.defaults = defaults,
	.run = mem_run,
};
