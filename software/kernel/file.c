// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls on /dev/litepcieN, the memory of a card.
 *
 * The driver may be unbound while files are open. Each operation is therefore
 * an SRCU reader of litepcie_device.gate and checks litepcie_device.gone while
 * it uses the card; unbinding sets gone and waits for the readers. No reader
 * touches the memory of a program, which can make it wait for ever.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/bitfield.h>
#include <linux/build_bug.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/splice.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "driver.h"
#include "request.h"

static struct litepcie_device *litepcie_from_file(struct file *file)
{
	struct litepcie_file *lf = file->private_data;

	return lf->ld;
}

static int litepcie_open(struct inode *inode, struct file *file)
{
	struct litepcie_device *ld =
		container_of(inode->i_cdev, struct litepcie_device, cdev);
	struct litepcie_file *lf;
	unsigned int i;
	int idx, ret = 0;

	lf = kzalloc(sizeof(*lf), GFP_KERNEL_ACCOUNT);
	if (!lf)
		return -ENOMEM;
	lf->ld = ld;
	lf->file = file;
	spin_lock_init(&lf->lock);
	xa_init_flags(&lf->dmabufs, XA_FLAGS_ALLOC1);
	xa_init_flags(&lf->moves, XA_FLAGS_ALLOC1);
	for (i = 0; i < LITEPCIE_DIRECTIONS; i++)
		litepcie_flow_init(&lf->flows[i], &ld->engines[0][i]);

	idx = srcu_read_lock(&ld->gate);
	if (READ_ONCE(ld->gone)) {
		ret = -ENODEV;
		kfree(lf);
	} else {
		get_device(&ld->dev);
		file->private_data = lf;
		/* io_uring polls only files that are open with O_DIRECT. */
		file->f_mode |= FMODE_NOWAIT | FMODE_CAN_ODIRECT;
		mutex_lock(&ld->files_lock);
		list_add(&lf->node, &ld->files);
		mutex_unlock(&ld->files_lock);
	}
	srcu_read_unlock(&ld->gate, idx);
	return ret;
}

/*
 * A process that exits closes its descriptors. Its asynchronous calls keep the file
 * open, so this is where they are cancelled: io_uring has no function for that. A
 * close() alone cancels nothing: the descriptor may be a duplicate.
 */
static int litepcie_flush(struct file *file, fl_owner_t id)
{
	if (current->flags & PF_EXITING)
		litepcie_cancel_owner(file->private_data, id);
	return 0;
}

static int litepcie_release(struct inode *inode, struct file *file)
{
	struct litepcie_file *lf = file->private_data;
	struct litepcie_device *ld = lf->ld;

	mutex_lock(&ld->files_lock);
	list_del(&lf->node);
	mutex_unlock(&ld->files_lock);
	litepcie_dmabufs_release(lf);
	litepcie_hostbufs_release(lf);
	kfree(lf);
	put_device(&ld->dev);
	return 0;
}

static loff_t litepcie_llseek(struct file *file, loff_t offset, int whence)
{
	return fixed_size_llseek(file, offset, whence,
				 litepcie_from_file(file)->id.memory_bytes);
}

static ssize_t litepcie_iter(struct kiocb *iocb, struct iov_iter *iter,
			     unsigned int direction)
{
	struct litepcie_file *lf = iocb->ki_filp->private_data;
	struct litepcie_flow *flow = &lf->flows[direction];
	struct litepcie_source source = { .iter = iter };
	u64 size = lf->ld->id.memory_bytes;
	size_t bytes = iov_iter_count(iter);

	if (READ_ONCE(lf->ld->gone))
		return -ENODEV;
	if (!flow->engine->regs)
		return -EOPNOTSUPP;
	if (!bytes)
		return 0;
	if (iocb->ki_pos >= size)
		return direction == LITEPCIE_TO_CARD ? -ENOSPC : 0;
	bytes = min_t(u64, bytes, size - iocb->ki_pos);
	return litepcie_result(litepcie_move(iocb, &source, flow, bytes));
}

static ssize_t litepcie_read_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	return litepcie_iter(iocb, iter, LITEPCIE_FROM_CARD);
}

static ssize_t litepcie_write_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	return litepcie_iter(iocb, iter, LITEPCIE_TO_CARD);
}

/*
 * io_uring with IORING_SETUP_IOPOLL calls this until the call has ended. Calls of
 * others end here too, and a call that polls can also end in an interrupt.
 */
static int litepcie_iopoll(struct kiocb *iocb, struct io_comp_batch *batch,
			   unsigned int flags)
{
	struct litepcie_file *lf = iocb->ki_filp->private_data;
	unsigned int direction = iocb->ki_flags & IOCB_WRITE ? LITEPCIE_TO_CARD :
							       LITEPCIE_FROM_CARD;
	struct litepcie_engine *engine;
	int idx, ended = 0;

	idx = srcu_read_lock(&lf->ld->gate);
	if (!READ_ONCE(lf->ld->gone))
		list_for_each_entry(engine, &lf->ld->pools[direction].engines, share)
			ended += litepcie_ring_look(engine);
	srcu_read_unlock(&lf->ld->gate, idx);
	return ended;
}

static int litepcie_mmap(struct file *file, struct vm_area_struct *vma)
{
	if (litepcie_hostbuf_maps(vma))
		return litepcie_hostbuf_mmap(file->private_data, vma);
	return litepcie_window_mmap(litepcie_from_file(file), vma);
}

/* Ioctls of /dev/litepcieN. The uapi header describes them. */

/* The kernel's copy of a structure. */
union litepcie_argument {
	struct {
		__u32 size;
		__u32 flags;
	};
	struct litepcie_info info;
	struct litepcie_counters counters;
	struct litepcie_errors errors;
	struct litepcie_scratch scratch;
	struct litepcie_reset reset;
	struct litepcie_cancel cancel;
	struct litepcie_dmabuf_attach attach;
	struct litepcie_dmabuf_detach detach;
	struct litepcie_dmabuf_move move;
	struct litepcie_dmabuf_wait wait;
	struct litepcie_hostbuf_create create;
	struct litepcie_hostbuf_destroy destroy;
};

/* Reads a 64-bit counter: reading the low half latches the high half. */
static u64 litepcie_read_counter(void __iomem *low)
{
	u32 value = readl(low);

	return (u64)readl(low + 4) << 32 | value;
}

/**
 * litepcie_ioctl_info() - what the card is, and its link
 * @ld: the device; it is there and stays until the call ends
 * @arg: struct litepcie_info
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
static int litepcie_ioctl_info(struct litepcie_device *ld, union litepcie_argument *arg)
{
	struct litepcie_identity *id = &ld->id;
	struct litepcie_info *info = &arg->info;
	u16 link = 0;
	u32 sizes;

	if (memchr_inv(info->reserved, 0, sizeof(info->reserved)))
		return -EINVAL;

	sizes = readl(ld->regs + LITEPCIE_LINK_SIZES);
	pcie_capability_read_word(ld->pdev, PCI_EXP_LNKSTA, &link);
	*info = (struct litepcie_info) {
		.uapi_version = LITEPCIE_UAPI_VERSION,
		.gateware_version = id->version,
		.capabilities = id->capabilities,
		.channels = litepcie_channels(id),
		.memory_bytes = id->memory_bytes,
		.window_bytes = id->window_bytes,
		.clock_hz = id->clock_hz,
		.data_width_bits =
			32 * FIELD_GET(LITEPCIE_GEOMETRY_WIDTH_MASK, id->geometry),
		.built_gen = FIELD_GET(LITEPCIE_BUILT_LINK_GEN_MASK, id->built_link),
		.built_lanes = FIELD_GET(LITEPCIE_BUILT_LINK_LANES_MASK, id->built_link),
		.link_gen = FIELD_GET(PCI_EXP_LNKSTA_CLS, link),
		.link_lanes = FIELD_GET(PCI_EXP_LNKSTA_NLW, link),
		.max_payload_bytes = FIELD_GET(LITEPCIE_LINK_SIZES_MPS_MASK, sizes),
		.max_read_request_bytes = FIELD_GET(LITEPCIE_LINK_SIZES_MRRS_MASK, sizes),
		.tags = FIELD_GET(LITEPCIE_GEOMETRY_TAGS_MASK, id->geometry) + 1,
		.streams = id->streams,
		.link_status = readl(ld->regs + LITEPCIE_LINK_STATUS),
		.stream_lacks = id->stream_lacks[LITEPCIE_TO_CARD] |
				id->stream_lacks[LITEPCIE_FROM_CARD] << 16,
	};
	static_assert(sizeof(info->target) == sizeof(id->target));
	memcpy(info->target, id->target, sizeof(info->target));
	strscpy(info->bus_address, pci_name(ld->pdev), sizeof(info->bus_address));
	return 0;
}

/**
 * litepcie_ioctl_counters() - counters of an engine
 * @ld: the device; it is there and stays until the call ends
 * @arg: struct litepcie_counters
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
static int litepcie_ioctl_counters(struct litepcie_device *ld, union litepcie_argument *arg)
{
	struct litepcie_counters *counters = &arg->counters;
	void __iomem *regs;
	u32 channel;

	if (memchr_inv(counters->reserved, 0, sizeof(counters->reserved)))
		return -EINVAL;
	if (counters->channel >= litepcie_channels(&ld->id))
		return -EINVAL;
	channel = array_index_nospec(counters->channel, LITEPCIE_MAX_CHANNELS);
	if (counters->direction == LITEPCIE_TO_CARD &&
	    ld->id.capabilities & LITEPCIE_CAPABILITY_READER)
		regs = ld->regs + LITEPCIE_READER_BASE(channel);
	else if (counters->direction == LITEPCIE_FROM_CARD &&
		 ld->id.capabilities & LITEPCIE_CAPABILITY_WRITER)
		regs = ld->regs + LITEPCIE_WRITER_BASE(channel);
	else
		return -EINVAL;

	mutex_lock(&ld->latch);
	counters->active_cycles = litepcie_read_counter(regs + LITEPCIE_ENGINE_ACTIVE_LO);
	counters->bytes = litepcie_read_counter(regs + LITEPCIE_ENGINE_BYTES_LO);
	mutex_unlock(&ld->latch);
	counters->descriptors = readl(regs + LITEPCIE_ENGINE_DESCRIPTORS);
	counters->tlps = readl(regs + LITEPCIE_ENGINE_TLPS);
	counters->wait_descriptor = readl(regs + LITEPCIE_ENGINE_WAIT_DESCRIPTOR);
	counters->wait_tag = readl(regs + LITEPCIE_ENGINE_WAIT_TAG);
	counters->wait_link = readl(regs + LITEPCIE_ENGINE_WAIT_LINK);
	counters->wait_data = readl(regs + LITEPCIE_ENGINE_WAIT_DATA);
	return 0;
}

/**
 * litepcie_ioctl_errors() - errors of the transaction layer
 * @ld: the device; it is there and stays until the call ends
 * @arg: struct litepcie_errors
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
static int litepcie_ioctl_errors(struct litepcie_device *ld, union litepcie_argument *arg)
{
	struct litepcie_errors *errors = &arg->errors;
	void __iomem *regs = ld->regs;

	if (errors->reserved0 ||
	    memchr_inv(errors->reserved, 0, sizeof(errors->reserved)))
		return -EINVAL;
	errors->unsupported_request = readl(regs + LITEPCIE_ERROR_UNSUPPORTED_REQUEST);
	errors->completer_abort = readl(regs + LITEPCIE_ERROR_COMPLETER_ABORT);
	errors->poisoned = readl(regs + LITEPCIE_ERROR_POISONED);
	errors->unexpected = readl(regs + LITEPCIE_ERROR_UNEXPECTED);
	errors->timeout = readl(regs + LITEPCIE_ERROR_TIMEOUT);
	errors->bad_length = readl(regs + LITEPCIE_ERROR_BAD_LENGTH);
	errors->refused = readl(regs + LITEPCIE_ERROR_REFUSED);
	return 0;
}

/**
 * litepcie_ioctl_scratch() - write SCRATCH and read it back
 * @ld: the device; it is there and stays until the call ends
 * @arg: struct litepcie_scratch
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
static int litepcie_ioctl_scratch(struct litepcie_device *ld, union litepcie_argument *arg)
{
	struct litepcie_scratch *scratch = &arg->scratch;

	mutex_lock(&ld->latch);
	writel(scratch->value, ld->regs + LITEPCIE_SCRATCH);
	scratch->readback = readl(ld->regs + LITEPCIE_SCRATCH);
	mutex_unlock(&ld->latch);
	return 0;
}

/**
 * litepcie_ioctl_reset() - reset an engine
 * @ld: the device; it was there when the call began
 * @arg: struct litepcie_reset
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
static int litepcie_ioctl_reset(struct litepcie_device *ld, union litepcie_argument *arg)
{
	struct litepcie_reset *reset = &arg->reset;
	struct litepcie_engine *engine;
	u32 channel, direction;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (memchr_inv(reset->reserved, 0, sizeof(reset->reserved)) ||
	    reset->channel >= LITEPCIE_MAX_CHANNELS ||
	    reset->direction >= LITEPCIE_DIRECTIONS)
		return -EINVAL;
	channel = array_index_nospec(reset->channel, LITEPCIE_MAX_CHANNELS);
	direction = array_index_nospec(reset->direction, LITEPCIE_DIRECTIONS);
	engine = &ld->engines[channel][direction];
	return engine->regs ? litepcie_engine_restart(engine) : -EINVAL;
}

/* No padding, and the same size for 32-bit and 64-bit programs. */
static_assert(sizeof(struct litepcie_info) == 240);
static_assert(sizeof(struct litepcie_counters) == 120);
static_assert(sizeof(struct litepcie_errors) == 72);
static_assert(sizeof(struct litepcie_scratch) == 16);
static_assert(sizeof(struct litepcie_reset) == 32);
static_assert(sizeof(struct litepcie_cancel) == 24);
static_assert(sizeof(struct litepcie_dmabuf_attach) == 40);
static_assert(sizeof(struct litepcie_dmabuf_detach) == 16);
static_assert(sizeof(struct litepcie_dmabuf_move) == 72);
static_assert(sizeof(struct litepcie_dmabuf_wait) == 32);
static_assert(sizeof(struct litepcie_hostbuf_create) == 48);
static_assert(sizeof(struct litepcie_hostbuf_destroy) == 16);

/**
 * struct litepcie_ioctl - one ioctl
 * @writes: it changes the card, so the file must be open for writing
 * @resets: it takes litepcie_engine.control, which comes before
 *	litepcie_device.card_lock
 * @flags: those that a program may set
 * @size: size of its structure in this driver
 * @first: size of the first version of its structure
 * @handle: fills the kernel's copy of the structure, while the card is there
 * @on_card: instead of @handle: needs the open file too
 * @of_file: instead of @handle: needs the open file, and not the card
 * @undo: for @on_card and @of_file, if the program did not get the answer
 */
struct litepcie_ioctl {
	bool writes;
	bool resets;
	u32 flags;
	u32 size;
	u32 first;
	int (*handle)(struct litepcie_device *ld, union litepcie_argument *arg);
	int (*on_card)(struct litepcie_file *lf, void *arg);
	int (*of_file)(struct litepcie_file *lf, void *arg);
	int (*undo)(struct litepcie_file *lf, void *arg);
};

static int litepcie_ioctl_cancel(struct litepcie_file *lf, void *argument)
{
	struct litepcie_cancel *cancel = argument;

	if (memchr_inv(cancel->reserved, 0, sizeof(cancel->reserved)))
		return -EINVAL;
	litepcie_cancel_owner(lf, current->files);
	return 0;
}

static const struct litepcie_ioctl litepcie_ioctls[] = {
	[_IOC_NR(LITEPCIE_IOC_INFO)] = {
		.size = sizeof(struct litepcie_info),
		.first = offsetofend(struct litepcie_info, reserved),
		.handle = litepcie_ioctl_info,
	},
	[_IOC_NR(LITEPCIE_IOC_COUNTERS)] = {
		.size = sizeof(struct litepcie_counters),
		.first = offsetofend(struct litepcie_counters, reserved),
		.handle = litepcie_ioctl_counters,
	},
	[_IOC_NR(LITEPCIE_IOC_ERRORS)] = {
		.size = sizeof(struct litepcie_errors),
		.first = offsetofend(struct litepcie_errors, reserved),
		.handle = litepcie_ioctl_errors,
	},
	[_IOC_NR(LITEPCIE_IOC_SCRATCH)] = {
		.writes = true,
		.size = sizeof(struct litepcie_scratch),
		.first = offsetofend(struct litepcie_scratch, readback),
		.handle = litepcie_ioctl_scratch,
	},
	[_IOC_NR(LITEPCIE_IOC_RESET)] = {
		.writes = true, .resets = true,
		.size = sizeof(struct litepcie_reset),
		.first = offsetofend(struct litepcie_reset, reserved),
		.handle = litepcie_ioctl_reset,
	},
	[_IOC_NR(LITEPCIE_IOC_CANCEL)] = {
		.size = sizeof(struct litepcie_cancel),
		.first = offsetofend(struct litepcie_cancel, reserved),
		.of_file = litepcie_ioctl_cancel,
	},
	[_IOC_NR(LITEPCIE_IOC_DMABUF_ATTACH)] = {
		.size = sizeof(struct litepcie_dmabuf_attach),
		.first = offsetofend(struct litepcie_dmabuf_attach, reserved),
		.of_file = litepcie_dmabuf_attach,
		.undo = litepcie_dmabuf_undo,
	},
	[_IOC_NR(LITEPCIE_IOC_DMABUF_DETACH)] = {
		.size = sizeof(struct litepcie_dmabuf_detach),
		.first = offsetofend(struct litepcie_dmabuf_detach, reserved0),
		.of_file = litepcie_dmabuf_detach,
	},
	[_IOC_NR(LITEPCIE_IOC_DMABUF_MOVE)] = {
		.flags = LITEPCIE_DMABUF_ASYNC,
		.size = sizeof(struct litepcie_dmabuf_move),
		.first = offsetofend(struct litepcie_dmabuf_move, reserved),
		.of_file = litepcie_dmabuf_move,
		.undo = litepcie_dmabuf_forget,
	},
	[_IOC_NR(LITEPCIE_IOC_DMABUF_WAIT)] = {
		.flags = LITEPCIE_DMABUF_NOWAIT | LITEPCIE_DMABUF_CANCEL,
		.size = sizeof(struct litepcie_dmabuf_wait),
		.first = offsetofend(struct litepcie_dmabuf_wait, reserved),
		.of_file = litepcie_dmabuf_wait,
	},
	[_IOC_NR(LITEPCIE_IOC_HOSTBUF_CREATE)] = {
		.writes = true, .flags = LITEPCIE_HOSTBUF_READ | LITEPCIE_HOSTBUF_WRITE,
		.size = sizeof(struct litepcie_hostbuf_create),
		.first = offsetofend(struct litepcie_hostbuf_create, reserved),
		.on_card = litepcie_hostbuf_create,
		.undo = litepcie_hostbuf_undo,
	},
	[_IOC_NR(LITEPCIE_IOC_HOSTBUF_DESTROY)] = {
		.size = sizeof(struct litepcie_hostbuf_destroy),
		.first = offsetofend(struct litepcie_hostbuf_destroy, reserved0),
		.of_file = litepcie_hostbuf_destroy,
	},
};

/*
 * Runs an ioctl that does not reset, with litepcie_device.card_lock held. A card
 * that went away while it was read has answered with all ones, which is no data.
 */
static int litepcie_ioctl_on_card(struct litepcie_file *lf,
				  const struct litepcie_ioctl *ioctl,
				  union litepcie_argument *arg)
{
	struct litepcie_device *ld = lf->ld;
	int ret = litepcie_card_error(ld);

	if (ret)
		return ret;
	if (ld->card == LITEPCIE_CARD_AWAY)
		return -EAGAIN;
	if (litepcie_alive(ld)) {
		if (ioctl->on_card)
			return ioctl->on_card(lf, arg);
		if (ioctl->resets)
			return 0;
		ret = ioctl->handle(ld, arg);
		if (ret || litepcie_alive(ld))
			return ret;
	}
	litepcie_card_fail(ld, -ENODEV);
	return -ENODEV;
}

/*
 * Waits for the end of a reset and lets none begin meanwhile. No user memory is
 * accessed here: its pages may come late or never, and unbinding waits for
 * litepcie_device.gate.
 */
static int litepcie_ioctl_run(struct litepcie_file *lf,
			      const struct litepcie_ioctl *ioctl,
			      union litepcie_argument *arg)
{
	struct litepcie_device *ld = lf->ld;
	int idx, ret;

	/* Another reset may begin before the lock is taken. */
	do {
		ret = wait_event_interruptible(ld->card_change,
					       READ_ONCE(ld->card) != LITEPCIE_CARD_AWAY);
		if (ret)
			return ret;
		idx = srcu_read_lock(&ld->gate);
		down_read(&ld->card_lock);
		ret = litepcie_ioctl_on_card(lf, ioctl, arg);
		up_read(&ld->card_lock);
		if (!ret && ioctl->resets)
			ret = ioctl->handle(ld, arg);
		srcu_read_unlock(&ld->gate, idx);
	} while (ret == -EAGAIN);
	return ret;
}

/**
 * litepcie_ioctl() - run an ioctl
 * @lf: the open file
 * @command: LITEPCIE_IOC_*; its size field is ignored, because the structure
 *	contains its own size
 * @argument: the structure
 *
 * Return: 0 or a negative errno, as the uapi header says.
 */
static long litepcie_ioctl(struct litepcie_file *lf, unsigned int command,
			   void __user *argument)
{
	const struct litepcie_ioctl *ioctl;
	union litepcie_argument arg = { };
	u32 size;
	int ret;

	if (_IOC_TYPE(command) != LITEPCIE_IOC_MAGIC ||
	    _IOC_DIR(command) != (_IOC_READ | _IOC_WRITE) ||
	    _IOC_NR(command) >= ARRAY_SIZE(litepcie_ioctls))
		return -ENOTTY;
	ioctl = &litepcie_ioctls[array_index_nospec(_IOC_NR(command),
						    ARRAY_SIZE(litepcie_ioctls))];
	if (!ioctl->size)
		return -ENOTTY;
	if (ioctl->writes && !(lf->file->f_mode & FMODE_WRITE))
		return -EBADF;
	if (get_user(size, (u32 __user *)argument))
		return -EFAULT;
	if (size < ioctl->first)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&arg, ioctl->size, argument, size);
	if (ret)
		return ret;
	if (arg.flags & ~ioctl->flags)
		return -EINVAL;
	if (ioctl->of_file)
		ret = ioctl->of_file(lf, &arg);
	else
		ret = litepcie_ioctl_run(lf, ioctl, &arg);
	if (ret)
		return ret;
	arg.size = ioctl->size;
	if (!copy_to_user(argument, &arg, min(size, ioctl->size)))
		return 0;
	if (ioctl->undo)
		ioctl->undo(lf, &arg);
	return -EFAULT;
}

static long litepcie_unlocked_ioctl(struct file *file, unsigned int command,
				    unsigned long argument)
{
	return litepcie_ioctl(file->private_data, command, (void __user *)argument);
}

/* File operations of /dev/litepcieN. */
const struct file_operations litepcie_fops = {
	.owner = THIS_MODULE,
	.open = litepcie_open,
	.flush = litepcie_flush,
	.release = litepcie_release,
	.llseek = litepcie_llseek,
	.read_iter = litepcie_read_iter,
	.write_iter = litepcie_write_iter,
	.iopoll = litepcie_iopoll,
	.splice_write = iter_file_splice_write,
	.unlocked_ioctl = litepcie_unlocked_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = litepcie_mmap,
	.fsync = noop_fsync,	/* write() returns after the data has landed */
};
