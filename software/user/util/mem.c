// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* mem: the command line, the checks against card and file, the action. */
#include "mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "commands.h"

#define DEFAULT_READ 256

static const char *const pattern_names[] = { "constant", "counter", "random", NULL };
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
	  .choices = pattern_names },
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
