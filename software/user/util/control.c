// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* load, flash and reset: the commands that change what a card runs. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "card.h"
#include "output.h"

/*
 * load and flash: run the program of a board, which has the programmer. load also takes the card
 * from the bus and finds it again (litepcie_rescan).
 */

#define BOARDS	  "litepcie_soc_target"
#define RESCAN	  "litepcie_rescan"
#define MOST_ARGS 24

struct load_options {
	uint64_t gen, lanes, data_width; /* 0: not given */
	const char *cable, *folder, *port;
};

#define FIELD(member) offsetof(struct load_options, member)

#define LOAD_COMMON                                                                \
	{ .name = "gen",                                                           \
	  .kind = OPTION_COUNT,                                                    \
	  .argument = "N",                                                         \
	  .help = "generation of the link that was built (the board's own)",       \
	  .where = FIELD(gen),                                                     \
	  .min = 1,                                                                \
	  .max = 4 },                                                              \
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
	LOAD_COMMON,
	{ .name = "port",
	  .kind = OPTION_TEXT,
	  .argument = "BDF",
	  .help = "the port above the slot, if the driver has no card there",
	  .where = FIELD(port) },
	{ 0 },
};

static const struct option flash_options[] = { LOAD_COMMON, { 0 } };

static void *load_defaults(void)
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
	.defaults = load_defaults,
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
	.defaults = load_defaults,
	.run = flash_run,
};

/* reset: engines by the driver, or the whole card by the kernel. */

#define ALL UINT64_MAX

struct reset_options {
	uint64_t channel;
};

static const struct option reset_options[] = {
	{ .name = "channel",
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "only the engines of this channel (default: of all)",
	  .where = offsetof(struct reset_options, channel),
	  .max = 255 },
	{ 0 },
};

static void *reset_defaults(void)
{
	struct reset_options *o = calloc(1, sizeof(*o));

	if (o)
		o->channel = ALL;
	return o;
}

static const char *advice(int error)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
		return "resetting needs CAP_SYS_ADMIN: run as root";
	case -ENOENT:
		return "the kernel knows no way to reset this card: remove it and scan again "
		       "(litepcie_rescan)";
	case -EIO:
		return "the reset did not end: reset the card (litepcie_util reset function)";
	default:
		return litepcie_strerror(error);
	}
}

static int reset_function(const struct settings *settings, const struct litepcie_info *info)
{
	char path[SYSFS_TEXT];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%.24s/reset", SYSFS_DEVICES, info->bus_address);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "1", 1) < 0)
		err = -errno;
	if (fd >= 0)
		close(fd);
	if (err)
		return fail(EXIT_FAILED, "%s: function at %s: %s", settings->device,
			    info->bus_address, advice(err));
	return 0;
}

/* What was reset, by channel and direction. */
struct resets {
	unsigned int count;
	struct {
		unsigned int channel, direction;
	} engines[2 * 256];
};

/* @directions has a bit for each. The first engine that fails ends it. */
static int reset_engines(const struct settings *settings, struct litepcie *card,
			 const struct litepcie_info *info, uint64_t only, unsigned int directions,
			 struct resets *done)
{
	const uint32_t has[] = { LITEPCIE_CAPABILITY_TO_CARD, LITEPCIE_CAPABILITY_FROM_CARD };
	int code = need_channels(settings, info);

	if (code)
		return code;
	if (only != ALL && only >= info->channels)
		return fail(EXIT_USAGE, "--channel: %" PRIu64 " is too large; the most is %u", only,
			    info->channels - 1);
	for (unsigned int i = 0; i < 2 * info->channels && i < 2 * 256; i++) {
		unsigned int channel = i / 2, d = i % 2;
		int err;

		if ((only != ALL && only != channel) || !(directions >> d & 1) ||
		    !(info->capabilities & has[d]))
			continue;
		err = litepcie_reset_engine(card, channel, d);
		if (err)
			return fail(exit_code_of(err), "%s: %s %u: %s", settings->device,
				    litepcie_direction_name(d), channel, advice(err));
		done->engines[done->count].channel = channel;
		done->engines[done->count++].direction = d;
	}
	return 0;
}

static void report(const struct settings *settings, const struct litepcie_info *info, bool function,
		   const struct resets *done)
{
	if (settings->json) {
		json_document("reset");
		json_bool("ok", true);
		json_text("device", settings->device);
		json_bool("function", function);
		json_array("engines");
	} else if (function) {
		printf("the function at %s was reset\n", info->bus_address);
	}
	for (unsigned int i = 0; i < done->count; i++) {
		const char *name = litepcie_direction_name(done->engines[i].direction);

		if (settings->json) {
			json_object(NULL);
			json_text("engine", name);
			json_number("channel", done->engines[i].channel);
			json_end();
		} else {
			printf("%s %u was reset; its transfers start again\n", name,
			       done->engines[i].channel);
		}
	}
	if (settings->json) {
		json_end();
		json_end();
	}
}

static int reset_card(const struct settings *settings, struct litepcie *card,
		      const struct litepcie_info *info, const struct reset_options *o,
		      unsigned int directions)
{
	struct resets done = { 0 };
	int code;

	if (directions)
		code = reset_engines(settings, card, info, o->channel, directions, &done);
	else
		code = reset_function(settings, info);
	if (!code)
		report(settings, info, !directions, &done);
	return code;
}

static int reset_run(const struct settings *settings, const void *values, const char *argument)
{
	static const char *const names[] = { "function", "reader", "writer", "engines" };
	const struct reset_options *o = values;
	unsigned int directions = 0; /* 0: the function */
	struct litepcie_info info;
	struct litepcie *card;
	int code = 0;

	while (directions < 4 && (!argument || strcmp(names[directions], argument)))
		directions++;
	if (directions == 4)
		return fail(EXIT_USAGE,
			    "reset: %s%s%s; choose one of reader, writer, engines, "
			    "function",
			    argument ? "'" : "nothing to reset is given", argument ? argument : "",
			    argument ? "' is not known" : "");
	if (!directions && o->channel != ALL)
		return fail(EXIT_USAGE, "--channel: a reset of the function has no channel");
	card = open_card(settings, &info, &code);
	if (!card)
		return code;
	code = reset_card(settings, card, &info, o, directions);
	litepcie_close(card);
	return code;
}

const struct command command_reset = {
	.name = "reset",
	.summary = "reset engines, or the whole function, of a card",
	.details = "WHAT is reader or writer (the engines of one direction), engines (of both), or "
		   "function\n(by the kernel, which saves and restores the configuration). "
		   "Transfers start again;\nstreams lose what is under way. Needs CAP_SYS_ADMIN.",
	.argument = "WHAT",
	.options = reset_options,
	.defaults = reset_defaults,
	.run = reset_run,
};
