// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of /dev/litepcie0: documented errors, transfers at the ends of the
 * memory, mappings, fork. The tests overwrite the memory of the card.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/litepcie.h>

#include "../../kselftest_harness.h"

#define DEVICE	"/dev/litepcie0"
#define LENGTH	10007

FIXTURE(card)
{
	int fd;
	long page;
	struct litepcie_info info;
	unsigned char *out;
	unsigned char *in;
};

FIXTURE_SETUP(card)
{
	self->fd = open(DEVICE, O_RDWR);
	if (self->fd < 0 && errno == ENOENT)
		SKIP(return, "there is no " DEVICE);
	ASSERT_LE(0, self->fd);
	self->page = sysconf(_SC_PAGESIZE);
	self->info = (struct litepcie_info) { .size = sizeof(self->info) };
	ASSERT_EQ(0, ioctl(self->fd, LITEPCIE_IOC_INFO, &self->info));
	self->out = malloc(LENGTH);
	self->in = calloc(1, LENGTH);
	ASSERT_NE(NULL, self->out);
	ASSERT_NE(NULL, self->in);
	for (int i = 0; i < LENGTH; i++)
		self->out[i] = i * 7 + (i >> 8);
}

FIXTURE_TEARDOWN(card)
{
	free(self->out);
	free(self->in);
	close(self->fd);
}

TEST_F(card, info)
{
	EXPECT_EQ(sizeof(self->info), self->info.size);
	EXPECT_EQ(LITEPCIE_UAPI_VERSION, self->info.uapi_version);
	EXPECT_LT(0, self->info.memory_bytes);
	EXPECT_EQ(0, self->info.stream_lacks & 1);
}

TEST_F(card, memory)
{
	off_t offset = self->info.memory_bytes - LENGTH;

	ASSERT_EQ(LENGTH, pwrite(self->fd, self->out, LENGTH, offset));
	ASSERT_EQ(LENGTH, pread(self->fd, self->in, LENGTH, offset));
	EXPECT_EQ(0, memcmp(self->out, self->in, LENGTH));
}

TEST_F(card, end_of_memory)
{
	off_t end = self->info.memory_bytes;

	EXPECT_EQ(1, pwrite(self->fd, self->out, 2, end - 1));
	EXPECT_EQ(1, pread(self->fd, self->in, 2, end - 1));
	EXPECT_EQ(0, pread(self->fd, self->in, 1, end));
	EXPECT_EQ(-1, pwrite(self->fd, self->out, 1, end));
	EXPECT_EQ(ENOSPC, errno);
	EXPECT_EQ(-1, pread(self->fd, self->in, 1, -1));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(card, bad_pointers)
{
	void *bad = mmap(NULL, self->page, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, bad);
	EXPECT_EQ(-1, pread(self->fd, bad, 1, 0));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, pwrite(self->fd, bad, 1, 0));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, ioctl(self->fd, LITEPCIE_IOC_INFO, bad));
	EXPECT_EQ(EFAULT, errno);
}

TEST_F(card, ioctl_sizes)
{
	struct { struct litepcie_info info; char more[64]; } later = {};
	struct litepcie_info info = { .size = 8 };

	EXPECT_EQ(-1, ioctl(self->fd, LITEPCIE_IOC_INFO, &info));
	EXPECT_EQ(EINVAL, errno);
	later.info.size = sizeof(later);
	EXPECT_EQ(0, ioctl(self->fd, LITEPCIE_IOC_INFO, &later));
	EXPECT_EQ(sizeof(struct litepcie_info), later.info.size);
	memset(&later, 0, sizeof(later));
	later.info.size = sizeof(later);
	later.more[63] = 1;
	EXPECT_EQ(-1, ioctl(self->fd, LITEPCIE_IOC_INFO, &later));
	EXPECT_EQ(E2BIG, errno);
}

TEST_F(card, ioctl_members)
{
	struct litepcie_info info = { .size = sizeof(info), .flags = 1 };
	struct litepcie_counters counters = {
		.size = sizeof(counters), .channel = 1000,
	};

	EXPECT_EQ(-1, ioctl(self->fd, LITEPCIE_IOC_INFO, &info));
	EXPECT_EQ(EINVAL, errno);
	info.flags = 0;
	info.reserved[0] = 1;
	EXPECT_EQ(-1, ioctl(self->fd, LITEPCIE_IOC_INFO, &info));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(self->fd, LITEPCIE_IOC_COUNTERS, &counters));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(self->fd, _IO(LITEPCIE_IOC_MAGIC, 0xff), &info));
	EXPECT_EQ(ENOTTY, errno);
}

TEST_F(card, read_only_file)
{
	struct litepcie_scratch scratch = { .size = sizeof(scratch) };
	struct litepcie_reset reset = { .size = sizeof(reset) };
	int fd = open(DEVICE, O_RDONLY);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, write(fd, self->out, 1));
	EXPECT_EQ(EBADF, errno);
	EXPECT_EQ(-1, ioctl(fd, LITEPCIE_IOC_SCRATCH, &scratch));
	EXPECT_EQ(EBADF, errno);
	EXPECT_EQ(-1, ioctl(fd, LITEPCIE_IOC_RESET, &reset));
	EXPECT_EQ(EBADF, errno);
	close(fd);
}

TEST_F(card, scratch_and_reset)
{
	struct litepcie_scratch scratch = {
		.size = sizeof(scratch), .value = 0x12345678,
	};
	struct litepcie_reset reset = {
		.size = sizeof(reset), .direction = LITEPCIE_FROM_CARD,
	};

	ASSERT_EQ(0, ioctl(self->fd, LITEPCIE_IOC_SCRATCH, &scratch));
	EXPECT_EQ(0x12345678, scratch.readback);
	if (!geteuid()) {
		EXPECT_EQ(0, ioctl(self->fd, LITEPCIE_IOC_RESET, &reset));
		ASSERT_EQ(0, setuid(65534));
	}
	EXPECT_EQ(-1, ioctl(self->fd, LITEPCIE_IOC_RESET, &reset));
	EXPECT_EQ(EPERM, errno);
}

TEST_F(card, window_bounds)
{
	size_t bytes = self->info.window_bytes;
	void *map;

	if (!bytes)
		SKIP(return, "the card has no window");
	map = mmap(NULL, self->page, PROT_READ, MAP_PRIVATE, self->fd, 0);
	EXPECT_EQ(MAP_FAILED, map);
	EXPECT_EQ(EINVAL, errno);
	map = mmap(NULL, 2 * self->page, PROT_READ, MAP_SHARED, self->fd,
		   bytes - self->page);
	EXPECT_EQ(MAP_FAILED, map);
	EXPECT_EQ(EINVAL, errno);
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, map);
	__atomic_store_n((unsigned int *)map, 0x89abcdef, __ATOMIC_RELAXED);
	EXPECT_EQ(0x89abcdef,
		  __atomic_load_n((unsigned int *)map, __ATOMIC_RELAXED));
	ASSERT_EQ(4, pread(self->fd, self->in, 4, 0));
	EXPECT_EQ(0, memcmp(self->in, "\xef\xcd\xab\x89", 4));
	munmap(map, bytes);
}

TEST_F(card, fork_shares_the_file)
{
	int status;
	pid_t child;

	ASSERT_EQ(LENGTH, pwrite(self->fd, self->out, LENGTH, 0));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		if (pread(self->fd, self->in, LENGTH, 0) != LENGTH)
			_exit(1);
		_exit(!!memcmp(self->out, self->in, LENGTH));
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(LENGTH, pread(self->fd, self->in, LENGTH, 0));
	EXPECT_EQ(0, memcmp(self->out, self->in, LENGTH));
}

TEST_HARNESS_MAIN
