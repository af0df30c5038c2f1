/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Buffers in host memory for the user logic of a LitePCIe SoC card.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 *
 * The logic reads and writes such a buffer by itself; programs map it with
 * mmap() of /dev/litepcieN. A buffer belongs to the open file and is freed by
 * LITEPCIE_IOC_HOSTBUF_DESTROY or the last close of the file, after the last
 * access of the card has ended.
 *
 * After a reset or a suspend of the same card, the card has its buffers again, at
 * the same addresses; accesses of the logic meanwhile fail. A card with another
 * bitstream, or cut off by a bus error, has none; create new ones after binding
 * the driver again. An access to a mapping causes SIGBUS after the buffer was
 * destroyed and after the driver was unbound.
 *
 * Errors of mmap() besides those of <linux/litepcie.h>:
 *   EINVAL    not MAP_SHARED, no buffer of the open file, or beyond its end
 */
#ifndef _UAPI_LINUX_LITEPCIE_HOSTBUF_H
#define _UAPI_LINUX_LITEPCIE_HOSTBUF_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include <linux/litepcie.h>

/* litepcie_hostbuf_create.flags */
#define LITEPCIE_HOSTBUF_READ	0x00000001	/* the card may read it */
#define LITEPCIE_HOSTBUF_WRITE	0x00000002	/* the card may write it */

/*
 * LITEPCIE_IOC_HOSTBUF_CREATE: allocates memory, filled with zeros, and gives it
 * to the card's user logic. The file must be open for writing. Errors besides
 * those of <linux/litepcie.h>:
 *   EINVAL    flags has neither READ nor WRITE; bytes is 0 or more than the card
 *             supports
 *   ENOSPC    the card has as many buffers as it supports
 *   ENOMEM    no memory
 *   EOPNOTSUPP the card has no port for its user logic, or the memory of this
 *             machine is not coherent with its PCI devices
 */
struct litepcie_hostbuf_create {
	__u32 size;			/* in, out: bytes of this structure */
	__u32 flags;			/* in: LITEPCIE_HOSTBUF_READ, _WRITE */
	__u64 bytes;			/* in: size; out: the same in whole pages */
	__u64 map_offset;		/* out: for mmap() */
	__u32 card_address;		/* out: first byte, as the user logic sees it */
	__u32 handle;			/* out: of the buffer, not 0 */
	__u64 reserved[2];		/* 0 */
};

/*
 * LITEPCIE_IOC_HOSTBUF_DESTROY: takes a buffer from the card and frees it. Errors
 * besides those of <linux/litepcie.h>:
 *   ENOENT    the open file has no buffer with this handle
 *   EIO       the card does not end an access: the memory stays until it does, or
 *             until the driver is unbound
 */
struct litepcie_hostbuf_destroy {
	__u32 size;			/* in, out: bytes of this structure */
	__u32 flags;			/* in: 0 */
	__u32 handle;			/* in: of LITEPCIE_IOC_HOSTBUF_CREATE */
	__u32 reserved0;		/* 0 */
};

#define LITEPCIE_IOC_HOSTBUF_CREATE \
	_IOWR(LITEPCIE_IOC_MAGIC, 0x09, struct litepcie_hostbuf_create)
#define LITEPCIE_IOC_HOSTBUF_DESTROY \
	_IOWR(LITEPCIE_IOC_MAGIC, 0x0a, struct litepcie_hostbuf_destroy)

#endif /* _UAPI_LINUX_LITEPCIE_HOSTBUF_H */
