/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/*
 * liblitepcie: a LitePCIe SoC card from a program.
 *
 *	struct litepcie *card;
 *	int err = litepcie_open_index(&card, 0);
 *
 *	if (err < 0)
 *		return puts(litepcie_strerror(err));
 *	litepcie_pwrite(card, samples, sizeof(samples), 0);
 *	litepcie_close(card);
 *
 * Conventions, true of every function here:
 *   - "read" and "reader" are the card's: host memory to card. litepcie_pwrite() uses the reader,
 *     litepcie_pread() the writer, as pwrite(2) and pread(2) on /dev/litepcieN do.
 *   - Errors are negative errno values, 0 or a count is success. Nothing is printed, errno is not
 *     part of the interface, no signal handler is installed, and the library never ends the
 *program.
 *   - Sizes and offsets are in bytes, rates in bytes a second, clocks in hertz, counts in cycles of
 *     info.clock_hz.
 *   - A handle has no state that changes: several threads may use one at the same time. Only
 *     litepcie_close() must be the last call with it.
 *
 * Structures of the driver (litepcie_info, litepcie_counters, litepcie_errors) are described in
 * <linux/litepcie.h>; the library fills in their size and flags.
 */
#ifndef LIBLITEPCIE_H
#define LIBLITEPCIE_H

#include <linux/litepcie.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The card ------------------------------------------------------------------------------ */

struct litepcie;

/*
 * Opens the character device at @path and asks its driver what the card is.
 *
 * 0, with the handle in *@card; or
 *   -ENOENT            no such file: driver not loaded, or no card
 *   -EACCES            the caller may not open it
 *   -ENXIO, -ENODEV    a device file without a driver behind it, or a card that is gone
 *   -ENOTTY            not a device of this driver
 *   -EPROTONOSUPPORT   the driver speaks another version of the interface than this library;
 *                      litepcie_driver_version() tells which
 *   -ENOMEM            no memory
 */
int litepcie_open(struct litepcie **card, const char *path);

/* The same for /dev/litepcie<index>. */
int litepcie_open_index(struct litepcie **card, unsigned int index);

/* Closes and frees. NULL is allowed. */
void litepcie_close(struct litepcie *card);

/*
 * The file descriptor behind the handle, for poll, mmap, io_uring and everything the library does
 * not wrap. It stays the library's: do not close it.
 */
int litepcie_fd(const struct litepcie *card);

/*
 * LITEPCIE_UAPI_VERSION of the driver behind @path (1 or more), without opening a handle. The
 * errors are those of litepcie_open() except -EPROTONOSUPPORT.
 */
int litepcie_driver_version(const char *path);

/* ---- What it is and what it counted ---------------------------------------------------------- */

/* Identity, geometry and the state of the link now. -ENODEV when the card is gone. */
int litepcie_get_info(struct litepcie *card, struct litepcie_info *info);

/*
 * Counters of one engine since its last reset. @channel counts from 0 and is below info.channels,
 * @direction is LITEPCIE_READER or LITEPCIE_WRITER; -EINVAL for others. The 32-bit counters wrap:
 * subtract two samples as uint32_t. Other programs that use the card move the same counters.
 */
int litepcie_get_counters(struct litepcie *card, unsigned int channel, unsigned int direction,
			  struct litepcie_counters *counters);

/* Errors the transaction layer of the card saw since its reset. */
int litepcie_get_errors(struct litepcie *card, struct litepcie_errors *errors);

/*
 * Writes @value to the scratch register and reads it back over the link into *@readback. 0 says
 * that both accesses were made, not that the values are equal.
 */
int litepcie_scratch(struct litepcie *card, uint32_t value, uint32_t *readback);

/* ---- Transfers ------------------------------------------------------------------------------- */

/*
 * A call of the driver that moved less than asked, because of an error or a signal, is followed by
 * one for the rest. So an error that does not come again is not seen here; litepcie_get_errors()
 * has counted it.
 */

/*
 * Card memory to host (the card's writer): fills @buffer with @bytes bytes from @offset, in as many
 * system calls as it takes. Any alignment of buffer and offset.
 *
 * The number of bytes moved, less than @bytes only where the memory of the card ends; or
 *   -EINVAL      offset beyond what a file offset can hold
 *   -EFAULT      the buffer is not the caller's to write
 *   -EINTR       a signal before the first byte; a later one does not cut a transfer short
 *   -EOPNOTSUPP  the card has no engine for this direction
 *   -EIO, -ETIMEDOUT, -ENODEV   see <linux/litepcie.h>; how much was moved is then unknown
 */
ssize_t litepcie_pread(struct litepcie *card, void *buffer, size_t bytes, uint64_t offset);

/*
 * Host to card memory (the card's reader). Returns @bytes, or the errors of litepcie_pread() and
 *   -ENOSPC      the end of the memory was reached; what lies before it was written
 */
ssize_t litepcie_pwrite(struct litepcie *card, const void *buffer, size_t bytes, uint64_t offset);

/* ---- Theory ---------------------------------------------------------------------------------- */

/* A link, as far as its ceiling depends on it. */
struct litepcie_link {
	unsigned int gen;		     /* 1, 2 or 3 */
	unsigned int lanes;		     /* 1, 2, 4, 8 or 16 */
	unsigned int max_payload_bytes;	     /* MPS in force: 128 .. 4096, a power of two */
	unsigned int max_read_request_bytes; /* MRRS in force: 128 .. 4096, a power of two */
	unsigned int request_header_bytes;   /* 12: host addresses below 4 GiB; 16: above */
};

/* Payload rates, bytes a second. */
struct litepcie_rates {
	double read;  /* host to card, alone */
	double write; /* card to host, alone */
	double both;  /* each way, both at once */
};

/* The link @info was sampled on. @request_header_bytes is 12 or 16 (see above). */
struct litepcie_link litepcie_link_of(const struct litepcie_info *info,
				      unsigned int request_header_bytes);

/*
 * Rate of the link after its line code, before any packet: 250e6 a Gen1 lane, 500e6 a Gen2 lane,
 * 8e9 * 128 / 130 / 8 a Gen3 lane. -EINVAL for another gen or number of lanes.
 */
int litepcie_theory_raw(unsigned int gen, unsigned int lanes, double *bytes_per_second);

/*
 * The form of Intel's AN 456 and AN 855: raw * payload / (payload + overhead), with payload = MPS
 * and overhead = 8 bytes of framing and data link layer + the header. DLLPs and read requests are
 * ignored, so both at once is each alone. -EINVAL if the link is not one described above.
 */
int litepcie_theory_application_note(const struct litepcie_link *link,
				     struct litepcie_rates *rates);

/*
 * The form of pcie-bench (Neugebauer et al., SIGCOMM 2018) for one transfer of @transfer_bytes: the
 * raw rate less ACK and flow control DLLPs at the least distance the specification allows and less
 * SKP, shared between headers and payload. Corrected for lanes: a DLLP of 8 symbols takes 8 / lanes
 * symbol times, which the publication has for x1 only. The DLLPs are charged to the direction they
 * acknowledge; a link that carries little the other way can therefore go a little beyond it.
 *
 * -EINVAL if the link is not one described above or @transfer_bytes is 0.
 */
int litepcie_theory_pcie_bench(const struct litepcie_link *link, uint64_t transfer_bytes,
			       struct litepcie_rates *rates);

/*
 * Longest time between two ACKs (and, the same, two flow control updates) in symbol times: PCI
 * Express Base Specification 3.0, 3.5.2.1 and table 3-7 and its companions for the other
 * generations. -EINVAL if gen, lanes or MPS are not those described above.
 */
int litepcie_ack_limit(unsigned int gen, unsigned int lanes, unsigned int max_payload_bytes);

/* ---- Names ----------------------------------------------------------------------------------- */

/* Name of bit @bit of info.capabilities ("reader", "writer", ...), NULL if the library knows none.
 */
const char *litepcie_capability_name(unsigned int bit);

/* "reader" or "writer"; NULL for another direction. */
const char *litepcie_direction_name(unsigned int direction);

/*
 * What a negative errno of this library means for a user of the card, one line without a full stop.
 * Values the interface does not define give what strerror(3) says.
 */
const char *litepcie_strerror(int error);

/* Version of this library, "0.1.0". */
const char *litepcie_version(void);

#ifdef __cplusplus
}
#endif

#endif /* LIBLITEPCIE_H */
