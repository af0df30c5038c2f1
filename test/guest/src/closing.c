// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * What close() waits for and ends: streams that the card does not take, and asynchronous calls.
 * usage: closing duplicate|exec|exit|nonblock|last|drains|slow|async
 */
#include "check.h"

#define CALLS 8
#define CALL_BYTES (512 << 10)

/* A stream whose ring is full: the card loops it back, and nobody reads. */
static int full_stream(int flags)
{
	static uint8_t bytes[65536];
	int fd = open(STREAM, O_WRONLY | O_CLOEXEC | O_NONBLOCK), full = 0;

	ok(fd >= 0);
	while (full < 50) {
		full = write(fd, bytes, sizeof(bytes)) < 0 ? full + 1 : 0;
		ok(!full || errno == EAGAIN);
		usleep(full * 1000);
	}
	ok(!fcntl(fd, F_SETFL, flags));
	return fd;
}

static unsigned long long lost(void)
{
	return number_in("/sys/class/litepcie_stream/litepcie0_stream0/reader/lost_bytes");
}

/* Closes one of two descriptors. */
static void duplicate(void)
{
	int fd = full_stream(0);

	ok(!close(dup(fd)));
	fcntl(fd, F_SETFL, O_NONBLOCK);
}

/* A child that has the file executes a program, which closes its descriptor, or exits. */
static void child(const char *program)
{
	int fd = full_stream(0);
	pid_t pid = forked();

	if (!pid) {
		if (program)
			execl(program, program, "true", NULL);
		_exit(program != NULL);
	}
	wait_child(pid);
	fcntl(fd, F_SETFL, O_NONBLOCK);
}

/* The last descriptor is closed: what the card has not taken is lost, and counted. */
static void last(int flags)
{
	unsigned long long before = lost();

	ok(!close(full_stream(flags)));
	check(lost() > before, "nothing was lost");
}

/* A child reads what comes back, slowly or not; the last close() waits until the card has taken all. */
static void drains(unsigned int pause_us)
{
	static uint8_t bytes[65536], got[65536];
	int out = open(STREAM, O_WRONLY), in = open(STREAM, O_RDONLY), status;
	size_t buffers = pause_us ? 140 : 80;
	unsigned long long before = lost();
	struct pollfd begin = { .fd = in, .events = POLLIN };
	double begun;
	pid_t pid;

	ok(out >= 0 && in >= 0 && poll(&begin, 1, 0) >= 0);
	pid = forked();
	if (!pid) {
		close(out);
		/* The rest of a packet that an earlier test cut comes first; then one read() fails with ENODATA. */
		while (read(in, got, sizeof(got)) > 0 || errno == ENODATA)
			usleep(pause_us);
		_exit(1);
	}
	close(in);
	fill(bytes, sizeof(bytes), 1);
	for (size_t i = 0; i < buffers; i++)
		ok(write(out, bytes, sizeof(bytes)) == sizeof(bytes));
	begun = now();
	ok(!close(out));
	printf("%.1f s\n", now() - begun);
	if (pause_us) {
		check(now() - begun > 25, "%.1f s", now() - begun);
		check(now() - begun < 40, "%.1f s", now() - begun);
		check(lost() > before, "nothing was lost");
	} else {
		check(lost() == before, "%llu bytes", lost() - before);
	}
	ok(!kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid);
	check(WIFSIGNALED(status), "the reader failed: status %x", status);
}

/* Closing a descriptor ends no call, be it a duplicate or not. An ioctl does. */
static void async(void)
{
	static struct iocb calls[CALLS];
	struct io_event events[CALLS];
	aio_context_t context = aio_setup(CALLS);
	int fd = open_device(), cancelled = 0;
	uint8_t *buffer;

	check(!posix_memalign((void **)&buffer, 4096, CALL_BYTES), "no memory");
	for (int pass = 0; pass < 3; pass++) {
		struct litepcie_cancel cancel = { .size = sizeof(cancel) };
		/* Only what the card does not have yet can be cancelled. */
		long long bytes = pass ? CALL_BYTES / 8 : CALL_BYTES;

		for (int i = 0; i < CALLS; i++) {
			struct iocb *call = &calls[i];

			*call = (struct iocb){ .aio_fildes = fd, .aio_lio_opcode = IOCB_CMD_PREAD,
				.aio_buf = (uintptr_t)buffer, .aio_nbytes = bytes };
			aio_submit(context, call);
		}
		if (!pass)
			ok(!ioctl(fd, LITEPCIE_IOC_CANCEL, &cancel));
		else
			ok(!close(pass == 1 ? dup(fd) : fd));
		aio_take(context, CALLS, CALLS, events);
		for (int i = 0; i < CALLS; i++) {
			cancelled += !pass && events[i].res == -ECANCELED;
			check(events[i].res == bytes || (!pass && events[i].res == -ECANCELED), "pass %d: %lld",
			      pass, events[i].res);
		}
		check(cancelled || pass, "none cancelled");
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (!strcmp(how, "duplicate"))
		duplicate();
	if (!strcmp(how, "exec"))
		child("/bin/busybox");
	if (!strcmp(how, "exit"))
		child(NULL);
	if (!strcmp(how, "nonblock"))
		last(O_NONBLOCK);
	if (!strcmp(how, "last"))
		last(0);
	if (!strcmp(how, "drains"))
		drains(0);
	if (!strcmp(how, "slow"))
		drains(600000);
	if (!strcmp(how, "async"))
		async();
	finish(how);
}
