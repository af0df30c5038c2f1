// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Gives an ioctl a structure whose page does not come (userfaultfd), runs a
 * shell command meanwhile, lets the page come and prints the errno.
 * usage: stalled_ioctl COMMAND
 */
#include <linux/litepcie.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "check.h"

static void *page;
static int fd;

static void *call(void *unused)
{
	(void)unused;
	puts(ioctl(fd, LITEPCIE_IOC_INFO, page) ? strerror(errno) : "done");
	return NULL;
}

int main(int argc, char **argv)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register area = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct litepcie_info info = { .size = sizeof(info) };
	static uint8_t bytes[4096] __attribute__((aligned(4096)));
	struct pollfd events = { .events = POLLIN };
	struct uffdio_copy copy;
	pthread_t thread;

	check(argc == 2, "usage: stalled_ioctl COMMAND");
	fd = open_device();
	page = zeroed(4096);
	events.fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	check(events.fd >= 0 && !ioctl(events.fd, UFFDIO_API, &api), "%s", strerror(errno));
	area.range = (struct uffdio_range){ (uintptr_t)page, 4096 };
	check(!ioctl(events.fd, UFFDIO_REGISTER, &area), "%s", strerror(errno));
	check(!pthread_create(&thread, NULL, call, NULL), "thread");
	check(poll(&events, 1, -1) == 1, "%s", strerror(errno));
	check(!system(argv[1]), "'%s' failed", argv[1]);
	memcpy(bytes, &info, sizeof(info));
	copy = (struct uffdio_copy){ .dst = (uintptr_t)page, .src = (uintptr_t)bytes, .len = 4096 };
	check(!ioctl(events.fd, UFFDIO_COPY, &copy), "%s", strerror(errno));
	check(!pthread_join(thread, NULL), "join");
	return 0;
}
