// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Maps the window, accesses it, runs a shell command and accesses it again. Prints "same" if the page was still mapped,
 * "again" if it was mapped again by the access, or "SIGBUS".
 * usage: window COMMAND    window use: accesses it until the program is killed
 */
#include <sys/resource.h>
#include "check.h"

static long faults(void)
{
	struct rusage usage;

	ok(!getrusage(RUSAGE_SELF, &usage));
	return usage.ru_minflt + usage.ru_majflt;
}

int main(int argc, char **argv)
{
	volatile uint32_t *window;
	int fd = open_device();
	long before, between;

	check(argc == 2, "usage: window COMMAND");
	window = mapped(fd, 0, 4096);
	signal(SIGBUS, tell_sigbus);
	while (!strcmp(argv[1], "use"))
		window[0] = window[0];
	/* The first call of faults() itself may cause one. */
	faults();
	window[0] = 0x12345678;
	before = faults();
	check(window[0] == 0x12345678, "%08x", window[0]);
	between = faults();
	check(between == before, "a mapped page faulted");
	check(!system(argv[1]), "'%s' failed", argv[1]);
	faults();
	before = faults();
	(void)window[0];
	puts(faults() == before ? "same" : "again");
	return 0;
}
