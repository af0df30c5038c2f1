/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* Shared by the commands: their table, global options, errors, exit codes. */
#ifndef LITEPCIE_UTIL_UTIL_H
#define LITEPCIE_UTIL_UTIL_H

#include <stdbool.h>

#include "liblitepcie.h"
#include "options.h"

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

#endif /* LITEPCIE_UTIL_UTIL_H */
