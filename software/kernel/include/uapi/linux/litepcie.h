/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * User interface of the LitePCIe SoC driver.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 *
 * /dev/litepcieN is the memory of the card. read(), write() and their
 * vector, positioned and asynchronous forms move any number of bytes from
 * any offset by DMA; lseek() seeks in it.
 *
 * Errors of the transfers:
 *   EFAULT    the buffer is not the caller's to read or write
 *   EINVAL    negative offset
 *   ENOSPC    a write at or past the end of the memory (a read there gives 0)
 *   EIO       the host answered a request of the card with an error
 *             (unsupported request, completer abort, poisoned or wrong data)
 *   ETIMEDOUT a completion, or the card itself, did not come in time
 *   ENODEV    the card is gone, or the driver was unbound
 *   EINTR     a signal came before the first byte was moved
 *   EOPNOTSUPP the card has no engine for this direction
 * A transfer that moved some bytes before an error returns their number; the
 * next call meets the error: EIO and ETIMEDOUT are kept for the next call of the
 * same direction on the same open file, which moves nothing.
 *
 * Every ioctl structure begins with its size, as the caller knows it. The
 * kernel fills what both sides know and returns in @size what it knows.
 * flags and reserved fields must be zero (EINVAL), a size below the first
 * version of the structure is EINVAL, bytes the kernel does not know must be
 * zero (E2BIG), an unknown ioctl is ENOTTY.
 */
#ifndef _UAPI_LINUX_LITEPCIE_H
#define _UAPI_LINUX_LITEPCIE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define LITEPCIE_UAPI_VERSION	1

/* Direction of an engine, named from the card as everywhere in this project. */
#define LITEPCIE_READER		0	/* host memory to card: write(2) */
#define LITEPCIE_WRITER		1	/* card to host memory: read(2) */

/* What the card is and how it is linked. */
struct litepcie_info {
	__u32 size;			/* in, out: bytes of this structure */
	__u32 flags;			/* in: 0 */
	__u32 uapi_version;		/* out: LITEPCIE_UAPI_VERSION of the driver */
	__u32 gateware_version;		/* out: major << 16 | minor */
	__u32 capabilities;		/* out: LITEPCIE_CAPABILITY_* of litepcie_regs.h */
	__u32 channels;			/* out: channels of the memory, a reader and a writer each */
	__u64 memory_bytes;		/* out: size of the card's memory */
	__u64 window_bytes;		/* out: how much of it mmap() reaches */
	__u32 clock_hz;			/* out: clock of the data path and the counters */
	__u32 data_width_bits;		/* out: width of the data path */
	__u32 built_gen;		/* out: PCI Express generation it was built for */
	__u32 built_lanes;		/* out: lanes it was built for */
	__u32 link_gen;			/* out: generation the link runs at now */
	__u32 link_lanes;		/* out: lanes the link runs with now */
	__u32 max_payload_bytes;	/* out: MPS in force */
	__u32 max_read_request_bytes;	/* out: MRRS in force */
	__u32 tags;			/* out: read requests a reader can have outstanding */
	__u32 streams;			/* out: stream channels; older drivers leave 0 */
	char target[64];		/* out: name the gateware was built with */
	char bus_address[32];		/* out: PCI address, "0000:01:00.0" */
	__u32 link_status;		/* out: LITEPCIE_LINK_STATUS_*; older drivers leave 0 */
	__u32 reserved0;		/* 0 */
	__u64 reserved[7];		/* 0 */
};

/* Counters of one engine since the last reset of that engine. */
struct litepcie_counters {
	__u32 size;			/* in, out: bytes of this structure */
	__u32 flags;			/* in: 0 */
	__u32 channel;			/* in */
	__u32 direction;		/* in: LITEPCIE_READER or LITEPCIE_WRITER */
	__u64 active_cycles;		/* out: from doorbell to last byte, clock_hz a second */
	__u64 bytes;			/* out: payload moved */
	__u32 descriptors;		/* out: these wrap at 2^32 */
	__u32 tlps;			/* out: requests or writes sent */
	__u32 wait_descriptor;		/* out: cycles without a descriptor */
	__u32 wait_tag;			/* out: cycles without a tag or completion buffer */
	__u32 wait_link;		/* out: cycles without credit or link not ready */
	__u32 wait_data;		/* out: cycles without data or room */
	__u64 reserved[8];		/* 0 */
};

/* Errors the transaction layer of the card has seen since its reset. */
struct litepcie_errors {
	__u32 size;			/* in, out: bytes of this structure */
	__u32 flags;			/* in: 0 */
	__u32 unsupported_request;	/* out: completions with that status */
	__u32 completer_abort;		/* out */
	__u32 poisoned;			/* out */
	__u32 unexpected;		/* out: completions no request waits for */
	__u32 timeout;			/* out: requests whose completion did not come */
	__u32 bad_length;		/* out: completions whose byte count is wrong */
	__u32 refused;			/* out: requests to the card it cannot serve */
	__u32 reserved0;		/* 0 */
	__u64 reserved[4];		/* 0 */
};

/* Writes a value to the scratch register and reads it back. */
struct litepcie_scratch {
	__u32 size;			/* in, out: bytes of this structure */
	__u32 flags;			/* in: 0 */
	__u32 value;			/* in */
	__u32 readback;			/* out */
};

#define LITEPCIE_IOC_MAGIC	0xCE
#define LITEPCIE_IOC_INFO	_IOWR(LITEPCIE_IOC_MAGIC, 0x00, struct litepcie_info)
#define LITEPCIE_IOC_COUNTERS	_IOWR(LITEPCIE_IOC_MAGIC, 0x01, struct litepcie_counters)
#define LITEPCIE_IOC_ERRORS	_IOWR(LITEPCIE_IOC_MAGIC, 0x02, struct litepcie_errors)
#define LITEPCIE_IOC_SCRATCH	_IOWR(LITEPCIE_IOC_MAGIC, 0x03, struct litepcie_scratch)

#endif /* _UAPI_LINUX_LITEPCIE_H */
