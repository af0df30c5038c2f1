// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Reads /proc/interrupts: a number, a count for each processor, and words that end with a name. */
#include "interrupts.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int interrupts_open(void)
{
	return open("/proc/interrupts", O_RDONLY | O_CLOEXEC);
}

static bool names(const char *line, const char *name)
{
	size_t length = strlen(name);
	const char *word = strrchr(line, ' ');

	return word && !strncmp(word + 1, name, length) &&
	       (word[1 + length] == '-' || !word[1 + length]);
}

static uint64_t sum(const char *line)
{
	const char *at = strchr(line, ':');
	uint64_t total = 0;
	char *end;

	for (at = at ? at + 1 : ""; *at; at = end) {
		uint64_t count;

		while (*at == ' ')
			at++;
		if (!isdigit((unsigned char)*at))
			break;
		count = strtoull(at, &end, 10);
		/* "32-edge" is not a count. */
		if (*end && *end != ' ')
			break;
		total += count;
	}
	return total;
}

/* The file is larger than a page: it is read in pieces, and the rest of a line is kept. */
uint64_t interrupts_count(int fd, const char *name)
{
	char text[8192];
	size_t kept = 0;
	off_t offset = 0;
	uint64_t total = 0;
	ssize_t got;

	while ((got = pread(fd, text + kept, sizeof(text) - 1 - kept, offset)) > 0) {
		char *line = text, *end;

		offset += got;
		text[kept + (size_t)got] = 0;
		while ((end = strchr(line, '\n'))) {
			*end = 0;
			total += names(line, name) ? sum(line) : 0;
			line = end + 1;
		}
		kept = strlen(line);
		/* A line that fills the buffer has too many processors to be added up. */
		if (kept == sizeof(text) - 1)
			kept = 0;
		memmove(text, line, kept);
	}
	return total;
}
