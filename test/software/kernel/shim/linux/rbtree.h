/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* The functions of the kernel's sorted trees that queue.c uses, with a sorted list: same order, same ties. */
#ifndef LITEPCIE_SHIM_RBTREE_H
#define LITEPCIE_SHIM_RBTREE_H

#include <linux/kernel.h>

struct rb_node {
	struct rb_node *next;
};

struct rb_root_cached {
	struct rb_node *first;
};

#define rb_entry(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))

static inline struct rb_node *rb_first_cached(const struct rb_root_cached *root)
{
	return root->first;
}

static inline void rb_add_cached(struct rb_node *node, struct rb_root_cached *root,
				 bool (*less)(struct rb_node *a, const struct rb_node *b))
{
	struct rb_node **place = &root->first;

	while (*place && !less(node, *place))
		place = &(*place)->next;
	node->next = *place;
	*place = node;
}

static inline void rb_erase_cached(struct rb_node *node, struct rb_root_cached *root)
{
	struct rb_node **place = &root->first;

	while (*place != node)
		place = &(*place)->next;
	*place = node->next;
}

#endif
