// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Reads or writes with a buffer whose pages do not come (userfaultfd) until the
 * program gets SIGUSR1; prints "open" when the call waits for a page, and at
 * the end the errno. usage: stalled read|write|gather|scatter
 */
#define _GNU_SOURCE
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include "check.h"

#define BYTES (3 << 20)

static const char *how;
static uint8_t *buffer;
static int fd;

/* Two pieces smaller than a page are copied by the driver, not pinned. */
static void *call(void *unused)
{
	struct iovec pieces[2] = { { buffer, 100 }, { buffer + 8192, 100 } };
	ssize_t n;

	(void)unused;
	if (!strcmp(how, "read"))
		n = pread(fd, buffer, BYTES, 0);
	else if (!strcmp(how, "write"))
		n = pwrite(fd, buffer, BYTES, 0);
	else if (!strcmp(how, "scatter"))
		n = preadv(fd, pieces, 2, 0);
	else
		n = pwritev(fd, pieces, 2, 0);
	printf("ended: %s\n", n < 0 ? strerror(errno) : "bytes were moved");
	exit(0);
}

int main(int argc, char **argv)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register area = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct pollfd events = { .events = POLLIN };
	struct uffdio_zeropage zero;
	pthread_t thread;
	sigset_t set;
	int number;

	how = argc > 1 ? argv[1] : "read";
	fd = open_device();
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	check(!sigprocmask(SIG_BLOCK, &set, NULL), "%s", strerror(errno));
	buffer = zeroed(BYTES);
	/* The first requests of a long call are with the card when a page does not come. */
	if (!strcmp(how, "read") || !strcmp(how, "write"))
		memset(buffer, 0x3c, BYTES - (1 << 20));
	events.fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	check(events.fd >= 0 && !ioctl(events.fd, UFFDIO_API, &api), "%s", strerror(errno));
	area.range.start = (uintptr_t)buffer;
	area.range.len = BYTES;
	check(!ioctl(events.fd, UFFDIO_REGISTER, &area), "%s", strerror(errno));
	check(!pthread_create(&thread, NULL, call, NULL), "thread");
	check(poll(&events, 1, -1) == 1, "%s", strerror(errno));
	printf("open\n");
	fflush(stdout);
	check(!sigwait(&set, &number), "%s", strerror(errno));
	zero = (struct uffdio_zeropage){ .range = { (uintptr_t)buffer, BYTES } };
	if (!strcmp(how, "read") || !strcmp(how, "write"))
		zero.range = (struct uffdio_range){ (uintptr_t)buffer + BYTES - (1 << 20), 1 << 20 };
	check(!ioctl(events.fd, UFFDIO_ZEROPAGE, &zero), "%s", strerror(errno));
	check(!pthread_join(thread, NULL), "join");
	return 1;
}
