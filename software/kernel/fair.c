// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order in which the open files of a card get an engine: pure functions,
 * tested without a card.
 *
 * This is weighted fair queueing with equal weights. The engine serves the file
 * whose oldest request would be done first if the engine served all files at
 * the same time, byte by byte. A short request of a file that was idle is
 * therefore served before the next long request of any other file, also if
 * there are many other files. A file that is opened anew gains at most one
 * request, so nobody can keep others away.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/math64.h>
#include <linux/minmax.h>

#include "fair.h"

/* A request has a descriptor, headers and an interrupt besides its bytes. */
#define LITEPCIE_FAIR_LEAST	256

/**
 * litepcie_fair_cost() - what a request counts for
 * @bytes: bytes it moves
 *
 * Return: its cost in bytes.
 */
u32 litepcie_fair_cost(size_t bytes)
{
	return max_t(size_t, bytes, LITEPCIE_FAIR_LEAST);
}

static bool litepcie_fair_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct litepcie_share, node)->due <
	       rb_entry(b, struct litepcie_share, node)->due;
}

/**
 * litepcie_fair_add() - a file without work has a request
 * @fair: the files with work
 * @share: the file's share, not in @fair
 * @cost: cost of the request
 */
void litepcie_fair_add(struct litepcie_fair *fair, struct litepcie_share *share,
		       u32 cost)
{
	share->due = max(share->due, fair->now) + cost;
	rb_add_cached(&share->node, &fair->waiting, litepcie_fair_less);
	fair->count++;
}

/**
 * litepcie_fair_first() - the file that is served next
 * @fair: the files with work
 *
 * Return: its share, or NULL if no file has work.
 */
struct litepcie_share *litepcie_fair_first(struct litepcie_fair *fair)
{
	struct rb_node *node = rb_first_cached(&fair->waiting);

	return node ? rb_entry(node, struct litepcie_share, node) : NULL;
}

/* Sorts a share anew after its oldest request has changed. */
static void litepcie_fair_move(struct litepcie_fair *fair,
			       struct litepcie_share *share, u64 due, bool work)
{
	/* A file that is alone is in its place. */
	if (work && fair->count == 1) {
		share->due = due;
		return;
	}
	rb_erase_cached(&share->node, &fair->waiting);
	share->due = due;
	if (work)
		rb_add_cached(&share->node, &fair->waiting, litepcie_fair_less);
	else
		fair->count--;
}

/**
 * litepcie_fair_serve() - the oldest request of a file was given to the card
 * @fair: the files with work
 * @share: the file's share, in @fair
 * @cost: cost of that request
 * @next: cost of the file's next request, 0 if it has none
 */
void litepcie_fair_serve(struct litepcie_fair *fair, struct litepcie_share *share,
			 u32 cost, u32 next)
{
	fair->now += div_u64(cost, fair->count);
	litepcie_fair_move(fair, share, share->due + next, next);
}

/**
 * litepcie_fair_drop() - the oldest request of a file was cancelled
 * @fair: the files with work
 * @share: the file's share, in @fair
 * @cost: cost of that request
 * @next: cost of the file's next request, 0 if it has none
 */
void litepcie_fair_drop(struct litepcie_fair *fair, struct litepcie_share *share,
			u32 cost, u32 next)
{
	litepcie_fair_move(fair, share, share->due - cost + next, next);
}
