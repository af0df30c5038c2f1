// SPDX-License-Identifier: GPL-2.0-only
/*
 * The devices of class litepcie_interrupt: /dev/litepcieN_interruptM, and their
 * names and counts in sysfs.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "interrupt.h"

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
