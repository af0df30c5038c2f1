// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/litepcieN_user: the range of the SoC's bus that the designer of the card
 * gives to programs, in 32-bit accesses by offset or by mmap().
 *
 * The range is in BAR0 and clear of the registers that only the driver may
 * write. The card answers for addresses without a register: it counts accesses
 * that fail, and the driver compares the count before and after.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/fs.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/uaccess.h>

#include "driver.h"

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
