// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* A JSON writer. It remembers the open objects and arrays, and whether a comma is needed. */
#include "json.h"

#include <inttypes.h>
#include <stdio.h>

#include "util.h"

#define DEPTH 8

static char closing[DEPTH];
static unsigned int depth;
static bool first = true, begun, compact;

static void quoted(const char *text)
{
	putchar('"');
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c == '"' || *c == '\\')
			printf("\\%c", *c);
		else if (*c < 0x20 || *c > 0x7e)
			/* Names are ASCII; any other byte is written as Latin-1. */
			printf("\\u%04x", *c);
		else
			putchar(*c);
	}
	putchar('"');
}

static void key_of(const char *key)
{
	if (depth && compact)
		printf("%s", first ? "" : ", ");
	else if (depth)
		printf("%s\n%*s", first ? "" : ",", (int)(2 * depth), "");
	first = false;
	if (!key)
		return;
	quoted(key);
	printf(": ");
}

static void begin(const char *key, char open, char close)
{
	key_of(key);
	putchar(open);
	closing[depth++] = close;
	first = true;
}

void json_document(const char *command)
{
	begun = true;
	begin(NULL, '{', '}');
	json_number("format_version", FORMAT_VERSION);
	if (command)
		json_text("command", command);
}

void json_line(const char *command)
{
	compact = true;
	json_document(command);
}

static const char *kind_of(int code)
{
	switch (code) {
	case EXIT_USAGE:
		return "usage";
	case EXIT_MISMATCH:
		return "mismatch";
	case EXIT_GONE:
		return "gone";
	default:
		return "failed";
	}
}

void json_error(const char *command, int code, const char *message)
{
	if (begun)
		return;
	json_document(command);
	json_bool("ok", false);
	json_object("error");
	json_number("exit_status", (uint64_t)code);
	json_text("kind", kind_of(code));
	json_text("message", message);
	json_end();
	json_end();
}

void json_object(const char *key)
{
	begin(key, '{', '}');
}

void json_array(const char *key)
{
	begin(key, '[', ']');
}

void json_end(void)
{
	depth--;
	if (!first && !compact)
		printf("\n%*s", (int)(2 * depth), "");
	putchar(closing[depth]);
	first = false;
	if (!depth)
		putchar('\n');
}

void json_text(const char *key, const char *value)
{
	key_of(key);
	quoted(value);
}

void json_number(const char *key, uint64_t value)
{
	key_of(key);
	printf("%" PRIu64, value);
}

void json_real(const char *key, double value, int decimals)
{
	key_of(key);
	printf("%.*f", decimals, value);
}

void json_bool(const char *key, bool value)
{
	key_of(key);
	printf("%s", value ? "true" : "false");
}

void json_copy(FILE *file)
{
	int c = getc(file);

	key_of(NULL);
	if (c == EOF)
		printf("null");
	for (int next; c != EOF; c = next) {
		next = getc(file);
		if (next != EOF || c != '\n')
			putchar(c);
	}
}
