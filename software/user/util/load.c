// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * load and flash: run the program of a board, which has the programmer. load also takes the card
 * from the bus and finds it again (litepcie_rescan).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "sysfs.h"

#define BOARDS	  "litepcie_soc_target"
#define RESCAN	  "litepcie_rescan"
#define MOST_ARGS 24

struct load_options {
	uint64_t gen, lanes, data_width; /* 0: not given */
	const char *cable, *folder, *port;
};

#define FIELD(member) offsetof(struct load_options, member)

#define COMMON                                                                     \
	{ .name = "gen",                                                           \
	  .kind = OPTION_COUNT,                                                    \
	  .argument = "N",                                                         \
	  .help = "generation of the link that was built (the board's own)",       \
	  .where = FIELD(gen),                                                     \
	  .min = 1,                                                                \
	  .max = 3 },                                                              \
		{ .name = "lanes",                                                 \
		  .kind = OPTION_COUNT,                                            \
		  .argument = "N",                                                 \
		  .help = "its lanes",                                             \
		  .where = FIELD(lanes),                                           \
		  .min = 1,                                                        \
		  .max = 16 },                                                     \
		{ .name = "data-width",                                            \
		  .kind = OPTION_COUNT,                                            \
		  .argument = "BITS",                                              \
		  .help = "its data path",                                         \
		  .where = FIELD(data_width),                                      \
		  .min = 64,                                                       \
		  .max = 512 },                                                    \
		{ .name = "output-dir",                                            \
		  .kind = OPTION_TEXT,                                             \
		  .argument = "DIR",                                               \
		  .help = "the build folder (build/ and the name of the options)", \
		  .where = FIELD(folder) },                                        \
	{                                                                          \
		.name = "cable", .kind = OPTION_TEXT, .argument = "NAME",          \
		.help = "the JTAG cable (the programmer's choice for the board)",  \
		.where = FIELD(cable)                                              \
	}

static const struct option load_options[] = {
	COMMON,
	{ .name = "port",
	  .kind = OPTION_TEXT,
	  .argument = "BDF",
	  .help = "the port above the slot, if the driver has no card there",
	  .where = FIELD(port) },
	{ 0 },
};

static const struct option flash_options[] = { COMMON, { 0 } };

static void *defaults(void)
{
	return calloc(1, sizeof(struct load_options));
}

static bool installed(const char *program)
{
	const char *at = getenv("PATH");
	char path[512];

	while (at && *at) {
		size_t length = strcspn(at, ":");

		snprintf(path, sizeof(path), "%.*s/%s", (int)length, at, program);
		if (!access(path, X_OK))
			return true;
		at += length + (at[length] == ':');
	}
	return false;
}

struct line {
	const char *words[MOST_ARGS];
	unsigned int count;
	char numbers[3][8];
};

static void add(struct line *line, const char *name, const char *value)
{
	if (!value)
		return;
	if (name)
		line->words[line->count++] = name;
	line->words[line->count++] = value;
}

static void add_number(struct line *line, unsigned int which, const char *name, uint64_t value)
{
	snprintf(line->numbers[which], sizeof(line->numbers[which]), "%" PRIu64, value);
	add(line, name, value ? line->numbers[which] : NULL);
}

static int run(const struct settings *settings, const struct load_options *o, const char *board,
	       bool flash)
{
	const char *name = strrchr(settings->device, '/');
	char folder[SYSFS_TEXT], address[SYSFS_TEXT], target[SYSFS_TEXT];
	struct line line = { .count = 0 };

	snprintf(folder, sizeof(folder), "%s/%.64s", SYSFS_CARDS,
		 name ? name + 1 : settings->device);
	if (settings->json)
		return fail(EXIT_USAGE, "--json is not possible: the output is that of " BOARDS);
	if (!board && !sysfs_line(folder, "target", target, sizeof(target)))
		return fail(EXIT_USAGE,
			    "%s: no card tells its board; give the name, as in %s load sqrl_acorn",
			    settings->device, PROGRAM);
	if (!board) {
		target[strcspn(target, " ")] = 0;
		board = target;
	}
	for (const char *const *p = (const char *const[]){ BOARDS, flash ? NULL : RESCAN, NULL };
	     *p; p++)
		if (!installed(*p))
			return fail(EXIT_FAILED,
				    "%s is not installed: run 'pip install .' and 'make -C "
				    "software/user install' in the project, or put it into PATH",
				    *p);
	if (!flash) {
		add(&line, NULL, RESCAN);
		add(&line, "--port", o->port);
		if (!o->port && sysfs_link(folder, "device", address, sizeof(address)))
			add(&line, "--card", address);
	}
	add(&line, BOARDS, board);
	add(&line, NULL, flash ? "--flash" : "--load");
	add_number(&line, 0, "--gen", o->gen);
	add_number(&line, 1, "--lanes", o->lanes);
	add_number(&line, 2, "--data-width", o->data_width);
	add(&line, "--output-dir", o->folder);
	add(&line, "--cable", o->cable);
	fflush(stdout);
	execvp(line.words[0], (char *const *)line.words);
	return fail(EXIT_FAILED, "%s: %s", line.words[0], strerror(errno));
}

static int load_run(const struct settings *settings, const void *values, const char *argument)
{
	return run(settings, values, argument, false);
}

static int flash_run(const struct settings *settings, const void *values, const char *argument)
{
	return run(settings, values, argument, true);
}

const struct command command_load = {
	.name = "load",
	.summary = "load the FPGA of a card by the board's programmer, without a reboot",
	.details = "Runs litepcie_soc_target BOARD --load, which has the programmer of the board, "
		   "below\nlitepcie_rescan, which takes the card from the bus before and finds it "
		   "after it. Run\nit as root. BOARD is that of the card if it is not given. The "
		   "options choose the\nbitstream as they did when it was built.",
	.argument = "[BOARD]",
	.options = load_options,
	.defaults = defaults,
	.run = load_run,
};

const struct command command_flash = {
	.name = "flash",
	.summary = "write the bitstream into the flash of the board, for the next power-up",
	.details =
		"Runs litepcie_soc_target BOARD --flash. The card goes on with what it has: the "
		"FPGA\nreads its flash when the power comes back. BOARD and options are those of "
		"load.",
	.argument = "[BOARD]",
	.options = flash_options,
	.defaults = defaults,
	.run = flash_run,
};
