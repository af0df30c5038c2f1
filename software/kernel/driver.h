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
 *	pci.c				probe, remove, /dev/litepcieN and its attributes
 *	file.c				its system calls and ioctls
 *	stream.c dmabuf.c		devices of streams; buffers of other devices
 *	power.c				the card as a whole, failures
 *	transfer.c stream_call.c	calls, and those of streams
 *	engine.c debugfs.c		the hardware of engines, watchdog, interrupts
 *	pages.c stream_control.c	memory of requests; hardware of streams
 *	stream_ring.c			rings of streams
 *	ring.c				requests in the ring; descriptors
 *	queue.c user.c hostbuf.c	requests before the ring; the user's logic, buffers
 *	memory.c window.c		structures of requests; mmap()
 *	card.c trace.c			what the card is, module parameters; trace
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#ifndef _LITEPCIE_DRIVER_H
#define _LITEPCIE_DRIVER_H

#include <linux/atomic.h>
#include <linux/bitfield.h>
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
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <linux/litepcie.h>
#include <linux/litepcie_hostbuf.h>

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

/* End of the registers in BAR0 that only the driver may write. */
#define LITEPCIE_DRIVER_BYTES	SZ_512K

/**
 * struct litepcie_identity - what the card is, read once at probe
 * @version: version of the gateware, major << 16 | minor
 * @capabilities: LITEPCIE_CAPABILITY_*
 * @geometry: register GEOMETRY
 * @memory_bytes: size of the memory of the card
 * @window_start: physical address of the window onto that memory
 * @window_bytes: size of the window, a multiple of the page size; 0: none
 * @user_start: physical address of the user's registers
 * @user_offset: their offset in BAR0
 * @user_bytes: their size; 0: none
 * @user_origin: address of the first one on the bus of the card's SoC
 * @clock_hz: clock of the data path
 * @built_link: register BUILT_LINK
 * @streams: number of stream channels
 * @stream_lacks: those without an engine for a direction, by bit; by direction
 * @interrupts: number of interrupts of the user's logic
 * @interrupt_pulses: those that latch pulses, by bit
 * @interrupt_names: their names
 * @host_buffers: most buffers of the user logic; 0: it has no port
 * @host_limit: bytes of the largest of them
 * @target: name the gateware was built with
 */
struct litepcie_identity {
	u32 version;
	u32 capabilities;
	u32 geometry;
	u64 memory_bytes;
	phys_addr_t window_start;
	u32 window_bytes;
	phys_addr_t user_start;
	u32 user_offset;
	u32 user_bytes;
	u32 user_origin;
	u32 clock_hz;
	u32 built_link;
	u32 streams;
	u32 stream_lacks[2];
	u32 interrupts;
	u32 interrupt_pulses;
	char interrupt_names[LITEPCIE_MAX_INTERRUPTS][LITEPCIE_INTERRUPT_NAME_BYTES];
	u32 host_buffers;
	u32 host_limit;
	char target[LITEPCIE_TARGET_BYTES];
};

/*
 * Number of memory channels, which have banks 0, 1, ...; streams come after them. 0 on a
 * card that has streams only.
 */
static inline unsigned int litepcie_channels(const struct litepcie_identity *id)
{
	return FIELD_GET(LITEPCIE_GEOMETRY_CHANNELS_MASK, id->geometry);
}

/* Banks of engines that a card can have: at least one, of memory or of a stream. */
static inline bool litepcie_channels_fit(u32 channels, u32 streams)
{
	return channels + streams >= 1 && channels + streams <= LITEPCIE_MAX_CHANNELS;
}

/* Has stream @number an engine for @direction? All have both in gateware before 1.8. */
static inline bool litepcie_has_stream_end(const struct litepcie_identity *id,
					   unsigned int number, unsigned int direction)
{
	return !(id->stream_lacks[direction] >> number & 1);
}

/* Gateware since 1.3: each engine has a vector and reports the last completion at once. */
static inline bool litepcie_has_interrupt(const struct litepcie_identity *id)
{
	return FIELD_GET(LITEPCIE_VERSION_MINOR_MASK, id->version) >= 3;
}

/* Gateware since 1.7: the engines of streams count what passes between card and logic. */
static inline bool litepcie_counts_passed(const struct litepcie_identity *id)
{
	return FIELD_GET(LITEPCIE_VERSION_MINOR_MASK, id->version) >= 7;
}

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

/*
 * Order of locks, outermost first. No two of a line are held together.
 *
 *	lock of the PCI device
 *	litepcie_device.events
 *	litepcie_stream_end.use
 *	litepcie_engine.control, litepcie_stream_end.control
 *	litepcie_device.card_lock
 *	hostbufs_lock, files_lock, dmabufs_lock, window_lock, latch; litepcie_stream.users
 *	litepcie_pool.lock, litepcie_stream_end.lock, interrupt_lock, litepcie_file.lock
 *	litepcie_device.kept_lock
 *
 * Readers of litepcie_device.gate take neither of the first two locks: unbinding
 * waits for them. Memory of a program is accessed with no lock but
 * litepcie_stream_end.use. Any file may find a failure with its locks held:
 * litepcie_card_fail() leaves the rest to a work item.
 */

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
 * @events: held while the state of the card changes
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

/*
 * The value that a call of a file returns. The threads of io_uring restart no call,
 * and Linux 6.1 gives the program what a call in them returns.
 */
static inline ssize_t litepcie_result(ssize_t ret)
{
	return ret == -ERESTARTSYS && current->flags & PF_IO_WORKER ? -EINTR : ret;
}

/* card.c: what the card is, its failures, resets of an engine, module parameters */
bool litepcie_alive(struct litepcie_device *ld);
int litepcie_identify(struct litepcie_device *ld, struct litepcie_identity *id);
void litepcie_check_link(struct litepcie_device *ld);
void litepcie_card_fail(struct litepcie_device *ld, int error);
void litepcie_sleeper_add(struct litepcie_device *ld);
void litepcie_sleeper_del(struct litepcie_device *ld);
u64 litepcie_patience_us(struct litepcie_device *ld);
int litepcie_bank_reset(struct litepcie_device *ld, void __iomem *regs,
			const char *name);
unsigned long litepcie_timeout(void);
size_t litepcie_file_bytes(void);
size_t litepcie_engine_bytes(void);
size_t litepcie_stream_bytes(void);

/* memory.c: memory that the card may still write */
void litepcie_kept_free(struct litepcie_device *ld);

/* window.c: mappings of the window */
void litepcie_window_forget(struct litepcie_device *ld);
int litepcie_window_mmap(struct litepcie_device *ld, struct vm_area_struct *vma);
extern const struct vm_operations_struct litepcie_user_vm_ops;
int litepcie_map_pages(struct litepcie_device *ld, struct vm_area_struct *vma,
		       const struct vm_operations_struct *ops,
		       unsigned long page, unsigned long pages);

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

/* user.c: registers and interrupts of the user's logic, and their devices */
int litepcie_user_class_init(void);
void litepcie_user_class_exit(void);
int litepcie_user_publish(struct litepcie_device *ld);
void litepcie_user_unpublish(struct litepcie_device *ld);
void litepcie_interrupts_start(struct litepcie_device *ld);
void litepcie_interrupts_pause(struct litepcie_device *ld, bool answers);
void litepcie_interrupts_message(struct litepcie_device *ld, unsigned int vector);
int litepcie_interrupts_class_init(void);
void litepcie_interrupts_class_exit(void);
int litepcie_interrupts_init(struct litepcie_device *ld);
void litepcie_interrupts_free(struct litepcie_device *ld);
int litepcie_interrupts_publish(struct litepcie_device *ld);
void litepcie_interrupts_unpublish(struct litepcie_device *ld);

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

/* engine.c: the hardware of one engine, its recovery, and interrupts */
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
int litepcie_irq_init(struct litepcie_device *ld);
void litepcie_irq_free(struct litepcie_device *ld);

/* power.c: the card as a whole, and its failures */
void litepcie_cut_off_work(struct work_struct *work);
void litepcie_check_work(struct work_struct *work);
extern const struct pci_error_handlers litepcie_error_handlers;
extern const struct dev_pm_ops litepcie_pm_ops;
int litepcie_reset_engines(struct litepcie_device *ld);
void litepcie_start(struct litepcie_device *ld);
void litepcie_stop(struct litepcie_device *ld, int error);

/* dmabuf.c: buffers of other devices */
void litepcie_dmabufs_disconnect(struct litepcie_device *ld);
void litepcie_dmabufs_release(struct litepcie_file *lf);
int litepcie_dmabuf_attach(struct litepcie_file *lf, void *argument);
int litepcie_dmabuf_undo(struct litepcie_file *lf, void *argument);
int litepcie_dmabuf_detach(struct litepcie_file *lf, void *argument);
int litepcie_dmabuf_move(struct litepcie_file *lf, void *argument);
int litepcie_dmabuf_wait(struct litepcie_file *lf, void *argument);
int litepcie_dmabuf_forget(struct litepcie_file *lf, void *argument);

/* file.c: system calls on /dev/litepcieN */
extern const struct file_operations litepcie_fops;

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
