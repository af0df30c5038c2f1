// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Buffers in host memory that the simulated board's user logic copies between.
 * usage: hostbuf             checks all calls
 *        hostbuf COMMAND     copies again and again while a shell command runs;
 *                            says whether the copy goes on, and what the mapping
 *                            and a new buffer give
 */
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include "hostbuf.h"

#define INTERRUPT "/dev/litepcie0_interrupt4"
#define BUFFERS 4
#define BYTES 16384
#define SHORT 2048
#define REUSED (2 * LIMIT) /* What a program gets after the buffers were freed: their pages first. */

/* Of the copier, in USER. */
enum { SOURCE = 0x800, TARGET = 0x804, WORDS = 0x808, CONTROL = 0x80c, STATUS = 0x810, ERRORS = 0x814, COPIED = 0x818 };
enum { START = 1, AGAIN = 2, GIVE_UP = 1 << 8 };

static void copy(uint32_t source, uint32_t target, uint32_t bytes, uint32_t control)
{
	store(SOURCE, source);
	store(TARGET, target);
	store(WORDS, bytes / 4);
	store(CONTROL, control);
}

static void stop(void)
{
	store(CONTROL, 0);
	while (load(STATUS))
		;
}

static void both_ways(void)
{
	struct buffer a = buffer(fd, BYTES, READ), b = buffer(fd, BYTES - 100, WRITE);
	int interrupt = open(INTERRUPT, O_RDWR);
	uint32_t count, on = 1;

	check(interrupt >= 0, "%s", strerror(errno));
	check_value(a.bytes, 0, BYTES, "a new buffer");
	check_value(b.bytes, 0, BYTES, "a new buffer");
	for (uint32_t pass = 0; pass < 20; pass++) {
		uint32_t from = pass * 60, to = pass * 800, bytes = 4 + pass * 36;

		fill(a.bytes, BYTES, pass);
		memset(b.bytes, 0x5a, BYTES);
		check(write(interrupt, &on, 4) == 4, "%s", strerror(errno));
		copy(a.is.card_address + from, b.is.card_address + to, bytes, START);
		check(read(interrupt, &count, 4) == 4, "%s", strerror(errno));
		/* The interrupt does not overtake the last byte. */
		check_bytes(b.bytes + to, a.bytes + from, bytes, "copied");
		check_value(b.bytes, 0x5a, to, "before");
		check_value(b.bytes + to + bytes, 0x5a, BYTES - to - bytes, "after");
		check(load(COPIED) == bytes / 4 && !load(ERRORS), "%u copied, %u errors", load(COPIED), load(ERRORS));
	}
	/* The second half is beyond the end. */
	memset(b.bytes, 0x5a, BYTES);
	copy(a.is.card_address, b.is.card_address + BYTES - 64, 128, START);
	stop();
	check(load(COPIED) == 16 && load(ERRORS) == 16, "%u copied, %u errors", load(COPIED), load(ERRORS));
	check_value(b.bytes, 0x5a, BYTES - 64, "before");
	/* Against the direction that was allowed, of no buffer, and after destroy. */
	copy(b.is.card_address, a.is.card_address, 64, START);
	stop();
	check(!load(COPIED) && load(ERRORS) == 16, "%u copied, %u errors", load(COPIED), load(ERRORS));
	copy(3 * LIMIT, b.is.card_address, 64, START);
	stop();
	check(load(ERRORS) == 16, "%u errors", load(ERRORS));
	release(fd, &a);
	copy(a.is.card_address, b.is.card_address, 64, START);
	stop();
	check(load(ERRORS) == 16, "%u errors", load(ERRORS));
	release(fd, &b);
	close(interrupt);
}

/* The file is closed while the card copies: its memory goes to others, and stays theirs. */
static void close_while_copying(void)
{
	for (uint32_t pass = 0; pass < 4; pass++) {
		int other = open_device();
		struct buffer a = buffer(other, BYTES, READ), b = buffer(other, LIMIT, WRITE);
		uint8_t *mine;

		memset(a.bytes, 0xee, BYTES);
		copy(a.is.card_address, b.is.card_address, BYTES, START | AGAIN | pass * GIVE_UP * 3);
		usleep(20000);
		munmap(a.bytes, a.is.bytes);
		munmap(b.bytes, b.is.bytes);
		close(other);
		mine = mmap(NULL, REUSED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		check(mine != MAP_FAILED, "%s", strerror(errno));
		fill(mine, REUSED, pass);
		usleep(20000);
		check_pattern(mine, REUSED, pass);
		check(load(ERRORS) > 0, "the card still has the buffer");
		stop();
		munmap(mine, REUSED);
	}
}

static void errors(void)
{
	struct litepcie_hostbuf_create bad = { .size = sizeof(bad), .flags = READ, .bytes = 4096, .reserved = { 1 } };
	struct litepcie_hostbuf_destroy worse = { .size = sizeof(worse), .handle = 1, .reserved0 = 1 };
	int other = open_device(), reader = open(DEVICE, O_RDONLY);
	struct buffer b[BUFFERS], more;
	size_t page = page_bytes();

	expect_errno(create(fd, &more, 4096, 0), EINVAL);
	expect_errno(create(fd, &more, 4096, 4), EINVAL);
	expect_errno(create(fd, &more, 0, READ), EINVAL);
	expect_errno(create(fd, &more, LIMIT + 1, READ), EINVAL);
	expect_errno(create(fd, &more, 1ull << 40, READ), EINVAL);
	expect_errno(create(fd, &more, ~0ull, READ), EINVAL);
	expect_errno(create(reader, &more, 4096, READ), EBADF);
	expect_errno(ioctl(fd, LITEPCIE_IOC_HOSTBUF_CREATE, &bad), EINVAL);
	expect_errno(ioctl(fd, LITEPCIE_IOC_HOSTBUF_DESTROY, &worse), EINVAL);
	for (int i = 0; i < BUFFERS; i++)
		b[i] = buffer(fd, i ? 4096 : LIMIT, READ | WRITE);
	expect_errno(create(other, &more, 4096, READ), ENOSPC);
	expect_errno(destroy(fd, 0), ENOENT);
	expect_errno(destroy(fd, 17), ENOENT);
	expect_errno(destroy(fd, ~0u), ENOENT);
	expect_errno(destroy(other, b[0].is.handle), ENOENT);
	expect_errno(mmap(NULL, 4096, PROT_READ, MAP_SHARED, other, b[0].is.map_offset), EINVAL); /* of another file */
	expect_errno(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, b[0].is.map_offset), EINVAL); /* private */
	expect_errno(mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, fd, b[1].is.map_offset), EINVAL); /* too long */
	expect_errno(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, b[1].is.map_offset + page), EINVAL); /* beyond */
	expect_errno(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 1ull << 42), EINVAL); /* nowhere */
	for (int i = 0; i < BUFFERS; i++)
		release(fd, &b[i]);
	expect_errno(destroy(fd, b[0].is.handle), ENOENT);
	close(other);
	close(reader);
}

static void on_sigbus(int signal)
{
	(void)signal;
	(void)!write(1, "SIGBUS\n", 7);
	_exit(0);
}

/* Parent and child share file, buffers and mappings, until the last of them is gone. */
static void forked(void)
{
	int shared = open_device(), last[2];
	struct buffer a = buffer(shared, SHORT, READ), b = buffer(shared, SHORT, WRITE), more;
	pid_t child;
	char byte;

	/* What the child writes, the card reads; what the card writes, both see. No page of them is copied. */
	fill(a.bytes, SHORT, 1);
	child = fork();
	check(child >= 0, "%s", strerror(errno));
	if (!child) {
		check_pattern(a.bytes, SHORT, 1);
		fill(a.bytes, SHORT, 2);
		copy(a.is.card_address, b.is.card_address, SHORT, START);
		stop();
		check_pattern(b.bytes, SHORT, 2);
		/* Its file is the parent's: the new buffer stays when the child exits. */
		check(!create(shared, &more, 4096, READ), "%s", strerror(errno));
		_exit(0);
	}
	wait_child(child);
	check_pattern(b.bytes, SHORT, 2);
	fill(a.bytes, SHORT, 3);
	copy(a.is.card_address, b.is.card_address, SHORT, START);
	stop();
	check(!load(ERRORS), "%u errors", load(ERRORS));
	check_pattern(b.bytes, SHORT, 3);
	check(!destroy(shared, b.is.handle + 1), "the buffer of the child: %s", strerror(errno));

	/* The parent destroys a buffer: the child's mapping has no page of it any more. */
	child = fork();
	check(child >= 0, "%s", strerror(errno));
	if (!child) {
		signal(SIGBUS, on_sigbus);
		while (1)
			(void)((volatile uint8_t *)b.bytes)[0];
	}
	release(shared, &b);
	wait_child(child);

	/* Only the mapping of a child is left: the card keeps the buffer until that is gone, too. */
	b = buffer(shared, SHORT, WRITE);
	copy(a.is.card_address, b.is.card_address, SHORT, START | AGAIN);
	check(!pipe(last), "%s", strerror(errno));
	child = fork();
	check(child >= 0, "%s", strerror(errno));
	if (!child) {
		close(shared);
		close(last[1]);
		check(!read(last[0], &byte, 1), "the end of the pipe");
		memset(b.bytes, 0, SHORT);
		for (size_t i = 0; i < SHORT; i++)
			while (((volatile uint8_t *)b.bytes)[i] != pattern(i, 3))
				usleep(1000);
		check(!load(ERRORS), "%u errors", load(ERRORS));
		_exit(0);
	}
	munmap(a.bytes, a.is.bytes);
	munmap(b.bytes, b.is.bytes);
	close(shared);
	close(last[0]);
	close(last[1]);
	wait_child(child);
	while (!load(ERRORS))
		;
	stop();
	check(!create(fd, &more, LIMIT, READ) && !destroy(fd, more.is.handle), "%s", strerror(errno));
}

static void during(const char *command)
{
	struct buffer a = buffer(fd, BYTES, READ), b = buffer(fd, BYTES, WRITE), more;
	uint8_t *mine = malloc(REUSED);

	memset(a.bytes, 0xee, BYTES);
	copy(a.is.card_address, b.is.card_address, BYTES, START | AGAIN);
	check(!system(command), "%s", command);
	fill(mine, REUSED, 1);
	usleep(50000);
	for (size_t i = 0; i < REUSED; i++)
		check(mine[i] == pattern(i, 1), "byte %zu is %02x", i, mine[i]);
	if (!create(fd, &more, 4096, READ)) {
		stop();
		memset(b.bytes, 0, BYTES);
		copy(a.is.card_address, b.is.card_address, BYTES, START);
		stop();
		check_value(b.bytes, 0xee, BYTES, "copied");
		puts("copies");
	} else {
		puts(errno == ENODEV ? "ENODEV" : strerror(errno));
	}
	fflush(stdout);
	signal(SIGBUS, on_sigbus);
	printf("%02x\n", ((volatile uint8_t *)a.bytes)[5]);
}

int main(int argc, char **argv)
{
	user = open(USER, O_RDWR);
	check(user >= 0, "%s", strerror(errno));
	fd = open_device();
	stop();	/* What the last program left. */
	if (argc > 1) {
		during(argv[1]);
		return 0;
	}
	both_ways();
	errors();
	close_while_copying();
	forked();
	both_ways();
	finish("hostbuf");
}
