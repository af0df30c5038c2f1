// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The ring that the program and the card share: packets through it, and rubbish in it. */
#include "stream.h"

struct ring {
	int fd;
	unsigned int direction;
	struct litepcie_stream_info info;
	struct litepcie_stream_ring *shared;
	uint8_t *buffers;
	unsigned int calls;
};

static struct ring map_ring(int fd, unsigned int direction)
{
	struct ring r = { .fd = fd, .direction = direction, .info = info_of(fd, direction) };
	int protection = PROT_READ | (direction == LITEPCIE_TO_CARD ? PROT_WRITE : 0);

	r.shared = mmap(NULL, r.info.map_bytes, protection, MAP_SHARED, fd, r.info.map_offset);
	ok(r.shared != MAP_FAILED);
	r.buffers = (uint8_t *)r.shared + r.info.buffers_offset;
	return r;
}

static int advance(struct ring *r, unsigned int count)
{
	struct litepcie_stream_advance a = { .size = sizeof(a), .direction = r->direction, .count = count };

	r->calls++;
	return ioctl(r->fd, LITEPCIE_IOC_STREAM_ADVANCE, &a) ? errno : 0;
}

static uint8_t *buffer(struct ring *r, unsigned int count)
{
	return r->buffers + (size_t)(count & (r->shared->depth - 1)) * r->info.stride;
}

static unsigned int head(struct ring *r)
{
	return __atomic_load_n(&r->shared->head, __ATOMIC_ACQUIRE);
}

/* Sends packets of one buffer as long as there is room; returns how many. */
static unsigned int fill_ring(struct ring *r, unsigned int sent, unsigned int most)
{
	unsigned int tail = r->shared->tail, count = 0;

	while (count < most && tail + count - head(r) < r->shared->depth) {
		unsigned int bytes = 1 + (sent + count) * 37 % r->shared->buffer_bytes;

		fill(buffer(r, tail + count), bytes, sent + count);
		r->shared->slots[(tail + count) & (r->shared->depth - 1)] = bytes | LITEPCIE_STREAM_SLOT_LAST;
		count++;
	}
	if (count)
		ok(!advance(r, count));
	return count;
}

static unsigned int empty_ring(struct ring *r, unsigned int got)
{
	unsigned int tail = r->shared->tail, count = 0;
	static uint8_t expected[1 << 20];

	for (; tail + count != head(r); count++) {
		unsigned int slot = r->shared->slots[(tail + count) & (r->shared->depth - 1)];
		unsigned int bytes = 1 + (got + count) * 37 % r->shared->buffer_bytes;

		check(slot == (bytes | LITEPCIE_STREAM_SLOT_LAST), "packet %u: slot %x, not %x bytes",
		      got + count, slot, bytes);
		fill(expected, bytes, got + count);
		check_bytes(buffer(r, tail + count), expected, bytes, "packet");
	}
	if (count)
		ok(!advance(r, count));
	return count;
}

static void shared_rings(void)
{
	int fd = opened(STREAM, O_RDWR);
	struct ring to, from;
	unsigned int sent = 0, got = 0;

	set_up(fd, LITEPCIE_TO_CARD, 16, 5000, 0);
	set_up(fd, LITEPCIE_FROM_CARD, 16, 5000, 0);
	to = map_ring(fd, LITEPCIE_TO_CARD);
	from = map_ring(fd, LITEPCIE_FROM_CARD);
	ok(!advance(&from, 0) && !advance(&to, 0));
	while (got < 500) {
		struct pollfd p = { fd, POLLIN, 0 };

		sent += fill_ring(&to, sent, 500 - sent);
		check(poll(&p, 1, 60000) == 1 && !(p.revents & POLLERR), "events %x", p.revents);
		got += empty_ring(&from, got);
	}
	/* read() and write() use the same ring. */
	loop_packet(fd, 3000, 9);
	check(from.calls <= 501 && to.calls <= 501, "%u and %u calls", from.calls, to.calls);
	check(advance(&from, 1) == EINVAL, "there is nothing");
}

/* What a program may write, and what it may not. */
static void hostile(void)
{
	int fd = opened(STREAM, O_RDWR);
	struct ring to, from;
	uint32_t seed = 5, *slot;
	uint8_t *bytes;

	set_up(fd, LITEPCIE_TO_CARD, 4, 4096, 0);
	set_up(fd, LITEPCIE_FROM_CARD, 4, 4096, 0);
	to = map_ring(fd, LITEPCIE_TO_CARD);
	from = map_ring(fd, LITEPCIE_FROM_CARD);
	check(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, from.info.map_offset) == MAP_FAILED &&
	      errno == EACCES, "writable");
	check(mprotect(from.shared, 4096, PROT_READ | PROT_WRITE) == -1 && errno == EACCES, "mprotect");
	check(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED && errno == EINVAL, "private");
	check(mmap(NULL, 1 << 20, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EINVAL, "too long");
	check(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 1 << 28) == MAP_FAILED && errno == EINVAL, "far");
	ok(!advance(&to, 0));
	/* Slots that are wrong are refused before any buffer is given. */
	slot = &to.shared->slots[to.shared->tail & 3];
	bytes = buffer(&to, to.shared->tail);
	memset(to.shared, 0xff, 4096);
	check(advance(&to, 1) == EINVAL && advance(&to, 5) == EINVAL && advance(&to, ~0u) == EINVAL, "rubbish");
	*slot = 0;
	check(advance(&to, 1) == EINVAL, "no bytes");
	*slot = 4097;
	check(advance(&to, 1) == EINVAL, "too many bytes");
	*slot = 64 | 0x80000000;
	check(advance(&to, 1) == EINVAL, "unknown flag");
	*slot = 64 | LITEPCIE_STREAM_SLOT_LAST;
	check(advance(&to, 2) == EINVAL, "the second one is wrong");
	fill(bytes, 64, 4);
	ok(!advance(&to, 1));
	expect_packet(fd, 64, 4);
	/* Rubbish in all that is shared, and any counts: the card stays in its buffers. */
	for (unsigned int i = 0; i < 20000; i++) {
		seed = seed * 1664525 + 1013904223;
		((uint32_t *)to.shared)[(seed >> 8) % (to.info.map_bytes / 4)] = seed;
		to.shared->slots[seed & 3] = (seed >> 4) & 0x01000fff;
		if (!(seed >> 28))
			advance(&to, seed >> 6 & 7);
		if (!(seed >> 27 & 15))
			advance(&from, seed >> 6 & 3);
	}
}

const struct test ring_tests[] = { { "rings", shared_rings }, { "hostile", hostile }, { NULL, NULL } };
