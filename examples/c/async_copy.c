// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Keeps several transfers in flight: writes to the card, reads back, compares. Uses liblitepcie.
 *
 *	async_copy [MIB]        (default 4, or the card's memory if that is smaller)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <liblitepcie.h>

#define PIECES 16
#define DEPTH  8

/* Moves @bytes in PIECES, with up to DEPTH of them in flight. 0 or a negative errno. */
static int move(struct litepcie_queue *queue, int write, unsigned char *data, size_t bytes)
{
	size_t at = 0, piece = (bytes + PIECES - 1) / PIECES;
	struct litepcie_done ended;

	while (at < bytes || litepcie_queue_in_flight(queue)) {
		size_t count = bytes - at < piece ? bytes - at : piece;
		int err = 0;

		if (at < bytes && litepcie_queue_in_flight(queue) < DEPTH) {
			err = write ? litepcie_queue_write(queue, data + at, count, at, at)
				    : litepcie_queue_read(queue, data + at, count, at, at);
			at += count;
		} else if ((err = litepcie_queue_wait(queue, &ended, 1, -1)) > 0) {
			err = (int)(ended.result < 0 ? ended.result : 0);
		}
		if (err < 0)
			return err;
	}
	return 0;
}

int main(int argc, char **argv)
{
	size_t bytes = (argc > 1 ? strtoull(argv[1], NULL, 0) : 4) << 20;
	struct litepcie_queue *queue = NULL;
	struct litepcie_info info;
	unsigned char *out, *in;
	struct litepcie *card;
	int err = litepcie_open_index(&card, 0);

	if (!err)
		err = litepcie_get_info(card, &info);
	if (err)
		return fprintf(stderr, "async_copy: %s\n", litepcie_strerror(err)), 1;
	if (argc < 2 && bytes > info.memory_bytes)
		bytes = info.memory_bytes;
	/* Whole pages: pieces do not share cache lines. */
	out = aligned_alloc(4096, bytes);
	in = aligned_alloc(4096, bytes);
	if (!in || !out)
		return fprintf(stderr, "async_copy: no memory for 2 x %zu bytes\n", bytes), 1;
	memset(in, 0, bytes);
	for (size_t i = 0; i < bytes; i++)
		out[i] = (unsigned char)(i * 2654435761u >> 13);
	err = litepcie_queue_open(&queue, card, DEPTH);
	if (!err)
		err = litepcie_queue_register(queue, &(struct iovec){ in, bytes }, 1);
	if (!err)
		err = move(queue, 1, out, bytes);
	if (!err)
		err = move(queue, 0, in, bytes);
	litepcie_queue_close(queue);
	litepcie_close(card);
	if (err)
		return fprintf(stderr, "async_copy: %s\n", litepcie_strerror(err)), 1;
	printf("%zu bytes moved to the card and back: %s\n", bytes,
	       memcmp(in, out, bytes) ? "different" : "equal");
	return !!memcmp(in, out, bytes);
}
