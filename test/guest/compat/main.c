// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * A 32-bit program on a 64-bit kernel: ioctls, transfers, vectors, aio, mappings, a
 * dma-buf and a stream.
 */
#include <linux/aio_abi.h>
#include <linux/litepcie_stream.h>
#include "../exporter/exporter.h"
#include "system.h"

#define BYTES 70001
#define PLACE (5ull << 20)

int card, stream;
static __u8 out[BYTES], in[BYTES];

static void transfers(void)
{
	struct vector vectors[3] = { { in, 5 }, { in + 5, 40000 }, { in + 40005, BYTES - 40005 } };

	fill(out, BYTES, 1);
	expect(pwrite(card, out, BYTES, PLACE), BYTES);
	expect(pread(card, in, BYTES, PLACE), BYTES);
	expect(equal(in, out, BYTES), 1);
	/* Offsets keep their upper half. */
	expect(pread(card, in, 1, PLACE | 1ull << 32), 0);
	expect(pwrite(card, in, 1, PLACE | 1ull << 32), -ENOSPC);
	expect(pread(card, in, 1, -1ull), -EINVAL);
	expect(pread(card, (void *)16, 4096, 0), -EFAULT);
	expect(pwrite(card, (void *)0xfffff000, 4096, 0), -EFAULT);
	memset(in, 0, BYTES);
	expect(call(__NR_preadv, card, vectors, 3, PLACE, 0, 0), BYTES);
	expect(equal(in, out, BYTES), 1);
	expect(call(__NR_pwritev, card, vectors, 3, PLACE + 100000, 0, 0), BYTES);
	expect(pread(card, in, BYTES, PLACE + 100000), BYTES);
	expect(equal(in, out, BYTES), 1);
	vectors[1].at = (void *)0xfffff000;
	expect(call(__NR_preadv, card, vectors, 3, PLACE, 0, 0), 5);
}

static void aio(void)
{
	struct iocb calls[2], *list[2] = { &calls[0], &calls[1] };
	struct io_event events[2];
	unsigned long context = 0;

	memset(calls, 0, sizeof(calls));
	memset(in, 0, BYTES);
	for (unsigned int i = 0; i < 2; i++) {
		calls[i].aio_lio_opcode = IOCB_CMD_PREAD;
		calls[i].aio_fildes = card;
		calls[i].aio_buf = (unsigned long)in + i * 30000;
		calls[i].aio_nbytes = i ? BYTES - 30000 : 30000;
		calls[i].aio_offset = PLACE + i * 30000;
		calls[i].aio_data = 1ull << 40 | i;
	}
	expect(call(__NR_io_setup, 2, &context, 0, 0, 0, 0), 0);
	expect(call(__NR_io_submit, context, 2, list, 0, 0, 0), 2);
	/* A small kernel lacks the older call, whose time has 32 bits. */
	expect(call(__NR_io_pgetevents_time64, context, 2, 2, events, 0, 0), 2);
	expect(events[0].res + events[1].res, BYTES);
	expect((events[0].data & events[1].data) >> 40, 1);
	expect(call(__NR_io_destroy, context, 0, 0, 0, 0, 0), 0);
	expect(equal(in, out, BYTES), 1);
}

static void window(__u64 way)
{
	volatile __u32 *mapped = map(8192, MAP_SHARED, card, way + 4096);
	__u32 words[4];

	expect(failed((void *)mapped), 0);
	for (unsigned int i = 0; i < 4; i++)
		mapped[1024 + i] = i * 0x01010101u + (way != 0);
	expect(mapped[1024 + 3], 0x03030303u + (way != 0));
	expect(pread(card, words, sizeof(words), 8192), sizeof(words));
	expect(words[2], 0x02020202u + (way != 0));
	expect(call(__NR_munmap, mapped, 8192, 0, 0, 0, 0), 0);
	/* Beyond the window. */
	expect((long)map(4096, MAP_SHARED, card, way + (1ull << 32)), -EINVAL);
}

void buffers(void)
{
	struct exporter_new new = { .pages = 20, .flags = EXPORTER_SCATTERED };
	struct litepcie_dmabuf_attach attach = { .size = sizeof(attach) };
	struct litepcie_dmabuf_detach detach = { .size = sizeof(detach) };
	struct litepcie_dmabuf_move move = { .size = sizeof(move), .direction = LITEPCIE_WRITER, .offset = 77,
					     .card_offset = PLACE, .bytes = BYTES };
	struct litepcie_dmabuf_wait wait = { .size = sizeof(wait) };
	int exporter = open_file("/dev/exporter");

	expect(exporter >= 0, 1);
	attach.fd = -1;
	expect(ioctl(card, LITEPCIE_IOC_DMABUF_ATTACH, &attach), -EBADF);
	expect(ioctl(exporter, EXPORTER_NEW, &new), 0);
	attach.fd = new.fd;
	expect(ioctl(card, LITEPCIE_IOC_DMABUF_ATTACH, &attach), 0);
	expect(attach.bytes, 20 * 4096);
	move.handle = attach.handle;
	expect(ioctl(card, LITEPCIE_IOC_DMABUF_MOVE, &move), 0);
	expect(move.moved, BYTES);
	move.offset = 1ull << 32;
	expect(ioctl(card, LITEPCIE_IOC_DMABUF_MOVE, &move), -EINVAL);
	/* From the buffer to another place of the card. */
	move = (struct litepcie_dmabuf_move){ .size = sizeof(move), .flags = LITEPCIE_DMABUF_ASYNC,
		.handle = attach.handle, .direction = LITEPCIE_READER, .offset = 77, .card_offset = PLACE * 2,
		.bytes = BYTES };
	expect(ioctl(card, LITEPCIE_IOC_DMABUF_MOVE, &move), 0);
	wait.ticket = move.ticket;
	expect(ioctl(card, LITEPCIE_IOC_DMABUF_WAIT, &wait), 0);
	expect(wait.moved, BYTES);
	detach.handle = attach.handle;
	expect(ioctl(card, LITEPCIE_IOC_DMABUF_DETACH, &detach), 0);
	memset(in, 0, BYTES);
	expect(pread(card, in, BYTES, PLACE * 2), BYTES);
	expect(equal(in, out, BYTES), 1);
	call(__NR_close, exporter, 0, 0, 0, 0, 0);
	call(__NR_close, new.fd, 0, 0, 0, 0, 0);
}

/* What a stream of the board is given comes back. */
static void packets(void)
{
	struct litepcie_stream_setup setup = { .size = sizeof(setup), .direction = LITEPCIE_WRITER, .depth = 16,
					       .buffer_bytes = 4096 };
	struct litepcie_stream_info info = { .size = sizeof(info), .direction = LITEPCIE_WRITER };
	struct litepcie_stream_advance advance = { .size = sizeof(advance), .direction = LITEPCIE_WRITER };
	struct { int fd; short events, found; } poll = { .events = 1 };
	struct litepcie_stream_ring *ring;

	call(__NR_close, stream, 0, 0, 0, 0, 0);
	stream = poll.fd = open_file("/dev/litepcie0_stream0");
	expect(stream >= 0, 1);
	expect(ioctl(stream, LITEPCIE_IOC_STREAM_SETUP, &setup), 0);
	expect(setup.depth, 16);
	expect(ioctl(stream, LITEPCIE_IOC_STREAM_INFO, &info), 0);
	ring = (void *)call(__NR_mmap2, 0, info.map_bytes, PROT_READ, MAP_SHARED, stream, info.map_offset >> 12);
	expect(failed(ring), 0);
	expect(call(__NR_write, stream, out, 3000, 0, 0, 0), 3000);
	expect(call(__NR_poll, &poll, 1, -1, 0, 0, 0), 1);
	expect(ring->depth, 16);
	expect(ring->head - ring->tail, 1);
	expect(equal((__u8 *)ring + info.buffers_offset + (ring->tail & 15) * info.stride, out, 3000), 1);
	advance.count = 1;
	expect(ioctl(stream, LITEPCIE_IOC_STREAM_ADVANCE, &advance), 0);
	expect(advance.tail, ring->head);
	expect(call(__NR_write, stream, out, 2000, 0, 0, 0), 2000);
	expect(call(__NR_read, stream, in, BYTES, 0, 0, 0), 2000);
	info = (struct litepcie_stream_info){ .size = sizeof(info), .direction = LITEPCIE_WRITER };
	expect(ioctl(stream, LITEPCIE_IOC_STREAM_INFO, &info), 0);
	expect(info.bytes >= 5000 && info.packets >= 2, 1);
}

void run(void)
{
	card = open_file("/dev/litepcie0");
	stream = open_file("/dev/litepcie0_stream0");
	expect(card >= 0 && stream >= 0, 1);
	ioctls();
	transfers();
	aio();
	window(0);
	window(LITEPCIE_MMAP_COMBINED);
	buffers();
	packets();
	say("compat: ");
	say_number(checks);
	say(" checks passed\n");
	end(0);
}
