// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The memory of calls with O_DIRECT: of every kind, lost or shared while the card has it, and bad. */
#include <sys/resource.h>

#include "stream.h"
#include "../uring.h"

#define AREA (128u << 10) /* more than the loop holds, and one request */
#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)
#define ALL (PROT_READ | PROT_WRITE)

static uint8_t *area;
static size_t length;
static int file; /* -1: none */

/* A read() waits for the end of the packet, also where the sender or the card is slow (flush_us). */
static int direct_open(void)
{
	struct litepcie_stream_setup setup = { .size = sizeof(setup), .direction = LITEPCIE_FROM_CARD,
					       .flags = LITEPCIE_STREAM_SET_FLUSH };
	int fd = opened(STREAM, O_RDWR | O_DIRECT);

	ok(!ioctl(fd, LITEPCIE_IOC_STREAM_SETUP, &setup) && !setup.flush_us);
	return fd;
}

static void area_open(int flags)
{
	length = flags & MAP_HUGETLB ? 2 << 20 : AREA;
	file = flags & MAP_ANONYMOUS ? -1 : memfd_create("area", 0);
	ok(file < 0 || !ftruncate(file, length));
	area = mmap(NULL, length, ALL, flags, file, 0);
	check(area != MAP_FAILED, "flags %#x: %s", flags, strerror(errno));
}

static void area_end(void)
{
	ok(!munmap(area, length));
	close(file);
}

static void map_anew(void)
{
	ok(mmap(area, length, ALL, ANONYMOUS | MAP_FIXED, -1, 0) == area);
}

static void drop(void)
{
	ok(!madvise(area, length, MADV_DONTNEED));
}

static void truncate_file(void)
{
	ok(!ftruncate(file, 0) && !ftruncate(file, length));
}

static const struct {
	const char *name;
	int flags;
	void (*lose)(void);
} areas[] = {
	{ "mapped anew", ANONYMOUS, map_anew },
	{ "dropped", ANONYMOUS, drop },
	{ "shared file, mapped anew", MAP_SHARED, map_anew },
	{ "shared file, truncated", MAP_SHARED, truncate_file },
	{ "private file, mapped anew", MAP_PRIVATE, map_anew },
	{ "huge page, mapped anew", ANONYMOUS | MAP_HUGETLB, map_anew },
};

/* A call of a thread, and what it returns. */
struct call {
	int fd, writes, error;
	uint8_t *bytes;
	size_t length;
	ssize_t moved;
	pthread_t thread;
};

static void *run_call(void *argument)
{
	struct call *c = argument;

	c->moved = c->writes ? write(c->fd, c->bytes, c->length) : read(c->fd, c->bytes, c->length);
	c->error = errno;
	return NULL;
}

/* Returns while the call has memory pinned. */
static void begin(struct call *c)
{
	check(!pthread_create(&c->thread, NULL, run_call, c), "thread");
	await_pinned();
}

static void end(struct call *c, const char *name, ssize_t moved)
{
	check(!pthread_join(c->thread, NULL), "join");
	check(c->moved == moved, "%s: %zd instead of %zd, %s", name, c->moved, moved, strerror(c->error));
	check(!pinned(), "%s: %lld pages pinned", name, pinned());
}

static void read_all(int fd, uint8_t *bytes, size_t most, ssize_t wanted)
{
	for (ssize_t have = 0, n; have < wanted; have += n)
		ok((n = read(fd, bytes + have, most - have)) > 0);
}

/* The program loses memory that the card has: its bytes are sent, and what it has there then stays as it is. */
static void direct_lost(void)
{
	uint8_t *sent = malloc(AREA), *got = zeroed(AREA);
	struct call call = { .fd = direct_open() };

	ok(!system("echo 1 > /proc/sys/vm/nr_hugepages"));
	for (unsigned int i = 0; i < ARRAY_SIZE(areas); i++) {
		if (areas[i].flags & MAP_HUGETLB && page_bytes() > 4096)
			continue;
		area_open(areas[i].flags);
		fill(sent, AREA, i);
		memcpy(area, sent, AREA);
		call = (struct call){ .fd = call.fd, .writes = 1, .bytes = area, .length = AREA };
		begin(&call);
		areas[i].lose();
		read_all(call.fd, got, AREA, AREA);
		end(&call, areas[i].name, AREA);
		check_bytes(got, sent, AREA, areas[i].name);
		area_end();

		area_open(areas[i].flags);
		call = (struct call){ .fd = call.fd, .bytes = area + 4093, .length = 8192 };
		begin(&call);
		areas[i].lose();
		send_packet(call.fd, 5000, i);
		end(&call, areas[i].name, 5000);
		check_value(area, 0, length, areas[i].name);
		area_end();
	}
	ok(!system("echo 0 > /proc/sys/vm/nr_hugepages"));
}

/* Pages of a private file that children share: only the parent gets the data. One child may lock no memory. */
static void direct_forked(void)
{
	int fd = direct_open(), ends[2];
	struct call calls[2] = { { .fd = fd, .length = 8192 }, { .fd = fd, .length = 8192 } };
	uint8_t expected[5000];
	pid_t child;

	area_open(MAP_PRIVATE);
	memset(area, 0x55, AREA);
	ok(!pipe(ends));
	child = forked();
	if (!child) {
		close(ends[1]);
		ok(!read(ends[0], expected, 1));
		check_value(area, 0x55, AREA, "of the child");
		ok(!setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ 0, 0 }) && !setresuid(65534, 65534, 65534));
		loop_packet(fd, 5000, 2);
		exit(0);
	}
	for (unsigned int i = 0; i < 2; i++) {
		calls[i].bytes = area + i * 8192;
		begin(&calls[i]);
	}
	if (!fork()) {
		memset(area, 0x77, AREA);
		_exit(0);
	}
	ok(wait(NULL) > 0);
	send_packet(fd, 5000, 1);
	send_packet(fd, 5000, 1);
	fill(expected, 5000, 1);
	check(!pthread_join(calls[0].thread, NULL) && calls[0].moved == 5000, "%zd", calls[0].moved);
	end(&calls[1], "fork", 5000);
	check_bytes(area, expected, 5000, "of the first call");
	check_bytes(area + 8192, expected, 5000, "of the second call");
	close(ends[1]);
	wait_child(child);
	ok(pread(file, expected, 5000, 0) == 5000);
	check_value(expected, 0, 5000, "of the file");
}

/* Memory that a call cannot have. Nothing is lost but what came when its header had no memory any more. */
static void direct_bad(void)
{
	size_t page = page_bytes();
	uint8_t *window = mapped(open_device(), 0, page), *memory = zeroed(4 * page), *third = memory + 2 * page;
	struct call call = { .fd = direct_open(), .bytes = third - 8, .length = page };
	struct litepcie_stream_header header;
	unsigned long long lost;

	expect_errno(open(STREAM, O_RDONLY | O_DIRECT), EBUSY);
	expect_errno(open(STREAM, O_WRONLY), EBUSY);
	ok(!read(call.fd, memory, 0) && !writev(call.fd, (struct iovec[]){ { memory, 0 } }, 1));
	expect_errno(read(call.fd, window, page), EFAULT);
	expect_errno(write(call.fd, window, page), EFAULT);
	ok(!mprotect(memory, page, PROT_READ) && !munmap(third + page, page));
	expect_errno(read(call.fd, memory, page), EFAULT);
	expect_errno(write(call.fd, third + page, 1), EFAULT);
	/* A part of the buffer is there, and the packet goes on. */
	ok(write(call.fd, third, 2 * page) == (ssize_t)page && write(call.fd, "the rest", 8) == 8);
	read_all(call.fd, third - page, 2 * page, page + 8);
	close(call.fd);

	call.fd = direct_open();
	set_up(call.fd, LITEPCIE_FROM_CARD, 0, 0, LITEPCIE_STREAM_HEADERS);
	lost = counter("writer", "lost_bytes");
	begin(&call);
	ok(!mprotect(third - page, page, PROT_READ));
	send_packet(call.fd, 1000, 3);
	end(&call, "header", -1);
	check(call.error == EFAULT, "%s", strerror(call.error));
	check(counter("writer", "lost_bytes") == lost + 1000, "%llu", counter("writer", "lost_bytes") - lost);
	send_packet(call.fd, 1000, 4);
	ok(read_with_header(call.fd, &header, third, page) == 1000 && header.bytes == 1000 && !header.flags);
}

/* io_uring cancels a read() to which nothing comes: the next one gets what is sent then. */
static void direct_cancelled(void)
{
	int fd = direct_open();
	uint8_t *memory = zeroed(8192);
	struct io_uring_cqe end;
	struct uring ring;

	uring_open(&ring, 4, 0);
	for (unsigned int i = 0; i < 5; i++) {
		uring_put(&ring, (struct io_uring_sqe){ .opcode = IORING_OP_READ, .fd = fd, .len = 8192,
			.addr = (uintptr_t)memory, .off = (uint64_t)-1, .user_data = 1 });
		uring_enter(&ring, 1, 0);
		await_pinned();
		uring_put(&ring, (struct io_uring_sqe){ .opcode = IORING_OP_ASYNC_CANCEL, .addr = 1 });
		uring_enter(&ring, 1, 0);
		for (unsigned int left = 2; left; left--) {
			end = uring_take(&ring);
			check(!end.user_data || end.res == -EINTR || end.res == -ECANCELED, "%d", end.res);
		}
		check(!pinned(), "%lld", pinned());
		loop_packet(fd, 3000, i);
		check_value(memory, 0, 8192, "of the call that was cancelled");
	}
}

const struct test direct_memory_tests[] = {
	{ "direct_lost", direct_lost }, { "direct_forked", direct_forked }, { "direct_bad", direct_bad },
	{ "direct_cancelled", direct_cancelled }, { }
};
