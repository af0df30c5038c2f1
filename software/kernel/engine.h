/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A DMA engine of a memory channel, and what engines of a direction share.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#ifndef _LITEPCIE_ENGINE_H
#define _LITEPCIE_ENGINE_H

#include <linux/dma-direction.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "descriptor.h"
#include "fair.h"

struct litepcie_device;

/**
 * enum litepcie_engine_state - what the driver does with the engine's requests
 * @LITEPCIE_ENGINE_PAUSED: keeps them until the engine runs again
 * @LITEPCIE_ENGINE_RUNNING: gives them to the card
 * @LITEPCIE_ENGINE_FAILED: refuses them with litepcie_engine.error
 *
 * control.c has the diagram of states and events.
 */
enum litepcie_engine_state {
	LITEPCIE_ENGINE_PAUSED,
	LITEPCIE_ENGINE_RUNNING,
	LITEPCIE_ENGINE_FAILED,
};

/**
 * struct litepcie_engine - one DMA engine of the card and its ring
 * @ld: the device
 * @node: in litepcie_device.all_engines
 * @name: direction and channel, for the log and debugfs: "reader0"
 * @channel: its memory channel
 * @direction: LITEPCIE_READER or LITEPCIE_WRITER
 * @dma: the same direction for the kernel's DMA functions
 * @regs: registers of the engine; NULL if the card has no such engine
 * @ring: descriptors, in coherent memory
 * @ring_dma: bus address of @ring
 * @ring_log2: log2 of the number of descriptors in the ring
 * @status: status block, in coherent memory, written by the card
 * @status_dma: bus address of @status
 * @max_pages: largest number of pages in a request
 * @max_segment: most bytes of a descriptor
 * @vector: number of its interrupt among those of the card
 * @control: held while the state of the engine's hardware changes
 * @idle_stop: jiffies when it last stopped without a request, 0: never
 * @watchdog: work that recovers an engine which stopped or makes no progress
 * @pool: the engines of its direction; the lock protects all members below
 * @share: in litepcie_pool.engines
 * @state: what happens to requests
 * @error: negative errno for requests of a failed engine
 * @stopped: the card reported that the engine stopped
 * @produced: descriptors in the ring since the last reset of the engine
 * @rung: value of the doorbell
 * @completed: descriptors reported complete since that reset
 * @seen: register COMPLETED when the watchdog last read it
 * @progress: when the engine last completed a descriptor, in jiffies
 * @pending: requests that a reset took out of the ring, oldest first
 * @committed: bytes of the requests in the ring
 * @inflight: requests in the ring, oldest first
 */
struct litepcie_engine {
	struct litepcie_device *ld;
	struct list_head node;
	char name[16];
	unsigned int channel;
	unsigned int direction;
	enum dma_data_direction dma;
	void __iomem *regs;
	struct litepcie_descriptor *ring;
	dma_addr_t ring_dma;
	unsigned int ring_log2;
	__le32 *status;
	dma_addr_t status_dma;
	unsigned int max_pages;
	unsigned int max_segment;
	unsigned int vector;
	struct mutex control;		/* serialises hardware state changes */
	unsigned long idle_stop;
	struct delayed_work watchdog;

	struct litepcie_pool *pool;
	struct list_head share;
	enum litepcie_engine_state state;
	int error;
	bool stopped;
	u32 produced;
	u32 rung;
	u32 completed;
	u32 seen;
	unsigned long progress;
	struct list_head pending;
	size_t committed;
	struct list_head inflight;
};

/**
 * struct litepcie_vector - an interrupt of a card
 * @ld: the device
 * @number: its number among the interrupts of the card
 */
struct litepcie_vector {
	struct litepcie_device *ld;
	unsigned int number;
};

#endif /* _LITEPCIE_ENGINE_H */
