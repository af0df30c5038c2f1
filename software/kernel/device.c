// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device of class litepcie and its node /dev/litepcieN. The structure lives
 * on while files are open, also after the card is gone.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/slab.h>

#include "dmabuf.h"
#include "driver.h"

static dev_t litepcie_devt;
static DEFINE_IDA(litepcie_minors);

static struct class litepcie_class = {
	.name = LITEPCIE_NAME,
	.dev_groups = litepcie_groups,
};

static void litepcie_device_release(struct device *dev)
{
	struct litepcie_device *ld = container_of(dev, struct litepcie_device, dev);

	ida_free(&litepcie_minors, MINOR(dev->devt));
	cleanup_srcu_struct(&ld->gate);
	kfree(ld);
}

/**
 * litepcie_device_alloc() - allocate the device of a card, without a node
 * @pdev: the card
 *
 * Return: the device, to be released with put_device(), or an ERR_PTR().
 */
struct litepcie_device *litepcie_device_alloc(struct pci_dev *pdev)
{
	struct litepcie_device *ld;
	unsigned int i;
	int minor, ret;

	ld = kzalloc(sizeof(*ld), GFP_KERNEL);
	if (!ld)
		return ERR_PTR(-ENOMEM);
	ret = init_srcu_struct(&ld->gate);
	if (ret)
		goto err_free;
	minor = ida_alloc_max(&litepcie_minors, LITEPCIE_MINORS - 1, GFP_KERNEL);
	if (minor < 0) {
		ret = minor;
		goto err_srcu;
	}
	ld->pdev = pdev;
	ld->moderation_count = LITEPCIE_MODERATION_COUNT;
	ld->moderation_us = LITEPCIE_MODERATION_US;
	mutex_init(&ld->events);
	init_rwsem(&ld->card_lock);
	ld->card_error = -ENODEV;
	INIT_WORK(&ld->cut_off, litepcie_cut_off_work);
	INIT_DELAYED_WORK(&ld->check, litepcie_check_work);
	spin_lock_init(&ld->kept_lock);
	INIT_LIST_HEAD(&ld->kept);
	INIT_LIST_HEAD(&ld->kept_rings);
	init_waitqueue_head(&ld->card_change);
	spin_lock_init(&ld->interrupt_lock);
	mutex_init(&ld->window_lock);
	mutex_init(&ld->latch);
	mutex_init(&ld->files_lock);
	INIT_LIST_HEAD(&ld->files);
	mutex_init(&ld->dmabufs_lock);
	INIT_LIST_HEAD(&ld->dmabufs);
	mutex_init(&ld->hostbufs_lock);
	INIT_LIST_HEAD(&ld->stream_ends);
	INIT_LIST_HEAD(&ld->user_files);
	INIT_LIST_HEAD(&ld->all_engines);
	for (i = 0; i < LITEPCIE_DIRECTIONS; i++) {
		litepcie_pool_init(&ld->pools[i]);
		INIT_DELAYED_WORK(&ld->pools[i].feed, litepcie_feed_work);
	}

	device_initialize(&ld->dev);
	ld->dev.parent = &pdev->dev;
	ld->dev.class = &litepcie_class;
	ld->dev.release = litepcie_device_release;
	ld->dev.devt = MKDEV(MAJOR(litepcie_devt), minor);
	cdev_init(&ld->cdev, &litepcie_fops);
	ld->cdev.owner = THIS_MODULE;
	ret = dev_set_name(&ld->dev, LITEPCIE_NAME "%d", minor);
	if (ret) {
		put_device(&ld->dev);
		return ERR_PTR(ret);
	}
	return ld;

err_srcu:
	cleanup_srcu_struct(&ld->gate);
err_free:
	kfree(ld);
	return ERR_PTR(ret);
}

/**
 * litepcie_device_publish() - create /dev/litepcieN and the sysfs attributes
 * @ld: the device, ready for calls
 *
 * Return: 0 or negative errno.
 */
int litepcie_device_publish(struct litepcie_device *ld)
{
	return cdev_device_add(&ld->cdev, &ld->dev);
}

/**
 * litepcie_device_unpublish() - remove /dev/litepcieN and refuse new calls
 * @ld: the device; calls that have begun may still use the card
 */
void litepcie_device_unpublish(struct litepcie_device *ld)
{
	WRITE_ONCE(ld->gone, true);
	cdev_device_del(&ld->cdev, &ld->dev);
}

/**
 * litepcie_device_drain() - wait until no call uses the card
 * @ld: the device, unpublished, its requests ended
 *
 * litepcie_stop() has removed all mappings: accesses to them get SIGBUS. Detaches the dma-bufs
 * that open files have, and frees the buffers of the user logic.
 */
void litepcie_device_drain(struct litepcie_device *ld)
{
	litepcie_window_forget(ld);
	synchronize_srcu(&ld->gate);
	litepcie_dmabufs_disconnect(ld);
	litepcie_hostbufs_free(ld);
}

/**
 * litepcie_chardev_init() - register device numbers and class
 *
 * Return: 0 or negative errno.
 */
int litepcie_chardev_init(void)
{
	int ret;

	ret = alloc_chrdev_region(&litepcie_devt, 0, LITEPCIE_MINORS,
				  LITEPCIE_NAME);
	if (ret)
		return ret;
	ret = class_register(&litepcie_class);
	if (ret)
		unregister_chrdev_region(litepcie_devt, LITEPCIE_MINORS);
	return ret;
}

/**
 * litepcie_chardev_exit() - undo litepcie_chardev_init()
 */
void litepcie_chardev_exit(void)
{
	class_unregister(&litepcie_class);
	unregister_chrdev_region(litepcie_devt, LITEPCIE_MINORS);
	ida_destroy(&litepcie_minors);
}
