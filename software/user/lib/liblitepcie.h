/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/*
 * liblitepcie: access to a LitePCIe SoC card.
 *
 *	struct litepcie *card;
 *	int err = litepcie_open_index(&card, 0);
 *
 *	if (err < 0)
 *		return puts(litepcie_strerror(err));
 *	litepcie_pwrite(card, samples, sizeof(samples), 0);
 *	litepcie_close(card);
 *
 * Conventions of all functions:
 *   - "read" and "reader" mean host memory to card, as seen from the card. litepcie_pwrite() uses
 *     the reader, litepcie_pread() the writer, as pwrite(2) and pread(2) on /dev/litepcieN do.
 *   - Errors are negative errno values; 0 or a count is success. The library does not set errno,
 *     prints nothing, installs no signal handler and never ends the program.
 *   - Sizes and offsets are in bytes, rates in bytes per second, clocks in hertz, cycles in cycles
 *     of info.clock_hz.
 *   - Several threads may use one handle at the same time. litepcie_close() must be the last call
 *     with it.
 *
 * <linux/litepcie.h> describes the structures litepcie_info, litepcie_counters and litepcie_errors.
 * The library fills in their size and flags.
 */
#ifndef LIBLITEPCIE_H
#define LIBLITEPCIE_H

#include <linux/litepcie.h>
#include <linux/litepcie_hostbuf.h>
#include <linux/litepcie_stream.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The card ------------------------------------------------------------------------------ */

struct litepcie;

/*
 * Opens the character device at @path and checks the interface version of its driver.
 *
 * Returns 0, with the handle in *@card; or
 *   -ENOENT            no such file: the driver is not loaded, or there is no card
 *   -EACCES            the caller has no permission to open it
 *   -ENXIO, -ENODEV    the device file belongs to no driver, or the card is gone
 *   -ENOTTY            not a device of the litepcie driver
 *   -EPROTONOSUPPORT   the driver has another interface version than this library;
 *                      litepcie_driver_version() returns it
 *   -ENOMEM            not enough memory
 */
int litepcie_open(struct litepcie **card, const char *path);

/* The same for /dev/litepcie<index>. */
int litepcie_open_index(struct litepcie **card, unsigned int index);

/* Closes and frees. NULL is allowed. */
void litepcie_close(struct litepcie *card);

/*
 * The file descriptor of the handle, for mmap, io_uring and everything else that the library does
 * not wrap. The library owns it: do not close it.
 */
int litepcie_fd(const struct litepcie *card);

/*
 * Returns LITEPCIE_UAPI_VERSION of the driver of @path (1 or more), or an error of litepcie_open()
 * other than -EPROTONOSUPPORT.
 */
int litepcie_driver_version(const char *path);

/* ---- Identity and counters ------------------------------------------------------------------- */

/* Identity, geometry and current state of the link. -ENODEV if the card is gone. */
int litepcie_get_info(struct litepcie *card, struct litepcie_info *info);

/*
 * Counters of one engine since its last reset. @channel is 0 to info.channels - 1, @direction is
 * LITEPCIE_TO_CARD or LITEPCIE_FROM_CARD; -EINVAL for others. The 32-bit counters wrap: subtract
 * two samples as uint32_t. Transfers of other programs count too.
 */
int litepcie_get_counters(struct litepcie *card, unsigned int channel, unsigned int direction,
			  struct litepcie_counters *counters);

/*
 * Resets one engine, which then starts its transfers again. Needs CAP_SYS_ADMIN (-EPERM); -EINVAL
 * for an engine that the card does not have.
 */
int litepcie_reset_engine(struct litepcie *card, unsigned int channel, unsigned int direction);

/* Errors that the card's transaction layer has counted since its reset. */
int litepcie_get_errors(struct litepcie *card, struct litepcie_errors *errors);

/*
 * Writes @value to the scratch register and reads it back over the link into *@readback. 0 means
 * that both accesses were made, not that the values are equal.
 */
int litepcie_scratch(struct litepcie *card, uint32_t value, uint32_t *readback);

/* ---- Transfers ------------------------------------------------------------------------------- */

/*
 * If a system call moves only a part, because of an error or a signal, the library calls again for
 * the rest. The driver then returns the error that cut the first call short.
 */

/*
 * Card memory to host (the card's writer): fills @buffer with @bytes bytes from @offset. Buffer and
 * offset may have any alignment.
 *
 * Returns the number of bytes moved, which is less than @bytes only if the card's memory ends
 * before; or
 *   -EINVAL      @offset + @bytes is larger than a file offset can be
 *   -EFAULT      the buffer is not accessible
 *   -EINTR       a signal arrived before the first byte was moved; later ones are ignored
 *   -EOPNOTSUPP  the card has no engine for this direction
 *   -EIO, -ETIMEDOUT, -ENODEV   see <linux/litepcie.h>; the number of bytes moved is unknown
 */
ssize_t litepcie_pread(struct litepcie *card, void *buffer, size_t bytes, uint64_t offset);

/*
 * Host to card memory (the card's reader). Returns @bytes, or the errors of litepcie_pread() and
 *   -ENOSPC      the card's memory ends before; the bytes up to its end were written
 */
ssize_t litepcie_pwrite(struct litepcie *card, const void *buffer, size_t bytes, uint64_t offset);

/* ---- Asynchronous transfers ------------------------------------------------------------------ */

/*
 * A queue of transfers of a card: an io_uring, or Linux aio where the system has or allows no
 * io_uring. One thread uses a queue at a time; several threads open one each.
 *
 * With aio, registered buffers are pinned again for each transfer, and taking results makes system
 * calls. A submission waits while transfers of 8 MiB of this direction and @card are in flight.
 */
struct litepcie_queue;

#define LITEPCIE_QUEUE_MOST 256 /* largest depth of a queue */

/* The result of a transfer: the tag that it was given, and bytes moved or a negative errno. */
struct litepcie_done {
	uint64_t tag;
	ssize_t result;
};

/*
 * Opens a queue for up to @depth transfers in flight, 1 to LITEPCIE_QUEUE_MOST. Close it before
 * @card. 0, or
 *   -EINVAL      another depth
 *   -ENOSYS, -EPERM   the system has or allows neither io_uring nor aio
 *   -ENOMEM, -EMFILE, -ENFILE   not enough memory (for aio also fs.aio-max-nr), or too many open
 *                files
 */
int litepcie_queue_open(struct litepcie_queue **queue, struct litepcie *card, unsigned int depth);

/* Waits for the transfers in flight, drops their results and frees. NULL is allowed. */
void litepcie_queue_close(struct litepcie_queue *queue);

/* For poll(2): readable while there are results. */
int litepcie_queue_fd(const struct litepcie_queue *queue);

/* Transfers that were submitted and whose results were not returned yet. */
unsigned int litepcie_queue_in_flight(const struct litepcie_queue *queue);

/*
 * Pins up to 64 buffers for the life of the queue, so that transfers inside one of them need not
 * pin its pages again. Once per queue. 0, or
 *   -EINVAL      no buffer, too many, or one of 0 bytes
 *   -EBUSY       the queue has registered buffers
 *   -EFAULT      a buffer is not accessible
 *   -ENOMEM      not enough memory, or more than RLIMIT_MEMLOCK
 */
int litepcie_queue_register(struct litepcie_queue *queue, const struct iovec *buffers,
			    unsigned int count);

/*
 * Starts a transfer from the card's memory to @buffer, and does not wait. @buffer must stay until
 * its result came. 0, or
 *   -EINVAL      @bytes is not 1 to 1 GiB, or @offset is too large
 *   -EAGAIN      the queue is full: take results first
 *   -ENOMEM      the kernel has no memory for another request now
 *   -EFAULT      with aio only: @buffer cannot be an address of the program
 * The result is that of one pread(2) on the device file: fewer bytes than asked if the card's
 * memory ends before, or if an error came after them.
 */
int litepcie_queue_read(struct litepcie_queue *queue, void *buffer, size_t bytes, uint64_t offset,
			uint64_t tag);

/* The same from @buffer to the card's memory, as one pwrite(2). */
int litepcie_queue_write(struct litepcie_queue *queue, const void *buffer, size_t bytes,
			 uint64_t offset, uint64_t tag);

/*
 * Takes up to @most results, in the order in which transfers ended. Makes no system call, unless
 * the queue is one of aio. Returns their number, which may be 0.
 */
int litepcie_queue_poll(struct litepcie_queue *queue, struct litepcie_done *done,
			unsigned int most);

/*
 * The same, but waits for the first result for up to @timeout_ms milliseconds; -1: for ever.
 * Returns 0 at once if nothing is in flight; -EINTR after a signal.
 */
int litepcie_queue_wait(struct litepcie_queue *queue, struct litepcie_done *done, unsigned int most,
			int timeout_ms);

/*
 * Cancels the transfers of @card that this process has started and that the driver has not yet
 * given to the card: those of all its queues and threads. Their result is -ECANCELED; those that
 * the card has, at most 2 MiB per direction, end as they would have. Transfers that wait for room
 * in the driver (more than 8 MiB of a direction) are not there yet: call again after a result. 0 or
 * a negative errno.
 */
int litepcie_cancel(struct litepcie *card);

/* ---- Registers of the user's logic ----------------------------------------------------------- */

/* The range of the SoC's bus that the gateware gives to programs. Threads may share it. */
struct litepcie_user;

/*
 * Opens @path, such as "/dev/litepcie0_user". 0; -ENOENT if the card has no such range; -ENOTTY if
 * @path is another device; or another negative errno.
 */
int litepcie_user_open(struct litepcie_user **user, const char *path);

/* Closes and frees. NULL is allowed. */
void litepcie_user_close(struct litepcie_user *user);

/* Address of the first byte of the range on the bus of the SoC. */
uint32_t litepcie_user_origin(const struct litepcie_user *user);

/*
 * Reads @count words from consecutive addresses of the SoC's bus, those of csr.json. 0, or
 *   -ERANGE      outside the range
 *   -EINVAL      @address is not a multiple of 4
 *   -EIO         the bus reported an error, or no slave answered in time
 *   -EINTR       a signal arrived before the last word
 */
int litepcie_user_read(struct litepcie_user *user, uint32_t address, uint32_t *words,
		       unsigned int count);

/* The same for writes. */
int litepcie_user_write(struct litepcie_user *user, uint32_t address, const uint32_t *words,
			unsigned int count);

/* ---- Interrupts of the user's logic ---------------------------------------------------------- */

/* An open interrupt. Threads that wait at the same time each need one of their own. */
struct litepcie_interrupt;

/*
 * Opens the interrupt @name of /dev/litepcie<index>: the name that the gateware gave to
 * add_interrupt(). 0; -ENOENT if the card has none of this name; or another negative errno.
 */
int litepcie_interrupt_open(struct litepcie_interrupt **interrupt, unsigned int index,
			    const char *name);

/* The last one that closes an interrupt disarms it. NULL is allowed. */
void litepcie_interrupt_close(struct litepcie_interrupt *interrupt);

/* For poll(2): readable after an interrupt or a loss. */
int litepcie_interrupt_fd(const struct litepcie_interrupt *interrupt);

/* Arms the interrupt for its next event, or disarms it if @on is 0. 0 or a negative errno. */
int litepcie_interrupt_arm(struct litepcie_interrupt *interrupt, int on);

/*
 * Arms the interrupt and waits @timeout_ms milliseconds for it; -1: for ever. The cause of a level
 * must be removed before. *@count is the number of interrupts since the driver was bound; @count
 * may be NULL. 0, or
 *   -ETIMEDOUT   it did not come in time; it stays armed
 *   -ENODATA     the card was reset or suspended: events may be lost. Set the logic up again
 *   -ENODEV      the card is gone, or the driver was unbound
 *   -EINTR       a signal arrived
 */
int litepcie_interrupt_wait(struct litepcie_interrupt *interrupt, int timeout_ms, uint32_t *count);

/* ---- Buffers for the user's logic ------------------------------------------------------------ */

/*
 * A buffer in host memory that the card's user logic reads and writes by itself: @data is its
 * @bytes bytes in this program, @card_address its first byte as the logic sees it.
 */
struct litepcie_hostbuf {
	void *data;
	size_t bytes;
	uint32_t card_address;
	uint32_t handle;
};

/*
 * Creates a buffer of at least @bytes bytes, filled with zeros, and maps it. @flags is
 * LITEPCIE_HOSTBUF_READ, LITEPCIE_HOSTBUF_WRITE or both: what the card may do. It stays until
 * litepcie_hostbuf_destroy() or the last mapping and litepcie_close(). 0, or an error of
 * LITEPCIE_IOC_HOSTBUF_CREATE in <linux/litepcie_hostbuf.h>.
 */
int litepcie_hostbuf_create(struct litepcie *card, size_t bytes, uint32_t flags,
			    struct litepcie_hostbuf *buffer);

/*
 * Takes the buffer from the card, waits for the end of its access, and frees it with its mapping.
 * 0, or an error of LITEPCIE_IOC_HOSTBUF_DESTROY.
 */
int litepcie_hostbuf_destroy(struct litepcie *card, struct litepcie_hostbuf *buffer);

/* ---- Buffers of other devices ---------------------------------------------------------------- */

/*
 * Attaches the dma-buf @fd to the card, until litepcie_dmabuf_detach() or litepcie_close(). @fd may
 * be closed afterwards. 0 with the handle in *@handle, or an error of LITEPCIE_IOC_DMABUF_ATTACH in
 * <linux/litepcie.h>.
 */
int litepcie_dmabuf_attach(struct litepcie *card, int fd, uint32_t *handle);

/* 0, or -ENOENT for an unknown handle. */
int litepcie_dmabuf_detach(struct litepcie *card, uint32_t handle);

/*
 * Moves @bytes bytes between @offset in a buffer and @card_offset in the card's memory, and waits.
 * @direction is LITEPCIE_TO_CARD (buffer to card) or LITEPCIE_FROM_CARD. Returns @bytes or an error
 * of LITEPCIE_IOC_DMABUF_MOVE; the number of bytes moved is unknown then.
 */
ssize_t litepcie_dmabuf_move(struct litepcie *card, uint32_t handle, unsigned int direction,
			     uint64_t offset, uint64_t card_offset, size_t bytes);

/*
 * Starts a move of 1 byte to 4 MiB and does not wait. 0 with the ticket in *@ticket, for
 * litepcie_dmabuf_wait(); or an error of LITEPCIE_IOC_DMABUF_MOVE.
 */
int litepcie_dmabuf_start(struct litepcie *card, uint32_t handle, unsigned int direction,
			  uint64_t offset, uint64_t card_offset, size_t bytes, uint32_t *ticket);

/*
 * Waits for the end of a move. @flags is 0, LITEPCIE_DMABUF_NOWAIT or LITEPCIE_DMABUF_CANCEL.
 * Returns the number of bytes moved, or an error of LITEPCIE_IOC_DMABUF_WAIT.
 */
ssize_t litepcie_dmabuf_wait(struct litepcie *card, uint32_t ticket, unsigned int flags);

/* ---- Streams --------------------------------------------------------------------------------- */

/* An open stream: the directions that it was opened for, which no other file can have. */
struct litepcie_stream;

/*
 * Opens @path, such as "/dev/litepcie0_stream0". @flags are O_RDONLY (card to host), O_WRONLY or
 * O_RDWR, and O_NONBLOCK. 0, -EBUSY if a direction is in use, or another negative errno.
 */
int litepcie_stream_open(struct litepcie_stream **stream, const char *path, int flags);

/*
 * Waits until the card has what was written: for 30 s at most, and not with O_NONBLOCK. What the
 * card has not taken then is lost, and counted in lost_bytes; fsync() of litepcie_stream_fd()
 * waits without an end and returns errors. 0 or a negative errno; NULL is 0.
 */
int litepcie_stream_close(struct litepcie_stream *stream);

/* For poll(2). It belongs to @stream, which reads and writes headers before the bytes. */
int litepcie_stream_fd(const struct litepcie_stream *stream);

/*
 * Sets what is not 0 in @setup, for @setup->direction, and returns all settings in it. -EBUSY after
 * the direction has begun, -EINVAL if a value is not allowed.
 */
int litepcie_stream_setup(struct litepcie_stream *stream, struct litepcie_stream_setup *setup);

/* Sizes of the ring and counters of a direction. */
int litepcie_stream_get_info(struct litepcie_stream *stream, unsigned int direction,
			     struct litepcie_stream_info *info);

/*
 * Fills @buffer with up to @bytes bytes of one packet; sets @more if the packet goes on. Returns
 * their number, at least 1, or the errors of read() in <linux/litepcie_stream.h>.
 */
ssize_t litepcie_stream_read(struct litepcie_stream *stream, void *buffer, size_t bytes, int *more);

/*
 * Writes bytes of a packet, which ends with them unless @more is set. Returns @bytes, or fewer
 * after a signal, an error or with O_NONBLOCK: the packet then goes on with the next call. Or the
 * errors of write() in <linux/litepcie_stream.h>.
 */
ssize_t litepcie_stream_write(struct litepcie_stream *stream, const void *buffer, size_t bytes,
			      int more);

/* The ring of a direction in the memory of the program. */
struct litepcie_stream_map {
	struct litepcie_stream_ring *ring; /* counts, and the length of each buffer */
	unsigned char *buffers;		   /* buffer n is at n * stride */
	size_t stride;
	size_t bytes; /* of the whole mapping */
	unsigned int direction;
};

/*
 * Maps the ring of a direction. 0 or a negative errno; -EACCES if @stream was not opened for
 * reading, which every mapping needs.
 */
int litepcie_stream_map(struct litepcie_stream *stream, unsigned int direction,
			struct litepcie_stream_map *map);
void litepcie_stream_unmap(struct litepcie_stream_map *map);

/* Gives the next @count buffers to the card: LITEPCIE_IOC_STREAM_ADVANCE. 0 or a negative errno. */
int litepcie_stream_advance(struct litepcie_stream *stream, struct litepcie_stream_map *map,
			    unsigned int count);

/* ---- Theory ---------------------------------------------------------------------------------- */

/* The properties of a link that limit its rate. */
struct litepcie_link {
	unsigned int gen;		     /* 1, 2, 3 or 4 */
	unsigned int lanes;		     /* 1, 2, 4, 8 or 16 */
	unsigned int max_payload_bytes;	     /* current MPS: 128 .. 4096, a power of two */
	unsigned int max_read_request_bytes; /* current MRRS: 128 .. 4096, a power of two */
	unsigned int request_header_bytes;   /* 12: host addresses below 4 GiB; 16: above */
	unsigned int completion_bytes;	     /* most data of a completion; 0: MPS, else 64 .. MPS */
	unsigned int ecrc_bytes;	     /* 4 if each TLP has an ECRC, else 0 */
};

/* Payload rates in bytes per second. */
struct litepcie_rates {
	double read;  /* host to card, alone */
	double write; /* card to host, alone */
	double both;  /* each direction while both run */
};

/* The link of @info. @request_header_bytes is 12 or 16, see struct litepcie_link. */
struct litepcie_link litepcie_link_of(const struct litepcie_info *info,
				      unsigned int request_header_bytes);

/*
 * Rate of the link after line coding, without packet overhead. Per lane: 250e6 for Gen1, 500e6 for
 * Gen2, 8e9 * 128 / 130 / 8 for Gen3, twice that for Gen4. -EINVAL for other generations or
 * numbers of lanes.
 */
int litepcie_theory_raw(unsigned int gen, unsigned int lanes, double *bytes_per_second);

/*
 * The formula of Intel's AN 456 and AN 855: raw * payload / (payload + overhead), with payload =
 * MPS (of a read: the data of a completion) and overhead = 8 bytes of framing and data link layer +
 * the header + the ECRC. It ignores DLLPs and read
 * requests, so "both" is the smaller of "read" and "write". -EINVAL if a member of @link is out of
 * range.
 */
int litepcie_theory_application_note(const struct litepcie_link *link,
				     struct litepcie_rates *rates);

/*
 * The formula of pcie-bench (Neugebauer et al., SIGCOMM 2018) for one transfer of @transfer_bytes:
 * the raw rate, less SKP and less ACK and flow control DLLPs at the highest rate that the
 * specification asks for, is shared between headers and payload. Unlike the publication, which has
 * x1 only, a DLLP of 8 symbols takes 8 / lanes symbol times. DLLPs are charged to the direction
 * that they acknowledge, so a link with little traffic in the other direction can exceed the
 * result.
 *
 * -EINVAL if a member of @link is out of range or @transfer_bytes is 0.
 */
int litepcie_theory_pcie_bench(const struct litepcie_link *link, uint64_t transfer_bytes,
			       struct litepcie_rates *rates);

/*
 * The formula of Freescale's notes on MSC8156 and MSC8157 for one transfer of @transfer_bytes: also
 * read requests, and 16 bytes of DLLPs for every 4 TLPs with data. With @acks_all, read requests
 * count among these 4, as in the columns for MPS 128. -EINVAL as above.
 */
int litepcie_theory_msc815x(const struct litepcie_link *link, uint64_t transfer_bytes, int acks_all,
			    struct litepcie_rates *rates);

/*
 * litepcie_theory_pcie_bench(), but reads bring at most @tags requests of MRRS bytes in
 * @latency_ns. 0: no latency. -EINVAL as above, or if @tags is 0.
 */
int litepcie_theory_bound(const struct litepcie_link *link, uint64_t transfer_bytes,
			  uint64_t latency_ns, unsigned int tags, struct litepcie_rates *rates);

/*
 * Longest time between two ACKs, and between two flow control updates, in symbol times: PCI Express
 * Base Specification 3.0, 3.5.2.1, table 3-7 and the tables of the other generations. -EINVAL if
 * gen, lanes or MPS are out of range.
 */
int litepcie_ack_limit(unsigned int gen, unsigned int lanes, unsigned int max_payload_bytes);

/* ---- Names ----------------------------------------------------------------------------------- */

/* Name of bit @bit of info.capabilities ("reader", "writer", ...), NULL for an unknown bit. */
const char *litepcie_capability_name(unsigned int bit);

/* "reader" or "writer"; NULL for another direction. */
const char *litepcie_direction_name(unsigned int direction);

/*
 * Text for a negative errno of this library: one line without a full stop. For other values, the
 * text of strerror(3).
 */
const char *litepcie_strerror(int error);

/* Version of this library, "0.1.0". */
const char *litepcie_version(void);

#ifdef __cplusplus
}
#endif

#endif /* LIBLITEPCIE_H */
