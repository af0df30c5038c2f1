// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* litepcie_util: the table of commands; parses the command line and runs one of them. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "json.h"
#include "progress.h"

/* clang-format off */
const struct command *const commands[] = {
	&command_list, &command_info, &command_config, &command_bus, &command_link, &command_mem,
	&command_scratch_test, &command_dma_test, &command_pio_test, &command_bench, &command_stream, &command_top,
	&command_report, &command_reset, &command_load, &command_flash, &command_calc, &command_help,
	&command_version, NULL,
};
/* clang-format on */

const struct option global_options[] = {
	{ .name = "device",
	  .letter = 'd',
	  .kind = OPTION_TEXT,
	  .argument = "DEVICE",
	  .help = "number, path or PCI address of the card (default /dev/litepcie0)",
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
	{ .name = "version",
	  .letter = 'V',
	  .kind = OPTION_FLAG,
	  .help = "the same as the command version",
	  .where = offsetof(struct settings, version) },
	{ .name = "help",
	  .letter = 'h',
	  .kind = OPTION_FLAG,
	  .help = "show help for the program or a command",
	  .where = offsetof(struct settings, help) },
	{ 0 },
};

/* What an error as JSON needs to know before the command line is parsed. */
static struct {
	bool json;
	const char *command; /* NULL: not known */
} running;

static void find_json(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		running.json |=
			strlen(argv[i]) > 3 && !strncmp("--json-lines", argv[i], strlen(argv[i]));
}

int fail(int code, const char *format, ...)
{
	char message[1024];
	va_list arguments;

	progress_clear();
	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	if (running.json)
		json_error(running.command, code, message);
	/* Keeps the order of output and error if both go to the same file. */
	fflush(stdout);
	fprintf(stderr, "%s: %s\n", PROGRAM, message);
	return code;
}

const struct command *find_command(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

int unknown_command(const char *name)
{
	const char *near = NULL;

	for (size_t i = 0; commands[i]; i++)
		near = nearest(name, strlen(name), near, commands[i]->name);
	return near ? fail(EXIT_USAGE, "unknown command '%s'; did you mean %s? See %s help", name,
			   near, PROGRAM)
		    : fail(EXIT_USAGE, "unknown command '%s'; see %s help", name, PROGRAM);
}

static int run(const struct command *command, struct settings *settings, void *values, int argc,
	       char **argv, int first)
{
	struct option_set sets[] = { { command->options, values }, { global_options, settings } };
	const char *argument = NULL;
	char path[PATH_MAX];
	int code, i = options_parse(argc, argv, first, sets, 2);

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
	if (settings->version)
		return command_version.run(settings, NULL, NULL);
	code = settle_device(settings, path, sizeof(path));
	if (code)
		return code;
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

	find_json(argc, argv);
	i = options_parse(argc, argv, 1, sets, 1);
	if (i < 0)
		return EXIT_USAGE;
	if (i == argc && settings.help)
		return flushed(command_help.run(&settings, NULL, NULL));
	if (i == argc && settings.version)
		return flushed(command_version.run(&settings, NULL, NULL));
	if (i == argc)
		return fail(EXIT_USAGE, "give a command; see %s help", PROGRAM);
	command = find_command(argv[i]);
	if (!command)
		return unknown_command(argv[i]);
	running.command = command->name;
	if (running.json && isatty(STDOUT_FILENO))
		progress_hide();
	if (command->defaults) {
		values = command->defaults();
		if (!values)
			return fail(EXIT_FAILED, "%s", litepcie_strerror(-ENOMEM));
	}
	code = run(command, &settings, values, argc, argv, i + 1);
	free(values);
	return flushed(code);
}
