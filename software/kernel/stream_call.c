// SPDX-License-Identifier: GPL-2.0-only
/*
 * read() and write() of streams. One call of a direction uses the ring at a
 * time; others wait for litepcie_stream_end.use, or return -EAGAIN if they must
 * not wait.
 *
 * A program's memory is touched with that mutex held and without any lock that
 * a reset or unbinding of the card takes: a page that does not come delays only
 * this direction of this file.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/minmax.h>
#include <linux/uio.h>

#include "driver.h"
#include "stream.h"

/**
 * struct litepcie_stream_piece - what one read() takes
 * @bytes: bytes
 * @full: buffers that are read to their end
 * @offset: bytes that are then read of the buffer after them
 * @last: the packet ends after @bytes
 */
struct litepcie_stream_piece {
	size_t bytes;
	u32 full;
	u32 offset;
	bool last;
};

/* What a read() of at most @most bytes takes of the buffers that are ready. */
static struct litepcie_stream_piece
litepcie_stream_plan(struct litepcie_stream_end *end, size_t most)
{
	struct litepcie_stream_piece piece = { .offset = end->offset };
	u32 ready = litepcie_stream_ready(end);
	u32 slot, left;

	while (piece.full < ready && piece.bytes < most && !piece.last) {
		slot = litepcie_stream_nth(end, end->consumed + piece.full)->slot;
		left = (slot & LITEPCIE_STREAM_SLOT_BYTES) - piece.offset;
		if (left > most - piece.bytes) {
			piece.offset += most - piece.bytes;
			piece.bytes = most;
			break;
		}
		piece.bytes += left;
		piece.full++;
		piece.offset = 0;
		piece.last = slot & LITEPCIE_STREAM_SLOT_LAST;
	}
	return piece;
}

/* Copies what is planned; returns what the program's memory took. */
static size_t litepcie_stream_copy(struct litepcie_stream_end *end,
				   struct iov_iter *iter, size_t bytes)
{
	u32 count = end->consumed, offset = end->offset;
	struct litepcie_stream_buffer *buffer;
	size_t copied = 0, part, done;

	while (copied < bytes) {
		buffer = litepcie_stream_nth(end, count++);
		part = min_t(size_t, bytes - copied,
			     (buffer->slot & LITEPCIE_STREAM_SLOT_BYTES) - offset);
		done = copy_to_iter(buffer->data + offset, part, iter);
		copied += done;
		if (done != part)
			break;
		offset = 0;
	}
	return copied;
}

/**
 * litepcie_stream_read() - take bytes of one packet
 * @end: the direction of a writer, with its mutex use held
 * @iter: the program's buffer, not empty
 * @wait: whether to wait for the card
 *
 * Return: bytes, with their header, or a negative errno.
 */
ssize_t litepcie_stream_read(struct litepcie_stream_end *end, struct iov_iter *iter,
			     bool wait)
{
	struct litepcie_stream_header header = { };
	struct litepcie_stream_piece piece;
	size_t extra, copied;
	int ret;

	ret = litepcie_stream_wait(end, wait);
	if (ret)
		return litepcie_stream_result(end, ret);
	extra = end->settings.mode & LITEPCIE_STREAM_HEADERS ? sizeof(header) : 0;
	if (iov_iter_count(iter) <= extra)
		return -EINVAL;
	piece = litepcie_stream_plan(end, iov_iter_count(iter) - extra);
	header.bytes = piece.bytes;
	header.flags = piece.last ? 0 : LITEPCIE_STREAM_MORE;
	if (extra && copy_to_iter(&header, extra, iter) != extra)
		return -EFAULT;
	copied = litepcie_stream_copy(end, iter, piece.bytes);
	if (copied != piece.bytes) {
		/* A header has said how much it is, so it is all or nothing. */
		if (extra || !copied)
			return -EFAULT;
		piece = litepcie_stream_plan(end, copied);
	}
	litepcie_stream_take(end, piece.full, piece.offset);
	return extra + copied;
}

/* Reads the header of a write(); returns its size, or a negative errno. */
static ssize_t litepcie_stream_read_header(struct litepcie_stream_end *end,
					   struct iov_iter *iter, bool *more)
{
	struct litepcie_stream_header header;

	*more = false;
	if (!(end->settings.mode & LITEPCIE_STREAM_HEADERS))
		return 0;
	if (iov_iter_count(iter) <= sizeof(header))
		return -EINVAL;
	if (!copy_from_iter_full(&header, sizeof(header), iter))
		return -EFAULT;
	if (header.bytes != iov_iter_count(iter) || header.flags & ~LITEPCIE_STREAM_MORE)
		return -EINVAL;
	*more = header.flags;
	return sizeof(header);
}

/**
 * litepcie_stream_write() - give the bytes of a packet
 * @end: the direction of a reader, with its mutex use held
 * @iter: the program's buffer, not empty
 * @wait: whether to wait for the card
 *
 * Return: bytes, with their header, or a negative errno.
 */
ssize_t litepcie_stream_write(struct litepcie_stream_end *end, struct iov_iter *iter,
			      bool wait)
{
	struct litepcie_stream_buffer *buffer;
	ssize_t extra = 0;
	size_t given = 0;
	bool more;
	u32 part;
	int ret;

	do {
		ret = litepcie_stream_wait(end, wait);
		if (ret)
			break;
		if (!given && !extra) {
			extra = litepcie_stream_read_header(end, iter, &more);
			if (extra < 0)
				return extra;
		}
		/* Only this call makes produced greater. */
		buffer = litepcie_stream_nth(end, end->produced);
		part = min_t(size_t, iov_iter_count(iter), end->memory->buffer_bytes);
		if (!copy_from_iter_full(buffer->data, part, iter)) {
			ret = -EFAULT;
			break;
		}
		buffer->slot = part;
		if (!iov_iter_count(iter) && !more)
			buffer->slot |= LITEPCIE_STREAM_SLOT_LAST;
		ret = litepcie_stream_give(end, 1);
		if (ret) {
			ret = litepcie_stream_fault(end);
			break;
		}
		given += part;
	} while (iov_iter_count(iter));
	return given ? extra + given : litepcie_stream_result(end, ret);
}
