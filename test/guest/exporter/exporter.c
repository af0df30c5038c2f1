// SPDX-License-Identifier: GPL-2.0-only
/*
 * An exporter of dma-bufs, for kernels without udmabuf and for what udmabuf never
 * does: refuse a device, fail to map, have a fence. Counts what importers hold, in
 * /sys/module/exporter/parameters.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/delay.h>
#include <linux/dma-buf.h>
#include <linux/dma-fence.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>

#include "exporter.h"

static int attached, mapped, buffers;
module_param(attached, int, 0444);
module_param(mapped, int, 0444);
module_param(buffers, int, 0444);
static DEFINE_MUTEX(counts);

struct buffer {
	unsigned int flags, nr_pages;
	struct page *pages[];
};

static DEFINE_SPINLOCK(fence_lock);
static struct dma_fence *last_fence;

static const char *fence_name(struct dma_fence *fence)
{
	return "exporter";
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = fence_name,
	.get_timeline_name = fence_name,
};

static void count(int *what, int change)
{
	mutex_lock(&counts);
	*what += change;
	mutex_unlock(&counts);
}

static int buffer_attach(struct dma_buf *dmabuf, struct dma_buf_attachment *attach)
{
	struct buffer *buffer = dmabuf->priv;

	if (buffer->flags & EXPORTER_NO_ATTACH)
		return -EPERM;
	count(&attached, 1);
	return 0;
}

static void buffer_detach(struct dma_buf *dmabuf, struct dma_buf_attachment *attach)
{
	count(&attached, -1);
}

static struct sg_table *buffer_map(struct dma_buf_attachment *attach,
				   enum dma_data_direction direction)
{
	struct buffer *buffer = attach->dmabuf->priv;
	unsigned int pages = buffer->flags & EXPORTER_SHORT ? 1 : buffer->nr_pages, i;
	struct scatterlist *sg;
	struct sg_table *sgt;
	int ret = -ENOMEM;

	if (buffer->flags & EXPORTER_NO_MAP)
		return ERR_PTR(-EIO);
	if (buffer->flags & EXPORTER_SLOW)
		msleep(500);
	sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);
	if (!sgt)
		return ERR_PTR(ret);
	ret = sg_alloc_table(sgt, pages, GFP_KERNEL);
	if (ret)
		goto err_free;
	for_each_sgtable_sg(sgt, sg, i)
		sg_set_page(sg, buffer->pages[i], PAGE_SIZE, 0);
	ret = dma_map_sgtable(attach->dev, sgt, direction, 0);
	if (ret)
		goto err_table;
	count(&mapped, 1);
	return sgt;

err_table:
	sg_free_table(sgt);
err_free:
	kfree(sgt);
	return ERR_PTR(ret);
}

static void buffer_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
			 enum dma_data_direction direction)
{
	dma_unmap_sgtable(attach->dev, sgt, direction, 0);
	sg_free_table(sgt);
	kfree(sgt);
	count(&mapped, -1);
}

static int buffer_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	struct buffer *buffer = dmabuf->priv;
	unsigned long i;
	int ret = 0;

	for (i = 0; i < vma_pages(vma) && !ret; i++)
		ret = vm_insert_page(vma, vma->vm_start + i * PAGE_SIZE,
				     buffer->pages[vma->vm_pgoff + i]);
	return ret;
}

static void buffer_free(struct buffer *buffer)
{
	unsigned int i;

	for (i = 0; i < buffer->nr_pages && buffer->pages[i]; i++)
		__free_page(buffer->pages[i]);
	kvfree(buffer);
}

static void buffer_release(struct dma_buf *dmabuf)
{
	buffer_free(dmabuf->priv);
	count(&buffers, -1);
}

static const struct dma_buf_ops buffer_ops = {
	.attach = buffer_attach,
	.detach = buffer_detach,
	.map_dma_buf = buffer_map,
	.unmap_dma_buf = buffer_unmap,
	.mmap = buffer_mmap,
	.release = buffer_release,
};

/* With EXPORTER_SCATTERED, pages that lie next to each other are never in order. */
static struct buffer *buffer_new(unsigned int nr_pages, unsigned int flags)
{
	struct buffer *buffer = kvzalloc(struct_size(buffer, pages, nr_pages), GFP_KERNEL);
	unsigned int i;

	if (!buffer)
		return NULL;
	buffer->flags = flags;
	buffer->nr_pages = nr_pages;
	for (i = 0; i < nr_pages; i++) {
		buffer->pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!buffer->pages[i])
			goto err_free;
	}
	for (i = 0; flags & EXPORTER_SCATTERED && i + 1 < nr_pages; i++)
		if (page_to_pfn(buffer->pages[i]) + 1 == page_to_pfn(buffer->pages[i + 1]))
			swap(buffer->pages[i], buffer->pages[i + 1]);
	return buffer;

err_free:
	buffer_free(buffer);
	return NULL;
}

static int add_fence(struct dma_buf *dmabuf)
{
	struct dma_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL);
	int ret;

	if (!fence)
		return -ENOMEM;
	dma_fence_init(fence, &fence_ops, &fence_lock, dma_fence_context_alloc(1), 1);
	dma_resv_lock(dmabuf->resv, NULL);
	ret = dma_resv_reserve_fences(dmabuf->resv, 1);
	if (!ret)
		dma_resv_add_fence(dmabuf->resv, fence, DMA_RESV_USAGE_WRITE);
	dma_resv_unlock(dmabuf->resv);
	if (ret)
		dma_fence_put(fence);
	else
		last_fence = fence;
	return ret;
}

static int export(struct exporter_new *new)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *dmabuf;

	if (!new->pages || new->pages > 65536)
		return -EINVAL;
	info.ops = &buffer_ops;
	info.size = (size_t)new->pages << PAGE_SHIFT;
	info.flags = O_RDWR | O_CLOEXEC;
	info.priv = buffer_new(new->pages, new->flags);
	if (!info.priv)
		return -ENOMEM;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf)) {
		buffer_free(info.priv);
		return PTR_ERR(dmabuf);
	}
	count(&buffers, 1);
	if (new->flags & EXPORTER_FENCE && add_fence(dmabuf)) {
		dma_buf_put(dmabuf);
		return -ENOMEM;
	}
	new->fd = dma_buf_fd(dmabuf, O_CLOEXEC);
	return min(new->fd, 0);
}

static long control(struct file *file, unsigned int command, unsigned long argument)
{
	struct exporter_new new;
	int ret;

	if (command == EXPORTER_SIGNAL) {
		if (!last_fence)
			return -EINVAL;
		dma_fence_signal(last_fence);
		dma_fence_put(last_fence);
		last_fence = NULL;
		return 0;
	}
	if (command != EXPORTER_NEW)
		return -ENOTTY;
	if (copy_from_user(&new, (void __user *)argument, sizeof(new)))
		return -EFAULT;
	ret = export(&new);
	if (ret)
		return ret;
	return copy_to_user((void __user *)argument, &new, sizeof(new)) ? -EFAULT : 0;
}

static const struct file_operations control_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = control,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice control_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "exporter",
	.fops = &control_fops,
};
module_misc_device(control_device);

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
MODULE_IMPORT_NS(DMA_BUF);
#else
MODULE_IMPORT_NS("DMA_BUF");
#endif
MODULE_DESCRIPTION("Exporter of dma-bufs for tests");
MODULE_LICENSE("GPL");
