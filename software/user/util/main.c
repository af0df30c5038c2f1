// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* litepcie_util: runs a command; help and version are here, too. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "util.h"

/* litepcie_util: the table of commands; parses the command line and runs one of them. */

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

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

/* One line on stderr about a name that is no command, with the one that is nearest. EXIT_USAGE. */
static int unknown_command(const char *name)
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

/* version: of the program and of the driver interface that it uses. */

static int version_run(const struct settings *settings, const void *values, const char *argument)
{
	(void)values;
	(void)argument;
	if (!settings->json) {
		printf("%s %s, driver interface %d\n", PROGRAM, litepcie_version(),
		       LITEPCIE_UAPI_VERSION);
		return 0;
	}
	json_document("version");
	json_text("version", litepcie_version());
	json_number("driver_interface", LITEPCIE_UAPI_VERSION);
	json_end();
	return 0;
}

const struct command command_version = {
	.name = "version",
	.summary = "print the version of the program and of the driver interface it uses",
	.run = version_run,
};

/* help: prints the tables of commands and options. */

#define COMMAND_COLUMN 16

const struct exit_status exit_statuses[] = {
	{ "0", "success; all data was right" },
	{ "1", "error of the device, the driver or the host" },
	{ "2", "wrong command line, or a value that the card does not support" },
	{ "3", "wrong or lost data" },
	{ "4", "no device, or the device is gone" },
	{ "130", "ended by SIGINT (143: by SIGTERM); the results so far are printed" },
	{ 0 },
};

static void help_of_program(void)
{
	printf("usage: %s [options] COMMAND [options]\n\n", PROGRAM);
	print_wrapped("Inspects, tests and measures LitePCIe SoC cards. A read moves data from "
		      "host memory to the card, a write from the card to host memory.",
		      0, 0);
	printf("\ncommands:\n");
	for (size_t i = 0; commands[i]; i++) {
		printf("  %-*s ", COMMAND_COLUMN - 3, commands[i]->name);
		print_wrapped(commands[i]->summary, COMMAND_COLUMN, COMMAND_COLUMN);
	}
	printf("\noptions:\n");
	options_help(global_options);
	printf("\nexit status:\n");
	for (const struct exit_status *e = exit_statuses; e->status; e++) {
		printf("  %-*s ", COMMAND_COLUMN - 3, e->status);
		print_wrapped(e->meaning, COMMAND_COLUMN, COMMAND_COLUMN);
	}
}

static void help_of_command(const struct command *command)
{
	printf("usage: %s %s%s%s%s\n\n%s\n", PROGRAM, command->name,
	       command->options ? " [options]" : "", command->argument ? " " : "",
	       command->argument ? command->argument : "", command->summary);
	if (command->details) {
		putchar('\n');
		print_wrapped(command->details, 0, 0);
	}
	if (command->options) {
		printf("\noptions:\n");
		options_help(command->options);
	}
	printf("\noptions of all commands:\n");
	options_help(global_options);
}

static void json_of_options(const struct option *options)
{
	json_array("options");
	for (const struct option *o = options; o && o->name; o++) {
		char letter[2] = { o->letter };

		json_object(NULL);
		json_text("name", o->name);
		json_text("letter", letter);
		json_text("argument", o->argument ? o->argument : "");
		json_text("help", o->help);
		json_array("choices");
		for (unsigned int i = 0; o->choices && o->choices[i]; i++)
			json_text(NULL, o->choices[i]);
		json_end();
		json_end();
	}
	json_end();
}

/* The whole table, from which tools/command_pages.py makes the man page and the completions. */
static void json_of_tables(void)
{
	json_document("help");
	json_array("commands");
	for (size_t i = 0; commands[i]; i++) {
		json_object(NULL);
		json_text("name", commands[i]->name);
		json_text("summary", commands[i]->summary);
		json_text("details", commands[i]->details ? commands[i]->details : "");
		json_text("argument", commands[i]->argument ? commands[i]->argument : "");
		json_of_options(commands[i]->options);
		json_end();
	}
	json_end();
	json_of_options(global_options);
	json_array("exit_statuses");
	for (const struct exit_status *e = exit_statuses; e->status; e++) {
		json_object(NULL);
		json_text("status", e->status);
		json_text("meaning", e->meaning);
		json_end();
	}
	json_end();
	json_end();
}

static int help_run(const struct settings *settings, const void *values, const char *argument)
{
	const struct command *command = argument ? find_command(argument) : NULL;

	(void)values;
	if (argument && !command)
		return unknown_command(argument);
	if (settings->json)
		json_of_tables();
	else if (command)
		help_of_command(command);
	else
		help_of_program();
	return 0;
}

const struct command command_help = {
	.name = "help",
	.summary = "show help for the program or a command",
	.details = "With --json the tables of all commands and options are printed.",
	.argument = "[COMMAND]",
	.run = help_run,
};
