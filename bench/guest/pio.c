// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Runs in the guest: loads and stores of the card's memory and registers, with marks for the emulator (count.c).
 *
 * usage: pio WAY read|write BYTES
 *
 *   word4, word8          4 and 8 bytes at a time in the window of /dev/litepcie0, mapped uncached
 *   combined4, combined8  the same, mapped write-combined
 *   combined16            16 bytes at a time that go past the caches (movntdq)
 *   string                rep movsq
 *   call                  a call of /dev/litepcie0_user for each word of 4 bytes
 *   calls                 one call for all words
 */
#define _GNU_SOURCE
#include "mark.h"

#include <emmintrin.h>
#include <fcntl.h>
#include <linux/litepcie.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define USER_RAM (64 << 10)

static uint8_t memory[16384] __attribute__((aligned(64)));
static volatile uint8_t *window;
static int fd, writes;

static void words4(size_t bytes)
{
	volatile uint32_t *at = (volatile uint32_t *)window, *from = (volatile uint32_t *)memory;

	for (size_t i = 0; i < bytes / 4; i++)
		writes ? (at[i] = from[i]) : (from[i] = at[i]);
}

static void words8(size_t bytes)
{
	volatile uint64_t *at = (volatile uint64_t *)window, *from = (volatile uint64_t *)memory;

	for (size_t i = 0; i < bytes / 8; i++)
		writes ? (at[i] = from[i]) : (from[i] = at[i]);
}

static void words16(size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 16) {
		if (writes)
			_mm_stream_si128((__m128i *)(window + i), *(__m128i *)(memory + i));
		else
			*(volatile __m128i *)(memory + i) = *(volatile __m128i *)(window + i);
	}
	_mm_sfence();
}

static void string(size_t bytes)
{
	uint8_t *to = writes ? (uint8_t *)window : memory, *from = writes ? memory : (uint8_t *)window;
	size_t count = bytes / 8;

	asm volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
}

static void call(size_t bytes, size_t each)
{
	for (size_t i = 0; i < bytes; i += each)
		must((ssize_t)each == (writes ? pwrite(fd, memory + i, each, USER_RAM + i) :
						pread(fd, memory + i, each, USER_RAM + i)));
}

int main(int argc, char **argv)
{
	const char *way = argc == 4 ? argv[1] : "";
	size_t bytes = argc == 4 ? strtoul(argv[3], NULL, 0) : 0;
	int by_call = !strncmp(way, "call", 4);

	if (argc != 4 || !bytes || bytes > sizeof(memory) || bytes % 64) {
		fprintf(stderr, "usage: pio WAY read|write BYTES\n");
		return 2;
	}
	writes = *argv[2] == 'w';
	memset(memory, 1, sizeof(memory));
	fd = open(by_call ? "/dev/litepcie0_user" : "/dev/litepcie0", O_RDWR);
	must(fd >= 0);
	if (!by_call) {
		window = mmap(NULL, sizeof(memory), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			      strncmp(way, "word", 4) ? LITEPCIE_MMAP_COMBINED : 0);
		must(window != MAP_FAILED);
		for (size_t i = 0; i < sizeof(memory); i += 4096)
			(void)window[i];
	}
	MARK(0);
	if (by_call)
		call(bytes, way[4] ? bytes : 4);
	else if (strchr(way, '4'))
		words4(bytes);
	else if (strchr(way, '8'))
		words8(bytes);
	else if (strchr(way, '6'))
		words16(bytes);
	else
		string(bytes);
	MARK(1);
	/* The answer to a load comes after the card has all stores. */
	if (by_call)
		must(pread(fd, memory, 4, USER_RAM) == 4);
	else
		(void)window[0];
	return 0;
}
