// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The parser of options, and their help. */
#include "util.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LEAST_WIDTH 80
#define MOST_WIDTH  1000
#define MOST_NAME   32 /* characters of a word that nearest() compares */
#define ALIKE	    2  /* mistakes in a word that nearest() takes for a name */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Characters to insert, remove, replace or swap until @a is @b (optimal string alignment). */
static size_t mistakes(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t table[MOST_NAME + 1][MOST_NAME + 1];

	for (size_t i = 0; i <= a_length; i++) {
		for (size_t j = 0; j <= b_length; j++) {
			if (!i || !j) {
				table[i][j] = i + j;
				continue;
			}
			table[i][j] = least(least(table[i - 1][j], table[i][j - 1]) + 1,
					    table[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				table[i][j] = least(table[i][j], table[i - 2][j - 2] + 1);
		}
	}
	return table[a_length][b_length];
}

static size_t mistakes_of(const char *word, size_t length, const char *name)
{
	size_t name_length = strlen(name);

	if (length > MOST_NAME || name_length > MOST_NAME)
		return SIZE_MAX;
	return mistakes(word, length, name, name_length);
}

const char *nearest(const char *word, size_t length, const char *best, const char *name)
{
	size_t wrong = mistakes_of(word, length, name);

	/* Two mistakes in a word of five letters are another word. */
	if (wrong > ALIKE || 3 * wrong > length)
		return best;
	return best && mistakes_of(word, length, best) <= wrong ? best : name;
}

/* One line about a long name that is none, or that several options begin with. */
static void unknown(const struct option_set *sets, size_t count, const char *name, size_t length)
{
	const char *first = NULL, *second = NULL, *near = NULL;

	for (size_t i = 0; i < count; i++) {
		for (const struct option *o = sets[i].options; o && o->name; o++) {
			near = nearest(name, length, near, o->name);
			if (strncmp(o->name, name, length))
				continue;
			second = second ? second : first ? o->name : NULL;
			first = first ? first : o->name;
		}
	}
	if (second)
		fail(EXIT_USAGE, "option --%.*s can be --%s or --%s; give more of its name",
		     (int)length, name, first, second);
	else if (near)
		fail(EXIT_USAGE, "unknown option --%.*s; did you mean --%s? See %s help",
		     (int)length, name, near, PROGRAM);
	else
		fail(EXIT_USAGE, "unknown option --%.*s; see %s help", (int)length, name, PROGRAM);
}

/* The option with this letter or name, or the only one whose name begins with @name. */
static const struct option *find(const struct option_set *sets, size_t count, const char *name,
				 size_t length, char letter, void **values)
{
	const struct option *found = NULL;
	unsigned int matches = 0;

	for (size_t i = 0; i < count; i++) {
		for (const struct option *o = sets[i].options; o && o->name; o++) {
			bool exact = letter ? o->letter == letter
					    : strlen(o->name) == length &&
						      !memcmp(o->name, name, length);

			if (!exact && (letter || strncmp(o->name, name, length)))
				continue;
			found = o;
			*values = sets[i].values;
			if (exact)
				return o;
			matches++;
		}
	}
	return matches == 1 ? found : NULL;
}

/*
 * Decimal or 0x; if @with_suffix, also with K, KiB and so on. A number that is larger than
 * UINT64_MAX becomes UINT64_MAX, with *@overflow set.
 */
static bool parse_number(const char *text, bool with_suffix, uint64_t *number, bool *overflow)
{
	const char *suffixes = "KMG";
	const char *suffix;
	char *end;
	unsigned int shift;

	/* strtoull() accepts signs and blanks, which are not numbers here. */
	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, text[0] == '0' && (text[1] | 32) == 'x' ? 16 : 10);
	if ((errno && errno != ERANGE) || end == text)
		return false;
	*overflow = errno == ERANGE;
	if (!*end)
		return true;
	if (*end == ' ')
		end++;
	suffix = *end ? strchr(suffixes, toupper(*end)) : NULL;
	if (!with_suffix || !suffix || (end[1] && strcasecmp(end + 1, "ib")))
		return false;
	shift = 10 * (unsigned int)(suffix - suffixes + 1);
	if (*overflow || *number > UINT64_MAX >> shift) {
		*overflow = true;
		*number = UINT64_MAX;
		return true;
	}
	*number <<= shift;
	return true;
}

static bool set_number(const struct option *o, const char *text, uint64_t *value)
{
	bool size = o->kind == OPTION_SIZE, overflow = false;

	if (!parse_number(text, size, value, &overflow)) {
		fail(EXIT_USAGE, "--%s: '%s' is not a %s", o->name, text,
		     size ? "size; give bytes, such as 4096, 0x1000, 4K, 4KiB or 64M "
			    "(K, M, G: powers of 1024)"
			  : "number; give a decimal number, or hexadecimal digits after 0x");
		return false;
	}
	if (*value < o->min) {
		fail(EXIT_USAGE, "--%s: %s is too small; the least is %" PRIu64, o->name, text,
		     o->min);
		return false;
	}
	if (overflow || *value > o->max) {
		fail(EXIT_USAGE, "--%s: %s is too large; the most is %" PRIu64, o->name, text,
		     o->max);
		return false;
	}
	return true;
}

static bool set_seconds(const struct option *o, const char *text, double *value)
{
	char *end;

	/* strtod() accepts signs, blanks, exponents, hexadecimal digits and "inf". */
	*value = strtod(text, &end);
	if (!*text || strspn(text, "0123456789.") != strlen(text) || *end) {
		fail(EXIT_USAGE, "--%s: '%s' is not a time; give seconds, such as 10 or 0.5",
		     o->name, text);
		return false;
	}
	if (*value * 1e3 < (double)o->min) {
		fail(EXIT_USAGE, "--%s: %s is too small; the least is %g", o->name, text,
		     (double)o->min / 1e3);
		return false;
	}
	if (*value * 1e3 > (double)o->max) {
		fail(EXIT_USAGE, "--%s: %s is too large; the most is %.0f", o->name, text,
		     (double)o->max / 1e3);
		return false;
	}
	return true;
}

static bool set_choice(const struct option *o, const char *text, unsigned int *value)
{
	char allowed[160] = "";
	size_t used = 0;

	for (unsigned int i = 0; o->choices[i]; i++) {
		if (!strcmp(o->choices[i], text)) {
			*value = i;
			return true;
		}
		used += snprintf(allowed + used, sizeof(allowed) - used, "%s%s", i ? ", " : "",
				 o->choices[i]);
	}
	fail(EXIT_USAGE, "--%s: '%s' is not supported; choose one of %s", o->name, text, allowed);
	return false;
}

static bool set(const struct option *o, void *values, const char *text)
{
	void *value = (char *)values + o->where;

	switch (o->kind) {
	case OPTION_FLAG:
		*(bool *)value = true;
		return true;
	case OPTION_TEXT:
		*(const char **)value = text;
		return true;
	case OPTION_CHOICE:
		return set_choice(o, text, value);
	case OPTION_SECONDS:
		return set_seconds(o, text, value);
	default:
		return set_number(o, text, value);
	}
}

int options_parse(int argc, char **argv, int first, const struct option_set *sets, size_t count)
{
	int i;

	for (i = first; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		const char *arg = argv[i], *name = arg + 2, *value = NULL;
		bool is_long = arg[1] == '-';
		size_t length = is_long ? strcspn(name, "=") : 1;
		const struct option *o;
		void *values;

		if (is_long && !*name)
			return i + 1;
		o = find(sets, count, name, length, is_long ? 0 : arg[1], &values);
		if (!o && is_long)
			unknown(sets, count, name, length);
		else if (!o)
			fail(EXIT_USAGE, "unknown option %.2s; see %s help", arg, PROGRAM);
		if (!o)
			return -1;
		if (is_long && name[length] == '=')
			value = name + length + 1;
		else if (!is_long && arg[2])
			value = arg + 2;
		if (o->kind == OPTION_FLAG && value) {
			fail(EXIT_USAGE, "--%s takes no value", o->name);
			return -1;
		}
		if (o->kind != OPTION_FLAG && !value)
			value = i + 1 < argc ? argv[++i] : NULL;
		if (o->kind != OPTION_FLAG && !value) {
			fail(EXIT_USAGE, "--%s needs a value (%s)", o->name, o->argument);
			return -1;
		}
		if (!set(o, values, value))
			return -1;
	}
	return i;
}

/* Columns of COLUMNS or of the terminal, at least 80. */
static int output_width(void)
{
	const char *columns = getenv("COLUMNS");
	long width = columns ? strtol(columns, NULL, 10) : 0;
	struct winsize size;

	if (width <= 0 && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		width = size.ws_col;
	return (int)(width < LEAST_WIDTH ? LEAST_WIDTH : width > MOST_WIDTH ? MOST_WIDTH : width);
}

void print_wrapped(const char *text, int indent, int column)
{
	int width = output_width();

	while (*text) {
		int length = (int)strcspn(text, " \n");
		bool paragraph = text[0] == '\n' && text[1] == '\n';

		if (!length) {
			if (paragraph)
				printf("\n\n%*s", column = indent, "");
			text += paragraph ? 2 : 1;
			continue;
		}
		if (column > indent && column + 1 + length > width)
			printf("\n%*s", column = indent, "");
		column += printf("%s%.*s", column > indent ? " " : "", length, text);
		text += length;
	}
	putchar('\n');
}

void options_help(const struct option *options)
{
	for (const struct option *o = options; o && o->name; o++) {
		char text[1024];
		size_t used = 0;
		int column = printf("  %c%c%c --%s%s%s", o->letter ? '-' : ' ',
				    o->letter ? o->letter : ' ', o->letter ? ',' : ' ', o->name,
				    o->argument ? " " : "", o->argument ? o->argument : "");

		printf("%*s", HELP_COLUMN - column, "");
		used += (size_t)snprintf(text, sizeof(text), "%s", o->help);
		for (unsigned int i = 0; o->choices && o->choices[i] && used < sizeof(text); i++)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 i ? ", " : " ", o->choices[i]);
		print_wrapped(text, HELP_COLUMN, HELP_COLUMN);
	}
}
