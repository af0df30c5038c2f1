/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/*
 * Options as tables. Parser and help use the same table; the completion and the test of the manual
 * page read the help.
 */
#ifndef LITEPCIE_UTIL_OPTIONS_H
#define LITEPCIE_UTIL_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

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

#endif /* LITEPCIE_UTIL_OPTIONS_H */
