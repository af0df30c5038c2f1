// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* litepcie_util: the table of commands; parses the command line and runs one of them. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"

#define NO_CARD UINT64_MAX

const struct command *const commands[] = {
	&command_info, &command_scratch_test, &command_dma_test,
	&command_help, &command_version,      NULL,
};

const struct option global_options[] = {
	{ .name = "device",
	  .letter = 'd',
	  .kind = OPTION_TEXT,
	  .argument = "PATH",
	  .help = "device file (default /dev/litepcie0)",
	  .where = offsetof(struct settings, device) },
	{ .name = "card",
	  .letter = 'c',
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "the same as --device /dev/litepcieN",
	  .where = offsetof(struct settings, card),
	  .max = 4095 },
	{ .name = "json",
	  .kind = OPTION_FLAG,
	  .help = "print JSON",
	  .where = offsetof(struct settings, json) },
	{ .name = "help",
	  .letter = 'h',
	  .kind = OPTION_FLAG,
	  .help = "show help for the program or a command",
	  .where = offsetof(struct settings, help) },
	{ 0 },
};

int fail(int code, const char *format, ...)
{
	va_list arguments;

	/* Keeps the order of output and error if both go to the same file. */
	fflush(stdout);
	fprintf(stderr, "%s: ", PROGRAM);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "\n");
	return code;
}

const struct command *find_command(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

/* --card N becomes a path. @path must live as long as the settings. */
static int settle_device(struct settings *settings, char *path, size_t size)
{
	if (settings->device && settings->card != NO_CARD)
		return fail(EXIT_USAGE, "give --device or --card, not both");
	snprintf(path, size, "/dev/litepcie%u",
		 settings->card == NO_CARD ? 0 : (unsigned int)settings->card);
	if (!settings->device)
		settings->device = path;
	return 0;
}

static int run(const struct command *command, struct settings *settings, void *values, int argc,
	       char **argv, int first)
{
	struct option_set sets[] = { { command->options, values }, { global_options, settings } };
	const char *argument = NULL;
	char path[32];
	int i = options_parse(argc, argv, first, sets, 2);

	if (i < 0)
		return EXIT_USAGE;
	if (command->argument && i < argc) {
		argument = argv[i];
		i = options_parse(argc, argv, i + 1, sets, 2);
		if (i < 0)
			return EXIT_USAGE;
	}
	if (i < argc)
		return fail(EXIT_USAGE, "%s: unexpected argument '%s'; see %s help %s",
			    command->name, argv[i], PROGRAM, command->name);
	if (settings->help)
		return command_help.run(settings, NULL, command->name);
	if (settle_device(settings, path, sizeof(path)))
		return EXIT_USAGE;
	return command->run(settings, values, argument);
}

/* If the output was not written (disk full, pipe closed), the command has failed. */
static int flushed(int code)
{
	if (fflush(stdout) || ferror(stdout))
		return fail(code ? code : EXIT_FAILED, "cannot write the output");
	return code;
}

int main(int argc, char **argv)
{
	struct settings settings = { .card = NO_CARD };
	struct option_set sets[] = { { global_options, &settings } };
	const struct command *command;
	void *values = NULL;
	int i, code;

	i = options_parse(argc, argv, 1, sets, 1);
	if (i < 0)
		return EXIT_USAGE;
	if (i == argc && settings.help)
		return flushed(command_help.run(&settings, NULL, NULL));
	if (i == argc)
		return fail(EXIT_USAGE, "give a command; see %s help", PROGRAM);
	command = find_command(argv[i]);
	if (!command)
		return fail(EXIT_USAGE, "unknown command '%s'; see %s help", argv[i], PROGRAM);
	if (command->defaults) {
		values = command->defaults();
		if (!values)
			return fail(EXIT_FAILED, "%s", litepcie_strerror(-ENOMEM));
	}
	code = run(command, &settings, values, argc, argv, i + 1);
	free(values);
	return flushed(code);
}
