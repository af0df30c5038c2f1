// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Keeps several transfers in flight: writes to the card, reads back, compares. Uses liblitepcie.
 *
 *	async_copy [MIB]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <liblitepcie.h>

#define PIECE ((size_t)256 << 10)
#define DEPTH 8

/* Moves @bytes in pieces, with up to DEPTH of them in flight. 0 or a negative errno. */
static int move(struct litepcie_queue *queue, int write, unsigned char *data, size_t bytes)
{
	size_t at = 0, done = 0;
	struct litepcie_done ended;

	while (done < bytes) {
		int err = 0;

		if (at < bytes && litepcie_queue_in_flight(queue) < DEPTH) {
			err = write ? litepcie_queue_write(queue, data + at, PIECE, at, at)
				    : litepcie_queue_read(queue, data + at, PIECE, at, at);
			at += PIECE;
		} else if ((err = litepcie_queue_wait(queue, &ended, 1, -1)) > 0) {
			err = (int)(ended.result < 0 ? ended.result : 0);
			done += PIECE;
		}
		if (err < 0)
			return err;
	}
	return 0;
}

int main(int argc, char **argv)
{
	size_t bytes = (argc > 1 ? strtoull(argv[1], NULL, 0) : 4) << 20;
	/* Whole pages: pieces do not share cache lines. */
	unsigned char *out = aligned_alloc(4096, bytes), *in = aligned_alloc(4096, bytes);
	struct litepcie_queue *queue = NULL;
	struct litepcie *card;
	int err = litepcie_open_index(&card, 0);

	if (!in || !out)
		return fprintf(stderr, "async_copy: no memory for 2 x %zu MiB\n", bytes >> 20), 1;
	memset(in, 0, bytes);
	for (size_t i = 0; i < bytes; i++)
		out[i] = (unsigned char)(i * 2654435761u >> 13);
	if (!err)
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
