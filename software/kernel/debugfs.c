// SPDX-License-Identifier: GPL-2.0-only
/*
 * State of the driver for debugging: the number of pinned pages and of copied
 * bytes, and the ring of each engine. Nothing here shows a bus address or reads the card.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "driver.h"
#include "request.h"

static struct dentry *litepcie_debugfs;

static const char * const litepcie_state_names[] = {
	[LITEPCIE_ENGINE_PAUSED] = "paused",
	[LITEPCIE_ENGINE_RUNNING] = "running",
	[LITEPCIE_ENGINE_FAILED] = "failed",
};

static int ring_show(struct seq_file *s, void *unused)
{
	struct litepcie_engine *engine = s->private;
	enum litepcie_engine_state state;
	u32 produced, completed;
	size_t held, committed;
	int error;

	/* A copy: interrupts are off for a few loads, however many requests wait. */
	spin_lock_irq(&engine->pool->lock);
	state = engine->state;
	error = engine->error;
	produced = engine->produced;
	completed = engine->completed;
	held = engine->pool->held;
	committed = engine->committed;
	spin_unlock_irq(&engine->pool->lock);

	seq_printf(s, "state %s\n", litepcie_state_names[state]);
	if (state == LITEPCIE_ENGINE_FAILED)
		seq_printf(s, "error %d\n", error);
	seq_printf(s, "size %lu descriptors\n", BIT(engine->ring_log2));
	seq_printf(s, "produced %u\n", produced);
	seq_printf(s, "completed %u\n", completed);
	seq_printf(s, "status %u %#x\n",
		   le32_to_cpu(engine->status[LITEPCIE_STATUS_COMPLETED]),
		   le32_to_cpu(engine->status[LITEPCIE_STATUS_REASON]));
	seq_printf(s, "held %zu bytes\n", held);
	seq_printf(s, "committed %zu bytes\n", committed);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ring);

static const char * const litepcie_card_names[] = {
	[LITEPCIE_CARD_AWAY] = "away",
	[LITEPCIE_CARD_PRESENT] = "present",
	[LITEPCIE_CARD_DISABLED] = "disabled",
	[LITEPCIE_CARD_CUT_OFF] = "cut off",
};

static int card_show(struct seq_file *s, void *unused)
{
	struct litepcie_device *ld = s->private;
	u64 kept;

	spin_lock_irq(&ld->kept_lock);
	kept = ld->kept_bytes;
	spin_unlock_irq(&ld->kept_lock);
	seq_printf(s, "state %s\n", litepcie_card_names[READ_ONCE(ld->card)]);
	seq_printf(s, "kept %llu bytes\n", kept);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(card);

static int copied_bytes_get(void *unused, u64 *bytes)
{
	*bytes = atomic64_read(&litepcie_copied_bytes);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(copied_bytes_fops, copied_bytes_get, NULL, "%llu\n");

/**
 * litepcie_debugfs_add() - create the files of a card
 * @ld: the device, published
 */
void litepcie_debugfs_add(struct litepcie_device *ld)
{
	struct litepcie_engine *engine;

	ld->debugfs = debugfs_create_dir(dev_name(&ld->dev), litepcie_debugfs);
	debugfs_create_file("card", 0400, ld->debugfs, ld, &card_fops);
	list_for_each_entry(engine, &ld->all_engines, node)
		debugfs_create_file(engine->name, 0400, ld->debugfs, engine,
				    &ring_fops);
}

/**
 * litepcie_debugfs_remove() - undo litepcie_debugfs_add()
 * @ld: the device
 *
 * Waits until no process reads the files.
 */
void litepcie_debugfs_remove(struct litepcie_device *ld)
{
	debugfs_remove_recursive(ld->debugfs);
}

/**
 * litepcie_debugfs_init() - create the folder of the driver
 */
void litepcie_debugfs_init(void)
{
	litepcie_debugfs = debugfs_create_dir(LITEPCIE_NAME, NULL);
	debugfs_create_atomic_t("pinned_pages", 0400, litepcie_debugfs,
				&litepcie_pinned_pages);
	debugfs_create_file_unsafe("copied_bytes", 0400, litepcie_debugfs, NULL,
				   &copied_bytes_fops);
}

/**
 * litepcie_debugfs_exit() - undo litepcie_debugfs_init()
 */
void litepcie_debugfs_exit(void)
{
	debugfs_remove_recursive(litepcie_debugfs);
}
