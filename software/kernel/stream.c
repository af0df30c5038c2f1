// SPDX-License-Identifier: GPL-2.0-only
/*
 * The devices of class litepcie_stream: /dev/litepcieN_streamS, and their
 * counters in sysfs.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/bitfield.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "driver.h"
#include "stream.h"

#define LITEPCIE_STREAM_MINORS	(LITEPCIE_MINORS * LITEPCIE_MAX_CHANNELS)

static dev_t litepcie_stream_devt;

/**
 * struct litepcie_stream_attribute - a counter in sysfs
 * @attribute: the attribute
 * @direction: LITEPCIE_READER or LITEPCIE_WRITER
 * @offset: of the counter in struct litepcie_stream_counters
 */
struct litepcie_stream_attribute {
	struct device_attribute attribute;
	unsigned int direction;
	size_t offset;
};

static ssize_t litepcie_stream_show_counter(struct device *dev,
					    struct device_attribute *attribute,
					    char *buf)
{
	struct litepcie_stream *stream = container_of(dev, struct litepcie_stream, dev);
	struct litepcie_stream_attribute *counter =
		container_of(attribute, struct litepcie_stream_attribute, attribute);
	struct litepcie_stream_end *end = &stream->ends[counter->direction];
	u64 value;

	litepcie_stream_poll(end);
	spin_lock_irq(&end->lock);
	value = *(u64 *)((char *)&end->counters + counter->offset);
	spin_unlock_irq(&end->lock);
	return sysfs_emit(buf, "%llu\n", value);
}

#define LITEPCIE_STREAM_COUNTER(_prefix, _direction, _name, _counter)	\
	static struct litepcie_stream_attribute litepcie_stream_##_prefix = { \
		.attribute = __ATTR(_name, 0444, litepcie_stream_show_counter, NULL), \
		.direction = (_direction),				\
		.offset = offsetof(struct litepcie_stream_counters, _counter), \
	}

LITEPCIE_STREAM_COUNTER(reader_bytes, LITEPCIE_READER, bytes, bytes);
LITEPCIE_STREAM_COUNTER(reader_packets, LITEPCIE_READER, packets, packets);
LITEPCIE_STREAM_COUNTER(reader_underruns, LITEPCIE_READER, underruns, underruns);
LITEPCIE_STREAM_COUNTER(reader_waits, LITEPCIE_READER, waits, waits);
LITEPCIE_STREAM_COUNTER(reader_lost_bytes, LITEPCIE_READER, lost_bytes, lost_bytes);
LITEPCIE_STREAM_COUNTER(reader_cuts, LITEPCIE_READER, cuts, cuts);
LITEPCIE_STREAM_COUNTER(writer_bytes, LITEPCIE_WRITER, bytes, bytes);
LITEPCIE_STREAM_COUNTER(writer_packets, LITEPCIE_WRITER, packets, packets);
LITEPCIE_STREAM_COUNTER(writer_overruns, LITEPCIE_WRITER, overruns, overruns);
LITEPCIE_STREAM_COUNTER(writer_waits, LITEPCIE_WRITER, waits, waits);
LITEPCIE_STREAM_COUNTER(writer_lost_bytes, LITEPCIE_WRITER, lost_bytes, lost_bytes);
LITEPCIE_STREAM_COUNTER(writer_cuts, LITEPCIE_WRITER, cuts, cuts);

static struct attribute *litepcie_stream_reader_attrs[] = {
	&litepcie_stream_reader_bytes.attribute.attr,
	&litepcie_stream_reader_packets.attribute.attr,
	&litepcie_stream_reader_underruns.attribute.attr,
	&litepcie_stream_reader_waits.attribute.attr,
	&litepcie_stream_reader_lost_bytes.attribute.attr,
	&litepcie_stream_reader_cuts.attribute.attr,
	NULL,
};

static struct attribute *litepcie_stream_writer_attrs[] = {
	&litepcie_stream_writer_bytes.attribute.attr,
	&litepcie_stream_writer_packets.attribute.attr,
	&litepcie_stream_writer_overruns.attribute.attr,
	&litepcie_stream_writer_waits.attribute.attr,
	&litepcie_stream_writer_lost_bytes.attribute.attr,
	&litepcie_stream_writer_cuts.attribute.attr,
	NULL,
};

static const struct attribute_group litepcie_stream_reader_group = {
	.name = "reader",
	.attrs = litepcie_stream_reader_attrs,
};

static const struct attribute_group litepcie_stream_writer_group = {
	.name = "writer",
	.attrs = litepcie_stream_writer_attrs,
};

static struct class litepcie_stream_class = {
	.name = "litepcie_stream",
};

/**
 * litepcie_streams_class_init() - register device numbers and class
 *
 * Return: 0 or negative errno.
 */
int litepcie_streams_class_init(void)
{
	int ret;

	ret = alloc_chrdev_region(&litepcie_stream_devt, 0, LITEPCIE_STREAM_MINORS,
				  "litepcie_stream");
	if (ret)
		return ret;
	ret = class_register(&litepcie_stream_class);
	if (ret)
		unregister_chrdev_region(litepcie_stream_devt, LITEPCIE_STREAM_MINORS);
	return ret;
}

/**
 * litepcie_streams_class_exit() - undo litepcie_streams_class_init()
 */
void litepcie_streams_class_exit(void)
{
	class_unregister(&litepcie_stream_class);
	unregister_chrdev_region(litepcie_stream_devt, LITEPCIE_STREAM_MINORS);
}

static void litepcie_stream_device_release(struct device *dev)
{
	struct litepcie_stream *stream = container_of(dev, struct litepcie_stream, dev);

	put_device(&stream->ld->dev);
	kfree(stream);
}

static int litepcie_stream_init_end(struct litepcie_stream *stream,
				    unsigned int direction)
{
	struct litepcie_stream_end *end = &stream->ends[direction];
	struct litepcie_device *ld = stream->ld;
	bool reader = direction == LITEPCIE_READER;
	unsigned int group = stream->groups[0] ? 1 : 0;

	end->stream = stream;
	end->ld = ld;
	end->channel = litepcie_channels(&ld->id) + stream->number;
	end->direction = direction;
	end->dma = reader ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
	snprintf(end->name, sizeof(end->name), "stream%u %s", stream->number,
		 reader ? "reader" : "writer");
	init_waitqueue_head(&end->wait);
	mutex_init(&end->use);
	mutex_init(&end->control);
	spin_lock_init(&end->lock);
	if (!litepcie_has_stream_end(&ld->id, stream->number, direction))
		return 0;
	stream->groups[group] = reader ? &litepcie_stream_reader_group :
					 &litepcie_stream_writer_group;
	end->ring_log2 = min_t(u32, LITEPCIE_RING_LOG2,
			       FIELD_GET(LITEPCIE_GEOMETRY_RING_LOG2_MASK,
					 ld->id.geometry));
	end->regs = ld->regs + (reader ? LITEPCIE_READER_BASE(end->channel) :
					 LITEPCIE_WRITER_BASE(end->channel));
	list_add_tail(&end->node, &ld->stream_ends);
	return litepcie_stream_ring_alloc(end);
}

static int litepcie_stream_init(struct litepcie_device *ld, unsigned int number)
{
	struct litepcie_stream *stream;
	unsigned int i;
	int ret;

	stream = kzalloc(sizeof(*stream), GFP_KERNEL);
	if (!stream)
		return -ENOMEM;
	/* Open files of the stream use it, also after the driver was unbound. */
	get_device(&ld->dev);
	stream->ld = ld;
	stream->number = number;
	mutex_init(&stream->users);
	device_initialize(&stream->dev);
	stream->dev.parent = &ld->dev;
	stream->dev.class = &litepcie_stream_class;
	stream->dev.groups = stream->groups;
	stream->dev.release = litepcie_stream_device_release;
	stream->dev.devt = MKDEV(MAJOR(litepcie_stream_devt),
				 MINOR(ld->dev.devt) * LITEPCIE_MAX_CHANNELS + number);
	cdev_init(&stream->cdev, &litepcie_stream_fops);
	stream->cdev.owner = THIS_MODULE;
	ld->streams[number] = stream;
	ret = dev_set_name(&stream->dev, "%s_stream%u", dev_name(&ld->dev), number);
	for (i = 0; !ret && i < LITEPCIE_DIRECTIONS; i++)
		ret = litepcie_stream_init_end(stream, i);
	return ret;
}

/**
 * litepcie_streams_init() - prepare the streams that the card has
 * @ld: the device, identified, its engines reset
 *
 * Return: 0 or negative errno; litepcie_streams_free() undoes both.
 */
int litepcie_streams_init(struct litepcie_device *ld)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < ld->id.streams; i++)
		ret = litepcie_stream_init(ld, i);
	return ret;
}

/**
 * litepcie_streams_free() - undo litepcie_streams_init()
 * @ld: the device, whose streams are stopped, and which has no interrupt
 *
 * Files that are open keep the structures.
 */
void litepcie_streams_free(struct litepcie_device *ld)
{
	struct litepcie_stream_end *end, *next;
	unsigned int i;

	litepcie_streams_unmap(ld);
	litepcie_streams_kept_free(ld);
	list_for_each_entry_safe(end, next, &ld->stream_ends, node) {
		litepcie_stream_ring_free(end);
		list_del(&end->node);
	}
	for (i = 0; i < ld->id.streams; i++) {
		if (ld->streams[i])
			put_device(&ld->streams[i]->dev);
		ld->streams[i] = NULL;
	}
}

/**
 * litepcie_streams_publish() - create the nodes of all streams
 * @ld: the device, ready for calls
 *
 * Return: 0 or negative errno, without nodes.
 */
int litepcie_streams_publish(struct litepcie_device *ld)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ld->id.streams; i++) {
		ret = cdev_device_add(&ld->streams[i]->cdev, &ld->streams[i]->dev);
		if (ret)
			goto err_del;
	}
	return 0;

err_del:
	while (i--)
		cdev_device_del(&ld->streams[i]->cdev, &ld->streams[i]->dev);
	return ret;
}

/**
 * litepcie_streams_unpublish() - remove the nodes of all streams
 * @ld: the device; calls that have begun may still use the card
 */
void litepcie_streams_unpublish(struct litepcie_device *ld)
{
	unsigned int i;

	for (i = 0; i < ld->id.streams; i++)
		cdev_device_del(&ld->streams[i]->cdev, &ld->streams[i]->dev);
}
