// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Interrupts of the simulated board's user core, by every call of /dev/litepcie0_interruptM.
 * usage: interrupt          checks all calls
 *        interrupt COMMAND  waits in read() while a shell command runs, and prints
 *                           the error that read() returns, then that of a second one
 */
#include "uring.h"

#define ARM_US 20000
#define SOON 20000 /* milliseconds in which an interrupt comes */
#define SHORT 100

enum { LEVEL, PULSE, STORM, TIMER };

/* Of the user core, in /dev/litepcie0_user. */
enum { CORE_LEVEL = 0x08, CORE_PULSE = 0x0c, CORE_STORM = 0x10, TIMER_LOAD = 0x14, TIMER_RELOAD = 0x18, TIMER_EN = 0x1c,
	TIMER_PENDING = 0x2c, TIMER_ENABLE = 0x30 };

static int fds[4];

static void arm(int n, uint32_t on)
{
	check(write(fds[n], &on, 4) == 4, "%d: %s", n, strerror(errno));
}

/* Does an interrupt come in time? Returns its count, or 0. */
static uint32_t came(int n, int milliseconds)
{
	struct pollfd poll_fd = { .fd = fds[n], .events = POLLIN };
	uint32_t count = 0;

	if (!poll(&poll_fd, 1, milliseconds))
		return 0;
	check(poll_fd.revents == POLLIN, "%#x", poll_fd.revents);
	check(read(fds[n], &count, 4) == 4, "%d: %s", n, strerror(errno));
	return count;
}

static void level(void)
{
	uint32_t first;

	store(CORE_LEVEL, 1);
	check(!came(LEVEL, SHORT), "fired without being armed");
	arm(LEVEL, 1);
	first = came(LEVEL, SOON);
	check(first, "level");
	check(!came(LEVEL, SHORT), "fired twice");
	arm(LEVEL, 1);
	check(came(LEVEL, SOON) == first + 1, "still high");
	store(CORE_LEVEL, 0);
	arm(LEVEL, 1);
	check(!came(LEVEL, SHORT), "low");
	arm(LEVEL, 0);
	store(CORE_LEVEL, 1);
	check(!came(LEVEL, SHORT), "disarmed");
	store(CORE_LEVEL, 0);
}

static void pulse(void)
{
	int other = open_interrupt(PULSE, O_NONBLOCK);
	uint32_t count, second = 0;

	arm(PULSE, 1);
	store(CORE_PULSE, 1);
	count = came(PULSE, SOON);
	check(count, "pulse");
	/* Each file that is open gets it. */
	check(read(other, &second, 4) == 4 && second == count, "%u", second);
	ok(read(other, &second, 4) == -1 && errno == EAGAIN);
	/* After the message: kept until the interrupt is armed again. */
	store(CORE_PULSE, 1);
	store(CORE_PULSE, 1);
	check(!came(PULSE, SHORT), "fired without being armed");
	arm(PULSE, 1);
	check(came(PULSE, SOON) == count + 1, "pulse");
	arm(PULSE, 1);
	arm(PULSE, 1);
	check(!came(PULSE, SHORT), "once for two");
	close(other);
	/* Before the first open(): forgotten. */
	close(fds[PULSE]);
	store(CORE_PULSE, 1);
	fds[PULSE] = open_interrupt(PULSE, 0);
	arm(PULSE, 1);
	check(!came(PULSE, SHORT), "of before");
}

/* io_uring asks poll() whether a write() would wait. */
static void arm_with_uring(int n)
{
	uint32_t on = 1;
	struct uring ring;
	int result;

	uring_open(&ring, 1, 0);
	uring_put(&ring, (struct io_uring_sqe){ .opcode = IORING_OP_WRITE, .fd = fds[n], .len = 4, .off = (uint64_t)-1,
		.addr = (uintptr_t)&on });
	uring_enter(&ring, 1, 0);
	result = uring_take(&ring).res;
	check(result == 4, "%d", result);
	close(ring.fd);
}

static void storm(void)
{
	uint32_t first, count = 0;

	store(CORE_STORM, 1);
	arm_with_uring(STORM);
	first = came(STORM, SOON);
	for (int i = 1; i <= 50; i++) {
		arm(STORM, 1);
		count = came(STORM, SOON);
		check(count == first + i, "%u", count - first);
	}
	check(!came(STORM, SHORT), "fired without being armed");
	store(CORE_STORM, 0);
}

static void timer(void)
{
	store(TIMER_ENABLE, 1);
	store(TIMER_LOAD, 20000); /* longer than the simulator waits for a card that sends nothing */
	store(TIMER_RELOAD, 0);
	store(TIMER_PENDING, 1);
	for (int i = 0; i < 5; i++) {
		arm(TIMER, 1);
		store(TIMER_EN, 0);
		store(TIMER_EN, 1);
		check(came(TIMER, SOON), "timer");
		store(TIMER_PENDING, 1);
	}
	arm(TIMER, 1);
	check(!came(TIMER, SHORT), "the cause is gone");
}

static void errors(void)
{
	void *volatile nowhere = (void *)8;
	uint32_t word[2] = { 2, 0 };
	int idle = open_interrupt(LEVEL, O_NONBLOCK);

	expect_errno(read(idle, word, 8), EINVAL);
	expect_errno(read(idle, word, 2), EINVAL);
	expect_errno(write(idle, word, 8), EINVAL);
	expect_errno(write(idle, word, 4), EINVAL);
	expect_errno(write(idle, nowhere, 4), EFAULT);
	expect_errno(read(idle, word, 4), EAGAIN);
	expect_errno(lseek(idle, 0, SEEK_SET), ESPIPE);
	expect_errno(pread(idle, word, 4, 0), ESPIPE);
	close(idle);
}

static void report(void)
{
	uint32_t count;
	ssize_t got = read(fds[PULSE], &count, 4);

	puts(got == 4 ? "read" : errno == ENODATA ? "ENODATA" : errno == ENODEV ? "ENODEV" : strerror(errno));
}

int main(int argc, char **argv)
{
	user = open(USER, O_RDWR);
	for (int n = 0; n < 4; n++)
		fds[n] = open_interrupt(n, 0);
	if (argc > 1) {
		struct pollfd poll_fd = { .fd = fds[PULSE], .events = POLLIN };
		struct pollfd other = { .fd = open_interrupt(PULSE, 0), .events = POLLIN };
		pid_t child;

		arm(PULSE, 1);
		child = fork();
		if (!child) {
			usleep(ARM_US);
			_exit(system(argv[1]) != 0);
		}
		report();
		waitpid(child, NULL, 0);
		check(poll(&other, 1, 0) == 1 && other.revents & POLLERR, "poll() hides the loss: %#x", other.revents);
		if (poll(&poll_fd, 1, 0) && poll_fd.revents & POLLHUP)
			return puts("POLLHUP") < 0;
		arm(PULSE, 1);
		store(CORE_PULSE, 1);
		report();
		return 0;
	}
	level();
	pulse();
	storm();
	timer();
	errors();
	finish("interrupt");
}
