// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Gives the card's user logic two buffers in host memory. The copier of the simulated board's user
 * core (targets/sim.py --user-core) reads one and writes the other by itself, and interrupts.
 *
 *	host_buffers [BYTES]
 */
#include <fcntl.h>
#include <liblitepcie.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Offsets in /dev/litepcie0_user; csr.h of the board has them. */
enum { SOURCE = 0x800, TARGET = 0x804, WORDS = 0x808, CONTROL = 0x80c };

static void set(int user, off_t offset, uint32_t value)
{
	if (pwrite(user, &value, sizeof(value), offset) != sizeof(value))
		perror("/dev/litepcie0_user");
}

int main(int argc, char **argv)
{
	int bytes = argc > 1 ? atoi(argv[1]) : 4096, user = open("/dev/litepcie0_user", O_RDWR),
	    err;
	struct litepcie_interrupt *copied = NULL;
	struct litepcie_hostbuf from = { 0 }, to = { 0 };
	struct litepcie *card;

	if ((err = litepcie_open_index(&card, 0)) < 0 ||
	    (err = litepcie_interrupt_open(&copied, 0, "copied")) < 0 ||
	    (err = litepcie_hostbuf_create(card, bytes, LITEPCIE_HOSTBUF_READ, &from)) < 0 ||
	    (err = litepcie_hostbuf_create(card, bytes, LITEPCIE_HOSTBUF_WRITE, &to)) < 0)
		goto out;
	memset(from.data, 0x5a, bytes);
	set(user, SOURCE, from.card_address);
	set(user, TARGET, to.card_address);
	set(user, WORDS, bytes / 4);
	set(user, CONTROL, 1);
	err = litepcie_interrupt_wait(copied, 10000, NULL);
	/* The interrupt came after the last byte. */
	if (!err)
		puts(memcmp(to.data, from.data, bytes) ? "different" : "equal");
out:
	if (err)
		fprintf(stderr, "litepcie0: %s\n", litepcie_strerror(err));
	if (from.data)
		litepcie_hostbuf_destroy(card, &from);
	if (to.data)
		litepcie_hostbuf_destroy(card, &to);
	litepcie_interrupt_close(copied);
	litepcie_close(card);
	return err != 0;
}
