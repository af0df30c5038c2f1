// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ioctls of /dev/litepcieN. The uapi header describes them.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/build_bug.h>
#include <linux/fs.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "card_ioctl.h"
#include "dmabuf.h"
#include "driver.h"
#include "hostbuf.h"
#include "request.h"

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
		.writes = true,
		.resets = true,
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
		.writes = true,
		.flags = LITEPCIE_HOSTBUF_READ | LITEPCIE_HOSTBUF_WRITE,
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
long litepcie_ioctl(struct litepcie_file *lf, unsigned int command,
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
