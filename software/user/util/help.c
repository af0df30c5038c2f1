// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* help: prints the tables of commands and options. */
#include <stdio.h>

#include "commands.h"
#include "json.h"

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
