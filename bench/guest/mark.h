/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* What the programs of the benchmark share: marks for the emulator (count.c), and the card's interrupts. */
#ifndef LITEPCIE_BENCH_MARK_H
#define LITEPCIE_BENCH_MARK_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK(number) asm volatile(".byte 0x0f, 0x1f, 0x80\n\t.long 0x4c500000 + " #number ::: "memory")

#define must(condition)                                                                                                \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, strerror(errno));           \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

static inline unsigned long interrupts(void)
{
	FILE *file = fopen("/proc/interrupts", "r");
	unsigned long sum = 0;
	char line[1024];

	must(file);
	while (fgets(line, sizeof(line), file)) {
		char *at = strchr(line, ':'), *end;

		if (!at || !strstr(line, "litepcie"))
			continue;
		for (at++; ; at = end) {
			unsigned long count = strtoul(at, &end, 10);

			if (end == at)
				break;
			sum += count;
		}
	}
	fclose(file);
	return sum;
}

#endif
