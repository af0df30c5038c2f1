// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attributes of /sys/class/litepcie/litepcieN.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/bitfield.h>
#include <linux/kstrtox.h>
#include <linux/sysfs.h>

#include "driver.h"

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

/* Attributes of /sys/class/litepcie/litepcieN. */
const struct attribute_group *litepcie_groups[] = {
	&litepcie_group,
	NULL,
};
