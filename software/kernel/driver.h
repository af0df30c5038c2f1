/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Structures and functions that the files of the driver share.
 *
 * "Reader" and "read" mean host memory to card, "writer" and "write" mean card
 * to host memory, as in the gateware: write(2) is served by the reader.
 *
 * Layers: each file calls files of lower lines only. A function of a higher
 * line is reached through a pointer: litepcie_request.complete, the watchdog's
 * work function. test/software/kernel/test_layers.py checks this list.
 *
 *	pci.c				probe, remove, /dev/litepcieN
 *	file.c				its system calls
 *	ioctl.c stream.c		its ioctls; devices of streams
 *	dmabuf_move.c			moves of dma-bufs
 *	power.c sysfs.c			the card as a whole, failures; attributes
 *	transfer.c stream_direct.c	calls; those of streams with O_DIRECT
 *	stream_ioctl.c			setup of streams
 *	submit.c stream_call.c		requests enter and leave the queue; calls of streams
 *	engine.c irq.c debugfs.c	the hardware of engines, watchdog; interrupts
 *	ring.c pages.c stream_control.c	requests in the ring; their memory; hardware of streams
 *	interrupt.c user.c hostbuf.c	the user's interrupts, registers, buffers
 *	queue.c memory.c bank.c		requests before the ring; their structures; registers
 *	stream_ring.c stream_memory.c	rings of streams, and their memory
 *	descriptor.c params.c trace.c	pure functions; module parameters; trace
 *	identity.c window.c dmabuf.c	what the card is; mmap(); attached dma-bufs
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#ifndef _LITEPCIE_DRIVER_H
#define _LITEPCIE_DRIVER_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/dma-direction.h>
#include <linux/io.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/rwsem.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <linux/litepcie.h>
#include <linux/litepcie_hostbuf.h>

#include "identity.h"
#include "litepcie_regs.h"
#include "request.h"

#define LITEPCIE_NAME		"litepcie"
#define LITEPCIE_MINORS		256	/* cards */
/* End of the pinned registers that the driver uses, and of all. */
#define LITEPCIE_REGS_BYTES	LITEPCIE_HOST_REGS_END
#define LITEPCIE_REGS_END	(LITEPCIE_MSIX_PENDING + SZ_64K)
#define LITEPCIE_RING_LOG2	10	/* largest ring the driver allocates */
#define LITEPCIE_CHUNK_BYTES	SZ_1M	/* largest request of pinned pages */
#define LITEPCIE_COMMIT_BYTES	SZ_2M	/* most bytes that the card has, per direction */
#define LITEPCIE_LONG_BYTES	SZ_64K	/* a request that fills the link by itself */
#define LITEPCIE_BOUNCE_BYTES	SZ_64K	/* largest request that is copied */
#define LITEPCIE_MODERATION_COUNT	16	/* completions for an interrupt, at most */
#define LITEPCIE_MODERATION_US	50	/* that an interrupt waits for more, at most */
#define LITEPCIE_MAX_VECTORS	\
	(LITEPCIE_MAX_CHANNELS * LITEPCIE_DIRECTIONS + LITEPCIE_MAX_INTERRUPTS)
#define LITEPCIE_ASYNC_BYTES	SZ_4M	/* largest asynchronous call */

struct litepcie_device;
struct litepcie_interrupt;
struct litepcie_request;
struct litepcie_stream;
struct litepcie_user;

/*
 * Offsets for mmap(), after those of the window: a bit that says so, and the
 * number of the buffer. No buffer is larger than the distance of two.
 */
#define LITEPCIE_HOSTBUF_PAGE	((unsigned long)(BIT_ULL(41) >> PAGE_SHIFT))
#define LITEPCIE_HOSTBUF_STEP	((unsigned long)(SZ_256M >> PAGE_SHIFT))

/**
 * struct litepcie_hostbuf - a buffer that the card can have
 * @pages: its memory; NULL: there is no buffer
 * @dma: where the card finds it
 * @bytes: its size
 * @flags: LITEPCIE_HOSTBUF_*
 * @owner: the open file; NULL after it was closed, if the card may still access
 *	the memory
 * @given: the card has it
 */
struct litepcie_hostbuf {
	struct page *pages;
	dma_addr_t dma;
	u32 bytes;
	u32 flags;
	struct litepcie_file *owner;
	bool given;
};

/**
 * enum litepcie_card - what calls may do with the card
 * @LITEPCIE_CARD_AWAY: wait: it is not probed yet, suspended or in a reset
 * @LITEPCIE_CARD_PRESENT: use it: it answers and is the card that was probed
 * @LITEPCIE_CARD_DISABLED: fail: an engine did not end its reset, and bus
 *	mastering is off until the card is reset
 * @LITEPCIE_CARD_CUT_OFF: fail: a bus error, registers that read as all ones,
 *	another bitstream after a reset, or the driver is unbound
 *
 * power.c changes it, says so in the log, and wakes whoever waits.
 */
enum litepcie_card {
	LITEPCIE_CARD_AWAY,
	LITEPCIE_CARD_PRESENT,
	LITEPCIE_CARD_DISABLED,
	LITEPCIE_CARD_CUT_OFF,
};

/**
 * struct litepcie_device - one card
 * @dev: device of class litepcie; its reference count frees this structure
 * @cdev: /dev/litepcieN
 * @pdev: PCI device; must not be used after @gone is set
 * @regs: the pinned registers, at the start of BAR0
 * @user_regs: the user's registers; NULL: none
 * @coherent: the processors' caches see what the card reads and writes
 * @id: what the card is
 * @engines: by memory channel and direction
 * @all_engines: the engines that the card has
 * @pools: by direction
 * @vectors: interrupts of the card
 * @nr_vectors: number of them
 * @interrupts: of the user's logic, by number; NULL: none
 * @interrupt_vector: vector of the first, or the one that all share
 * @interrupts_split: each has a vector of its own
 * @interrupt_lock: protects @armed and the registers that arm
 * @armed: interrupts that are armed, by bit
 * @moderation_count: most completions that share an interrupt; 0 or 1: none do
 * @moderation_us: most microseconds that an interrupt waits for others; 0: none
 * @streams: by number; NULL: none
 * @stream_ends: directions that the card has, struct litepcie_stream_end
 * @queue: runs the watchdogs
 * @gate: file operations are its readers; unbinding waits for them
 * @gone: the driver is unbound from the card
 * @events: held while the state of the card changes. Comes before all
 *	other locks of the driver, and after the lock of the PCI device
 * @card_lock: @card changes only while this is held for writing
 * @card: what calls may do
 * @card_error: negative errno of calls while they must fail
 * @card_change: woken when @card changes
 * @failure: negative errno of litepcie_card_fail() until @cut_off has run
 * @cut_off: work that ends all calls after a failure
 * @check: work that asks whether the card answers, while @sleepers is not 0
 * @sleepers: open files with calls that the driver does not end by time
 * @stuck: the card did not end a reset or an access in time
 * @kept_lock: protects the next four members
 * @loud: the card failed, and may still write to memory that it was given
 * @kept_bytes: memory in the next two lists
 * @kept: requests that have ended, whose memory stays until the card is quiet
 * @kept_rings: rings of streams that were closed, likewise
 * @window_lock: protects the next two members
 * @window_maps: mappings of the window: uncached, write-combined
 * @window_combined: the kernel knows that the window is write-combined
 * @scratch: value of SCRATCH before a suspend
 * @memory_losses: resumes after which the card's memory may have been lost
 * @latch: held between the two accesses of a 64-bit counter, or of SCRATCH
 * @files_lock: protects @files and @user_files
 * @files: all open files
 * @dmabufs_lock: protects @dmabufs, and mapping and unmapping its members
 * @dmabufs: dma-bufs that open files have attached
 * @hostbufs_lock: protects @hostbufs and the card's registers of them
 * @hostbufs: buffers of the user logic, by number
 * @user: the device of the user's registers; NULL: none
 * @user_files: all open files of @user
 * @debugfs: debugfs folder of the card
 */
struct litepcie_device {
	struct device dev;
	struct cdev cdev;
	struct pci_dev *pdev;
	void __iomem *regs;
	void __iomem *user_regs;
	bool coherent;
	struct litepcie_identity id;
	struct litepcie_engine engines[LITEPCIE_MAX_CHANNELS][LITEPCIE_DIRECTIONS];
	struct list_head all_engines;
	struct litepcie_pool pools[LITEPCIE_DIRECTIONS];
	struct litepcie_vector vectors[LITEPCIE_MAX_VECTORS];
	unsigned int nr_vectors;
	struct litepcie_interrupt *interrupts[LITEPCIE_MAX_INTERRUPTS];
	unsigned int interrupt_vector;
	bool interrupts_split;
	spinlock_t interrupt_lock;	/* protects the next member */
	u32 armed;
	u16 moderation_count;
	u16 moderation_us;
	struct litepcie_stream *streams[LITEPCIE_MAX_CHANNELS];
	struct list_head stream_ends;
	struct workqueue_struct *queue;
	struct srcu_struct gate;
	bool gone;
	struct mutex events;		/* serialises events of the card */
	struct rw_semaphore card_lock;	/* protects the next two members */
	enum litepcie_card card;
	int card_error;
	wait_queue_head_t card_change;
	int failure;
	struct work_struct cut_off;
	struct delayed_work check;
	atomic_t sleepers;
	bool stuck;
	spinlock_t kept_lock;		/* protects the next four members */
	bool loud;
	u64 kept_bytes;
	struct list_head kept;
	struct list_head kept_rings;
	struct mutex window_lock;	/* protects the next two members */
	unsigned int window_maps[2];
	bool window_combined;
	u32 scratch;
	atomic_t memory_losses;
	struct mutex latch;		/* serialises pairs of register accesses */
	struct mutex files_lock;	/* protects the list */
	struct list_head files;
	struct mutex dmabufs_lock;	/* protects the list */
	struct list_head dmabufs;
	struct mutex hostbufs_lock;	/* protects the next member */
	struct litepcie_hostbuf hostbufs[LITEPCIE_MAX_HOST_BUFFERS];
	struct litepcie_user *user;
	struct list_head user_files;
	struct dentry *debugfs;
};

/**
 * struct litepcie_interrupt - an interrupt of the user's logic
 * @dev: its reference count frees this structure, and holds the card's
 * @cdev: /dev/litepcieN_interruptM
 * @ld: the card
 * @number: M
 * @wait: woken when @count or @losses grows, and when the card is lost
 * @count: messages that came
 * @losses: resets and suspends, in which events may have been lost
 * @users: files that are open, protected by litepcie_device.files_lock
 *
 * litepcie_device.interrupt_lock protects @count and @losses, and the card's
 * registers ARM and DISARM together with litepcie_device.armed.
 */
struct litepcie_interrupt {
	struct device dev;
	struct cdev cdev;
	struct litepcie_device *ld;
	unsigned int number;
	wait_queue_head_t wait;
	u32 count;
	u32 losses;
	unsigned int users;
};

/**
 * struct litepcie_mapped - an open file of the user's registers
 * @node: in litepcie_device.user_files
 * @ld: the card
 * @file: the file
 */
struct litepcie_mapped {
	struct list_head node;
	struct litepcie_device *ld;
	struct file *file;
};

/**
 * litepcie_card_error() - why calls fail
 * @ld: the device
 *
 * Return: 0 while calls may use the card or wait for it, else a negative errno.
 */
static inline int litepcie_card_error(struct litepcie_device *ld)
{
	switch (READ_ONCE(ld->card)) {
	case LITEPCIE_CARD_AWAY:
	case LITEPCIE_CARD_PRESENT:
		return READ_ONCE(ld->gone) ? -ENODEV : 0;
	default:
		return READ_ONCE(ld->card_error);
	}
}

/* params.c: parameters of the module */
unsigned long litepcie_timeout(void);
size_t litepcie_file_bytes(void);
size_t litepcie_engine_bytes(void);
size_t litepcie_stream_bytes(void);

/* ring.c: into the rings of a direction, and out of the ring of an engine */
void litepcie_ring_feed(struct litepcie_pool *pool);
void litepcie_feed_work(struct work_struct *work);
int litepcie_ring_alloc(struct litepcie_engine *engine);
void litepcie_ring_free(struct litepcie_engine *engine);
bool litepcie_ring_poll(struct litepcie_engine *engine, unsigned int most);
bool litepcie_ring_look(struct litepcie_engine *engine);
void litepcie_ring_end(struct litepcie_engine *engine, struct list_head *done);
void litepcie_ring_rewind(struct litepcie_engine *engine, u32 completed,
			  u32 bytes, int error);
void litepcie_ring_refuse(struct litepcie_engine *engine, int error);
void litepcie_ring_fail(struct litepcie_engine *engine, int error);

/* memory.c: memory that the card may still write */
void litepcie_kept_free(struct litepcie_device *ld);

/* bank.c: registers of an engine, and what happens if they do not answer */
void litepcie_card_fail(struct litepcie_device *ld, int error);
void litepcie_sleeper_add(struct litepcie_device *ld);
void litepcie_sleeper_del(struct litepcie_device *ld);
u64 litepcie_patience_us(struct litepcie_device *ld);
int litepcie_bank_reset(struct litepcie_device *ld, void __iomem *regs,
			const char *name);

/* engine.c: the hardware of one engine, and its recovery */
void litepcie_watchdog(struct work_struct *work);
void litepcie_engine_moderate(struct litepcie_engine *engine);
int litepcie_engine_init(struct litepcie_device *ld, unsigned int channel,
			 unsigned int direction, work_func_t watchdog);
void litepcie_engine_free(struct litepcie_engine *engine);
void litepcie_engine_start(struct litepcie_engine *engine);
int litepcie_engine_restart(struct litepcie_engine *engine);
void litepcie_engine_pause(struct litepcie_engine *engine);
void litepcie_engine_halt(struct litepcie_engine *engine);
void litepcie_engine_disconnect(struct litepcie_engine *engine, int error);

/* window.c: mappings of the window */
void litepcie_window_forget(struct litepcie_device *ld);
int litepcie_window_mmap(struct litepcie_device *ld, struct vm_area_struct *vma);
extern const struct vm_operations_struct litepcie_user_vm_ops;
int litepcie_map_pages(struct litepcie_device *ld, struct vm_area_struct *vma,
		       const struct vm_operations_struct *ops,
		       unsigned long page, unsigned long pages);

/* power.c: the card as a whole, and its failures */
void litepcie_cut_off_work(struct work_struct *work);
void litepcie_check_work(struct work_struct *work);
extern const struct pci_error_handlers litepcie_error_handlers;
extern const struct dev_pm_ops litepcie_pm_ops;
int litepcie_reset_engines(struct litepcie_device *ld);
void litepcie_start(struct litepcie_device *ld);
void litepcie_stop(struct litepcie_device *ld, int error);

/* sysfs.c: attributes */
extern const struct attribute_group *litepcie_groups[];

/* irq.c: interrupts */
int litepcie_irq_init(struct litepcie_device *ld);
void litepcie_irq_free(struct litepcie_device *ld);

/* identity.c: what the card is */
bool litepcie_alive(struct litepcie_device *ld);
int litepcie_identify(struct litepcie_device *ld, struct litepcie_identity *id);
void litepcie_check_link(struct litepcie_device *ld);

/* file.c: system calls on /dev/litepcieN */
extern const struct file_operations litepcie_fops;

/* ioctl.c: its ioctls */
long litepcie_ioctl(struct litepcie_file *lf, unsigned int command,
		    void __user *argument);

/* hostbuf.c: buffers of the card's user logic */
int litepcie_hostbuf_create(struct litepcie_file *lf, void *argument);
int litepcie_hostbuf_destroy(struct litepcie_file *lf, void *argument);
int litepcie_hostbuf_undo(struct litepcie_file *lf, void *argument);
void litepcie_hostbufs_release(struct litepcie_file *lf);
void litepcie_hostbufs_give(struct litepcie_device *ld);
void litepcie_hostbufs_take(struct litepcie_device *ld);
void litepcie_hostbufs_disconnect(struct litepcie_device *ld);
void litepcie_hostbufs_free(struct litepcie_device *ld);
bool litepcie_hostbuf_maps(const struct vm_area_struct *vma);
int litepcie_hostbuf_mmap(struct litepcie_file *lf, struct vm_area_struct *vma);

/* interrupt.c: interrupts of the user's logic, and their devices */
void litepcie_interrupts_start(struct litepcie_device *ld);
void litepcie_interrupts_pause(struct litepcie_device *ld, bool answers);
void litepcie_interrupts_message(struct litepcie_device *ld, unsigned int vector);
int litepcie_interrupts_class_init(void);
void litepcie_interrupts_class_exit(void);
int litepcie_interrupts_init(struct litepcie_device *ld);
void litepcie_interrupts_free(struct litepcie_device *ld);
int litepcie_interrupts_publish(struct litepcie_device *ld);
void litepcie_interrupts_unpublish(struct litepcie_device *ld);

/* user.c: the user's registers, and their device */
int litepcie_user_class_init(void);
void litepcie_user_class_exit(void);
int litepcie_user_publish(struct litepcie_device *ld);
void litepcie_user_unpublish(struct litepcie_device *ld);

/* debugfs.c: state for debugging */
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
