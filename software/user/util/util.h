/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* What the commands share: the table, the global options, errors, the exit codes. */
#ifndef LITEPCIE_UTIL_UTIL_H
#define LITEPCIE_UTIL_UTIL_H

#include <stdbool.h>

#include "liblitepcie.h"
#include "options.h"

#define PROGRAM "litepcie_util"

/* Of every JSON document of the tool. Raised when a key changes its meaning or goes. */
#define FORMAT_VERSION 1

/* Exit codes: 0, these, and 128 + n when signal n ended a test early. */
#define EXIT_FAILED 1 /* data mismatch, device error, device missing */
#define EXIT_USAGE  2 /* command line, or values the card cannot serve */

struct settings {
	const char *device;
	uint64_t card;
	bool json;
	bool help;
};

struct command {
	const char *name;
	const char *summary;
	const char *argument;	      /* what it takes beside options, NULL: nothing */
	const struct option *options; /* NULL: none of its own */
	/* A fresh structure with the defaults for @options to fill, NULL without options. */
	void *(*defaults)(void);
	/* @argument is NULL when not given. Returns the exit code. */
	int (*run)(const struct settings *settings, const void *values, const char *argument);
};

extern const struct command *const commands[]; /* ends with NULL */
extern const struct option global_options[];

const struct command *find_command(const char *name);

/* One line on stderr, "litepcie_util: ..."; returns @code. */
int fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Opens the card the settings name and fills @info. NULL after one line that says what to do, with
 * *@code the exit code.
 */
struct litepcie *open_card(const struct settings *settings, struct litepcie_info *info, int *code);

/* "reader, writer, msi", bits without a name as "bit 7". */
void capability_names(uint32_t capabilities, char *text, size_t size);

#endif /* LITEPCIE_UTIL_UTIL_H */
