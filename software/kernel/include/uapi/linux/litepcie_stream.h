/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * User interface of the streams of a LitePCIe SoC card.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 *
 * /dev/litepcieN_streamS is a stream of packets in each direction: read() takes
 * what the card sends, write() gives the card what its logic receives. Each
 * direction has one user: an open file has the directions that it is opened for.
 *
 * A direction has a ring of buffers, which belong to the open file. It begins
 * with its first read(), write(), poll(), mmap() or LITEPCIE_IOC_STREAM_ADVANCE;
 * until then the card's logic waits, and LITEPCIE_IOC_STREAM_SETUP may change
 * the ring.
 *
 * read() returns at least one byte, and never bytes of two packets. It does not
 * say whether the packet ends there. A read() after the flag
 * LITEPCIE_STREAM_HEADERS was set does, in a header before the bytes.
 *
 * write() returns when the ring has the bytes, not when the card has them;
 * fsync() waits for the card. The last close() of the file waits for 30 s at most,
 * and until the card has taken nothing for timeout_ms or a signal comes; with
 * O_NONBLOCK, not at all. What the card has not taken then is lost. A write() is a
 * packet. If it returns
 * fewer bytes than it was given, the packet goes on with the next write(). With
 * LITEPCIE_STREAM_HEADERS, a header before the bytes says whether it goes on.
 *
 * Nothing is moved again after an error, a reset or a suspend: data under way is
 * lost, and a packet may be cut. What arrived before can still be read; then one
 * call returns the error, and the call after it begins anew, with a packet. While
 * the card is cut off, each call returns the error, and one more after that.
 * close() drops what was not read.
 *
 * The card's logic may cut a packet without an error: it forwards a packet that
 * was itself cut, for example. What came of it is read first, then one read()
 * returns ENODATA, and the next packet begins with the call after it. poll() says
 * EPOLLIN before both. In the mapped ring, LITEPCIE_STREAM_SLOT_CUT tells it.
 *
 * On a file that was opened with O_DIRECT, the card moves the data from and to the
 * memory of each call. It has none between two calls. A direction has no ring then:
 * no poll(), mmap() or LITEPCIE_IOC_STREAM_ADVANCE, and depth and buffer_bytes have no
 * effect. write() returns when the card has the bytes. A call that ends early resets
 * the engine, and a packet under way is cut: it returns ENODATA.
 *
 * Errors of mmap():
 *   EACCES    the file is not open for reading, which every mapping needs, or the
 *             mapping of LITEPCIE_FROM_CARD is to be written
 *   EINVAL    not MAP_SHARED, not in the ring of a direction, or the file is not
 *             open for this direction
 *   ENODEV, ENOMEM, EPERM as for read(); ENODEV also with O_DIRECT
 * Errors of open():
 *   EBUSY     another open file has one of the directions
 *   EOPNOTSUPP the card has no engine for one of the directions
 *   ENODEV    the card is gone, or the driver was unbound
 * Errors of read(), write(), fsync() and LITEPCIE_IOC_STREAM_ADVANCE:
 *   EAGAIN    O_NONBLOCK or RWF_NOWAIT, and there is no packet or no room. aio
 *             without them waits in io_submit(); io_uring does not wait.
 *             LITEPCIE_IOC_STREAM_ADVANCE: the card is reset or suspended
 *   EFAULT    the buffer is not accessible by the caller. A read() without
 *             headers has then taken nothing of what it did not return
 *   EINTR     a signal arrived before the first byte was moved
 *   EINVAL    LITEPCIE_STREAM_HEADERS, and the header is not complete, its bytes
 *             are not those that follow, an unknown flag is set, or no byte
 *             follows
 *   EIO       the host answered a request of the card with an error
 *   ENODATA   the card was reset or suspended, or its logic cut the packet; with
 *             O_DIRECT, also a signal
 *   ENODEV    the card is gone, or the driver was unbound
 *   ENOMEM    no memory for the ring, or the kernel cannot map it for the card
 *   EOPNOTSUPP O_DIRECT with O_NONBLOCK, or with LITEPCIE_IOC_STREAM_ADVANCE
 *   EPERM     the ring has more bytes than the module parameter stream_bytes
 *   ETIMEDOUT the host did not answer a request of the card
 * poll() says EPOLLERR when the next call returns an error, with EPOLLHUP while all
 * calls fail (<linux/litepcie.h>).
 */
#ifndef _UAPI_LINUX_LITEPCIE_STREAM_H
#define _UAPI_LINUX_LITEPCIE_STREAM_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include <linux/litepcie.h>

/* litepcie_stream_setup.mode: a litepcie_stream_header before the bytes of each call */
#define LITEPCIE_STREAM_HEADERS		0x00000001

#define LITEPCIE_STREAM_MIN_DEPTH	2		/* buffers */
#define LITEPCIE_STREAM_MAX_DEPTH	1024
#define LITEPCIE_STREAM_MIN_BUFFER	64		/* bytes */
#define LITEPCIE_STREAM_MAX_BUFFER	1048576
#define LITEPCIE_STREAM_MAX_RING	1073741824	/* bytes: depth * stride */

/* litepcie_stream_header.flags: the packet goes on after these bytes */
#define LITEPCIE_STREAM_MORE		0x00000001

/* What comes before the bytes of a call, with LITEPCIE_STREAM_HEADERS. */
struct litepcie_stream_header {
	__u32 bytes;			/* bytes that follow, at least 1 */
	__u32 flags;			/* LITEPCIE_STREAM_MORE or 0 */
};

/*
 * LITEPCIE_IOC_STREAM_SETUP: the ring of a direction of an open file. A member
 * that is 0 is not changed; all are returned. Errors besides those of ioctl() in
 * litepcie.h:
 *   EBUSY     the direction has begun
 *   EINVAL    the file is not open for this direction, or a value is not allowed
 *   EPERM     the ring would have more bytes than the module parameter stream_bytes
 */
struct litepcie_stream_setup {
	__u32 size;			/* in, out: bytes of this structure */
	__u32 flags;			/* in: LITEPCIE_STREAM_SET_* */
	__u32 direction;		/* in: LITEPCIE_TO_CARD or LITEPCIE_FROM_CARD */
	__u32 mode;			/* in, out: LITEPCIE_STREAM_HEADERS or 0 */
	__u32 depth;			/* in, out: buffers, a power of two (64) */
	__u32 buffer_bytes;		/* in, out: bytes of a buffer (65536) */
	__u32 flush_us;			/* in, out: from card: a buffer with data waits
					 * for more at most as long; 0: until it
					 * is full or a packet ends (100)
					 */
	__u32 moderation_count;		/* in, out: buffers per interrupt (0) */
	__u32 moderation_us;		/* in, out: most delay of an interrupt (0) */
	__u32 reserved0;		/* 0 */
	__u64 reserved[4];		/* 0 */
};

/*
 * LITEPCIE_IOC_STREAM_INFO: a direction of the stream. The counters begin when
 * the driver is bound. The file must be open for this direction.
 */
struct litepcie_stream_info {
	__u32 size;			/* in, out: bytes of this structure */
	__u32 flags;			/* in: 0 */
	__u32 direction;		/* in: LITEPCIE_TO_CARD or LITEPCIE_FROM_CARD */
	__u32 stream;			/* out: number of the stream */
	__u32 ready;			/* out: buffers with data, or free ones */
	__u32 stride;			/* out: from a buffer to the next, in the mapping */
	__u64 map_offset;		/* out: of the mapping of this direction */
	__u64 map_bytes;		/* out: its size */
	__u64 buffers_offset;		/* out: of the first buffer in the mapping */
	__u64 bytes;			/* out: moved */
	__u64 packets;			/* out: packet ends moved */
	__u64 overruns;			/* out: from card: times all buffers were full, so
					 * that the card's logic had to wait
					 */
	__u64 underruns;		/* out: to card: times the ring was empty in the
					 * middle of a packet
					 */
	__u64 waits;			/* out: calls that waited, or returned EAGAIN */
	__u64 lost_bytes;		/* out: that no one read or got, in buffers or
					 * in the RAM of a card since gateware 1.7
					 */
	__u64 cuts;			/* out: errors, resets and closes that lost data
					 * or cut a packet, and packets that the card's
					 * logic cut
					 */
	__u64 reserved[4];		/* 0 */
};

/*
 * LITEPCIE_IOC_STREAM_ADVANCE: gives buffers of the mapped ring to the card. In
 * LITEPCIE_FROM_CARD these are the oldest ones that the program has read; in
 * LITEPCIE_TO_CARD, the next ones that the program has filled, as slots[]
 * of the ring says. Returns the counts of the ring, which are in the mapping too.
 *   EINVAL    the file is not open for this direction, count is more than there
 *             are, or a slot has no bytes, too many, or an unknown flag. No
 *             buffer was given to the card
 */
struct litepcie_stream_advance {
	__u32 size;			/* in, out: bytes of this structure */
	__u32 flags;			/* in: 0 */
	__u32 direction;		/* in: LITEPCIE_TO_CARD or LITEPCIE_FROM_CARD */
	__u32 count;			/* in: buffers, may be 0 */
	__u32 head;			/* out */
	__u32 tail;			/* out */
	__u64 reserved[2];		/* 0 */
};

/* litepcie_stream_setup.flags: take these members, also if they are 0 */
#define LITEPCIE_STREAM_SET_MODE	0x00000001
#define LITEPCIE_STREAM_SET_FLUSH	0x00000002
#define LITEPCIE_STREAM_SET_MODERATION	0x00000004

/* litepcie_stream_ring.slots[] */
#define LITEPCIE_STREAM_SLOT_BYTES	0x00ffffff	/* bytes in the buffer */
#define LITEPCIE_STREAM_SLOT_LAST	0x01000000	/* the packet ends there */
/* from card only: the buffer begins a packet, because the one before was cut */
#define LITEPCIE_STREAM_SLOT_CUT	0x02000000

/*
 * What mmap() maps with MAP_SHARED at map_offset. Buffer n, at buffers_offset +
 * n * stride, is that of slots[n]; count c is that of buffer c % depth. The counts
 * of a file begin anywhere, and after an error at 0. The mapping of LITEPCIE_FROM_CARD can
 * only be read. In that of LITEPCIE_TO_CARD, what the program writes here is read by
 * LITEPCIE_IOC_STREAM_ADVANCE only, and only slots[] is.
 */
struct litepcie_stream_ring {
	__u32 head;			/* buffers that the card has filled, or taken */
	__u32 tail;			/* buffers that the program has given to the card */
	__u32 depth;
	__u32 buffer_bytes;
	__u32 stride;
	__u32 reserved[11];
	__u32 slots[LITEPCIE_STREAM_MAX_DEPTH];	/* depth of them */
};

#define LITEPCIE_IOC_STREAM_INFO	\
	_IOWR(LITEPCIE_IOC_MAGIC, 0x40, struct litepcie_stream_info)
#define LITEPCIE_IOC_STREAM_SETUP	\
	_IOWR(LITEPCIE_IOC_MAGIC, 0x41, struct litepcie_stream_setup)
#define LITEPCIE_IOC_STREAM_ADVANCE	\
	_IOWR(LITEPCIE_IOC_MAGIC, 0x42, struct litepcie_stream_advance)

#endif /* _UAPI_LINUX_LITEPCIE_STREAM_H */
