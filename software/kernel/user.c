// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices of the user's logic: /dev/litepcieN_user, its registers, and
 * /dev/litepcieN_interruptM, its interrupts.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/bitfield.h>
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/uaccess.h>

#include "driver.h"

/*
 * /dev/litepcieN_user: the range of the SoC's bus that the designer of the card
 * gives to programs, in 32-bit accesses by offset or by mmap().
 *
 * The range is in BAR0 and clear of the registers that only the driver may
 * write. The card answers for addresses without a register: it counts accesses
 * that fail, and the driver compares the count before and after.
 */

#define LITEPCIE_USER_WORDS	64	/* most registers between two checks */

static dev_t litepcie_user_devt;

/**
 * struct litepcie_user - the device of class litepcie_user of a card
 * @dev: its reference count frees this structure, and holds the card's
 * @cdev: /dev/litepcieN_user
 * @ld: the card
 */
struct litepcie_user {
	struct device dev;
	struct cdev cdev;
	struct litepcie_device *ld;
};

static ssize_t origin_show(struct device *dev, struct device_attribute *attribute,
			   char *buf)
{
	struct litepcie_user *user = container_of(dev, struct litepcie_user, dev);

	return sysfs_emit(buf, "%#x\n", user->ld->id.user_origin);
}
static DEVICE_ATTR_RO(origin);

static struct attribute *litepcie_user_attrs[] = {
	&dev_attr_origin.attr,
	NULL,
};
ATTRIBUTE_GROUPS(litepcie_user);

static struct class litepcie_user_class = {
	.name = "litepcie_user",
	.dev_groups = litepcie_user_groups,
};

static int litepcie_user_open(struct inode *inode, struct file *file)
{
	struct litepcie_user *user =
		container_of(inode->i_cdev, struct litepcie_user, cdev);
	struct litepcie_device *ld = user->ld;
	struct litepcie_mapped *lm;
	int idx, ret = 0;

	lm = kzalloc(sizeof(*lm), GFP_KERNEL_ACCOUNT);
	if (!lm)
		return -ENOMEM;
	lm->ld = ld;
	lm->file = file;
	idx = srcu_read_lock(&ld->gate);
	if (READ_ONCE(ld->gone)) {
		ret = -ENODEV;
		kfree(lm);
	} else {
		get_device(&ld->dev);
		file->private_data = lm;
		mutex_lock(&ld->files_lock);
		list_add(&lm->node, &ld->user_files);
		mutex_unlock(&ld->files_lock);
	}
	srcu_read_unlock(&ld->gate, idx);
	return ret;
}

static int litepcie_user_release(struct inode *inode, struct file *file)
{
	struct litepcie_mapped *lm = file->private_data;
	struct litepcie_device *ld = lm->ld;

	mutex_lock(&ld->files_lock);
	list_del(&lm->node);
	mutex_unlock(&ld->files_lock);
	kfree(lm);
	put_device(&ld->dev);
	return 0;
}

static loff_t litepcie_user_llseek(struct file *file, loff_t offset, int whence)
{
	struct litepcie_mapped *lm = file->private_data;

	return fixed_size_llseek(file, offset, whence, lm->ld->id.user_bytes);
}

/* Reading the count waits for all writes before it. */
static int litepcie_user_words(struct litepcie_device *ld, u32 *words, u32 offset,
			       unsigned int count, bool write)
{
	void __iomem *regs = ld->user_regs + offset;
	u32 before, after;
	unsigned int i;

	mutex_lock(&ld->latch);
	before = readl(ld->regs + LITEPCIE_USER_ERRORS);
	for (i = 0; i < count; i++)
		if (write)
			writel(words[i], regs + i * sizeof(u32));
		else
			words[i] = readl(regs + i * sizeof(u32));
	after = readl(ld->regs + LITEPCIE_USER_ERRORS);
	mutex_unlock(&ld->latch);
	if (after == ~0U && !litepcie_alive(ld)) {
		litepcie_card_fail(ld, -ENODEV);
		return -ENODEV;
	}
	return after == before ? 0 : -EIO;
}

/* Waits while the card is reset or suspended, then accesses some registers. */
static int litepcie_user_access(struct litepcie_device *ld, u32 *words, u32 offset,
				unsigned int count, bool write)
{
	int idx, ret;

	do {
		ret = wait_event_interruptible(ld->card_change,
					       READ_ONCE(ld->card) != LITEPCIE_CARD_AWAY);
		if (ret)
			return -EINTR;
		idx = srcu_read_lock(&ld->gate);
		down_read(&ld->card_lock);
		ret = litepcie_card_error(ld);
		if (!ret && ld->card == LITEPCIE_CARD_AWAY)
			ret = -EAGAIN;
		if (!ret)
			ret = litepcie_user_words(ld, words, offset, count, write);
		up_read(&ld->card_lock);
		srcu_read_unlock(&ld->gate, idx);
	} while (ret == -EAGAIN);
	return ret;
}

/* Reads into @to or writes from @from, which is NULL otherwise. */
static ssize_t litepcie_user_move(struct file *file, char __user *to,
				  const char __user *from, size_t bytes, loff_t *ppos)
{
	struct litepcie_mapped *lm = file->private_data;
	u32 size = lm->ld->id.user_bytes;
	u32 words[LITEPCIE_USER_WORDS];
	size_t done = 0, now;
	int ret = 0;

	if (*ppos < 0 || !IS_ALIGNED(*ppos | bytes, sizeof(u32)))
		return -EINVAL;
	if (!bytes || *ppos >= size)
		return bytes && from ? -ENOSPC : 0;
	bytes = min_t(u64, bytes, size - *ppos);
	while (done < bytes && !ret) {
		now = min(bytes - done, sizeof(words));
		if (from && copy_from_user(words, from + done, now))
			ret = -EFAULT;
		else
			ret = litepcie_user_access(lm->ld, words, *ppos + done,
						   now / sizeof(u32), from);
		if (!ret && to && copy_to_user(to + done, words, now))
			ret = -EFAULT;
		if (!ret)
			done += now;
		if (!ret && done < bytes && signal_pending(current))
			ret = -EINTR;
	}
	*ppos += done;
	return done ? done : ret;
}

static ssize_t litepcie_user_read(struct file *file, char __user *buf, size_t bytes,
				  loff_t *ppos)
{
	return litepcie_user_move(file, buf, NULL, bytes, ppos);
}

static ssize_t litepcie_user_write(struct file *file, const char __user *buf,
				   size_t bytes, loff_t *ppos)
{
	return litepcie_user_move(file, NULL, buf, bytes, ppos);
}

static int litepcie_user_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct litepcie_mapped *lm = file->private_data;
	struct litepcie_identity *id = &lm->ld->id;

	/* Programs map whole pages, and only pages that are all theirs. */
	if (!PAGE_ALIGNED(id->user_start))
		return -ENODEV;
	return litepcie_map_pages(lm->ld, vma, &litepcie_user_vm_ops, vma->vm_pgoff,
				  id->user_bytes >> PAGE_SHIFT);
}

static const struct file_operations litepcie_user_fops = {
	.owner = THIS_MODULE,
	.open = litepcie_user_open,
	.release = litepcie_user_release,
	.llseek = litepcie_user_llseek,
	.read = litepcie_user_read,
	.write = litepcie_user_write,
	.mmap = litepcie_user_mmap,
};

static void litepcie_user_device_release(struct device *dev)
{
	struct litepcie_user *user = container_of(dev, struct litepcie_user, dev);

	put_device(&user->ld->dev);
	kfree(user);
}

/**
 * litepcie_user_publish() - create /dev/litepcieN_user if the card has the range
 * @ld: the device, ready for calls
 *
 * Return: 0 or negative errno.
 */
int litepcie_user_publish(struct litepcie_device *ld)
{
	struct litepcie_user *user;
	int ret;

	if (!ld->id.user_bytes)
		return 0;
	user = kzalloc(sizeof(*user), GFP_KERNEL);
	if (!user)
		return -ENOMEM;
	user->ld = ld;
	get_device(&ld->dev);
	device_initialize(&user->dev);
	user->dev.parent = &ld->dev;
	user->dev.class = &litepcie_user_class;
	user->dev.release = litepcie_user_device_release;
	user->dev.devt = MKDEV(MAJOR(litepcie_user_devt), MINOR(ld->dev.devt));
	cdev_init(&user->cdev, &litepcie_user_fops);
	user->cdev.owner = THIS_MODULE;
	ret = dev_set_name(&user->dev, "%s_user", dev_name(&ld->dev));
	if (!ret)
		ret = cdev_device_add(&user->cdev, &user->dev);
	if (ret)
		put_device(&user->dev);
	else
		ld->user = user;
	return ret;
}

/**
 * litepcie_user_unpublish() - remove /dev/litepcieN_user if there is one
 * @ld: the device; calls that have begun may still use the card
 */
void litepcie_user_unpublish(struct litepcie_device *ld)
{
	if (!ld->user)
		return;
	cdev_device_del(&ld->user->cdev, &ld->user->dev);
	put_device(&ld->user->dev);
	ld->user = NULL;
}

/**
 * litepcie_user_class_init() - register device numbers and class
 *
 * Return: 0 or negative errno.
 */
int litepcie_user_class_init(void)
{
	int ret;

	ret = alloc_chrdev_region(&litepcie_user_devt, 0, LITEPCIE_MINORS,
				  "litepcie_user");
	if (ret)
		return ret;
	ret = class_register(&litepcie_user_class);
	if (ret)
		unregister_chrdev_region(litepcie_user_devt, LITEPCIE_MINORS);
	return ret;
}

/**
 * litepcie_user_class_exit() - undo litepcie_user_class_init()
 */
void litepcie_user_class_exit(void)
{
	class_unregister(&litepcie_user_class);
	unregister_chrdev_region(litepcie_user_devt, LITEPCIE_MINORS);
}

/*
 * Interrupts of the user's logic: a program arms one, and waits for its message.
 *
 * The card disarms an interrupt when it sends the message, so logic that asks
 * for interrupts all the time costs the host one for each arming.
 *
 * Each interrupt has a vector of its own, or all share one. In that case the
 * register FIRED says which have sent a message since they were armed. It is
 * read only while an interrupt is armed, under the lock that arming takes: one
 * that is reported and armed again has no FIRED of before.
 */

/**
 * struct litepcie_interrupt_file - an open file
 * @in: the interrupt
 * @seen: count that the last read() returned, or that of open()
 * @losses: losses that read() has reported, or those at open()
 */
struct litepcie_interrupt_file {
	struct litepcie_interrupt *in;
	u32 seen;
	u32 losses;
};

/**
 * litepcie_interrupts_start() - disarm all, and set the vectors
 * @ld: the device, which answers
 */
void litepcie_interrupts_start(struct litepcie_device *ld)
{
	u32 vector = FIELD_PREP(LITEPCIE_INTERRUPT_VECTOR_FIRST_MASK,
				ld->interrupt_vector);

	if (!ld->id.interrupts)
		return;
	if (ld->interrupts_split)
		vector |= LITEPCIE_INTERRUPT_VECTOR_EACH;
	writel(~0U, ld->regs + LITEPCIE_INTERRUPT_DISARM);
	writel(vector, ld->regs + LITEPCIE_INTERRUPT_VECTOR);
}

/**
 * litepcie_interrupts_wake() - let those who wait look again
 * @ld: the device, which was reset, lost or unbound
 */
static void litepcie_interrupts_wake(struct litepcie_device *ld)
{
	unsigned int i;

	for (i = 0; i < ld->id.interrupts; i++)
		wake_up_all(&ld->interrupts[i]->wait);
}

/**
 * litepcie_interrupts_pause() - disarm all; events may be lost from now on
 * @ld: the device
 * @answers: the registers may be accessed; else the card is cut off, or a reset
 *	has disarmed all
 */
void litepcie_interrupts_pause(struct litepcie_device *ld, bool answers)
{
	unsigned int i;

	if (!ld->id.interrupts)
		return;
	spin_lock_irq(&ld->interrupt_lock);
	ld->armed = 0;
	if (answers)
		writel(~0U, ld->regs + LITEPCIE_INTERRUPT_DISARM);
	for (i = 0; i < ld->id.interrupts; i++)
		ld->interrupts[i]->losses++;
	spin_unlock_irq(&ld->interrupt_lock);
	litepcie_interrupts_wake(ld);
}

/**
 * litepcie_interrupts_message() - a message came
 * @ld: the device
 * @vector: its vector, that of an interrupt or the one that all share
 *
 * Called in the interrupt handler if each interrupt has a vector of its own, else
 * in its thread, as it reads a register.
 */
void litepcie_interrupts_message(struct litepcie_device *ld, unsigned int vector)
{
	unsigned long flags;
	unsigned int i;
	u32 fired = 0;

	spin_lock_irqsave(&ld->interrupt_lock, flags);
	if (ld->interrupts_split) {
		fired = BIT(vector - ld->interrupt_vector);
	} else if (ld->armed) {
		fired = readl(ld->regs + LITEPCIE_INTERRUPT_FIRED);
		/* All ones: the card does not answer. No card has so many interrupts. */
		if (fired == ~0U)
			mod_delayed_work(ld->queue, &ld->check, 0);
		fired = fired == ~0U ? 0 : fired & ld->armed;
	}
	for (i = 0; i < ld->id.interrupts; i++)
		if (fired & BIT(i))
			ld->interrupts[i]->count++;
	ld->armed &= ~fired;
	spin_unlock_irqrestore(&ld->interrupt_lock, flags);
	for (i = 0; i < ld->id.interrupts; i++)
		if (fired & BIT(i))
			wake_up_interruptible_poll(&ld->interrupts[i]->wait,
						   EPOLLIN | EPOLLRDNORM);
}

static void litepcie_interrupt_set(struct litepcie_interrupt *in, bool arm)
{
	struct litepcie_device *ld = in->ld;
	u32 bit = BIT(in->number);

	spin_lock_irq(&ld->interrupt_lock);
	/* Arming again would hide a message that is on its way. */
	if (arm && !(ld->armed & bit)) {
		ld->armed |= bit;
		writel(bit, ld->regs + LITEPCIE_INTERRUPT_ARM);
	} else if (!arm) {
		ld->armed &= ~bit;
		writel(bit, ld->regs + LITEPCIE_INTERRUPT_DISARM);
	}
	spin_unlock_irq(&ld->interrupt_lock);
}

static int litepcie_interrupt_open(struct inode *inode, struct file *file)
{
	struct litepcie_interrupt *in =
		container_of(inode->i_cdev, struct litepcie_interrupt, cdev);
	struct litepcie_interrupt_file *lf;
	struct litepcie_device *ld = in->ld;
	int idx, ret = 0;

	lf = kzalloc(sizeof(*lf), GFP_KERNEL_ACCOUNT);
	if (!lf)
		return -ENOMEM;
	lf->in = in;
	idx = srcu_read_lock(&ld->gate);
	down_read(&ld->card_lock);
	ret = litepcie_card_error(ld);
	if (ret) {
		kfree(lf);
	} else {
		get_device(&in->dev);
		file->private_data = lf;
		mutex_lock(&ld->files_lock);
		/* Pulses that nobody waited for do not concern this program. */
		if (!in->users++ && ld->card == LITEPCIE_CARD_PRESENT)
			writel(BIT(in->number), ld->regs + LITEPCIE_INTERRUPT_FORGET);
		mutex_unlock(&ld->files_lock);
		spin_lock_irq(&ld->interrupt_lock);
		lf->seen = in->count;
		lf->losses = in->losses;
		spin_unlock_irq(&ld->interrupt_lock);
	}
	up_read(&ld->card_lock);
	srcu_read_unlock(&ld->gate, idx);
	if (ret)
		return ret;
	litepcie_sleeper_add(ld);
	return stream_open(inode, file);
}

static int litepcie_interrupt_release_file(struct inode *inode, struct file *file)
{
	struct litepcie_interrupt_file *lf = file->private_data;
	struct litepcie_interrupt *in = lf->in;
	struct litepcie_device *ld = in->ld;
	int idx;

	idx = srcu_read_lock(&ld->gate);
	down_read(&ld->card_lock);
	mutex_lock(&ld->files_lock);
	if (!--in->users && !READ_ONCE(ld->gone) && ld->card == LITEPCIE_CARD_PRESENT)
		litepcie_interrupt_set(in, false);
	mutex_unlock(&ld->files_lock);
	up_read(&ld->card_lock);
	srcu_read_unlock(&ld->gate, idx);
	litepcie_sleeper_del(ld);
	kfree(lf);
	put_device(&in->dev);
	return 0;
}

/*
 * Takes what happened since the last call: 1, 0 for nothing, or -ENODATA. Another
 * thread may read the same file as soon as the lock is free: @count is this call's.
 */
static int litepcie_interrupt_take(struct litepcie_interrupt_file *lf, u32 *count)
{
	struct litepcie_interrupt *in = lf->in;
	int ret = 0;

	spin_lock_irq(&in->ld->interrupt_lock);
	if (lf->losses != in->losses)
		ret = -ENODATA;
	else if (lf->seen != in->count)
		ret = 1;
	lf->losses = in->losses;
	lf->seen = in->count;
	*count = in->count;
	spin_unlock_irq(&in->ld->interrupt_lock);
	return ret;
}

/* Without the lock: another thread may read the file. read() decides with the lock. */
static bool litepcie_interrupt_changed(struct litepcie_interrupt_file *lf)
{
	return READ_ONCE(lf->losses) != READ_ONCE(lf->in->losses) ||
	       READ_ONCE(lf->seen) != READ_ONCE(lf->in->count) || litepcie_card_error(lf->in->ld);
}

static ssize_t litepcie_interrupt_read(struct file *file, char __user *buf,
				       size_t bytes, loff_t *ppos)
{
	struct litepcie_interrupt_file *lf = file->private_data;
	u32 count;
	int ret;

	if (bytes != sizeof(u32))
		return -EINVAL;
	for (;;) {
		ret = litepcie_card_error(lf->in->ld);
		if (ret)
			return ret;
		ret = litepcie_interrupt_take(lf, &count);
		if (ret)
			break;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		ret = wait_event_interruptible(lf->in->wait,
					       litepcie_interrupt_changed(lf));
		if (ret)
			return litepcie_result(ret);
	}
	if (ret < 0)
		return ret;
	return put_user(count, (u32 __user *)buf) ? -EFAULT : sizeof(u32);
}

/* Waits while the card is reset or suspended. */
static ssize_t litepcie_interrupt_write(struct file *file, const char __user *buf,
					size_t bytes, loff_t *ppos)
{
	struct litepcie_interrupt_file *lf = file->private_data;
	struct litepcie_interrupt *in = lf->in;
	struct litepcie_device *ld = in->ld;
	int idx, ret;
	u32 arm;

	if (bytes != sizeof(arm))
		return -EINVAL;
	if (get_user(arm, (const u32 __user *)buf))
		return -EFAULT;
	if (arm > 1)
		return -EINVAL;
	do {
		if (!(file->f_flags & O_NONBLOCK)) {
			ret = wait_event_interruptible(ld->card_change,
						       READ_ONCE(ld->card) !=
						       LITEPCIE_CARD_AWAY);
			if (ret)
				return litepcie_result(ret);
		}
		idx = srcu_read_lock(&ld->gate);
		down_read(&ld->card_lock);
		ret = litepcie_card_error(ld);
		if (!ret && ld->card == LITEPCIE_CARD_AWAY)
			ret = -EAGAIN;
		if (!ret)
			litepcie_interrupt_set(in, arm);
		up_read(&ld->card_lock);
		srcu_read_unlock(&ld->gate, idx);
	} while (ret == -EAGAIN && !(file->f_flags & O_NONBLOCK));
	return ret ? ret : sizeof(arm);
}

static __poll_t litepcie_interrupt_poll(struct file *file, poll_table *wait)
{
	struct litepcie_interrupt_file *lf = file->private_data;
	/* write() waits for no event, and io_uring polls before it writes. */
	__poll_t events = EPOLLOUT | EPOLLWRNORM;

	poll_wait(file, &lf->in->wait, wait);
	if (litepcie_interrupt_changed(lf))
		events |= EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(lf->losses) != READ_ONCE(lf->in->losses))
		events |= EPOLLERR;
	if (litepcie_card_error(lf->in->ld))
		events |= EPOLLERR | EPOLLHUP;
	return events;
}

static const struct file_operations litepcie_interrupt_fops = {
	.owner = THIS_MODULE,
	.open = litepcie_interrupt_open,
	.release = litepcie_interrupt_release_file,
	.read = litepcie_interrupt_read,
	.write = litepcie_interrupt_write,
	.poll = litepcie_interrupt_poll,
};

/*
 * The devices of class litepcie_interrupt: /dev/litepcieN_interruptM, and their
 * names and counts in sysfs.
 */

#define LITEPCIE_INTERRUPT_MINORS	(LITEPCIE_MINORS * LITEPCIE_MAX_INTERRUPTS)

static dev_t litepcie_interrupt_devt;

static struct litepcie_interrupt *litepcie_to_interrupt(struct device *dev)
{
	return container_of(dev, struct litepcie_interrupt, dev);
}

static ssize_t name_show(struct device *dev, struct device_attribute *attribute,
			 char *buf)
{
	struct litepcie_interrupt *in = litepcie_to_interrupt(dev);

	return sysfs_emit(buf, "%s\n", in->ld->id.interrupt_names[in->number]);
}
static DEVICE_ATTR_RO(name);

static ssize_t kind_show(struct device *dev, struct device_attribute *attribute,
			 char *buf)
{
	struct litepcie_interrupt *in = litepcie_to_interrupt(dev);
	bool pulse = in->ld->id.interrupt_pulses & BIT(in->number);

	return sysfs_emit(buf, "%s\n", pulse ? "pulse" : "level");
}
static DEVICE_ATTR_RO(kind);

static ssize_t count_show(struct device *dev, struct device_attribute *attribute,
			  char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(litepcie_to_interrupt(dev)->count));
}
static DEVICE_ATTR_RO(count);

static struct attribute *litepcie_interrupt_attrs[] = {
	&dev_attr_name.attr,
	&dev_attr_kind.attr,
	&dev_attr_count.attr,
	NULL,
};
ATTRIBUTE_GROUPS(litepcie_interrupt);

static struct class litepcie_interrupt_class = {
	.name = "litepcie_interrupt",
	.dev_groups = litepcie_interrupt_groups,
};

static void litepcie_interrupt_release(struct device *dev)
{
	struct litepcie_interrupt *in = litepcie_to_interrupt(dev);

	put_device(&in->ld->dev);
	kfree(in);
}

static int litepcie_interrupt_init(struct litepcie_device *ld, unsigned int number)
{
	struct litepcie_interrupt *in;

	in = kzalloc(sizeof(*in), GFP_KERNEL);
	if (!in)
		return -ENOMEM;
	in->ld = ld;
	get_device(&ld->dev);
	in->number = number;
	init_waitqueue_head(&in->wait);
	device_initialize(&in->dev);
	in->dev.parent = &ld->dev;
	in->dev.class = &litepcie_interrupt_class;
	in->dev.release = litepcie_interrupt_release;
	in->dev.devt = MKDEV(MAJOR(litepcie_interrupt_devt),
			     MINOR(ld->dev.devt) * LITEPCIE_MAX_INTERRUPTS + number);
	cdev_init(&in->cdev, &litepcie_interrupt_fops);
	in->cdev.owner = THIS_MODULE;
	ld->interrupts[number] = in;
	return dev_set_name(&in->dev, "%s_interrupt%u", dev_name(&ld->dev), number);
}

/**
 * litepcie_interrupts_init() - prepare the interrupts that the card has
 * @ld: the device, identified
 *
 * Return: 0 or negative errno; litepcie_interrupts_free() undoes both.
 */
int litepcie_interrupts_init(struct litepcie_device *ld)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < ld->id.interrupts; i++)
		ret = litepcie_interrupt_init(ld, i);
	return ret;
}

/**
 * litepcie_interrupts_free() - undo litepcie_interrupts_init()
 * @ld: the device, which has no interrupt
 *
 * Files that are open keep the structures.
 */
void litepcie_interrupts_free(struct litepcie_device *ld)
{
	unsigned int i;

	for (i = 0; i < ld->id.interrupts; i++) {
		if (ld->interrupts[i])
			put_device(&ld->interrupts[i]->dev);
		ld->interrupts[i] = NULL;
	}
}

/**
 * litepcie_interrupts_publish() - create the nodes of all interrupts
 * @ld: the device, ready for calls
 *
 * Return: 0 or negative errno, without nodes.
 */
int litepcie_interrupts_publish(struct litepcie_device *ld)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ld->id.interrupts; i++) {
		ret = cdev_device_add(&ld->interrupts[i]->cdev, &ld->interrupts[i]->dev);
		if (ret)
			goto err_del;
	}
	return 0;

err_del:
	while (i--)
		cdev_device_del(&ld->interrupts[i]->cdev, &ld->interrupts[i]->dev);
	return ret;
}

/**
 * litepcie_interrupts_unpublish() - remove the nodes of all interrupts
 * @ld: the device; calls that have begun may still use the card
 */
void litepcie_interrupts_unpublish(struct litepcie_device *ld)
{
	unsigned int i;

	for (i = 0; i < ld->id.interrupts; i++)
		cdev_device_del(&ld->interrupts[i]->cdev, &ld->interrupts[i]->dev);
}

/**
 * litepcie_interrupts_class_init() - register device numbers and class
 *
 * Return: 0 or negative errno.
 */
int litepcie_interrupts_class_init(void)
{
	int ret;

	ret = alloc_chrdev_region(&litepcie_interrupt_devt, 0,
				  LITEPCIE_INTERRUPT_MINORS, "litepcie_interrupt");
	if (ret)
		return ret;
	ret = class_register(&litepcie_interrupt_class);
	if (ret)
		unregister_chrdev_region(litepcie_interrupt_devt,
					 LITEPCIE_INTERRUPT_MINORS);
	return ret;
}

/**
 * litepcie_interrupts_class_exit() - undo litepcie_interrupts_class_init()
 */
void litepcie_interrupts_class_exit(void)
{
	class_unregister(&litepcie_interrupt_class);
	unregister_chrdev_region(litepcie_interrupt_devt, LITEPCIE_INTERRUPT_MINORS);
}
