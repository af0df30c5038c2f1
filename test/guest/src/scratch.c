// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Writes the scratch register by ioctl, prints what was read back or the error. */
#include "check.h"

int main(int argc, char **argv)
{
	struct litepcie_scratch scratch = { .size = sizeof(scratch) };
	int fd = open_device();

	check(argc == 2, "usage: scratch VALUE");
	scratch.value = strtoul(argv[1], NULL, 0);
	if (ioctl(fd, LITEPCIE_IOC_SCRATCH, &scratch))
		puts(strerror(errno));
	else
		printf("%#x\n", scratch.readback);
	return 0;
}
