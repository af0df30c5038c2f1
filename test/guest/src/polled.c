// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * io_uring with IORING_SETUP_IOPOLL: calls end without an interrupt, whoever polls or
 * does not poll.
 *
 * usage: polled alone    one call at a time: no interrupt
 *        polled depth    32 calls at a time, of all sizes
 *        polled left     calls that nobody polls for, and a pread of another file beside them
 *        polled unbind   the same, then unbinds the card: the calls end with ENODEV or their bytes
 *        polled killed   leaves calls, and is killed
 */
#define _GNU_SOURCE
#include <linux/io_uring.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "check.h"

#define DEPTH 32
#define SLOT (1 << 16)

static int fd, ring;
static uint8_t *memory;
static unsigned int *sq, *cq;
static struct io_uring_params p;
static struct io_uring_sqe *entries;

static void set_up(void)
{
	fd = open(DEVICE, O_RDWR | O_DIRECT);
	check(fd >= 0, "%s", strerror(errno));
	p.flags = IORING_SETUP_IOPOLL;
	ring = syscall(SYS_io_uring_setup, DEPTH, &p);
	check(ring >= 0, "%s", strerror(errno));
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		  IORING_OFF_SQ_RING);
	cq = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE, MAP_SHARED,
		  ring, IORING_OFF_CQ_RING);
	entries = mmap(NULL, p.sq_entries * sizeof(*entries), PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		       IORING_OFF_SQES);
	check(sq != MAP_FAILED && cq != MAP_FAILED && entries != MAP_FAILED, "%s", strerror(errno));
	memory = mmap(NULL, DEPTH * SLOT * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(memory != MAP_FAILED, "%s", strerror(errno));
	memset(memory, 1, DEPTH * SLOT * 2);
}

static void start(unsigned int opcode, uint8_t *at, unsigned int bytes, off_t offset)
{
	unsigned int *tail = &sq[p.sq_off.tail / 4], slot = *tail & (p.sq_entries - 1);

	entries[slot] = (struct io_uring_sqe){ .opcode = opcode, .fd = fd, .addr = (uintptr_t)at, .len = bytes,
					       .off = offset, .user_data = bytes };
	sq[p.sq_off.array / 4 + slot] = slot;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
}

static void enter(unsigned int new, unsigned int least)
{
	long taken = syscall(SYS_io_uring_enter, ring, new, least, least ? IORING_ENTER_GETEVENTS : 0, NULL, 0);

	check(taken == (long)new, "%ld: %s", taken, strerror(errno));
}

/* Takes `count` ends; each has its bytes, or -`error` if that is not 0. */
static void take(unsigned int count, int error)
{
	unsigned int *head = &cq[p.cq_off.head / 4], *tail = &cq[p.cq_off.tail / 4];

	while (count) {
		struct io_uring_cqe *end = (void *)((uint8_t *)cq + p.cq_off.cqes);

		while (*head == __atomic_load_n(tail, __ATOMIC_ACQUIRE))
			enter(0, 1);
		end += *head & (p.cq_entries - 1);
		check(end->res == (int)end->user_data || (error && end->res == -error), "ended with %d", end->res);
		__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
		count--;
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

	for (unsigned int i = 0; i < 64; i++) {
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
	check(!before, "%lu interrupts of 128 calls", before);
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
		/* An alarm ends the test: the watchdog would end the call after timeout_ms. */
		alarm(5);
		check(pread(other, &byte, 1, 0) == 1 && pwrite(other, &byte, 1, 0) == 1, "%s", strerror(errno));
		alarm(0);
		take(1, 0);
	}
	leave();
	alarm(5);
	check(pread(other, &byte, 1, 0) == 1 && pwrite(other, &byte, 1, 0) == 1, "%s", strerror(errno));
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
		check(!system("echo 0000:01:00.0 > /sys/bus/pci/drivers/litepcie/unbind"), "unbind");
		take(DEPTH, ENODEV);
	}
	finish("polled");
}
