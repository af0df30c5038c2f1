/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * User interface of the LitePCIe SoC driver.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 *
 * /dev/litepcieN is the memory of the card. read(), write() and their vector,
 * positioned and asynchronous forms move any number of bytes at any offset by
 * DMA. lseek() sets the offset. mmap() with MAP_SHARED maps the window, the
 * first window_bytes of the memory, for direct access by the CPU.
 *
 * Errors of read() and write():
 *   EFAULT    the buffer is not accessible by the caller
 *   EINVAL    negative offset
 *   ENOSPC    write at or past the end of the memory (a read there returns 0)
 *   EIO       the host answered a request of the card with an error
 *             (unsupported request, completer abort, poisoned or wrong data);
 *             or the card is disabled or cut off, see below
 *   ETIMEDOUT a completion timed out, or the card made no progress
 *   ENODEV    the card is gone, or the driver was unbound
 *   EINTR     a signal arrived before the first byte was moved
 *   EAGAIN    O_NONBLOCK or RWF_NOWAIT, and the file or the card has no room for
 *             another call: module parameters file_bytes and engine_bytes.
 *             RWF_NOWAIT, and the call is not asynchronous
 *   ECANCELED an asynchronous call was cancelled before the first byte was moved
 *   ENOMEM    no memory, or the kernel cannot map the buffer for the card
 *   EOPNOTSUPP the card has no engine for this direction; a card with streams only
 *             has none for both
 * A call that moved some bytes before an error returns their number. If the
 * error was EIO or ETIMEDOUT, the next call of the same direction on the same
 * open file returns it and moves nothing if this call begins at the first byte
 * that was not moved. Any other call is not affected, and the error is dropped;
 * a call that continues later moves the bytes or meets the error again.
 *
 * All calls on all device files of a card fail with EIO after an engine did not end
 * its reset (the card is disabled), or after a bus error (it is cut off), until the
 * card is reset. They fail with ENODEV while registers read as all ones. Calls that
 * wait end then, and poll() says EPOLLERR and EPOLLHUP.
 *
 * Errors of mmap():
 *   EINVAL    not MAP_SHARED, or not inside the window
 *   ENODEV    the card has no window or is gone, or the driver was unbound
 *   EBUSY     the window is mapped the other way: uncached or write-combined
 * The mapping is uncached. With LITEPCIE_MMAP_COMBINED added to the offset it is
 * write-combined: the processor may join stores, and may send them in another
 * order, until a store fence (sfence on x86).
 * An access to a mapping waits during a reset or suspend of the card. It causes
 * SIGBUS while the card is cut off by a bus error, after a reset that brought
 * another bitstream, and after the driver was unbound.
 *
 * /dev/litepcieN_interruptM is an interrupt of the card's user logic. write() of
 * a __u32 1 arms it for its next event, 0 disarms it. read() of a __u32 waits for
 * the event and returns the number of events since the driver was bound; poll()
 * says whether read() would wait. An event disarms the interrupt. Events while it
 * is not armed: a level that is still high and a pulse after the last event
 * come when it is armed again. Each open file gets each event; several between two
 * read() are one. The first open() drops earlier pulses, the last close() disarms.
 * Errors of read() and write():
 *   EINVAL    not 4 bytes, or another value than 0 and 1
 *   EFAULT    the buffer is not accessible by the caller
 *   ENODATA   read: the card was reset, suspended or cut off, once. Events may be
 *             lost, and the interrupt is not armed
 *   EAGAIN    O_NONBLOCK: no event; write: the card is being reset or suspended
 *   EINTR     a signal arrived
 *   ENODEV    the card is gone, or the driver was unbound; poll() says EPOLLHUP
 *
 * Every ioctl structure begins with its size, as known to the caller. The
 * kernel fills the members that both sides know and sets size to the size it
 * knows. Errors of ioctl():
 *   EINVAL    flags or a reserved member is not zero, size is smaller than the
 *             first version of the structure, or the card has no engine of the
 *             channel and direction given
 *   E2BIG     a byte that the kernel does not know is not zero, or size is
 *             larger than a page
 *   ENOTTY    unknown ioctl
 *   EFAULT    the structure is not accessible by the caller
 *   EBADF     the ioctl changes the card, and the file is not open for writing
 *   ENODEV    the card is gone, or the driver was unbound
 */
#ifndef _UAPI_LINUX_LITEPCIE_H
#define _UAPI_LINUX_LITEPCIE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define LITEPCIE_UAPI_VERSION	1

/* Added to the offset of mmap(): map the window write-combined. */
#define LITEPCIE_MMAP_COMBINED	0x0000010000000000ULL

/* Direction of data. The card's reader moves it to the card, its writer from it. */
#define LITEPCIE_TO_CARD	0	/* write(2) */
#define LITEPCIE_FROM_CARD	1	/* read(2) */

/* litepcie_info.capabilities */
#define LITEPCIE_CAPABILITY_TO_CARD		0x00000001	/* engines for write(2) */
#define LITEPCIE_CAPABILITY_FROM_CARD		0x00000002	/* engines for read(2) */
#define LITEPCIE_CAPABILITY_MSI			0x00000004	/* interrupts */
#define LITEPCIE_CAPABILITY_LINK		0x00000008	/* descriptors that jump */
#define LITEPCIE_CAPABILITY_WINDOW		0x00000010	/* a window for mmap() */
#define LITEPCIE_CAPABILITY_STREAM		0x00000020	/* stream channels */
#define LITEPCIE_CAPABILITY_DIRECT		0x00000040	/* descriptors in registers */
#define LITEPCIE_CAPABILITY_MSIX		0x00000080	/* a vector for each engine */
#define LITEPCIE_CAPABILITY_USER		0x00000100	/* /dev/litepcieN_user */
#define LITEPCIE_CAPABILITY_INTERRUPT		0x00000200	/* /dev/litepcieN_interruptM */
#define LITEPCIE_CAPABILITY_HOST		0x00000400	/* buffers for the user logic */

/* litepcie_info.link_status */
#define LITEPCIE_LINK_STATUS_UP			0x00000001	/* the link is up */
#define LITEPCIE_LINK_STATUS_BUS_MASTER		0x00000002	/* the card may do DMA */
#define LITEPCIE_LINK_STATUS_EXTENDED_TAG	0x00000004	/* more than 32 tags */
#define LITEPCIE_LINK_STATUS_MSI		0x00000008	/* MSI or MSI-X is on */

/* LITEPCIE_IOC_INFO: what the card is, and its link. */
struct litepcie_info {
	__u32 size;			/* in, out: bytes of this structure */
	__u32 flags;			/* in: 0 */
	__u32 uapi_version;		/* out: LITEPCIE_UAPI_VERSION of the driver */
	__u32 gateware_version;		/* out: major << 16 | minor */
	__u32 capabilities;		/* out: LITEPCIE_CAPABILITY_* */
	__u32 channels;			/* out: memory channels, of each direction; may be 0 */
	__u64 memory_bytes;		/* out: size of the card's memory */
	__u64 window_bytes;		/* out: bytes that mmap() can map; 0: no window */
	__u32 clock_hz;			/* out: clock of data path and counters */
	__u32 data_width_bits;		/* out: width of the data path */
	__u32 built_gen;		/* out: PCI Express generation it was built for */
	__u32 built_lanes;		/* out: lanes it was built for */
	__u32 link_gen;			/* out: current generation of the link */
	__u32 link_lanes;		/* out: current number of lanes */
	__u32 max_payload_bytes;	/* out: current MPS */
	__u32 max_read_request_bytes;	/* out: current MRRS */
	__u32 tags;			/* out: most outstanding read requests of an engine */
	__u32 streams;			/* out: stream channels; 0 from older drivers */
	char target[64];		/* out: name the gateware was built with */
	char bus_address[32];		/* out: PCI address, "0000:01:00.0" */
	__u32 link_status;		/* out: LITEPCIE_LINK_STATUS_*; 0 from older drivers */
	__u32 stream_lacks;		/* out: LITEPCIE_STREAM_LACKS_* */
	__u64 reserved[7];		/* 0 */
};

/* stream_lacks: streams without a direction, bit n for stream n; 0 from older drivers */
#define LITEPCIE_STREAM_LACKS_TO_CARD	0x0000ffff	/* no write(2) */
#define LITEPCIE_STREAM_LACKS_FROM_CARD	0xffff0000	/* no read(2) */

/*
 * LITEPCIE_IOC_COUNTERS: counters of one engine since its last reset. The 32-bit
 * counters wrap.
 */
struct litepcie_counters {
	__u32 size;			/* in, out: bytes of this structure */
	__u32 flags;			/* in: 0 */
	__u32 channel;			/* in */
	__u32 direction;		/* in: LITEPCIE_TO_CARD or LITEPCIE_FROM_CARD */
	__u64 active_cycles;		/* out: cycles of clock_hz with work to do */
	__u64 bytes;			/* out: payload bytes moved */
	__u32 descriptors;		/* out: descriptors completed */
	__u32 tlps;			/* out: read requests or writes sent */
	__u32 wait_descriptor;		/* out: active cycles spent waiting for a descriptor */
	__u32 wait_tag;			/* out: ... for a tag or completion buffer space */
	__u32 wait_link;		/* out: ... for credits or the link */
	__u32 wait_data;		/* out: ... for data or for the card's memory */
	__u64 reserved[8];		/* 0 */
};

/*
 * LITEPCIE_IOC_ERRORS: errors that the card's transaction layer has counted since
 * its reset. Each counter stops at 65535.
 */
struct litepcie_errors {
	__u32 size;			/* in, out: bytes of this structure */
	__u32 flags;			/* in: 0 */
	__u32 unsupported_request;	/* out: completions with Unsupported Request */
	__u32 completer_abort;		/* out: completions with Completer Abort */
	__u32 poisoned;			/* out: completions with poisoned data */
	__u32 unexpected;		/* out: completions without an outstanding request */
	__u32 timeout;			/* out: requests that timed out */
	__u32 bad_length;		/* out: completions with a wrong byte count or address */
	__u32 refused;			/* out: requests of the host that the card rejected */
	__u32 reserved0;		/* 0 */
	__u64 reserved[4];		/* 0 */
};

/*
 * LITEPCIE_IOC_SCRATCH: writes a value to the scratch register and reads it back.
 * The file must be open for writing.
 */
struct litepcie_scratch {
	__u32 size;			/* in, out: bytes of this structure */
	__u32 flags;			/* in: 0 */
	__u32 value;			/* in: value to write */
	__u32 readback;			/* out: value read back */
};

/*
 * LITEPCIE_IOC_CANCEL: cancels the asynchronous calls that this process has made
 * through the open file, as far as the card does not have them yet. A call returns
 * the bytes that were moved before, or ECANCELED. close() cancels nothing.
 */
struct litepcie_cancel {
	__u32 size;			/* in, out: bytes of this structure */
	__u32 flags;			/* in: 0 */
	__u64 reserved[2];		/* in: 0 */
};

/*
 * LITEPCIE_IOC_RESET: resets an engine that the driver runs. The transfers that
 * it had start again; their callers see no error. Needs CAP_SYS_ADMIN and a file
 * open for writing. Errors besides those above:
 *   EPERM     the caller does not have CAP_SYS_ADMIN
 *   EIO       the reset did not end, now or before: reset the card
 */
struct litepcie_reset {
	__u32 size;			/* in, out: bytes of this structure */
	__u32 flags;			/* in: 0 */
	__u32 channel;			/* in: memory channel */
	__u32 direction;		/* in: LITEPCIE_TO_CARD or LITEPCIE_FROM_CARD */
	__u64 reserved[2];		/* 0 */
};

/*
 * LITEPCIE_IOC_DMABUF_ATTACH: attaches a buffer of another device, a dma-buf, to
 * the open file and maps it for the card, once. The buffer stays attached, and its
 * memory in place, until LITEPCIE_IOC_DMABUF_DETACH or the close of the file. The
 * exporter looks after caches: a program that accesses the buffer with the
 * processor uses DMA_BUF_IOCTL_SYNC. A buffer in the memory of a PCI device is
 * refused unless its exporter can move it to memory of the system. Errors besides
 * those above:
 *   EBADF     fd is not open
 *   EINVAL    fd is no dma-buf
 *   EMFILE    64 buffers are attached to the open file
 *   ENOMEM    no memory, or the kernel cannot map the buffer for the card
 *   others    of the exporter, which refuses the card
 */
struct litepcie_dmabuf_attach {
	__u32 size;			/* in, out: bytes of this structure */
	__u32 flags;			/* in: 0 */
	__s32 fd;			/* in: of the dma-buf; may be closed afterwards */
	__u32 handle;			/* out: of the attached buffer, not 0 */
	__u64 bytes;			/* out: size of the buffer */
	__u64 reserved[2];		/* 0 */
};

/*
 * LITEPCIE_IOC_DMABUF_DETACH: detaches a buffer. Moves that have begun keep it
 * until LITEPCIE_IOC_DMABUF_WAIT or the close of the file. Also fails with ENOENT
 * if no buffer has this handle.
 */
struct litepcie_dmabuf_detach {
	__u32 size;			/* in, out: bytes of this structure */
	__u32 flags;			/* in: 0 */
	__u32 handle;			/* in: of LITEPCIE_IOC_DMABUF_ATTACH */
	__u32 reserved0;		/* 0 */
};

/*
 * LITEPCIE_IOC_DMABUF_MOVE: moves bytes between a buffer and the card's memory,
 * like write() (LITEPCIE_TO_CARD) and read() (LITEPCIE_FROM_CARD): with their limits,
 * order and errors, and the same O_NONBLOCK. It waits for the fences that other
 * devices have put on the buffer, and adds none. Errors besides those above and
 * those of read() and write():
 *   EINVAL    the range is not inside the buffer, or not inside the card's memory;
 *             unknown direction; LITEPCIE_DMABUF_ASYNC with 0 or more than 4 MiB
 *   ENOENT    no buffer has this handle
 *   EBADF     the file is not open for this direction
 *   EBUSY     256 asynchronous moves of the open file have not been waited for
 *   EAGAIN    O_NONBLOCK, and there is no room or a fence is not signalled
 */
struct litepcie_dmabuf_move {
	__u32 size;			/* in, out: bytes of this structure */
	__u32 flags;			/* in: LITEPCIE_DMABUF_ASYNC or 0 */
	__u32 handle;			/* in: of LITEPCIE_IOC_DMABUF_ATTACH */
	__u32 direction;		/* in: LITEPCIE_TO_CARD or LITEPCIE_FROM_CARD */
	__u64 offset;			/* in: first byte in the buffer */
	__u64 card_offset;		/* in: first byte in the card's memory */
	__u64 bytes;			/* in: bytes to move */
	__u64 moved;			/* out: bytes moved; 0 if asynchronous */
	__u32 ticket;			/* out: of an asynchronous move, not 0 */
	__u32 reserved0;		/* 0 */
	__u64 reserved[2];		/* 0 */
};

/* litepcie_dmabuf_move.flags */
#define LITEPCIE_DMABUF_ASYNC	0x00000001	/* return before the bytes are moved */

/*
 * LITEPCIE_IOC_DMABUF_WAIT: waits for the end of an asynchronous move, and forgets
 * its ticket unless it fails with EINTR or EAGAIN. Errors besides those above and
 * those of the move:
 *   ENOENT    no move has this ticket, or another thread waits for it
 *   EINTR     a signal arrived; the move goes on
 *   EAGAIN    LITEPCIE_DMABUF_NOWAIT, and the move has not ended
 *   ECANCELED the move was cancelled before its first byte was moved
 */
struct litepcie_dmabuf_wait {
	__u32 size;			/* in, out: bytes of this structure */
	__u32 flags;			/* in: LITEPCIE_DMABUF_NOWAIT, _CANCEL */
	__u32 ticket;			/* in: of LITEPCIE_IOC_DMABUF_MOVE */
	__u32 reserved0;		/* 0 */
	__u64 moved;			/* out: bytes moved */
	__u64 reserved;			/* 0 */
};

/* litepcie_dmabuf_wait.flags */
#define LITEPCIE_DMABUF_NOWAIT	0x00000001	/* do not wait */
#define LITEPCIE_DMABUF_CANCEL	0x00000002	/* cancel what the card does not have yet */

/* No other driver of ioctl-number.rst has it. */
#define LITEPCIE_IOC_MAGIC	0xD6
#define LITEPCIE_IOC_INFO	_IOWR(LITEPCIE_IOC_MAGIC, 0x00, struct litepcie_info)
#define LITEPCIE_IOC_COUNTERS	_IOWR(LITEPCIE_IOC_MAGIC, 0x01, struct litepcie_counters)
#define LITEPCIE_IOC_ERRORS	_IOWR(LITEPCIE_IOC_MAGIC, 0x02, struct litepcie_errors)
#define LITEPCIE_IOC_SCRATCH	_IOWR(LITEPCIE_IOC_MAGIC, 0x03, struct litepcie_scratch)
#define LITEPCIE_IOC_RESET	_IOWR(LITEPCIE_IOC_MAGIC, 0x04, struct litepcie_reset)
#define LITEPCIE_IOC_DMABUF_ATTACH \
	_IOWR(LITEPCIE_IOC_MAGIC, 0x05, struct litepcie_dmabuf_attach)
#define LITEPCIE_IOC_DMABUF_DETACH \
	_IOWR(LITEPCIE_IOC_MAGIC, 0x06, struct litepcie_dmabuf_detach)
#define LITEPCIE_IOC_DMABUF_MOVE	_IOWR(LITEPCIE_IOC_MAGIC, 0x07, struct litepcie_dmabuf_move)
#define LITEPCIE_IOC_DMABUF_WAIT	_IOWR(LITEPCIE_IOC_MAGIC, 0x08, struct litepcie_dmabuf_wait)
/* 0x09 and 0x0a are in the header of host buffers. */
#define LITEPCIE_IOC_CANCEL	_IOWR(LITEPCIE_IOC_MAGIC, 0x0b, struct litepcie_cancel)

#endif /* _UAPI_LINUX_LITEPCIE_H */
