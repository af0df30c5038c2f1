// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* JSON, progress on a terminal, the clock, and Ctrl-C. */
#include "output.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "util.h"

/* A JSON writer. It remembers the open objects and arrays, and whether a comma is needed. */

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

/* A line on the terminal that shows how far a command is. */

#define PERIOD 0.5 /* seconds */

static double last; /* when the line was shown, 0: never */
static bool shown, hidden;

double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void progress_hide(void)
{
	hidden = true;
}

void progress(const char *format, ...)
{
	double t = now();
	va_list arguments;

	if ((last > 0 && t - last < PERIOD) || hidden || !isatty(STDERR_FILENO))
		return;
	last = t;
	shown = true;
	fprintf(stderr, "\r\033[K");
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fflush(stderr);
}

void progress_bytes(unsigned long long bytes, unsigned long long all)
{
	if (all)
		progress("%.1f of %.1f MB", (double)bytes / 1e6, (double)all / 1e6);
	else
		progress("%.1f MB", (double)bytes / 1e6);
}

void progress_clear(void)
{
	if (shown)
		fprintf(stderr, "\r\033[K");
	shown = false;
	fflush(stderr);
}

/* Waits for a time or a signal. */

static void both(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
}

void signals_hold(void)
{
	sigset_t set;

	both(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

int signals_wait(uint64_t milliseconds)
{
	struct timespec time = { .tv_sec = (time_t)(milliseconds / 1000),
				 .tv_nsec = (long)(milliseconds % 1000) * 1000000 };
	sigset_t set;
	int signal;

	both(&set);
	signal = sigtimedwait(&set, NULL, &time);
	return signal > 0 ? signal : 0;
}
