// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Accesses single words of the card's memory through the window, without DMA.
 *
 *	mmap_window [DEVICE]
 *
 * The window is the first part of the card's memory. A store is fast, because it is posted; a load
 * waits for the link. Use read() and write() for more than a few words.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/litepcie.h>

int main(int argc, char **argv)
{
	const char *device = argc > 1 ? argv[1] : "/dev/litepcie0";
	struct litepcie_info info = { .size = sizeof(info) };
	volatile uint32_t *window;
	uint32_t by_dma;
	int fd = open(device, O_RDWR);

	if (fd < 0 || ioctl(fd, LITEPCIE_IOC_INFO, &info) < 0) {
		fprintf(stderr, "cannot open %s: %s\n", device, strerror(errno));
		return 1;
	}
	if (!info.window_bytes) {
		fprintf(stderr, "%s has no window\n", device);
		return 1;
	}
	window = mmap(NULL, info.window_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (window == MAP_FAILED) {
		fprintf(stderr, "cannot map the window: %s\n", strerror(errno));
		return 1;
	}
	window[16] = 0x12345678;
	printf("window[16] = 0x%08" PRIx32 "\n", window[16]);

	/* The same word by DMA: word 16 is at byte offset 64. */
	if (pread(fd, &by_dma, sizeof(by_dma), 64) != sizeof(by_dma)) {
		fprintf(stderr, "cannot read %s: %s\n", device, strerror(errno));
		return 1;
	}
	printf("by DMA     = 0x%08" PRIx32 "\n", by_dma);
	return by_dma == 0x12345678 ? 0 : 1;
}
