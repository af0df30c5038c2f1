// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * io_uring with IORING_SETUP_IOPOLL: calls end without an interrupt, whoever polls or does not poll.
 * usage: polled alone    one call at a time: no interrupt
 *        polled depth    32 calls at a time, of all sizes
 *        polled left     calls that nobody polls for, and a pread of another file beside them
 *        polled unbind   the same, then unbinds the card: the calls end with ENODEV or their bytes
 *        polled killed   leaves calls, and is killed
 */
#include "uring.h"

#define DEPTH 32
#define SLOT (1 << 16)

static int fd;
static uint8_t *memory;
static struct uring ring;

static void set_up(void)
{
	fd = opened(DEVICE, O_RDWR | O_DIRECT);
	uring_open(&ring, DEPTH, IORING_SETUP_IOPOLL);
	memory = zeroed(DEPTH * SLOT * 2);
	memset(memory, 1, DEPTH * SLOT * 2);
}

static void start(unsigned int opcode, uint8_t *at, unsigned int bytes, off_t offset)
{
	uring_put(&ring, (struct io_uring_sqe){ .opcode = opcode, .fd = fd, .addr = (uintptr_t)at, .len = bytes,
						.off = offset, .user_data = bytes });
}

static void enter(unsigned int new, unsigned int least)
{
	uring_enter(&ring, new, least);
}

/* Takes `count` ends; each has its bytes, or -`error` if that is not 0. */
static void take(unsigned int count, int error)
{
	while (count--) {
		struct io_uring_cqe end = uring_take(&ring);

		check(end.res == (int)end.user_data || (error && end.res == -error), "ended with %d", end.res);
	}
}

static unsigned long interrupts(void)
{
	FILE *file = popen("awk '/litepcie/ { for (i = 2; $i ~ /^[0-9]+$/; i++) sum += $i } END { print sum }' "
			   "/proc/interrupts", "r");
	unsigned long sum = 0;

	check(file && fscanf(file, "%lu", &sum) == 1, "no interrupts");
	pclose(file);
	return sum;
}

static void alone(void)
{
	unsigned long before = interrupts();
	uint8_t *in = memory + SLOT;

	for (unsigned int i = 0; i < 32; i++) {
		unsigned int bytes = 1 + i * 997 % SLOT;

		fill(memory, bytes, i);
		start(IORING_OP_WRITE, memory, bytes, i * 77);
		enter(1, 1);
		take(1, 0);
		start(IORING_OP_READ, in, bytes, i * 77);
		enter(1, 1);
		take(1, 0);
		check_bytes(in, memory, bytes, "polled");
	}
	before = interrupts() - before;
	check(!before, "%lu interrupts of 64 calls", before);
}

static void depth(void)
{
	uint8_t *in = memory + DEPTH * SLOT;

	for (unsigned int pass = 0; pass < 2; pass++) {
		for (unsigned int which = 0; which < 2; which++) {
			for (unsigned int i = 0; i < DEPTH; i++) {
				unsigned int bytes = 1 + (i * 997 + pass * 8191) % SLOT;

				if (!which)
					fill(memory + i * SLOT, bytes, pass * DEPTH + i);
				start(which ? IORING_OP_READ : IORING_OP_WRITE, (which ? in : memory) + i * SLOT, bytes,
				      i * SLOT);
			}
			enter(DEPTH, DEPTH);
			take(DEPTH, 0);
		}
		for (unsigned int i = 0; i < DEPTH; i++)
			check_bytes(in + i * SLOT, memory + i * SLOT, 1 + (i * 997 + pass * 8191) % SLOT, "polled");
	}
}

static void leave(void)
{
	for (unsigned int i = 0; i < DEPTH; i++)
		start(i % 2 ? IORING_OP_READ : IORING_OP_WRITE, memory + i * SLOT, SLOT, i * SLOT);
	enter(DEPTH, 0);
}

static void left(void)
{
	int other = open_device();
	uint8_t byte;

	for (unsigned int i = 0; i < 20; i++) {
		start(IORING_OP_READ, memory, 1, 0);
		enter(1, 0);
		/* An alarm ends the test before the watchdog would end the call, after timeout_ms. */
		alarm(50);
		ok(pread(other, &byte, 1, 0) == 1 && pwrite(other, &byte, 1, 0) == 1);
		alarm(0);
		take(1, 0);
	}
	leave();
	alarm(50);
	ok(pread(other, &byte, 1, 0) == 1 && pwrite(other, &byte, 1, 0) == 1);
	alarm(0);
	take(DEPTH, 0);
}

int main(int argc, char **argv)
{
	check(argc == 2, "usage: polled alone|depth|left|unbind|killed");
	set_up();
	if (!strcmp(argv[1], "alone"))
		alone();
	else if (!strcmp(argv[1], "depth"))
		depth();
	else if (!strcmp(argv[1], "left"))
		left();
	else
		leave();
	if (!strcmp(argv[1], "killed"))
		raise(SIGKILL);
	if (!strcmp(argv[1], "unbind")) {
		check(!system("echo " CARD " > " DRIVER "unbind"), "unbind");
		take(DEPTH, ENODEV);
	}
	finish("polled");
}
