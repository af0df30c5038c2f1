// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * The queue of the driver: limits, cancellation, fairness, signals. Bytes are counted by the card, so nothing here
 * depends on the speed of the machine.
 * usage: queue bound|files|nowait|signal|cancel|close|killed|killed-uring
 *        queue flood FILES   reads for ever, as much as the driver takes
 *        queue ahead COUNT   prints the bytes that the card moved during each 1-byte read
 */
#include "uring.h"

#define CALL_BYTES (4 << 20)
#define CALLS 64
#define FILE_LIMIT (8 << 20)
#define CARD_LIMIT (64 << 20)
#define FILES 40
#define COMMITTED (2 << 20)
/* The card moves this at most between a system call and the read of its counter beside it. */
#define SLACK (1 << 20)

static int fd;
static uint8_t *buffer;
static aio_context_t context;
static struct iocb calls[CALLS];
static long long results[CALLS];
static unsigned int ended;

static uint64_t card_bytes(void)
{
	unsigned int channels = card_info(fd).channels;
	uint64_t bytes = 0;

	for (unsigned int channel = 0; channel < channels; channel++)
		bytes += card_counters(fd, channel, LITEPCIE_FROM_CARD).bytes;
	return bytes;
}

/* All these calls moved their bytes. */
static void all_moved(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		check(results[i] == CALL_BYTES, "call %u: %lld", i, results[i]);
}

static long long pinned_pages(void)
{
	return number_in("/sys/kernel/debug/litepcie/pinned_pages");
}

static void nonblocking(bool on)
{
	ok(!fcntl(fd, F_SETFL, on ? O_NONBLOCK : 0));
}

/* Puts the results of calls that have ended into `results` by number; waits for `least` of them. */
static void collect(unsigned int least)
{
	struct timespec now = { 0 };
	struct io_event events[CALLS];
	long count;

	do {
		count = syscall(SYS_io_getevents, context, least ? 1 : 0, CALLS, events, least ? NULL : &now);
		/* An io_uring that is closed interrupts it. */
		if (count < 0 && errno == EINTR)
			continue;
		ok(count >= 0);
		for (long i = 0; i < count; i++)
			results[events[i].data] = events[i].res;
		ended += count;
		least -= (unsigned long)count < least ? count : least;
	} while (least);
}

/* Starts call number n, a read of CALL_BYTES; true, or false if the driver has no room. */
static bool start(unsigned int n)
{
	struct iocb *call = &calls[n];

	*call = (struct iocb){ .aio_fildes = fd, .aio_lio_opcode = IOCB_CMD_PREAD,
			       .aio_buf = (uintptr_t)buffer, .aio_nbytes = CALL_BYTES,
			       .aio_offset = (off_t)(n % 8) * CALL_BYTES, .aio_data = n };
	results[n] = 0;
	aio_submit(context, call);
	collect(0);
	if (results[n] != -EAGAIN)
		return true;
	ended--;
	return false;
}

/* Starts calls until the driver refuses one; the number of calls. */
static unsigned int fill_queue(void)
{
	unsigned int n = 0;

	ended = 0;
	nonblocking(true);
	while (n < CALLS && start(n))
		n++;
	nonblocking(false);
	check(n, "no room in an empty queue");
	return n;
}

/* Waits for the other calls of fill_queue(). */
static void empty_queue(unsigned int count)
{
	collect(count - ended);
}

static void bound(void)
{
	unsigned int count = fill_queue();

	/* One call may have ended during the submission of the next ones. */
	check(count <= FILE_LIMIT / CALL_BYTES + 1, "%u calls of 4 MiB were queued", count);
	check(pinned_pages() <= FILE_LIMIT / 4096, "%lld pages are pinned", pinned_pages());
	empty_queue(count);
	all_moved(count);
	/* Without O_NONBLOCK, io_submit() waits for room. */
	ended = 0;
	for (unsigned int i = 0; i < 3; i++)
		check(start(i), "refused");
	empty_queue(3);
	all_moved(3);
}

/* Many open files together hold no more than what all calls may. */
static void files(void)
{
	unsigned int count = 0;

	ended = 0;
	for (unsigned int i = 0; i < FILES; i++) {
		fd = open_device();
		nonblocking(true);
		count += start(count);
	}
	check(pinned_pages() <= CARD_LIMIT / 4096, "%lld pages are pinned", pinned_pages());
	empty_queue(count);
	all_moved(count);
	check(count >= CARD_LIMIT / CALL_BYTES, "%u calls", count);
}

static void nowait(void)
{
	struct iovec byte = { buffer, 1 };
	unsigned int count;
	uint8_t other;

	/* A transfer takes time, so RWF_NOWAIT refuses each call that is not asynchronous. */
	check(preadv2(fd, &byte, 1, 0, RWF_NOWAIT) == -1 && errno == EAGAIN, "RWF_NOWAIT: %s", strerror(errno));
	expect_errno(pwritev2(fd, &byte, 1, 0, RWF_NOWAIT), EAGAIN);
	count = fill_queue();
	nonblocking(true);
	check(pread(fd, &other, 1, 0) == -1 && errno == EAGAIN, "O_NONBLOCK: %s", strerror(errno));
	nonblocking(false);
	empty_queue(count);
	nonblocking(true);
	check(pread(fd, &other, 1, 0) == 1, "O_NONBLOCK: %s", strerror(errno));
}

/* A call that waits for room ends with EINTR. Room may come before the signal: then it is tried again. */
static void interrupted(void)
{
	struct itimerval soon = { .it_value = { .tv_usec = 1000 } };
	unsigned int count, tries = 0;
	uint8_t other;
	ssize_t n;

	alarm_ends_calls();
	do {
		count = fill_queue();
		ok(!setitimer(ITIMER_REAL, &soon, NULL));
		n = pread(fd, &other, 1, 0);
		check(n == 1 || errno == EINTR, "returned %zd: %s", n, strerror(errno));
		empty_queue(count);
	} while (n == 1 && ++tries < 50);
	check(n == -1, "no signal ended a call that waits");
	tries = 0;
	do {
		count = fill_queue();
		n = uring_cancelled((struct io_uring_sqe){ .opcode = IORING_OP_READ, .fd = fd, .len = 1,
			.addr = (uintptr_t)&other });
		check(n == 1 || n == -EINTR, "io_uring: %zd", n);
		empty_queue(count);
	} while (n == 1 && ++tries < 50);
	check(n < 0, "no call of io_uring that waits was cancelled");
}

static void cancel(void)
{
	unsigned int count = fill_queue();
	struct io_event event;

	for (unsigned int i = count; i--;)
		check(syscall(SYS_io_cancel, context, &calls[i], &event) == -1 &&
		      errno == EINPROGRESS, "io_cancel: %s", strerror(errno));
	empty_queue(count);
	check(results[count - 1] == -ECANCELED, "the last call: %lld", results[count - 1]);
}

/* Calls outlive the descriptor that they were made with. */
static void closing(void)
{
	unsigned int count = fill_queue();

	ok(!close(fd));
	empty_queue(count);
	all_moved(count);
}

/* As fill_queue(), with io_uring. */
static void fill_uring(void)
{
	struct uring ring;

	uring_open(&ring, CALLS, 0);
	for (unsigned int i = 0; i < CALLS; i++)
		uring_put(&ring, (struct io_uring_sqe){ .opcode = IORING_OP_READ, .fd = fd, .addr = (uintptr_t)buffer,
							.len = CALL_BYTES, .off = (uint64_t)(i % 8) * CALL_BYTES });
	uring_enter(&ring, CALLS, 0);
}

/* A process is killed with a full queue: the card moves only what it had. */
static void killed(void (*fill)(void))
{
	uint64_t before, moved;
	int pipes[2];
	char byte;
	pid_t pid;

	ok(!pipe(pipes));
	pid = forked();
	if (!pid) {
		ok(!syscall(SYS_io_setup, CALLS, &context));
		fill();
		ok(write(pipes[1], "", 1) == 1);
		for (;;)
			pause();
	}
	ok(read(pipes[0], &byte, 1) == 1);
	before = card_bytes();
	ok(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
	while (pinned_pages())
		usleep(1000);
	moved = card_bytes() - before;
	check(moved <= COMMITTED + SLACK, "%llu bytes were moved after the kill", (unsigned long long)moved);
}

static void fill_aio(void)
{
	fill_queue();
}

/* Reads for ever from `files` open files, with a process for each. */
static void flood(unsigned int files)
{
	while (--files && fork() > 0)
		;
	fd = open_device();
	ok(!syscall(SYS_io_setup, CALLS, &context));
	for (;;) {
		ended = 0;
		for (unsigned int i = 0; i < CALLS; i++)
			start(i);
		empty_queue(CALLS);
	}
}

static void ahead(unsigned int count)
{
	uint64_t before;
	uint8_t byte;

	while (count--) {
		before = card_bytes();
		ok(pread(fd, &byte, 1, 0) == 1);
		printf("%llu\n", (unsigned long long)(card_bytes() - before));
	}
	exit(0);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = { { "bound", bound }, { "files", files }, { "nowait", nowait },
					     { "signal", interrupted }, { "cancel", cancel }, { "close", closing } };
	const char *how = argc > 1 ? argv[1] : "";

	fd = open_device();
	check(!posix_memalign((void **)&buffer, 4096, CALL_BYTES), "no memory");
	memset(buffer, 0x3c, CALL_BYTES);
	if (!strcmp(how, "flood"))
		flood(atoi(argv[2]));
	if (!strcmp(how, "ahead"))
		ahead(atoi(argv[2]));
	if (!strcmp(how, "killed"))
		killed(fill_aio);
	if (!strcmp(how, "killed-uring"))
		killed(fill_uring);
	ok(!syscall(SYS_io_setup, CALLS, &context));
	for (unsigned int i = 0; i < ARRAY_SIZE(tests); i++)
		if (!strcmp(how, tests[i].name))
			tests[i].run();
	finish(how);
}
