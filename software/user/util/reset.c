// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* reset: engines by the driver, or the whole card by the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "json.h"
#include "sysfs.h"

#define ALL UINT64_MAX

struct reset_options {
	uint64_t channel;
};

static const struct option options[] = {
	{ .name = "channel",
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "only the engines of this channel (default: of all)",
	  .where = offsetof(struct reset_options, channel),
	  .max = 255 },
	{ 0 },
};

static void *defaults(void)
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
	.options = options,
	.defaults = defaults,
	.run = reset_run,
};
