/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of the driver share.
 *
 * "Reader" and "read" mean host memory to card, "writer" and "write" card to
 * host memory, as in the gateware: write(2) is served by the reader.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#ifndef _LITEPCIE_DRIVER_H
#define _LITEPCIE_DRIVER_H

#include <linux/atomic.h>
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/dma-direction.h>
#include <linux/io.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <linux/litepcie.h>

#include "descriptor.h"
#include "litepcie_regs.h"

#define LITEPCIE_NAME		"litepcie"
#define LITEPCIE_DIRECTIONS	2	/* LITEPCIE_READER, LITEPCIE_WRITER */
#define LITEPCIE_RING_LOG2	10	/* largest ring the driver makes */
#define LITEPCIE_CHUNK_BYTES	SZ_1M	/* most one request moves, and pins */
#define LITEPCIE_BOUNCE_BYTES	SZ_64K	/* most one request copies */
#define LITEPCIE_ASYNC_BYTES	SZ_4M	/* most one call leaves behind, pinned */

struct litepcie_device;
struct litepcie_request;

/**
 * struct litepcie_file - what is open
 * @ld: the device
 * @node: in litepcie_device.files
 * @file: the file, whose mappings are zapped when the card goes
 * @errors: by direction, what the next call is told: negative errno that cut
 *	the last one short, or 0
 */
struct litepcie_file {
	struct litepcie_device *ld;
	struct list_head node;
	struct file *file;
	int errors[LITEPCIE_DIRECTIONS];
};

/**
 * enum litepcie_engine_state - what an engine does with its requests
 * @LITEPCIE_ENGINE_PAUSED: keeps them, until the engine runs again
 * @LITEPCIE_ENGINE_RUNNING: moves them
 * @LITEPCIE_ENGINE_FAILED: refuses them
 */
enum litepcie_engine_state {
	LITEPCIE_ENGINE_PAUSED,
	LITEPCIE_ENGINE_RUNNING,
	LITEPCIE_ENGINE_FAILED,
};

/**
 * struct litepcie_engine - one DMA engine of the card and its ring
 * @ld: the device
 * @name: for the log
 * @direction: LITEPCIE_READER or LITEPCIE_WRITER
 * @dma: the same as the DMA interface calls it
 * @regs: registers of the engine; NULL if the card has no such engine
 * @ring: descriptors, in coherent memory
 * @ring_dma: address of @ring for the card
 * @ring_log2: logarithm of the size of the ring
 * @status: status block, in coherent memory, written by the card
 * @status_dma: address of @status for the card
 * @max_pages: pages a request may have
 * @control: held while the engine is reset, started or given up
 * @watchdog: looks after an engine that stopped or makes no progress
 * @lock: protects all that follows, against the interrupt handler too
 * @state: what becomes of requests
 * @error: negative errno of a dead engine
 * @stopped: the card reported that the engine stopped
 * @produced: descriptors made available since the reset of the engine
 * @completed: descriptors reported complete since then
 * @seen: what the register COMPLETED said when it was last looked at
 * @progress: when the engine last moved something, in jiffies
 * @pending: requests that wait for room in the ring, in order
 * @inflight: requests in the ring, in order
 */
struct litepcie_engine {
	struct litepcie_device *ld;
	const char *name;
	unsigned int direction;
	enum dma_data_direction dma;
	void __iomem *regs;
	struct litepcie_descriptor *ring;
	dma_addr_t ring_dma;
	unsigned int ring_log2;
	__le32 *status;
	dma_addr_t status_dma;
	unsigned int max_pages;
	struct mutex control;		/* of the hardware */
	struct delayed_work watchdog;

	spinlock_t lock;		/* of all that follows */
	enum litepcie_engine_state state;
	int error;
	bool stopped;
	u32 produced;
	u32 completed;
	u32 seen;
	unsigned long progress;
	struct list_head pending;
	struct list_head inflight;
};

/**
 * struct litepcie_identity - what the card is, read once
 * @version: of the gateware, major << 16 | minor
 * @capabilities: LITEPCIE_CAPABILITY_*
 * @geometry: register GEOMETRY
 * @memory_bytes: size of the memory of the card
 * @window_start: physical address of the window onto it
 * @window_bytes: size of the window, a multiple of the page size; 0: none
 * @clock_hz: of the data path
 * @built_link: register BUILT_LINK
 * @target: name the gateware was built with
 */
struct litepcie_identity {
	u32 version;
	u32 capabilities;
	u32 geometry;
	u64 memory_bytes;
	phys_addr_t window_start;
	u32 window_bytes;
	u32 clock_hz;
	u32 built_link;
	u32 streams;
	char target[LITEPCIE_TARGET_BYTES];
};

/**
 * struct litepcie_device - one card
 * @dev: the device in class litepcie; its references keep this structure
 * @cdev: /dev/litepcieN
 * @pdev: not to be touched once @gone
 * @regs: BAR0
 * @id: what the card is
 * @engines: of channel 0, by direction
 * @queue: where @watchdog of the engines runs
 * @gate: file operations are readers of it; unbinding waits for them
 * @gone: the driver is unbound from the card
 * @latch: held from a write or latch in the card to what is read back
 * @files_lock: protects @files
 * @files: all that is open
 * @async_calls: calls that were left behind and use the card
 * @idle: woken when @async_calls becomes 0
 * @debugfs: folder of the card
 */
struct litepcie_device {
	struct device dev;
	struct cdev cdev;
	struct pci_dev *pdev;
	void __iomem *regs;
	struct litepcie_identity id;
	struct litepcie_engine engines[LITEPCIE_DIRECTIONS];
	struct workqueue_struct *queue;
	struct srcu_struct gate;
	bool gone;
	struct mutex latch;		/* of registers read in pairs */
	struct mutex files_lock;	/* of the list */
	struct list_head files;
	atomic_t async_calls;
	wait_queue_head_t idle;
	struct dentry *debugfs;
};

/* params.c: parameters of the module */
unsigned long litepcie_timeout(void);

/* ring.c: requests of one engine */
int litepcie_ring_alloc(struct litepcie_engine *engine);
void litepcie_ring_free(struct litepcie_engine *engine);
int litepcie_ring_submit(struct litepcie_engine *engine,
			 struct litepcie_request *req);
bool litepcie_ring_cancel(struct litepcie_engine *engine,
			  struct litepcie_request *req);
void litepcie_ring_poll(struct litepcie_engine *engine);
void litepcie_ring_feed(struct litepcie_engine *engine);
void litepcie_ring_rewind(struct litepcie_engine *engine, u32 completed,
			  u32 bytes, int error);
void litepcie_ring_fail(struct litepcie_engine *engine, int error);

/* control.c: the hardware of one engine */
int litepcie_engine_reset(struct litepcie_engine *engine);
void litepcie_engine_enable(struct litepcie_engine *engine);
bool litepcie_engine_set_paused(struct litepcie_engine *engine);
int litepcie_engine_init(struct litepcie_device *ld, unsigned int direction,
			 work_func_t watchdog);
void litepcie_engine_free(struct litepcie_engine *engine);
void litepcie_engine_start(struct litepcie_engine *engine);
void litepcie_engine_pause(struct litepcie_engine *engine);
void litepcie_engine_stop(struct litepcie_engine *engine, int error);
void litepcie_engine_disconnect(struct litepcie_engine *engine, int error);

/* watch.c: an engine in trouble */
void litepcie_watchdog(struct work_struct *work);

/* power.c: the card as a whole */
extern const struct pci_error_handlers litepcie_error_handlers;
extern const struct dev_pm_ops litepcie_pm_ops;
void litepcie_start(struct litepcie_device *ld);
void litepcie_stop(struct litepcie_device *ld, int error);

/* identity.c: what the card is */
extern const struct attribute_group *litepcie_groups[];
bool litepcie_alive(struct litepcie_device *ld);
int litepcie_identify(struct litepcie_device *ld, struct litepcie_identity *id);
void litepcie_check_link(struct litepcie_device *ld);

/* file.c: what programs do with /dev/litepcieN */
extern const struct file_operations litepcie_fops;

/* device.c: /dev/litepcieN, coming and going */
int litepcie_chardev_init(void);
void litepcie_chardev_exit(void);
struct litepcie_device *litepcie_device_alloc(struct pci_dev *pdev);
int litepcie_device_publish(struct litepcie_device *ld);
void litepcie_device_unpublish(struct litepcie_device *ld);
void litepcie_device_drain(struct litepcie_device *ld);

/* ioctl.c */
long litepcie_ioctl(struct litepcie_device *ld, unsigned int command,
		    void __user *argument);

/* debugfs.c */
#ifdef CONFIG_DEBUG_FS
void litepcie_debugfs_init(void);
void litepcie_debugfs_exit(void);
void litepcie_debugfs_add(struct litepcie_device *ld);
void litepcie_debugfs_remove(struct litepcie_device *ld);
#else
static inline void litepcie_debugfs_init(void) { }
static inline void litepcie_debugfs_exit(void) { }
static inline void litepcie_debugfs_add(struct litepcie_device *ld) { }
static inline void litepcie_debugfs_remove(struct litepcie_device *ld) { }
#endif

#endif /* _LITEPCIE_DRIVER_H */
