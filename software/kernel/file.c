// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls on /dev/litepcieN, the memory of a card.
 *
 * The driver may be unbound while files are open. Each operation is therefore
 * an SRCU reader of litepcie_device.gate and checks litepcie_device.gone;
 * unbinding sets gone and waits for the readers.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/splice.h>

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
	int idx, ret = 0;

	lf = kzalloc(sizeof(*lf), GFP_KERNEL);
	if (!lf)
		return -ENOMEM;
	lf->ld = ld;
	lf->file = file;

	idx = srcu_read_lock(&ld->gate);
	if (READ_ONCE(ld->gone)) {
		ret = -ENODEV;
		kfree(lf);
	} else {
		get_device(&ld->dev);
		file->private_data = lf;
		file->f_mode |= FMODE_NOWAIT;
		mutex_lock(&ld->files_lock);
		list_add(&lf->node, &ld->files);
		mutex_unlock(&ld->files_lock);
	}
	srcu_read_unlock(&ld->gate, idx);
	return ret;
}

static int litepcie_release(struct inode *inode, struct file *file)
{
	struct litepcie_file *lf = file->private_data;
	struct litepcie_device *ld = lf->ld;

	mutex_lock(&ld->files_lock);
	list_del(&lf->node);
	mutex_unlock(&ld->files_lock);
	kfree(lf);
	put_device(&ld->dev);
	return 0;
}

static loff_t litepcie_llseek(struct file *file, loff_t offset, int whence)
{
	return fixed_size_llseek(file, offset, whence,
				 litepcie_from_file(file)->id.memory_bytes);
}

/*
 * A call with IOCB_NOWAIT that cannot be asynchronous returns -EAGAIN: io_uring
 * then repeats it from a worker thread, which may wait.
 */
static ssize_t litepcie_move(struct kiocb *iocb, struct iov_iter *iter,
			     struct litepcie_engine *engine, size_t bytes)
{
	struct litepcie_file *lf = iocb->ki_filp->private_data;
	size_t moved;
	ssize_t ret;
	int error;

	error = xchg(&lf->errors[engine->direction], 0);
	if (error)
		return error;
	ret = litepcie_async(engine, iocb, iter, bytes);
	if (ret != -EAGAIN || iocb->ki_flags & IOCB_NOWAIT)
		return ret;
	moved = litepcie_transfer(engine, iter, iocb->ki_pos, bytes, &error);
	iocb->ki_pos += moved;
	return litepcie_transfer_result(iocb->ki_filp, engine->direction, moved, error);
}

static ssize_t litepcie_iter(struct kiocb *iocb, struct iov_iter *iter,
			     unsigned int direction)
{
	struct litepcie_device *ld = litepcie_from_file(iocb->ki_filp);
	struct litepcie_engine *engine = &ld->engines[direction];
	size_t bytes = iov_iter_count(iter);
	u64 size = ld->id.memory_bytes;
	ssize_t ret;
	int idx;

	idx = srcu_read_lock(&ld->gate);
	if (READ_ONCE(ld->gone))
		ret = -ENODEV;
	else if (!engine->regs)
		ret = -EOPNOTSUPP;
	else if (!bytes)
		ret = 0;
	else if (iocb->ki_pos >= size)
		ret = direction == LITEPCIE_READER ? -ENOSPC : 0;
	else
		ret = litepcie_move(iocb, iter, engine,
				    min_t(u64, bytes, size - iocb->ki_pos));
	srcu_read_unlock(&ld->gate, idx);
	return ret;
}

static ssize_t litepcie_read_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	return litepcie_iter(iocb, iter, LITEPCIE_WRITER);
}

static ssize_t litepcie_write_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	return litepcie_iter(iocb, iter, LITEPCIE_READER);
}

static long litepcie_unlocked_ioctl(struct file *file, unsigned int command,
				    unsigned long argument)
{
	return litepcie_ioctl(litepcie_from_file(file), file->f_mode, command,
			      (void __user *)argument);
}

static int litepcie_mmap(struct file *file, struct vm_area_struct *vma)
{
	return litepcie_window_mmap(litepcie_from_file(file), vma);
}

/* File operations of /dev/litepcieN. */
const struct file_operations litepcie_fops = {
	.owner = THIS_MODULE,
	.open = litepcie_open,
	.release = litepcie_release,
	.llseek = litepcie_llseek,
	.read_iter = litepcie_read_iter,
	.write_iter = litepcie_write_iter,
	.splice_write = iter_file_splice_write,
	.unlocked_ioctl = litepcie_unlocked_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = litepcie_mmap,
	.fsync = noop_fsync,	/* write() returns after the data has landed */
};
