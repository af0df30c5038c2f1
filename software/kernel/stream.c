// SPDX-License-Identifier: GPL-2.0-only
/*
 * The devices of streams: system calls, setup and state, class and counters.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/bitfield.h>
#include <linux/build_bug.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

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
static int litepcie_stream_mmap(struct file *file, struct vm_area_struct *vma)
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
static void litepcie_stream_defaults(struct litepcie_stream_settings *settings,
				     bool direct)
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
static long litepcie_stream_ioctl(struct file *file, unsigned int command,
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

/*
 * System calls on /dev/litepcieN_streamS. The uapi header describes them.
 *
 * An open file has each direction that it was opened for, alone. Calls use the
 * card only while litepcie_stream_end.lock or litepcie_stream_end.control is
 * held and the state allows it; unbinding changes the state under both.
 */

static int litepcie_stream_claim(struct litepcie_stream *stream, struct file *file)
{
	struct litepcie_stream_end *end;
	unsigned int i;

	lockdep_assert_held(&stream->users);
	if (READ_ONCE(stream->ld->gone))
		return -ENODEV;
	for (i = 0; i < LITEPCIE_DIRECTIONS; i++) {
		end = litepcie_stream_file_end(file, i);
		if (end && !end->regs)
			return -EOPNOTSUPP;
		if (end && end->file)
			return -EBUSY;
	}
	for (i = 0; i < LITEPCIE_DIRECTIONS; i++) {
		end = litepcie_stream_file_end(file, i);
		if (end) {
			end->direct = file->f_flags & O_DIRECT;
			litepcie_stream_defaults(&end->settings, end->direct);
			end->file = file;
		}
	}
	return 0;
}

static const struct file_operations litepcie_stream_direct_fops;

static int litepcie_stream_open(struct inode *inode, struct file *file)
{
	struct litepcie_stream *stream =
		container_of(inode->i_cdev, struct litepcie_stream, cdev);
	int ret;

	file->private_data = stream;
	mutex_lock(&stream->users);
	ret = litepcie_stream_claim(stream, file);
	mutex_unlock(&stream->users);
	if (ret)
		return ret;
	get_device(&stream->dev);
	litepcie_sleeper_add(stream->ld);
	if (file->f_flags & O_DIRECT) {
		/* Calls wait for the card: io_uring makes them in a thread of its own. */
		file->f_op = &litepcie_stream_direct_fops;
		file->f_mode |= FMODE_CAN_ODIRECT;
	} else {
		file->f_mode |= FMODE_NOWAIT;
	}
	return stream_open(inode, file);
}

/* Most time that the last close() waits for the card; that of a serial port likewise. */
#define LITEPCIE_STREAM_CLOSE_MS	30000

/* The last close() waits for the card, and drops what it has not taken then. */
static int litepcie_stream_release(struct inode *inode, struct file *file)
{
	struct litepcie_stream *stream = file->private_data;
	struct litepcie_stream_end *end;
	unsigned int i;

	end = litepcie_stream_file_end(file, LITEPCIE_TO_CARD);
	if (end && !(file->f_flags & O_NONBLOCK))
		litepcie_stream_drain(end, msecs_to_jiffies(LITEPCIE_STREAM_CLOSE_MS));
	for (i = 0; i < LITEPCIE_DIRECTIONS; i++) {
		end = litepcie_stream_file_end(file, i);
		if (!end)
			continue;
		litepcie_stream_close(end);
		mutex_lock(&stream->users);
		end->file = NULL;
		mutex_unlock(&stream->users);
	}
	litepcie_sleeper_del(stream->ld);
	put_device(&stream->dev);
	return 0;
}

static bool litepcie_stream_may_wait(struct kiocb *iocb)
{
	return !(iocb->ki_flags & IOCB_NOWAIT) && !(iocb->ki_filp->f_flags & O_NONBLOCK);
}

static ssize_t
litepcie_stream_move(struct kiocb *iocb, struct iov_iter *iter, unsigned int direction,
		     ssize_t (*move)(struct litepcie_stream_end *end,
				     struct iov_iter *iter, bool wait))
{
	struct litepcie_stream_end *end =
		litepcie_stream_file_end(iocb->ki_filp, direction);
	bool wait = litepcie_stream_may_wait(iocb);
	ssize_t ret;

	if (!iov_iter_count(iter))
		return 0;
	/* Only memory that the card has can tell whether data comes. */
	if (end->direct && !wait)
		return -EOPNOTSUPP;
	ret = litepcie_stream_lock(end, wait);
	if (!ret) {
		ret = move(end, iter, wait);
		litepcie_stream_unlock(end);
	}
	return litepcie_result(ret);
}

static ssize_t litepcie_stream_read_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	return litepcie_stream_move(iocb, iter, LITEPCIE_FROM_CARD, litepcie_stream_read);
}

static ssize_t litepcie_stream_write_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	return litepcie_stream_move(iocb, iter, LITEPCIE_TO_CARD, litepcie_stream_write);
}

/* What poll() says of a direction. It is not empty if a call would not wait. */
static __poll_t litepcie_stream_events(struct litepcie_stream_end *end)
{
	__poll_t ready = end->direction == LITEPCIE_FROM_CARD ? EPOLLIN | EPOLLRDNORM :
							     EPOLLOUT | EPOLLWRNORM;
	int error = 0;

	/* A call that has the mutex begins by itself. */
	if (mutex_trylock(&end->use)) {
		error = litepcie_stream_begin(end);
		mutex_unlock(&end->use);
	}
	litepcie_stream_poll(end);
	if (!error || error == -EAGAIN)
		error = litepcie_stream_fault(end);
	if (litepcie_card_error(end->ld) || error == -ENODEV)
		return ready | EPOLLERR | EPOLLHUP;
	/* What came before an error is read before the error. */
	if (end->direction == LITEPCIE_FROM_CARD && litepcie_stream_ready(end))
		return ready;
	if (error)
		return ready | EPOLLERR;
	if (!litepcie_stream_ready(end))
		return 0;
	/* A reader that does not run yet waits for the card. */
	if (end->direction == LITEPCIE_TO_CARD &&
	    READ_ONCE(end->state) != LITEPCIE_STREAM_RUNNING)
		return 0;
	return ready;
}

static __poll_t litepcie_stream_fop_poll(struct file *file, poll_table *table)
{
	struct litepcie_stream_end *end;
	__poll_t events = 0;
	unsigned int i;

	for (i = 0; i < LITEPCIE_DIRECTIONS; i++) {
		end = litepcie_stream_file_end(file, i);
		if (!end)
			continue;
		poll_wait(file, &end->wait, table);
		events |= litepcie_stream_events(end);
	}
	return events;
}

static int litepcie_stream_fsync(struct file *file, loff_t start, loff_t end,
				 int datasync)
{
	struct litepcie_stream_end *reader =
		litepcie_stream_file_end(file, LITEPCIE_TO_CARD);

	if (!reader)
		return -EINVAL;
	return litepcie_result(litepcie_stream_drain(reader, MAX_SCHEDULE_TIMEOUT));
}

/* File operations of /dev/litepcieN_streamS. */
static const struct file_operations litepcie_stream_fops = {
	.owner = THIS_MODULE,
	.open = litepcie_stream_open,
	.release = litepcie_stream_release,
	.read_iter = litepcie_stream_read_iter,
	.write_iter = litepcie_stream_write_iter,
	.poll = litepcie_stream_fop_poll,
	.unlocked_ioctl = litepcie_stream_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = litepcie_stream_mmap,
	.fsync = litepcie_stream_fsync,
};

static ssize_t litepcie_stream_direct_read_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	return litepcie_stream_move(iocb, iter, LITEPCIE_FROM_CARD,
				    litepcie_stream_read_direct);
}

static ssize_t litepcie_stream_direct_write_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	return litepcie_stream_move(iocb, iter, LITEPCIE_TO_CARD,
				    litepcie_stream_write_direct);
}

/* Of a file that was opened with O_DIRECT: no ring to map or to poll. */
static const struct file_operations litepcie_stream_direct_fops = {
	.owner = THIS_MODULE,
	.release = litepcie_stream_release,
	.read_iter = litepcie_stream_direct_read_iter,
	.write_iter = litepcie_stream_direct_write_iter,
	.unlocked_ioctl = litepcie_stream_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.fsync = litepcie_stream_fsync,
};

/*
 * The devices of class litepcie_stream: /dev/litepcieN_streamS, and their
 * counters in sysfs.
 */

#define LITEPCIE_STREAM_MINORS	(LITEPCIE_MINORS * LITEPCIE_MAX_CHANNELS)

static dev_t litepcie_stream_devt;

/**
 * struct litepcie_stream_attribute - a counter in sysfs
 * @attribute: the attribute
 * @direction: LITEPCIE_TO_CARD or LITEPCIE_FROM_CARD
 * @offset: of the counter in struct litepcie_stream_counters
 */
struct litepcie_stream_attribute {
	struct device_attribute attribute;
	unsigned int direction;
	size_t offset;
};

static ssize_t litepcie_stream_show_counter(struct device *dev,
					    struct device_attribute *attribute,
					    char *buf)
{
	struct litepcie_stream *stream = container_of(dev, struct litepcie_stream, dev);
	struct litepcie_stream_attribute *counter =
		container_of(attribute, struct litepcie_stream_attribute, attribute);
	struct litepcie_stream_end *end = &stream->ends[counter->direction];
	u64 value;

	litepcie_stream_poll(end);
	spin_lock_irq(&end->lock);
	value = *(u64 *)((char *)&end->counters + counter->offset);
	spin_unlock_irq(&end->lock);
	return sysfs_emit(buf, "%llu\n", value);
}

#define LITEPCIE_STREAM_COUNTER(_prefix, _direction, _name, _counter)	\
	static struct litepcie_stream_attribute litepcie_stream_##_prefix = { \
		.attribute = __ATTR(_name, 0444, litepcie_stream_show_counter, NULL), \
		.direction = (_direction),				\
		.offset = offsetof(struct litepcie_stream_counters, _counter), \
	}

LITEPCIE_STREAM_COUNTER(reader_bytes, LITEPCIE_TO_CARD, bytes, bytes);
LITEPCIE_STREAM_COUNTER(reader_packets, LITEPCIE_TO_CARD, packets, packets);
LITEPCIE_STREAM_COUNTER(reader_underruns, LITEPCIE_TO_CARD, underruns, underruns);
LITEPCIE_STREAM_COUNTER(reader_waits, LITEPCIE_TO_CARD, waits, waits);
LITEPCIE_STREAM_COUNTER(reader_lost_bytes, LITEPCIE_TO_CARD, lost_bytes, lost_bytes);
LITEPCIE_STREAM_COUNTER(reader_cuts, LITEPCIE_TO_CARD, cuts, cuts);
LITEPCIE_STREAM_COUNTER(writer_bytes, LITEPCIE_FROM_CARD, bytes, bytes);
LITEPCIE_STREAM_COUNTER(writer_packets, LITEPCIE_FROM_CARD, packets, packets);
LITEPCIE_STREAM_COUNTER(writer_overruns, LITEPCIE_FROM_CARD, overruns, overruns);
LITEPCIE_STREAM_COUNTER(writer_waits, LITEPCIE_FROM_CARD, waits, waits);
LITEPCIE_STREAM_COUNTER(writer_lost_bytes, LITEPCIE_FROM_CARD, lost_bytes, lost_bytes);
LITEPCIE_STREAM_COUNTER(writer_cuts, LITEPCIE_FROM_CARD, cuts, cuts);

static struct attribute *litepcie_stream_reader_attrs[] = {
	&litepcie_stream_reader_bytes.attribute.attr,
	&litepcie_stream_reader_packets.attribute.attr,
	&litepcie_stream_reader_underruns.attribute.attr,
	&litepcie_stream_reader_waits.attribute.attr,
	&litepcie_stream_reader_lost_bytes.attribute.attr,
	&litepcie_stream_reader_cuts.attribute.attr,
	NULL,
};

static struct attribute *litepcie_stream_writer_attrs[] = {
	&litepcie_stream_writer_bytes.attribute.attr,
	&litepcie_stream_writer_packets.attribute.attr,
	&litepcie_stream_writer_overruns.attribute.attr,
	&litepcie_stream_writer_waits.attribute.attr,
	&litepcie_stream_writer_lost_bytes.attribute.attr,
	&litepcie_stream_writer_cuts.attribute.attr,
	NULL,
};

static const struct attribute_group litepcie_stream_reader_group = {
	.name = "reader",
	.attrs = litepcie_stream_reader_attrs,
};

static const struct attribute_group litepcie_stream_writer_group = {
	.name = "writer",
	.attrs = litepcie_stream_writer_attrs,
};

static struct class litepcie_stream_class = {
	.name = "litepcie_stream",
};

/**
 * litepcie_streams_class_init() - register device numbers and class
 *
 * Return: 0 or negative errno.
 */
int litepcie_streams_class_init(void)
{
	int ret;

	ret = alloc_chrdev_region(&litepcie_stream_devt, 0, LITEPCIE_STREAM_MINORS,
				  "litepcie_stream");
	if (ret)
		return ret;
	ret = class_register(&litepcie_stream_class);
	if (ret)
		unregister_chrdev_region(litepcie_stream_devt, LITEPCIE_STREAM_MINORS);
	return ret;
}

/**
 * litepcie_streams_class_exit() - undo litepcie_streams_class_init()
 */
void litepcie_streams_class_exit(void)
{
	class_unregister(&litepcie_stream_class);
	unregister_chrdev_region(litepcie_stream_devt, LITEPCIE_STREAM_MINORS);
}

static void litepcie_stream_device_release(struct device *dev)
{
	struct litepcie_stream *stream = container_of(dev, struct litepcie_stream, dev);

	put_device(&stream->ld->dev);
	kfree(stream);
}

static int litepcie_stream_init_end(struct litepcie_stream *stream,
				    unsigned int direction)
{
	struct litepcie_stream_end *end = &stream->ends[direction];
	struct litepcie_device *ld = stream->ld;
	bool reader = direction == LITEPCIE_TO_CARD;
	unsigned int group = stream->groups[0] ? 1 : 0;

	end->stream = stream;
	end->ld = ld;
	end->channel = litepcie_channels(&ld->id) + stream->number;
	end->direction = direction;
	end->dma = reader ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
	snprintf(end->name, sizeof(end->name), "stream%u %s", stream->number,
		 reader ? "reader" : "writer");
	init_waitqueue_head(&end->wait);
	mutex_init(&end->use);
	mutex_init(&end->control);
	spin_lock_init(&end->lock);
	INIT_LIST_HEAD(&end->posted);
	end->engine.ld = ld;
	end->engine.direction = direction;
	end->engine.dma = end->dma;
	end->engine.max_pages = min_t(size_t, LITEPCIE_CHUNK_BYTES,
				      dma_max_mapping_size(&ld->pdev->dev)) / PAGE_SIZE;
	end->engine.max_segment = dma_get_max_seg_size(&ld->pdev->dev);
	end->flow.engine = &end->engine;
	if (!litepcie_has_stream_end(&ld->id, stream->number, direction))
		return 0;
	stream->groups[group] = reader ? &litepcie_stream_reader_group :
					 &litepcie_stream_writer_group;
	end->ring_log2 = min_t(u32, LITEPCIE_RING_LOG2,
			       FIELD_GET(LITEPCIE_GEOMETRY_RING_LOG2_MASK,
					 ld->id.geometry));
	end->regs = ld->regs + (reader ? LITEPCIE_READER_BASE(end->channel) :
					 LITEPCIE_WRITER_BASE(end->channel));
	list_add_tail(&end->node, &ld->stream_ends);
	return litepcie_stream_ring_alloc(end);
}

static int litepcie_stream_init(struct litepcie_device *ld, unsigned int number)
{
	struct litepcie_stream *stream;
	unsigned int i;
	int ret;

	stream = kzalloc(sizeof(*stream), GFP_KERNEL);
	if (!stream)
		return -ENOMEM;
	/* Open files of the stream use it, also after the driver was unbound. */
	get_device(&ld->dev);
	stream->ld = ld;
	stream->number = number;
	mutex_init(&stream->users);
	device_initialize(&stream->dev);
	stream->dev.parent = &ld->dev;
	stream->dev.class = &litepcie_stream_class;
	stream->dev.groups = stream->groups;
	stream->dev.release = litepcie_stream_device_release;
	stream->dev.devt = MKDEV(MAJOR(litepcie_stream_devt),
				 MINOR(ld->dev.devt) * LITEPCIE_MAX_CHANNELS + number);
	cdev_init(&stream->cdev, &litepcie_stream_fops);
	stream->cdev.owner = THIS_MODULE;
	ld->streams[number] = stream;
	ret = dev_set_name(&stream->dev, "%s_stream%u", dev_name(&ld->dev), number);
	for (i = 0; !ret && i < LITEPCIE_DIRECTIONS; i++)
		ret = litepcie_stream_init_end(stream, i);
	return ret;
}

/**
 * litepcie_streams_init() - prepare the streams that the card has
 * @ld: the device, identified, its engines reset
 *
 * Return: 0 or negative errno; litepcie_streams_free() undoes both.
 */
int litepcie_streams_init(struct litepcie_device *ld)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < ld->id.streams; i++)
		ret = litepcie_stream_init(ld, i);
	return ret;
}

/**
 * litepcie_streams_free() - undo litepcie_streams_init()
 * @ld: the device, whose streams are stopped, and which has no interrupt
 *
 * Files that are open keep the structures.
 */
void litepcie_streams_free(struct litepcie_device *ld)
{
	struct litepcie_stream_end *end, *next;
	unsigned int i;

	litepcie_streams_unmap(ld);
	litepcie_streams_kept_free(ld);
	list_for_each_entry_safe(end, next, &ld->stream_ends, node) {
		litepcie_stream_ring_free(end);
		list_del(&end->node);
	}
	for (i = 0; i < ld->id.streams; i++) {
		if (ld->streams[i])
			put_device(&ld->streams[i]->dev);
		ld->streams[i] = NULL;
	}
}

/**
 * litepcie_streams_publish() - create the nodes of all streams
 * @ld: the device, ready for calls
 *
 * Return: 0 or negative errno, without nodes.
 */
int litepcie_streams_publish(struct litepcie_device *ld)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ld->id.streams; i++) {
		ret = cdev_device_add(&ld->streams[i]->cdev, &ld->streams[i]->dev);
		if (ret)
			goto err_del;
	}
	return 0;

err_del:
	while (i--)
		cdev_device_del(&ld->streams[i]->cdev, &ld->streams[i]->dev);
	return ret;
}

/**
 * litepcie_streams_unpublish() - remove the nodes of all streams
 * @ld: the device; calls that have begun may still use the card
 */
void litepcie_streams_unpublish(struct litepcie_device *ld)
{
	unsigned int i;

	for (i = 0; i < ld->id.streams; i++)
		cdev_device_del(&ld->streams[i]->cdev, &ld->streams[i]->dev);
}
