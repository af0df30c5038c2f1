/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* Shared by the commands: options, errors, exit codes, the card that is chosen, their table. */
#ifndef LITEPCIE_UTIL_UTIL_H
#define LITEPCIE_UTIL_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "liblitepcie.h"

/*
 * Options as tables. Parser and help use the same table; the completion and the test of the manual
 * page read the help.
 */

enum option_kind {
	OPTION_FLAG,	/* bool */
	OPTION_TEXT,	/* const char * */
	OPTION_COUNT,	/* uint64_t: decimal or 0x */
	OPTION_SIZE,	/* uint64_t, bytes: the same, with an optional suffix K, M or G */
	OPTION_SECONDS, /* double: seconds, with decimals */
	OPTION_CHOICE,	/* unsigned int: index in choices */
};

struct option {
	const char *name; /* without dashes */
	char letter;	  /* 0: none */
	enum option_kind kind;
	const char *argument; /* name of the value in the help */
	const char *help;
	size_t where;		    /* offset of the value in the structure of the command */
	uint64_t min, max;	    /* of OPTION_SECONDS in milliseconds */
	const char *const *choices; /* NULL terminated */
};

/* A table of options, ended by a NULL name, and the structure they fill. */
struct option_set {
	const struct option *options;
	void *values;
};

/*
 * Parses options from argv[first] to the first argument that is not an option, or to "--". A long
 * name may be shortened to what no other option begins with. Returns the index of the next
 * argument, or -1 after one line on stderr.
 */
int options_parse(int argc, char **argv, int first, const struct option_set *sets, size_t count);

/* The better of @best and @name for somebody who typed @word, which is no name. NULL: neither. */
const char *nearest(const char *word, size_t length, const char *best, const char *name);

#define HELP_COLUMN 30

/*
 * Prints words in lines of at most output_width(); lines after the first one begin at @indent, and
 * the first one goes on at @column. Two newlines end a paragraph.
 */
void print_wrapped(const char *text, int indent, int column);

/* Prints options, each with its help beside it. */
void options_help(const struct option *options);

/* The program, its errors and its commands. */

#define PROGRAM "litepcie_util"

/* In every JSON document of the tool. Raised when a key changes its meaning or is removed. */
#define FORMAT_VERSION 2

/* Exit codes other than 0, and 128 + N if signal N ended a test early. */
#define EXIT_FAILED   1 /* error of the device, the driver or the host */
#define EXIT_USAGE    2 /* wrong command line, or a value that the card does not support */
#define EXIT_MISMATCH 3 /* wrong data */
#define EXIT_GONE     4 /* no device, or it is gone */

#define NO_CARD	      UINT64_MAX /* --card was not given */

struct settings {
	const char *device;
	uint64_t card;
	bool chosen; /* --device or --card was given */
	bool json;
	bool help;
	bool version;
};

struct command {
	const char *name;
	const char *summary;
	const char *details;	      /* paragraphs with an empty line between them, NULL: none */
	const char *argument;	      /* its argument other than options, NULL: none */
	const struct option *options; /* its own options, NULL: none */
	/* Allocates the structure for @options with its defaults; NULL without options. */
	void *(*defaults)(void);
	/* @argument is NULL when not given. Returns the exit code. */
	int (*run)(const struct settings *settings, const void *values, const char *argument);
};

struct exit_status {
	const char *status, *meaning;
};

extern const struct command *const commands[];	 /* ends with NULL */
extern const struct exit_status exit_statuses[]; /* ends with a NULL status */
extern const struct option global_options[];

/*
 * One line on stderr, "litepcie_util: ..."; with --json also an object on stdout, unless a document
 * is there already. Returns @code.
 */
int fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Makes a path of --device and --card. @path must live as long as the settings. Returns 0, or the
 * exit code after one line on stderr.
 */
int settle_device(struct settings *settings, char *path, size_t size);

/*
 * Writes DDDD:BB:DD.F, as sysfs has it, to @address. The domain may be absent: it is then 0. False
 * if @text is no PCI address.
 */
bool pci_address(const char *text, char *address, size_t size);

/* The exit code for a negative errno of the library. */
int exit_code_of(int error);

/*
 * Opens the card of the settings and fills @info. If that fails, prints one line that says what to
 * do, sets *@code to the exit code and returns NULL.
 */
struct litepcie *open_card(const struct settings *settings, struct litepcie_info *info, int *code);

/* For a command that moves data by a memory channel: 0, or the exit code if the card has none. */
int need_channels(const struct settings *settings, const struct litepcie_info *info);

/* "reader, writer, msi"; bits without a name are "bit 7". */
void capability_names(uint32_t capabilities, char *text, size_t size);

/* The commands of the table in main.c. */

extern const struct command command_list;
extern const struct command command_info;
extern const struct command command_config;
extern const struct command command_bus;
extern const struct command command_link;
extern const struct command command_mem;
extern const struct command command_scratch_test;
extern const struct command command_dma_test;
extern const struct command command_pio_test;
extern const struct command command_bench;
extern const struct command command_stream;
extern const struct command command_top;
extern const struct command command_report;
extern const struct command command_reset;
extern const struct command command_load;
extern const struct command command_flash;
extern const struct command command_calc;
extern const struct command command_help;
extern const struct command command_version;

#endif /* LITEPCIE_UTIL_UTIL_H */
