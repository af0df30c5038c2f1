// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* help: prints the tables of commands and options. */
#include <stdio.h>

#include "commands.h"

static void help_of_program(void)
{
	printf("usage: %s [options] COMMAND [options]\n\n", PROGRAM);
	printf("Inspects, tests and measures LitePCIe SoC cards. A read moves data from host "
	       "memory\n"
	       "to the card, a write from the card to host memory.\n\ncommands:\n");
	for (size_t i = 0; commands[i]; i++)
		printf("  %-27s %s\n", commands[i]->name, commands[i]->summary);
	printf("\noptions:\n");
	options_help(global_options);
	printf("\nexit status: 0 success, %d error of device or host, %d wrong command line, %d "
	       "wrong data,\n%d no device or device gone, 128 + N ended by signal N\n",
	       EXIT_FAILED, EXIT_USAGE, EXIT_MISMATCH, EXIT_GONE);
}

static void help_of_command(const struct command *command)
{
	printf("usage: %s %s%s%s%s\n\n%s\n", PROGRAM, command->name,
	       command->options ? " [options]" : "", command->argument ? " " : "",
	       command->argument ? command->argument : "", command->summary);
	if (command->options) {
		printf("\noptions:\n");
		options_help(command->options);
	}
	printf("\noptions of all commands:\n");
	options_help(global_options);
}

static int help_run(const struct settings *settings, const void *values, const char *argument)
{
	const struct command *command = argument ? find_command(argument) : NULL;

	(void)settings;
	(void)values;
	if (argument && !command)
		return fail(EXIT_USAGE, "unknown command '%s'; see %s help", argument, PROGRAM);
	if (command)
		help_of_command(command);
	else
		help_of_program();
	return 0;
}

const struct command command_help = {
	.name = "help",
	.summary = "show help for the program or a command",
	.argument = "[COMMAND]",
	.run = help_run,
};
