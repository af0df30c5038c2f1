/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* Structures and functions of pio_test. */
#ifndef LITEPCIE_UTIL_PIO_TEST_H
#define LITEPCIE_UTIL_PIO_TEST_H

#include "memory.h"

#define PIO_RUNS  3
#define PIO_WORDS 1024 /* words that the accesses go round in */

struct pio_options {
	uint64_t count, offset, user;
};

struct pio {
	struct memory memory;
	const struct pio_options *options;
	int signal;		   /* that ended the test, 0: none */
	uint32_t *words_of_window; /* from options->offset on, mapped for the way that runs */
	struct litepcie_user *user_logic; /* NULL without --user-address */
	uint32_t kept[PIO_WORDS], words[PIO_WORDS];
};

/* A way to access the card, and the seconds of each of its runs. */
struct pio_way {
	const char *name, *what;
	/* Makes options->count accesses of 4 bytes. 0 or a negative errno. */
	int (*run)(struct pio *pio, bool write);
	bool (*there)(const struct pio *pio); /* NULL: always */
	bool combined;			      /* how the window is mapped */
	bool both;			      /* an access writes and reads */
	double seconds[2][PIO_RUNS];	      /* [write] */
};

extern struct pio_way pio_ways[]; /* ends with a NULL name */

/* Runs all ways. 0, or the exit code after one line on stderr. */
int pio_run(struct pio *pio);

#endif /* LITEPCIE_UTIL_PIO_TEST_H */
