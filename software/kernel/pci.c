// SPDX-License-Identifier: GPL-2.0-only
/*
 * The card as a PCI device: its node /dev/litepcieN with its attributes, probe and
 * remove.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/bitfield.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/property.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "driver.h"
#include "request.h"
#include "stream.h"

/* Attributes of /sys/class/litepcie/litepcieN. */

static ssize_t gateware_version_show(struct device *dev,
				     struct device_attribute *attribute, char *buf)
{
	struct litepcie_device *ld = container_of(dev, struct litepcie_device, dev);

	return sysfs_emit(buf, "%u.%u\n",
			  FIELD_GET(LITEPCIE_VERSION_MAJOR_MASK, ld->id.version),
			  FIELD_GET(LITEPCIE_VERSION_MINOR_MASK, ld->id.version));
}
static DEVICE_ATTR_RO(gateware_version);

static ssize_t target_show(struct device *dev,
			   struct device_attribute *attribute, char *buf)
{
	struct litepcie_device *ld = container_of(dev, struct litepcie_device, dev);

	return sysfs_emit(buf, "%s\n", ld->id.target);
}
static DEVICE_ATTR_RO(target);

static ssize_t memory_losses_show(struct device *dev,
				  struct device_attribute *attribute, char *buf)
{
	struct litepcie_device *ld = container_of(dev, struct litepcie_device, dev);

	return sysfs_emit(buf, "%d\n", atomic_read(&ld->memory_losses));
}
static DEVICE_ATTR_RO(memory_losses);

static ssize_t ltssm_show(struct device *dev,
			  struct device_attribute *attribute, char *buf)
{
	struct litepcie_device *ld = container_of(dev, struct litepcie_device, dev);
	u32 state;

	if (!litepcie_alive(ld))
		return -ENODEV;
	state = readl(ld->regs + LITEPCIE_PHY_STATE);
	/* Also 0 in gateware before 1.8, which does not have this register. */
	if (!(state & LITEPCIE_PHY_STATE_KNOWN))
		return -EOPNOTSUPP;
	return sysfs_emit(buf, "%#04x\n",
			  (u32)FIELD_GET(LITEPCIE_PHY_STATE_LTSSM_MASK, state));
}
static DEVICE_ATTR_RO(ltssm);

static ssize_t moderation_count_show(struct device *dev,
				     struct device_attribute *attribute, char *buf)
{
	struct litepcie_device *ld = container_of(dev, struct litepcie_device, dev);

	return sysfs_emit(buf, "%u\n", READ_ONCE(ld->moderation_count));
}

static ssize_t moderation_us_show(struct device *dev,
				  struct device_attribute *attribute, char *buf)
{
	struct litepcie_device *ld = container_of(dev, struct litepcie_device, dev);

	return sysfs_emit(buf, "%u\n", READ_ONCE(ld->moderation_us));
}

static ssize_t litepcie_store_moderation(struct device *dev, u16 *value,
					 const char *buf, size_t count)
{
	struct litepcie_device *ld = container_of(dev, struct litepcie_device, dev);
	struct litepcie_engine *engine;
	u16 parsed;
	int ret;

	if (!litepcie_has_interrupt(&ld->id))
		return -EOPNOTSUPP;
	ret = kstrtou16(buf, 0, &parsed);
	if (ret)
		return ret;
	WRITE_ONCE(*value, parsed);
	list_for_each_entry(engine, &ld->all_engines, node)
		litepcie_engine_moderate(engine);
	return count;
}

static ssize_t moderation_count_store(struct device *dev,
				      struct device_attribute *attribute,
				      const char *buf, size_t count)
{
	struct litepcie_device *ld = container_of(dev, struct litepcie_device, dev);

	return litepcie_store_moderation(dev, &ld->moderation_count, buf, count);
}
static DEVICE_ATTR_RW(moderation_count);

static ssize_t moderation_us_store(struct device *dev,
				   struct device_attribute *attribute,
				   const char *buf, size_t count)
{
	struct litepcie_device *ld = container_of(dev, struct litepcie_device, dev);

	return litepcie_store_moderation(dev, &ld->moderation_us, buf, count);
}
static DEVICE_ATTR_RW(moderation_us);

static struct attribute *litepcie_attrs[] = {
	&dev_attr_gateware_version.attr,
	&dev_attr_target.attr,
	&dev_attr_memory_losses.attr,
	&dev_attr_ltssm.attr,
	&dev_attr_moderation_count.attr,
	&dev_attr_moderation_us.attr,
	NULL,
};

static const struct attribute_group litepcie_group = {
	.attrs = litepcie_attrs,
};

static const struct attribute_group *litepcie_groups[] = {
	&litepcie_group,
	NULL,
};

/*
 * The device of class litepcie and its node /dev/litepcieN. The structure lives
 * on while files are open, also after the card is gone.
 */

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
static struct litepcie_device *litepcie_device_alloc(struct pci_dev *pdev)
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
static int litepcie_device_publish(struct litepcie_device *ld)
{
	return cdev_device_add(&ld->cdev, &ld->dev);
}

/**
 * litepcie_device_unpublish() - remove /dev/litepcieN and refuse new calls
 * @ld: the device; calls that have begun may still use the card
 */
static void litepcie_device_unpublish(struct litepcie_device *ld)
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
static void litepcie_device_drain(struct litepcie_device *ld)
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
static int litepcie_chardev_init(void)
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
static void litepcie_chardev_exit(void)
{
	class_unregister(&litepcie_class);
	unregister_chrdev_region(litepcie_devt, LITEPCIE_MINORS);
	ida_destroy(&litepcie_minors);
}

/*
 * Probe and remove.
 *
 * The device node appears when everything works. Remove runs in this order: no
 * new calls, engines stopped, running calls drained, memory freed.
 */

/* Maps the registers and reads what the card is. */
static int litepcie_map(struct litepcie_device *ld)
{
	struct pci_dev *pdev = ld->pdev;
	int ret;

	if (!(pci_resource_flags(pdev, 0) & IORESOURCE_MEM) ||
	    pci_resource_len(pdev, 0) < LITEPCIE_REGS_BYTES)
		return dev_err_probe(&pdev->dev, -ENODEV,
				     "no LitePCIe SoC: BAR0 is not memory of at least %#x bytes\n",
				     LITEPCIE_REGS_BYTES);
	ret = pci_enable_device_mem(pdev);
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "cannot enable the PCI device\n");
	ret = pci_request_region(pdev, 0, LITEPCIE_NAME);
	if (ret) {
		dev_err_probe(&pdev->dev, ret, "BAR0 is in use by another driver\n");
		goto err_disable;
	}
	/* Not the window: on x86, programs could then not map it write-combined. */
	ld->regs = pci_iomap(pdev, 0, LITEPCIE_REGS_END);
	if (!ld->regs) {
		ret = -ENOMEM;
		goto err_region;
	}
	ret = litepcie_identify(ld, &ld->id);
	if (ret)
		goto err_iounmap;
	if (ld->id.user_bytes) {
		ld->user_regs = pci_iomap_range(pdev, 0, ld->id.user_offset,
						ld->id.user_bytes);
		ret = -ENOMEM;
		if (!ld->user_regs)
			goto err_iounmap;
	}
	return 0;

err_iounmap:
	pci_iounmap(pdev, ld->regs);
err_region:
	pci_release_region(pdev, 0);
err_disable:
	pci_disable_device(pdev);
	return ret;
}

static void litepcie_unmap(struct litepcie_device *ld)
{
	if (ld->user_regs)
		pci_iounmap(ld->pdev, ld->user_regs);
	pci_iounmap(ld->pdev, ld->regs);
	pci_release_region(ld->pdev, 0);
	pci_disable_device(ld->pdev);
}

static void litepcie_free_engines(struct litepcie_device *ld)
{
	struct litepcie_engine *engine;
	unsigned int i;

	for (i = 0; i < LITEPCIE_DIRECTIONS; i++)
		cancel_delayed_work_sync(&ld->pools[i].feed);
	cancel_delayed_work_sync(&ld->check);
	cancel_work_sync(&ld->cut_off);
	litepcie_kept_free(ld);
	list_for_each_entry(engine, &ld->all_engines, node)
		litepcie_engine_free(engine);
	destroy_workqueue(ld->queue);
	litepcie_streams_free(ld);
	litepcie_interrupts_free(ld);
}

/*
 * Do the processors' caches see what the card reads and writes? The kernel's DMA
 * functions take the answer from the same description of the host bridge. An
 * architecture that aligns nothing for DMA has no caches to look after.
 */
static bool litepcie_coherent(struct pci_dev *pdev)
{
	struct device *bridge = &pci_find_host_bridge(pdev->bus)->dev;

	if (dma_get_cache_alignment() == 1)
		return true;
	/* A device tree describes the parent. */
	if (bridge->parent && dev_of_node(bridge->parent))
		bridge = bridge->parent;
	return device_get_dma_attr(bridge) == DEV_DMA_COHERENT;
}

static int litepcie_init_engines(struct litepcie_device *ld)
{
	struct device *dma = &ld->pdev->dev;
	unsigned int channels = litepcie_channels(&ld->id);
	unsigned int i;
	int ret;

	ret = litepcie_reset_engines(ld);
	if (ret)
		return ret;
	ret = dma_set_mask_and_coherent(dma, DMA_BIT_MASK(64));
	if (ret)
		return dev_err_probe(dma, ret, "the platform cannot do DMA for this card\n");
	ld->coherent = litepcie_coherent(ld->pdev);
	dma_set_max_seg_size(dma, min_t(size_t, SZ_8M, dma_max_mapping_size(dma)));

	ld->queue = alloc_workqueue("%s", WQ_UNBOUND, 0, dev_name(&ld->dev));
	if (!ld->queue)
		return -ENOMEM;
	for (i = 0; i < channels * LITEPCIE_DIRECTIONS; i++) {
		ret = litepcie_engine_init(ld, i / LITEPCIE_DIRECTIONS,
					   i % LITEPCIE_DIRECTIONS,
					   litepcie_watchdog);
		if (ret) {
			litepcie_free_engines(ld);
			return ret;
		}
	}
	ret = litepcie_streams_init(ld);
	if (!ret)
		ret = litepcie_interrupts_init(ld);
	if (ret)
		litepcie_free_engines(ld);
	return ret;
}

static int litepcie_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct litepcie_device *ld;
	int ret;

	ld = litepcie_device_alloc(pdev);
	if (IS_ERR(ld))
		return PTR_ERR(ld);
	ret = litepcie_map(ld);
	if (ret)
		goto err_put;
	ret = litepcie_init_engines(ld);
	if (ret)
		goto err_unmap;
	pci_set_drvdata(pdev, ld);
	ret = litepcie_irq_init(ld);
	if (ret)
		goto err_engines;
	/* Without bus mastering: slot_reset restores this state. */
	pci_save_state(pdev);
	pci_set_master(pdev);
	mutex_lock(&ld->events);
	litepcie_start(ld);
	mutex_unlock(&ld->events);
	ret = litepcie_device_publish(ld);
	if (ret)
		goto err_stop;
	ret = litepcie_streams_publish(ld);
	if (ret)
		goto err_unpublish;
	ret = litepcie_user_publish(ld);
	if (ret)
		goto err_streams;
	ret = litepcie_interrupts_publish(ld);
	if (ret)
		goto err_user;
	litepcie_debugfs_add(ld);
	dev_info(&ld->dev, "%s, gateware %u.%u, %llu bytes of memory\n",
		 ld->id.target,
		 FIELD_GET(LITEPCIE_VERSION_MAJOR_MASK, ld->id.version),
		 FIELD_GET(LITEPCIE_VERSION_MINOR_MASK, ld->id.version),
		 ld->id.memory_bytes);
	litepcie_check_link(ld);
	return 0;

err_user:
	litepcie_user_unpublish(ld);
err_streams:
	litepcie_streams_unpublish(ld);
err_unpublish:
	litepcie_device_unpublish(ld);
err_stop:
	litepcie_stop(ld, -ENODEV);
	litepcie_device_drain(ld);
	pci_clear_master(pdev);
	litepcie_irq_free(ld);
err_engines:
	litepcie_free_engines(ld);
err_unmap:
	litepcie_unmap(ld);
err_put:
	put_device(&ld->dev);
	return ret;
}

static void litepcie_remove(struct pci_dev *pdev)
{
	struct litepcie_device *ld = pci_get_drvdata(pdev);

	litepcie_debugfs_remove(ld);
	litepcie_interrupts_unpublish(ld);
	litepcie_streams_unpublish(ld);
	litepcie_user_unpublish(ld);
	litepcie_device_unpublish(ld);
	litepcie_stop(ld, -ENODEV);
	litepcie_device_drain(ld);
	pci_clear_master(pdev);
	litepcie_irq_free(ld);
	litepcie_free_engines(ld);
	litepcie_unmap(ld);
	put_device(&ld->dev);
}

static void litepcie_shutdown(struct pci_dev *pdev)
{
	struct litepcie_device *ld = pci_get_drvdata(pdev);

	litepcie_stop(ld, -ENODEV);
	pci_clear_master(pdev);
	/* The kernel that a kexec starts finds MSI off. */
	litepcie_irq_free(ld);
}

/* All four numbers must match: vendors use the first two for other designs. */
static const struct pci_device_id litepcie_ids[] = {
	{ PCI_DEVICE_SUB(0x1234, 0x1ce0, 0x1234, 0x1ce0) },	/* simulation */
	{ PCI_DEVICE_SUB(0x10ee, 0x1ce1, 0x1234, 0x1ce0) },	/* Artix-7 */
	{ PCI_DEVICE_SUB(0x10ee, 0x1ce2, 0x1234, 0x1ce0) },	/* Kintex-7 */
	{ PCI_DEVICE_SUB(0x10ee, 0x1ce3, 0x1234, 0x1ce0) },	/* UltraScale */
	{ PCI_DEVICE_SUB(0x10ee, 0x1ce4, 0x1234, 0x1ce0) },	/* UltraScale+ */
	{ PCI_DEVICE_SUB(0x1204, 0x1ce5, 0x1234, 0x1ce0) },	/* ECP5 */
	{ }
};
MODULE_DEVICE_TABLE(pci, litepcie_ids);

static struct pci_driver litepcie_driver = {
	.name = LITEPCIE_NAME,
	.id_table = litepcie_ids,
	.probe = litepcie_probe,
	.remove = litepcie_remove,
	.shutdown = litepcie_shutdown,
	.err_handler = &litepcie_error_handlers,
	.driver.pm = pm_sleep_ptr(&litepcie_pm_ops),
};

static int __init litepcie_init(void)
{
	int ret;

	ret = litepcie_async_init();
	if (ret)
		return ret;
	ret = litepcie_chardev_init();
	if (ret)
		goto err_async;
	ret = litepcie_streams_class_init();
	if (ret)
		goto err_device;
	ret = litepcie_user_class_init();
	if (ret)
		goto err_streams;
	ret = litepcie_interrupts_class_init();
	if (ret)
		goto err_user;
	litepcie_debugfs_init();
	ret = pci_register_driver(&litepcie_driver);
	if (ret)
		goto err_chardev;
	return 0;

err_chardev:
	litepcie_debugfs_exit();
	litepcie_interrupts_class_exit();
err_user:
	litepcie_user_class_exit();
err_streams:
	litepcie_streams_class_exit();
err_device:
	litepcie_chardev_exit();
err_async:
	litepcie_async_exit();
	return ret;
}
module_init(litepcie_init);

static void __exit litepcie_exit(void)
{
	pci_unregister_driver(&litepcie_driver);
	litepcie_debugfs_exit();
	litepcie_interrupts_class_exit();
	litepcie_user_class_exit();
	litepcie_streams_class_exit();
	litepcie_chardev_exit();
	litepcie_async_exit();
}
module_exit(litepcie_exit);

MODULE_AUTHOR("LitePCIe SoC developers");
MODULE_DESCRIPTION("LitePCIe SoC DMA card");
MODULE_LICENSE("GPL");
