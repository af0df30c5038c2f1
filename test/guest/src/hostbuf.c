// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Buffers in host memory that the simulated board's user logic copies between.
 * usage: hostbuf             checks all calls
 *        hostbuf moves       the same with descriptors of the logic, between buffers and the card's memory
 *        hostbuf COMMAND     copies again and again while a shell command runs;
 *                            says whether the copy goes on, and what the mapping
 *                            and a new buffer give
 */
#include "hostbuf.h"

#define BUFFERS 4
#define BYTES 16384
#define SHORT 2048 /* the card copies word by word, which takes the simulator a while */
#define REUSED (2 * LIMIT) /* What a program gets after the buffers were freed: their pages first. */

static void both_ways(void)
{
	struct buffer a = buffer(fd, BYTES, READ), b = buffer(fd, BYTES - 100, WRITE);
	int interrupt = open_interrupt(4, 0);
	uint32_t count, on = 1;

	check_value(a.bytes, 0, BYTES, "a new buffer");
	check_value(b.bytes, 0, BYTES, "a new buffer");
	for (uint32_t pass = 0; pass < 7; pass++) {
		uint32_t from = pass * 180, to = pass * 2400, bytes = 4 + pass * 108;

		fill(a.bytes, BYTES, pass);
		memset(b.bytes, 0x5a, BYTES);
		ok(write(interrupt, &on, 4) == 4);
		copy(a.is.card_address + from, b.is.card_address + to, bytes, START);
		ok(read(interrupt, &count, 4) == 4);
		/* The interrupt does not overtake the last byte. */
		check_bytes(b.bytes + to, a.bytes + from, bytes, "copied");
		check_value(b.bytes, 0x5a, to, "before");
		check_value(b.bytes + to + bytes, 0x5a, BYTES - to - bytes, "after");
		check(load(COPIED) == bytes / 4 && !load(ERRORS), "%u copied, %u errors", load(COPIED), load(ERRORS));
	}
	/* The second half is beyond the end. */
	memset(b.bytes, 0x5a, BYTES);
	copy_all(a.is.card_address, b.is.card_address + BYTES - 64, 128);
	check(load(COPIED) == 16 && load(ERRORS) == 16, "%u copied, %u errors", load(COPIED), load(ERRORS));
	check_value(b.bytes, 0x5a, BYTES - 64, "before");
	/* Against the direction that was allowed, of no buffer, and after destroy. */
	copy_all(b.is.card_address, a.is.card_address, 64);
	check(!load(COPIED) && load(ERRORS) == 16, "%u copied, %u errors", load(COPIED), load(ERRORS));
	copy_all(3 * LIMIT, b.is.card_address, 64);
	check(load(ERRORS) == 16, "%u errors", load(ERRORS));
	release(fd, &a);
	copy_all(a.is.card_address, b.is.card_address, 64);
	check(load(ERRORS) == 16, "%u errors", load(ERRORS));
	release(fd, &b);
	close(interrupt);
}

/* Memory that others get meanwhile; no byte that the card moves is like it. */
static uint8_t *others_memory(uint32_t pass)
{
	uint8_t *memory = mmap(NULL, REUSED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	ok(memory != MAP_FAILED);
	memset(memory, 0x30 + pass, REUSED);
	return memory;
}

static void check_others_memory(uint8_t *memory, uint32_t pass)
{
	check_value(memory, 0x30 + pass, REUSED, "memory of others");
	munmap(memory, REUSED);
}

/* The file is closed while the card copies: its memory goes to others, and stays theirs. */
static void close_while_copying(void)
{
	for (uint32_t pass = 0; pass < 4; pass++) {
		int other = open_device();
		struct buffer a = buffer(other, SHORT, READ), b = buffer(other, LIMIT, WRITE);
		uint8_t *mine;

		memset(a.bytes, 0xee, SHORT);
		copy(a.is.card_address, b.is.card_address, SHORT, START | AGAIN | pass * GIVE_UP * 3);
		usleep(20000);
		munmap(a.bytes, a.is.bytes);
		munmap(b.bytes, b.is.bytes);
		close(other);
		mine = others_memory(pass);
		usleep(20000);
		check_others_memory(mine, pass);
		check(load(ERRORS) > 0, "the card still has the buffer");
		stop_copier();
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
	/* The second page is beyond the end. */
	expect_errno(mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, fd, b[0].is.map_offset + LIMIT - page), EINVAL);
	expect_errno(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, b[1].is.map_offset + page), EINVAL); /* beyond */
	expect_errno(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 1ull << 42), EINVAL); /* nowhere */
	for (int i = 0; i < BUFFERS; i++)
		release(fd, &b[i]);
	expect_errno(destroy(fd, b[0].is.handle), ENOENT);
	close(other);
	close(reader);
}

/* Parent and child share file, buffers and mappings, until the last of them is gone. */
static void with_children(void)
{
	int shared = open_device(), last[2];
	struct buffer a = buffer(shared, SHORT, READ), b = buffer(shared, SHORT, WRITE), more;
	pid_t child;
	char byte;

	/* What the child writes, the card reads; what the card writes, both see. No page of them is copied. */
	fill(a.bytes, SHORT, 1);
	child = forked();
	if (!child) {
		check_pattern(a.bytes, SHORT, 1);
		fill(a.bytes, SHORT, 2);
		copy_all(a.is.card_address, b.is.card_address, SHORT);
		check_pattern(b.bytes, SHORT, 2);
		/* Its file is the parent's: the new buffer stays when the child exits. */
		ok(!create(shared, &more, 4096, READ));
		_exit(0);
	}
	wait_child(child);
	check_pattern(b.bytes, SHORT, 2);
	fill(a.bytes, SHORT, 3);
	copy_all(a.is.card_address, b.is.card_address, SHORT);
	check(!load(ERRORS), "%u errors", load(ERRORS));
	check_pattern(b.bytes, SHORT, 3);
	check(!destroy(shared, b.is.handle + 1), "the buffer of the child: %s", strerror(errno));

	/* The parent destroys a buffer: the child's mapping has no page of it any more. */
	child = forked();
	if (!child) {
		signal(SIGBUS, tell_sigbus);
		while (1)
			(void)((volatile uint8_t *)b.bytes)[0];
	}
	release(shared, &b);
	wait_child(child);

	/* Only the mapping of a child is left: the card keeps the buffer until that is gone, too. */
	b = buffer(shared, SHORT, WRITE);
	copy(a.is.card_address, b.is.card_address, SHORT, START | AGAIN);
	ok(!pipe(last));
	child = forked();
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
	stop_copier();
	ok(!create(fd, &more, LIMIT, READ) && !destroy(fd, more.is.handle));
}

static void during(const char *command)
{
	struct buffer a = buffer(fd, SHORT, READ), b = buffer(fd, SHORT, WRITE), more;
	uint8_t *mine;

	memset(a.bytes, 0xee, SHORT);
	copy(a.is.card_address, b.is.card_address, SHORT, START | AGAIN);
	check(!system(command), "%s", command);
	mine = others_memory(1);
	usleep(50000);
	check_others_memory(mine, 1);
	if (!create(fd, &more, 4096, READ)) {
		stop_copier();
		memset(b.bytes, 0, SHORT);
		copy_all(a.is.card_address, b.is.card_address, SHORT);
		check_value(b.bytes, 0xee, SHORT, "copied");
		puts("copies");
	} else {
		puts(errno == ENODEV ? "ENODEV" : strerror(errno));
	}
	fflush(stdout);
	signal(SIGBUS, tell_sigbus);
	printf("%02x\n", ((volatile uint8_t *)a.bytes)[5]);
}

/* Of the mover, in USER. */
enum { ADDRESS = 0x1000, ENDPOINT = 0x1004, LENGTH = 0x1008, SUBMIT = 0x100c, ENDED = 0x1010, LAST = 0x1014 };
enum { TO_HOST = 1 << 8, TAG = 0x5a };

#define MOVED (64 << 10)

/* Gives the card's logic a descriptor between a buffer and the card's memory. */
static uint32_t submit(uint32_t address, uint32_t endpoint, uint32_t bytes, uint32_t write)
{
	uint32_t ended = load(ENDED);

	store(ADDRESS, address);
	store(ENDPOINT, endpoint);
	store(LENGTH, bytes);
	store(SUBMIT, TAG | write);
	return ended + 1;
}

/* Returns the reason of the end. */
static uint32_t move(uint32_t address, uint32_t endpoint, uint32_t bytes, uint32_t write)
{
	uint32_t last, ended = submit(address, endpoint, bytes, write);

	while (load(ENDED) != ended)
		;
	last = load(LAST);
	check(last >> 8 == (TAG | write), "%#x", last);
	return last & 0xff;
}

/* The logic moves between buffers and the card's memory, which this program reads and writes as a file. */
static void through_the_card(void)
{
	struct buffer a = buffer(fd, MOVED, READ), b = buffer(fd, MOVED, WRITE);
	uint8_t *bytes = malloc(MOVED);

	for (uint32_t pass = 0; pass < 4; pass++) {
		uint32_t from = pass * 77, to = pass * 13, at = pass * 4099;
		uint32_t length = pass < 3 ? 1 + pass * 10007 : MOVED / 2;

		fill(a.bytes, MOVED, pass);
		check(!move(a.is.card_address + from, at, length, 0), "%#x", load(LAST));
		ok(pread(fd, bytes, length, at) == length);
		check_bytes(bytes, a.bytes + from, length, "moved to the card");
		fill(bytes, length, ~pass);
		ok(pwrite(fd, bytes, length, at) == length);
		memset(b.bytes, 0x5a, MOVED);
		check(!move(b.is.card_address + to, at, length, TO_HOST), "%#x", load(LAST));
		check_bytes(b.bytes + to, bytes, length, "moved to the host");
		check_value(b.bytes, 0x5a, to, "before");
		check_value(b.bytes + to + length, 0x5a, MOVED - to - length, "after");
	}
	check(move(b.is.card_address, 0, 4, 0) == 0x11, "against the direction: %#x", load(LAST));
	check(move(a.is.card_address + MOVED - 3, 0, 4, 0) == 7, "beyond the end: %#x", load(LAST));
	release(fd, &a);
	check(move(a.is.card_address, 0, 4, 0) == 0x10, "of no buffer: %#x", load(LAST));
	release(fd, &b);
	free(bytes);
}

/* The file is closed while the card moves a buffer: it ends before the memory goes to others. */
static void close_while_moving(void)
{
	for (uint32_t pass = 0; pass < 2; pass++) {
		int other = open_device();
		struct buffer b = buffer(other, LIMIT, WRITE);
		uint8_t *mine;

		for (int times = 0; times < 2; times++)
			submit(b.is.card_address, 0, LIMIT, TO_HOST);
		munmap(b.bytes, b.is.bytes);
		close(other);
		mine = others_memory(pass);
		usleep(20000);
		check_others_memory(mine, pass);
	}
}

int main(int argc, char **argv)
{
	user = opened(USER, O_RDWR);
	fd = open_device();
	stop_copier();	/* What the last program left. */
	if (argc > 1 && !strcmp(argv[1], "moves")) {
		through_the_card();
		close_while_moving();
		through_the_card();
		finish("hostbuf moves");
	}
	if (argc > 1) {
		during(argv[1]);
		return 0;
	}
	both_ways();
	errors();
	close_while_copying();
	with_children();
	both_ways();
	finish("hostbuf");
}
