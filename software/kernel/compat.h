/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that Linux 6.1 does not have. Delete this file and its #include
 * lines when the driver moves into a kernel tree.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#ifndef _LITEPCIE_COMPAT_H
#define _LITEPCIE_COMPAT_H

#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/uio.h>
#include <linux/version.h>

/* Since 6.4: address of the next byte of an iterator over user memory. */
#ifndef iter_iov_addr
#define iter_iov_addr(iter)						\
	((iter_is_ubuf(iter) ? (iter)->ubuf : (iter)->iov->iov_base) +	\
	 (iter)->iov_offset)
#endif

/* Since 6.1.80 and 6.8: a call of aio. Without it, calls are not cancelled. */
#ifndef IOCB_AIO_RW
#define IOCB_AIO_RW 0
#endif

/*
 * Newest kernels: a program may read into the same memory several times at once,
 * and CONFIG_DMA_API_DEBUG must not warn of it. Before, it warns once.
 */
#ifndef DMA_ATTR_DEBUGGING_IGNORE_CACHELINES
#define DMA_ATTR_DEBUGGING_IGNORE_CACHELINES 0
#endif

/* Since 6.13: the argument is a string. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#undef MODULE_IMPORT_NS
#define MODULE_IMPORT_NS(ns) MODULE_INFO(import_ns, ns)
#endif

/* Since 6.3: sets and clears flags of a mapping. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags &= ~flags;
}
#endif

#endif /* _LITEPCIE_COMPAT_H */
