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
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/splice.h>

#include "dmabuf.h"
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
	litepcie_dmabuf_moves_release(lf);
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
	return litepcie_move(iocb, &source, flow, min_t(u64, bytes, size - iocb->ki_pos));
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

static long litepcie_unlocked_ioctl(struct file *file, unsigned int command,
				    unsigned long argument)
{
	return litepcie_ioctl(file->private_data, command, (void __user *)argument);
}

static int litepcie_mmap(struct file *file, struct vm_area_struct *vma)
{
	if (litepcie_hostbuf_maps(vma))
		return litepcie_hostbuf_mmap(file->private_data, vma);
	return litepcie_window_mmap(litepcie_from_file(file), vma);
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
