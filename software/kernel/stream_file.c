// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls on /dev/litepcieN_streamS. The uapi header describes them.
 *
 * An open file has each direction that it was opened for, alone. Calls use the
 * card only while litepcie_stream_end.lock or litepcie_stream_end.control is
 * held and the state allows it; unbinding changes the state under both.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/uio.h>

#include "driver.h"
#include "stream.h"

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
			litepcie_stream_defaults(&end->settings);
			end->file = file;
		}
	}
	return 0;
}

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
	file->f_mode |= FMODE_NOWAIT;
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

	end = litepcie_stream_file_end(file, LITEPCIE_READER);
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
	ret = litepcie_stream_lock(end, wait);
	if (ret)
		return ret;
	ret = move(end, iter, wait);
	litepcie_stream_unlock(end);
	return ret;
}

static ssize_t litepcie_stream_read_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	return litepcie_stream_move(iocb, iter, LITEPCIE_WRITER, litepcie_stream_read);
}

static ssize_t litepcie_stream_write_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	return litepcie_stream_move(iocb, iter, LITEPCIE_READER, litepcie_stream_write);
}

/* What poll() says of a direction. It is not empty if a call would not wait. */
static __poll_t litepcie_stream_events(struct litepcie_stream_end *end)
{
	__poll_t ready = end->direction == LITEPCIE_WRITER ? EPOLLIN | EPOLLRDNORM :
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
	if (end->direction == LITEPCIE_WRITER && litepcie_stream_ready(end))
		return ready;
	if (error)
		return ready | EPOLLERR;
	if (!litepcie_stream_ready(end))
		return 0;
	/* A reader that does not run yet waits for the card. */
	if (end->direction == LITEPCIE_READER &&
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
		litepcie_stream_file_end(file, LITEPCIE_READER);

	return reader ? litepcie_stream_drain(reader, MAX_SCHEDULE_TIMEOUT) : -EINVAL;
}

/* File operations of /dev/litepcieN_streamS. */
const struct file_operations litepcie_stream_fops = {
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
