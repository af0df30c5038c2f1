/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/*
 * Options as tables. One table feeds the parser, the help, and through the help the completion and
 * the check of the manual page.
 */
#ifndef LITEPCIE_UTIL_OPTIONS_H
#define LITEPCIE_UTIL_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

enum option_kind {
	OPTION_FLAG,   /* bool */
	OPTION_TEXT,   /* const char * */
	OPTION_COUNT,  /* uint64_t: decimal or 0x */
	OPTION_SIZE,   /* uint64_t, bytes: the same, K, M or G behind it for powers of 1024 */
	OPTION_CHOICE, /* unsigned int: index in choices */
};

struct option {
	const char *name; /* without dashes */
	char letter;	  /* 0: none */
	enum option_kind kind;
	const char *argument; /* what the help calls its value */
	const char *help;
	size_t where; /* offset of the value in the structure of the command */
	uint64_t min, max;
	const char *const *choices; /* NULL terminated */
};

/* Options and the structure they fill. A table ends with a NULL name. */
struct option_set {
	const struct option *options;
	void *values;
};

/*
 * Parses options from argv[first] up to the first argument that is none (or behind "--"). Returns
 * its index, or -1 after one line on stderr.
 */
int options_parse(int argc, char **argv, int first, const struct option_set *sets, size_t count);

/* One line for each option, for the help. */
void options_help(const struct option *options);

#endif /* LITEPCIE_UTIL_OPTIONS_H */
