// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Opens the device, prints "open", and moves data until a call fails or the program is killed; prints the errno. With
 * "map", it also has a mapping.
 * usage: holder read|write|idle|map BYTES
 */
#include "check.h"

int main(int argc, char **argv)
{
	size_t bytes = argc > 2 ? strtoul(argv[2], NULL, 0) : 4096;
	const char *how = argc > 1 ? argv[1] : "idle";
	uint8_t *buffer = malloc(bytes);
	int fd = open_device();
	ssize_t n = 1;

	check(buffer, "no memory for %zu bytes", bytes);
	memset(buffer, 0x3c, bytes);
	if (!strcmp(how, "map"))
		ok(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED);
	printf("open\n");
	fflush(stdout);
	while (n > 0) {
		if (!strcmp(how, "read"))
			n = pread(fd, buffer, bytes, 0);
		else if (!strcmp(how, "write"))
			n = pwrite(fd, buffer, bytes, 0);
		else
			n = (usleep(20000), pread(fd, buffer, 1, 0));
	}
	printf("ended: %s\n", n < 0 ? strerror(errno) : "end of file");
	return 0;
}
