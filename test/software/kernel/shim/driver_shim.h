/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/*
 * What the files of streams and of rings need of the kernel, for a user-space program with one thread: types without
 * content, spinlocks that must not be taken twice, other locks that do nothing, DMA functions that only count.
 * test_driver.py makes a header of each other name that the driver includes; they include this one.
 */
#ifndef LITEPCIE_SHIM_DRIVER_H
#define LITEPCIE_SHIM_DRIVER_H

#include <limits.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <linux/kernel.h>

typedef __u16 u16;
typedef u64 dma_addr_t, resource_size_t, phys_addr_t;
typedef unsigned int fmode_t;
typedef void *fl_owner_t;
typedef int vm_fault_t;

#define __iomem
#define __user
#define __force
#define LINUX_VERSION_CODE	1
#define KERNEL_VERSION(...)	0
#define GFP_KERNEL	0
#define GFP_ATOMIC	0
#define PAGE_SIZE	4096ul
#define SZ_2M		0x200000
#define SZ_16K		0x4000
#define SZ_32K		0x8000
#define SZ_512K		0x80000
#define U16_MAX		0xffff
#define ERESTARTSYS	512
#define FMODE_READ	1
#define FMODE_WRITE	2
#define READ		0
#define WRITE		1

enum dma_data_direction { DMA_BIDIRECTIONAL, DMA_TO_DEVICE, DMA_FROM_DEVICE };

#define EMPTY(name) struct name { int nothing; }
EMPTY(cdev);
EMPTY(xarray);
EMPTY(mutex);
EMPTY(kref);
EMPTY(rw_semaphore);
EMPTY(srcu_struct);
EMPTY(work_struct);
EMPTY(workqueue_struct);
EMPTY(pci_error_handlers);
EMPTY(dev_pm_ops);
EMPTY(attribute_group);
EMPTY(file_operations);
typedef struct { int taken; } spinlock_t;
typedef struct { int nothing; } wait_queue_head_t;
typedef struct { int counter; } atomic_t, refcount_t;
typedef struct { long counter; } atomic64_t;
typedef void (*work_func_t)(struct work_struct *work);

struct completion { bool done; };
struct delayed_work { struct work_struct work; };
struct device { u64 *dma_mask; };
struct pci_dev { struct device dev; };
struct file { fmode_t f_mode; void *private_data; };
struct scatterlist { unsigned int length; dma_addr_t dma_address; };
struct sg_table { struct scatterlist *sgl; unsigned int nents, orig_nents; };
struct kvec { void *iov_base; size_t iov_len; };
struct kiocb;
struct dentry;
struct page;
struct vm_area_struct;

/* Of the only thread. */
static struct task_struct { unsigned int flags; } shim_task __attribute__((unused));
#define current		(&shim_task)
#define PF_IO_WORKER	0x10

#define WQ_UNBOUND	0
#define jiffies		0ul
#define MAX_SCHEDULE_TIMEOUT	LONG_MAX
#define msecs_to_jiffies(ms)	(ms)
#define time_after(a, b)		time_before(b, a)
#define time_before(a, b)	((long)((a) - (b)) < 0)
#define array_index_nospec(index, size)	(index)

#define READ_ONCE(value)		(value)
#define WRITE_ONCE(place, value)	((place) = (value))
#define smp_store_release(place, value)	(*(place) = (value))
#define dma_rmb()			((void)0)
#define wmb()				((void)0)
#define min(a, b)			((a) < (b) ? (a) : (b))
#define container_of(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))
#define struct_size(pointer, member, count) (sizeof(*(pointer)) + sizeof((pointer)->member[0]) * (count))
#define FIELD_GET(mask, value)		(((value) & (mask)) / ((mask) & -(mask)))
#define IS_ERR(pointer)			((unsigned long)(pointer) > -4096ul)
#define PTR_ERR(pointer)		((long)(pointer))
#define kunit_kzalloc(test, bytes, flags) ((void)(test), calloc(1, (bytes) + 1))

/* One thread. */
#define spin_lock_init(lock)			((void)((lock)->taken = 0))
#define spin_lock_irq(lock)			assert(!(lock)->taken++)
#define spin_unlock_irq(lock)			assert(!--(lock)->taken)
#define spin_lock_irqsave(lock, flags)		((flags) = 0, spin_lock_irq(lock))
#define spin_unlock_irqrestore(lock, flags)	((void)(flags), spin_unlock_irq(lock))
#define mutex_init(mutex)			((void)(mutex))
#define mutex_lock(mutex)			((void)(mutex))
#define mutex_unlock(mutex)			((void)(mutex))
#define mutex_trylock(mutex)			((void)(mutex), 1)
#define mutex_lock_interruptible(mutex)		((void)(mutex), 0)
#define lockdep_assert_held(lock)		((void)(lock))
#define init_waitqueue_head(wait)		((void)(wait))
#define wake_up_all(wait)			((void)(wait))
#define atomic64_add(number, to)		((to)->counter += (number))
#define init_completion(completion)		((completion)->done = false)
#define completion_done(completion)		((completion)->done)
#define wait_for_completion_interruptible(completion) ((completion)->done ? 0 : -ERESTARTSYS)
#define wait_event_interruptible(wait, condition) ((condition) ? 0 : -ERESTARTSYS)
#define wait_event_interruptible_timeout(wait, condition, timeout) ((long)(condition))
#define wait_event_killable_timeout(wait, condition, timeout) ((void)(condition))
#define msleep_interruptible(ms)		((void)(ms), 0)
#define signal_pending(task)			false
#define INIT_DELAYED_WORK(work, function)	((void)(work), (void)(function))
#define queue_delayed_work(queue, work, delay)	((void)(work))
#define mod_delayed_work(queue, work, delay)	((void)(work))
#define alloc_workqueue(...)			((struct workqueue_struct *)calloc(1, 1))
#define destroy_workqueue(queue)		free(queue)
#define to_delayed_work(work_)	container_of(work_, struct delayed_work, work)
#define cancel_delayed_work_sync(work)		((void)(work))

void shim_write(u32 value, void *place);
#define writel(value, place)	shim_write((value), (place))
#define readl(place)		(*(volatile u32 *)(place))
#define dev_name(device) ((void)(device), "litepcie0")
#define dev_warn_ratelimited(device, ...) ((void)(device))
#define dma_sync_single_for_cpu(device, address, bytes, direction)	((void)(device), (void)(bytes))
#define dma_sync_single_for_device(device, address, bytes, direction)	((void)(device), (void)(bytes))
#define DMA_BIT_MASK(bits)	(~0ull >> (64 - (bits)))
#define dma_map_single(device, memory, bytes, direction)	((void)(device), (dma_addr_t)(unsigned long)(memory))
#define dma_unmap_single(device, address, bytes, direction)	((void)(device))
#define dma_mapping_error(device, address)	((void)(device), !(address))
#define dma_free_coherent(device, bytes, memory, address)		((void)(device), free(memory))
#define dma_alloc_coherent(device, bytes, address, flags) ((void)(device), (void)(address), calloc(1, bytes))
#define DMA_ATTR_DEBUGGING_IGNORE_CACHELINES 0

#define sg_dma_len(sg)		((sg)->length)
#define sg_dma_address(sg)	((sg)->dma_address)
#define sg_init_table(sg, count) memset(sg, 0, (count) * sizeof(*(sg)))
#define for_each_sgtable_dma_sg(table, sg, i) \
	for (i = 0, sg = (table)->sgl; i < (table)->nents; i++, sg++)

static inline void complete(struct completion *completion)
{
	completion->done = true;
}

/* Lists. */
struct list_head { struct list_head *next, *prev; };

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

#define LIST_HEAD(name) struct list_head name = { &name, &name }

static inline void list_add_tail(struct list_head *entry, struct list_head *list)
{
	*entry = (struct list_head){ list, list->prev };
	list->prev->next = entry;
	list->prev = entry;
}

static inline void list_del_init(struct list_head *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
	INIT_LIST_HEAD(entry);
}

static inline void list_move_tail(struct list_head *entry, struct list_head *list)
{
	list_del_init(entry);
	list_add_tail(entry, list);
}

static inline bool list_empty(const struct list_head *list)
{
	return list->next == list;
}

static inline bool list_is_first(const struct list_head *entry, const struct list_head *list)
{
	return entry->prev == list;
}

static inline void list_cut_before(struct list_head *to, struct list_head *from, struct list_head *end)
{
	INIT_LIST_HEAD(to);
	while (from->next != end)
		list_move_tail(from->next, to);
}

static inline void list_splice_init(struct list_head *from, struct list_head *to)
{
	while (!list_empty(from)) {
		struct list_head *last = from->prev;

		list_del_init(last);
		*last = (struct list_head){ to->next, to };
		to->next->prev = last;
		to->next = last;
	}
}

#define list_first_entry(list, type, member) container_of((list)->next, type, member)
#define list_first_entry_or_null(list, type, member) \
	(list_empty(list) ? NULL : list_first_entry(list, type, member))
#define list_for_each_entry(entry, list, member) \
	for (entry = list_first_entry(list, __typeof__(*entry), member); &entry->member != (list); \
		entry = container_of(entry->member.next, __typeof__(*entry), member))
#define list_for_each_entry_safe(entry, after, list, member) \
	for (entry = list_first_entry(list, __typeof__(*entry), member), \
		after = container_of(entry->member.next, __typeof__(*entry), member); &entry->member != (list); \
		entry = after, after = container_of(after->member.next, __typeof__(*entry), member))

/* A buffer of one piece. */
struct iov_iter { u8 *at; size_t count; };

static inline void iov_iter_kvec(struct iov_iter *iter, int direction, const struct kvec *vec, unsigned long pieces,
				 size_t count)
{
	(void)direction;
	assert(pieces == 1);
	*iter = (struct iov_iter){ vec->iov_base, count };
}

#define iov_iter_count(iter) ((iter)->count)

static inline size_t copy_to_iter(const void *from, size_t bytes, struct iov_iter *iter)
{
	bytes = min(bytes, iter->count);
	memcpy(iter->at, from, bytes);
	*iter = (struct iov_iter){ iter->at + bytes, iter->count - bytes };
	return bytes;
}

static inline bool copy_from_iter_full(void *to, size_t bytes, struct iov_iter *iter)
{
	if (iter->count < bytes)
		return false;
	memcpy(to, iter->at, bytes);
	*iter = (struct iov_iter){ iter->at + bytes, iter->count - bytes };
	return true;
}

#endif
