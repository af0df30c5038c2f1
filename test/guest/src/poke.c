// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Reads or writes a register of the card beside the driver, through BAR0 in sysfs. The kernel allows that while no
 * driver is bound, or with iomem=relaxed.
 * usage: poke OFFSET [VALUE]
 */
#include <sys/stat.h>
#include "check.h"

int main(int argc, char **argv)
{
	const char *bar = "/sys/bus/pci/devices/" CARD "/resource0";
	int fd = open(bar, O_RDWR);
	volatile uint32_t *regs;
	struct stat size;
	size_t offset;

	check(argc == 2 || argc == 3, "usage: poke OFFSET [VALUE]");
	check(fd >= 0, "%s: %s", bar, strerror(errno));
	offset = strtoul(argv[1], NULL, 0);
	ok(!fstat(fd, &size));
	regs = mapped(fd, 0, size.st_size);
	check(offset < (size_t)size.st_size, "offset %#zx", offset);
	if (argc == 3)
		regs[offset / 4] = strtoul(argv[2], NULL, 0);
	else
		printf("%#x\n", regs[offset / 4]);
	return 0;
}
