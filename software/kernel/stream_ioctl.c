// SPDX-License-Identifier: GPL-2.0-only
/*
 * Setup and state of a stream: mmap() and ioctls.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/build_bug.h>
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "driver.h"
#include "stream.h"

/*
 * The ring of a stream in the memory of a program. The program gets the buffers
 * and struct litepcie_stream_ring. Descriptors, bus addresses and the counts
 * that the driver believes are not in these pages.
 */

/* Bytes between the mappings of the two directions. */
#define LITEPCIE_STREAM_MAP_STEP	SZ_2G

/**
 * litepcie_stream_map_offset() - where the mapping of a direction begins
 * @direction: LITEPCIE_TO_CARD or LITEPCIE_FROM_CARD
 *
 * Return: the offset for mmap().
 */
static u64 litepcie_stream_map_offset(unsigned int direction)
{
	return (u64)direction * LITEPCIE_STREAM_MAP_STEP;
}

/**
 * litepcie_stream_map_bytes() - size of the mapping of a direction
 * @settings: of the direction
 *
 * Return: bytes, a multiple of the size of a page.
 */
static u64 litepcie_stream_map_bytes(const struct litepcie_stream_settings *settings)
{
	return (PAGE_SIZE << litepcie_stream_shared_order(settings->depth)) +
	       litepcie_stream_ring_bytes(settings);
}

static struct litepcie_stream_end *
litepcie_stream_mapped_end(struct file *file, unsigned long pgoff, unsigned long *page)
{
	unsigned long step = LITEPCIE_STREAM_MAP_STEP >> PAGE_SHIFT;

	if (pgoff >= LITEPCIE_DIRECTIONS * step)
		return NULL;
	*page = pgoff % step;
	return litepcie_stream_file_end(file, pgoff / step);
}

/* A page of the mapping; NULL if it has none there. */
static struct page *litepcie_stream_page(struct litepcie_stream_memory *memory,
					 unsigned long page)
{
	unsigned long first = 1UL << memory->shared_order;

	if (page < first)
		return virt_to_page((void *)memory->shared + page * PAGE_SIZE);
	page -= first;
	if (page >> memory->order >= memory->depth)
		return NULL;
	return virt_to_page(memory->buffers[page >> memory->order].data +
			    (page & ((1UL << memory->order) - 1)) * PAGE_SIZE);
}

/* The mapping holds the file, and the file holds the pages. */
static vm_fault_t litepcie_stream_vm_fault(struct vm_fault *vmf)
{
	struct litepcie_stream_end *end;
	unsigned long number;
	struct page *page;

	end = litepcie_stream_mapped_end(vmf->vma->vm_file, vmf->pgoff, &number);
	if (!end || READ_ONCE(end->ld->gone))
		return VM_FAULT_SIGBUS;
	page = litepcie_stream_page(end->memory, number);
	if (!page)
		return VM_FAULT_SIGBUS;
	get_page(page);
	vmf->page = page;
	return 0;
}

static const struct vm_operations_struct litepcie_stream_vm_ops = {
	.fault = litepcie_stream_vm_fault,
};

/**
 * litepcie_stream_mmap() - map the ring of a direction
 * @file: the open file
 * @vma: the mapping to set up
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
int litepcie_stream_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct litepcie_stream_end *end;
	unsigned long first, pages;
	int ret;

	end = litepcie_stream_mapped_end(file, vma->vm_pgoff, &first);
	if (!end || !(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (end->direction == LITEPCIE_FROM_CARD && vma->vm_flags & VM_WRITE)
		return -EACCES;
	ret = litepcie_stream_prepare(end);
	if (ret)
		return ret;
	pages = litepcie_stream_map_bytes(&end->settings) >> PAGE_SHIFT;
	if (first >= pages || vma_pages(vma) > pages - first)
		return -EINVAL;
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	/* mprotect() must not make it writable either. */
	if (end->direction == LITEPCIE_FROM_CARD)
		vm_flags_clear(vma, VM_MAYWRITE);
	vma->vm_ops = &litepcie_stream_vm_ops;
	return 0;
}

/* Ioctls of /dev/litepcieN_streamS. The uapi header describes them. */

/* No padding, and the same size for 32-bit and 64-bit programs. */
static_assert(sizeof(struct litepcie_stream_header) == 8);
static_assert(sizeof(struct litepcie_stream_setup) == 72);
static_assert(sizeof(struct litepcie_stream_info) == 136);
static_assert(sizeof(struct litepcie_stream_advance) == 40);
static_assert(sizeof(struct litepcie_stream_ring) == 4160);

union litepcie_stream_argument {
	struct {
		__u32 size;
		__u32 flags;
		__u32 direction;
	};
	struct litepcie_stream_setup setup;
	struct litepcie_stream_info info;
	struct litepcie_stream_advance advance;
};

/**
 * litepcie_stream_defaults() - settings of a direction that was just opened
 * @settings: filled in
 * @direct: the file is open with O_DIRECT, and its ring has no memory that is used
 */
void litepcie_stream_defaults(struct litepcie_stream_settings *settings, bool direct)
{
	*settings = (struct litepcie_stream_settings) {
		.depth = direct ? LITEPCIE_STREAM_MIN_DEPTH : 64,
		.buffer_bytes = direct ? LITEPCIE_STREAM_MIN_BUFFER : SZ_64K,
		.flush_us = 100,
	};
}

static int litepcie_stream_info(struct litepcie_stream_end *end,
				union litepcie_stream_argument *arg)
{
	struct litepcie_stream_info *info = &arg->info;
	struct litepcie_stream_counters counters;

	if (info->flags || memchr_inv(info->reserved, 0, sizeof(info->reserved)))
		return -EINVAL;
	litepcie_stream_poll(end);
	spin_lock_irq(&end->lock);
	counters = end->counters;
	spin_unlock_irq(&end->lock);
	*info = (struct litepcie_stream_info) {
		.direction = end->direction,
		.stream = end->stream->number,
		.ready = litepcie_stream_ready(end),
		.stride = PAGE_SIZE << litepcie_stream_buffer_order(end->settings.buffer_bytes),
		.map_offset = litepcie_stream_map_offset(end->direction),
		.map_bytes = litepcie_stream_map_bytes(&end->settings),
		.buffers_offset =
			PAGE_SIZE << litepcie_stream_shared_order(end->settings.depth),
		.bytes = counters.bytes,
		.packets = counters.packets,
		.overruns = counters.overruns,
		.underruns = counters.underruns,
		.waits = counters.waits,
		.lost_bytes = counters.lost_bytes,
		.cuts = counters.cuts,
	};
	return 0;
}

/* Changes the members that are given. */
static void litepcie_stream_choose(struct litepcie_stream_settings *settings,
				   const struct litepcie_stream_setup *setup)
{
	if (setup->mode || setup->flags & LITEPCIE_STREAM_SET_MODE)
		settings->mode = setup->mode;
	if (setup->depth)
		settings->depth = setup->depth;
	if (setup->buffer_bytes)
		settings->buffer_bytes = setup->buffer_bytes;
	if (setup->flush_us || setup->flags & LITEPCIE_STREAM_SET_FLUSH)
		settings->flush_us = setup->flush_us;
	if (setup->moderation_count || setup->moderation_us ||
	    setup->flags & LITEPCIE_STREAM_SET_MODERATION) {
		settings->moderation_count = setup->moderation_count;
		settings->moderation_us = setup->moderation_us;
	}
}

static int litepcie_stream_check(struct litepcie_stream_end *end,
				 const struct litepcie_stream_settings *settings)
{
	u32 most = min_t(u32, LITEPCIE_STREAM_MAX_DEPTH, BIT(end->ring_log2));
	u64 bytes = litepcie_stream_ring_bytes(settings);

	if (settings->mode & ~LITEPCIE_STREAM_HEADERS)
		return -EINVAL;
	if (settings->depth < LITEPCIE_STREAM_MIN_DEPTH || settings->depth > most ||
	    !is_power_of_2(settings->depth))
		return -EINVAL;
	if (settings->buffer_bytes < LITEPCIE_STREAM_MIN_BUFFER ||
	    settings->buffer_bytes > LITEPCIE_STREAM_MAX_BUFFER)
		return -EINVAL;
	if (settings->flush_us > U16_MAX || settings->moderation_count > U16_MAX ||
	    settings->moderation_us > U16_MAX)
		return -EINVAL;
	if (bytes > LITEPCIE_STREAM_MAX_RING)
		return -EINVAL;
	/* A ring that this call does not change may still become smaller before it is made. */
	return bytes > litepcie_stream_bytes() &&
	       bytes != litepcie_stream_ring_bytes(&end->settings) ? -EPERM : 0;
}

static int litepcie_stream_setup(struct litepcie_stream_end *end,
				 union litepcie_stream_argument *arg)
{
	struct litepcie_stream_setup *setup = &arg->setup;
	struct litepcie_stream_settings settings;
	bool changed;
	int ret = 0;

	if (setup->flags & ~(LITEPCIE_STREAM_SET_MODE | LITEPCIE_STREAM_SET_FLUSH |
			     LITEPCIE_STREAM_SET_MODERATION) ||
	    setup->reserved0 ||
	    memchr_inv(setup->reserved, 0, sizeof(setup->reserved)))
		return -EINVAL;

	mutex_lock(&end->control);
	settings = end->settings;
	litepcie_stream_choose(&settings, setup);
	changed = memcmp(&settings, &end->settings, sizeof(settings));
	if (changed)
		ret = litepcie_stream_check(end, &settings);
	if (changed && !ret && end->memory)
		ret = -EBUSY;
	if (!ret)
		end->settings = settings;
	mutex_unlock(&end->control);
	*setup = (struct litepcie_stream_setup) {
		.direction = end->direction,
		.mode = settings.mode,
		.depth = settings.depth,
		.buffer_bytes = settings.buffer_bytes,
		.flush_us = settings.flush_us,
		.moderation_count = settings.moderation_count,
		.moderation_us = settings.moderation_us,
	};
	return ret;
}

/*
 * Takes the slots of a program's filled buffers. The program may change them at
 * any time: each is read once, checked, and kept where the program cannot write.
 */
static int litepcie_stream_take_slots(struct litepcie_stream_end *end, u32 count)
{
	struct litepcie_stream_memory *memory = end->memory;
	u32 i, number, slot, bytes;

	for (i = 0; i < count; i++) {
		number = (end->produced + i) & (memory->depth - 1);
		slot = READ_ONCE(memory->shared->slots[number]);
		bytes = slot & LITEPCIE_STREAM_SLOT_BYTES;
		if (!bytes || bytes > memory->buffer_bytes ||
		    slot & ~(LITEPCIE_STREAM_SLOT_BYTES | LITEPCIE_STREAM_SLOT_LAST))
			return -EINVAL;
		memory->buffers[number].slot = slot;
	}
	return 0;
}

static int litepcie_stream_advance_locked(struct litepcie_stream_end *end, u32 count)
{
	bool writer = end->direction == LITEPCIE_FROM_CARD;
	int ret;

	ret = litepcie_stream_begin(end);
	if (ret)
		return ret;
	litepcie_stream_poll(end);
	/* What came before an error is read before the error. */
	if (!(writer && litepcie_stream_ready(end))) {
		ret = litepcie_stream_take_fault(end);
		if (ret)
			return ret;
	}
	if (count > litepcie_stream_ready(end))
		return -EINVAL;
	if (writer) {
		litepcie_stream_take(end, count, count ? 0 : end->offset);
		return 0;
	}
	ret = litepcie_stream_take_slots(end, count);
	if (!ret)
		ret = litepcie_stream_give(end, count);
	/* The engine has stopped meanwhile, and this says why. */
	return ret == -EAGAIN ? litepcie_stream_take_fault(end) ?: ret : ret;
}

static int litepcie_stream_advance(struct litepcie_stream_end *end,
				   union litepcie_stream_argument *arg)
{
	struct litepcie_stream_advance *advance = &arg->advance;
	int ret;

	if (end->direct)
		return -EOPNOTSUPP;
	if (advance->flags ||
	    memchr_inv(advance->reserved, 0, sizeof(advance->reserved)))
		return -EINVAL;
	ret = litepcie_stream_lock(end, true);
	if (ret)
		return ret;
	ret = litepcie_stream_advance_locked(end, advance->count);
	if (!ret) {
		spin_lock_irq(&end->lock);
		advance->head = end->completed;
		advance->tail = end->direction == LITEPCIE_FROM_CARD ? end->consumed :
								    end->produced;
		spin_unlock_irq(&end->lock);
	}
	litepcie_stream_unlock(end);
	return ret;
}

/**
 * struct litepcie_stream_command - one ioctl
 * @command: LITEPCIE_IOC_STREAM_*
 * @size: size of its structure in this driver, and of its first version
 * @handle: fills the kernel's copy of the structure
 */
struct litepcie_stream_command {
	unsigned int command;
	u32 size;
	int (*handle)(struct litepcie_stream_end *end,
		      union litepcie_stream_argument *arg);
};

static const struct litepcie_stream_command litepcie_stream_commands[] = {
	{ LITEPCIE_IOC_STREAM_INFO, sizeof(struct litepcie_stream_info),
	  litepcie_stream_info },
	{ LITEPCIE_IOC_STREAM_SETUP, sizeof(struct litepcie_stream_setup),
	  litepcie_stream_setup },
	{ LITEPCIE_IOC_STREAM_ADVANCE, sizeof(struct litepcie_stream_advance),
	  litepcie_stream_advance },
};

/* Later versions of a structure have another size in the number: it is ignored. */
static const struct litepcie_stream_command *litepcie_stream_find(unsigned int command)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(litepcie_stream_commands); i++)
		if (_IOC_TYPE(command) == LITEPCIE_IOC_MAGIC &&
		    _IOC_DIR(command) == (_IOC_READ | _IOC_WRITE) &&
		    _IOC_NR(command) == _IOC_NR(litepcie_stream_commands[i].command))
			return &litepcie_stream_commands[i];
	return NULL;
}

/**
 * litepcie_stream_ioctl() - run an ioctl of a stream
 * @file: the open file
 * @command: LITEPCIE_IOC_STREAM_*
 * @argument: the structure
 *
 * Return: 0 or a negative errno, as the uapi header says.
 */
long litepcie_stream_ioctl(struct file *file, unsigned int command,
			   unsigned long argument)
{
	const struct litepcie_stream_command *known = litepcie_stream_find(command);
	void __user *user = (void __user *)argument;
	union litepcie_stream_argument arg = { };
	struct litepcie_stream_end *end;
	u32 size;
	int ret;

	if (!known)
		return -ENOTTY;
	if (get_user(size, (u32 __user *)user))
		return -EFAULT;
	if (size < known->size)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&arg, known->size, user, size);
	if (ret)
		return ret;
	end = litepcie_stream_file_end(file, arg.direction);
	if (!end)
		return -EINVAL;
	ret = known->handle(end, &arg);
	if (ret)
		return ret;
	arg.size = known->size;
	return copy_to_user(user, &arg, known->size) ? -EFAULT : 0;
}
