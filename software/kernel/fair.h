/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order in which the open files of a card get an engine: pure functions,
 * tested without a card.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#ifndef _LITEPCIE_FAIR_H
#define _LITEPCIE_FAIR_H

#include <linux/rbtree.h>
#include <linux/types.h>

/**
 * struct litepcie_fair - the open files that have work for an engine
 * @waiting: their shares, by litepcie_share.due
 * @count: number of shares in @waiting
 * @now: virtual time: bytes that each of them would have moved if the engine
 *	served all of them at the same time
 */
struct litepcie_fair {
	struct rb_root_cached waiting;
	unsigned int count;
	u64 now;
};

/**
 * struct litepcie_share - share of an open file in an engine
 * @node: in litepcie_fair.waiting while the file has work
 * @due: virtual time at which the oldest work of the file would be done
 */
struct litepcie_share {
	struct rb_node node;
	u64 due;
};

u32 litepcie_fair_cost(size_t bytes);
void litepcie_fair_add(struct litepcie_fair *fair, struct litepcie_share *share,
		       u32 cost);
struct litepcie_share *litepcie_fair_first(struct litepcie_fair *fair);
void litepcie_fair_serve(struct litepcie_fair *fair, struct litepcie_share *share,
			 u32 cost, u32 next);
void litepcie_fair_drop(struct litepcie_fair *fair, struct litepcie_share *share,
			u32 cost, u32 next);

#endif /* _LITEPCIE_FAIR_H */
