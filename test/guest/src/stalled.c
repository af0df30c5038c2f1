// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Makes a call with memory whose pages do not come (userfaultfd) until the program gets SIGUSR1; prints "open" when the
 * call waits for a page, and at the end the errno.
 * usage: stalled read|write|gather|scatter|ioctl
 */
#include <linux/userfaultfd.h>
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
	else if (!strcmp(how, "ioctl"))
		n = ioctl(fd, LITEPCIE_IOC_INFO, buffer + 4096 - 8);
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
	size_t present = 0;
	pthread_t thread;
	sigset_t set;
	int number;

	how = argc > 1 ? argv[1] : "read";
	fd = open_device();
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	ok(!sigprocmask(SIG_BLOCK, &set, NULL));
	buffer = zeroed(BYTES);
	/* The first requests of a long call are with the card when a page does not come; an ioctl has its size. */
	if (!strcmp(how, "read") || !strcmp(how, "write"))
		present = BYTES - (1 << 20);
	else if (!strcmp(how, "ioctl"))
		present = 4096;
	memset(buffer, 0x3c, present);
	if (!strcmp(how, "ioctl"))
		memcpy(buffer + 4096 - 8, &(uint32_t[2]){ sizeof(struct litepcie_info), 0 }, 8);
	events.fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	ok(events.fd >= 0 && !ioctl(events.fd, UFFDIO_API, &api));
	area.range.start = (uintptr_t)buffer;
	area.range.len = BYTES;
	ok(!ioctl(events.fd, UFFDIO_REGISTER, &area));
	check(!pthread_create(&thread, NULL, call, NULL), "thread");
	ok(poll(&events, 1, -1) == 1);
	printf("open\n");
	fflush(stdout);
	ok(!sigwait(&set, &number));
	zero = (struct uffdio_zeropage){ .range = { (uintptr_t)buffer + present, BYTES - present } };
	ok(!ioctl(events.fd, UFFDIO_ZEROPAGE, &zero));
	check(!pthread_join(thread, NULL), "join");
	return 1;
}
