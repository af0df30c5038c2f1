// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * The stream 0 of the mock card: it sends back what it gets (O_RDWR), or reads from the file
 * MOCK_STREAM_IN (O_RDONLY) and writes to MOCK_STREAM_OUT (O_WRONLY), packets with the driver's
 * headers before them. The other settings are described where they are used.
 */
#include "mock_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/litepcie_stream.h>

static int stream_fd = -1, back_fd = -1, stream_flags;
static unsigned long writes, reads, packets;
static size_t have, at; /* bytes of the packet that is being read, and those that were */

/* Waits for a signal. */
static int interrupted(void)
{
	pause();
	return fail(EINTR);
}

int mock_stream_open(int flags)
{
	int ends[2], size = 4 << 20;

	/* MOCK_STREAM_ERRNO: errno of open(). */
	errno = (int)setting("MOCK_STREAM_ERRNO", 0);
	if (errno)
		return -1;
	stream_flags = flags & O_ACCMODE;
	if (stream_flags == O_RDWR) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends))
			return -1;
		setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
		stream_fd = ends[0];
		back_fd = ends[1];
		return stream_fd;
	}
	stream_fd = REAL(open)(getenv(stream_flags == O_RDONLY ? "MOCK_STREAM_IN" : "MOCK_STREAM_OUT"),
			       stream_flags == O_RDONLY ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC, 0666);
	return stream_fd;
}

bool mock_stream_is(int fd)
{
	return fd >= 0 && fd == stream_fd;
}

static void say_setup(const char *path, const struct litepcie_stream_setup *setup)
{
	FILE *file = fopen(path, "a");

	if (!file)
		return;
	fprintf(file, "%u %u %u %u\n", setup->direction, setup->depth, setup->buffer_bytes, setup->flush_us);
	fclose(file);
}

int mock_stream_ioctl(unsigned long request, void *argument)
{
	struct litepcie_stream_info *info = argument;

	if (request == LITEPCIE_IOC_STREAM_SETUP) {
		const struct litepcie_stream_setup *setup = argument;

		/* MOCK_STREAM_SETUP: a file to which each setup of a ring is written. */
		if (getenv("MOCK_STREAM_SETUP"))
			say_setup(getenv("MOCK_STREAM_SETUP"), setup);
		errno = EPERM;
		return (unsigned long long)setup->depth * setup->buffer_bytes > 256 << 20 ? -1 : 0;
	}
	/* The kernel's part of every file: O_NONBLOCK. */
	if (request == FIONBIO)
		return REAL(ioctl)(stream_fd, request, argument);
	if (request != LITEPCIE_IOC_STREAM_INFO)
		return fail(ENOTTY);
	/* MOCK_STREAM_LOST: bytes that the driver lost after the first call. */
	info->lost_bytes = reads + writes ? setting("MOCK_STREAM_LOST", 0) : 0;
	info->cuts = info->lost_bytes > 0;
	/* MOCK_STREAM_OVERRUNS: overruns after the first call. */
	info->overruns = 3 + (reads + writes ? setting("MOCK_STREAM_OVERRUNS", 0) : 0);
	return 0;
}

/* MOCK_STREAM_STUCK: the card takes nothing, and the driver has room for the first write only. */
static bool stuck(void)
{
	return setting("MOCK_STREAM_STUCK", 0);
}

ssize_t writev(int fd, const struct iovec *pieces, int count)
{
	struct litepcie_stream_header header;

	if (!mock_stream_is(fd))
		return REAL(writev)(fd, pieces, count);
	memcpy(&header, pieces[0].iov_base, sizeof(header));
	writes++;
	if (stuck() && writes > 1)
		return interrupted();
	/* MOCK_STREAM_FAIL: the write that fails with EIO. */
	if (writes == setting("MOCK_STREAM_FAIL", 0))
		return fail(EIO);
	/* MOCK_STREAM_DROP: the packet that does not arrive; the call reports success. */
	if (writes == setting("MOCK_STREAM_DROP", 0))
		return (ssize_t)(sizeof(header) + header.bytes);
	/* MOCK_STREAM_FLIP: the packet with a wrong byte. */
	if (writes == setting("MOCK_STREAM_FLIP", 0))
		((unsigned char *)pieces[1].iov_base)[header.bytes / 2] ^= 1;
	return REAL(writev)(fd, pieces, count);
}

/* A packet comes in pieces of at most a buffer: the rest of it has its header again. */
ssize_t readv(int fd, const struct iovec *pieces, int count)
{
	static unsigned char packet[1 << 20];
	struct litepcie_stream_header header, sent = { 0 };
	ssize_t got;

	if (!mock_stream_is(fd))
		return REAL(readv)(fd, pieces, count);
	reads++;
	/* MOCK_STREAM_STILL: see poll(). */
	if (setting("MOCK_STREAM_STILL", 0))
		return interrupted();
	if (at == have) {
		got = back_fd >= 0 ? recv(back_fd, packet, sizeof(packet),
					  fcntl(fd, F_GETFL) & O_NONBLOCK ? MSG_DONTWAIT : 0)
				   : read(fd, &header, sizeof(header));
		/* MOCK_STREAM_AGAIN: MOCK_STREAM_IN has no end, but begins again. */
		if (!got && back_fd < 0 && setting("MOCK_STREAM_AGAIN", 0) && !lseek(fd, 0, SEEK_SET))
			got = read(fd, &header, sizeof(header));
		if (got > 0 && back_fd < 0)
			got = read(fd, packet + sizeof(header), header.bytes) + (ssize_t)sizeof(header);
		if (got <= 0) /* The end of MOCK_STREAM_IN is a reset of the card. */
			return fail(got ? errno : ENODATA);
		have = (size_t)got;
		at = sizeof(header);
		mock_say("packet", ++packets);
	}
	/* MOCK_STREAM_PIECE: most bytes of a read. */
	header.bytes = (unsigned int)setting("MOCK_STREAM_PIECE", 1 << 20);
	if (header.bytes > have - at)
		header.bytes = (unsigned int)(have - at);
	if (header.bytes > pieces[1].iov_len)
		header.bytes = (unsigned int)pieces[1].iov_len;
	memcpy(&sent, packet, sizeof(sent));
	header.flags = at + header.bytes < have ? LITEPCIE_STREAM_MORE : sent.flags & LITEPCIE_STREAM_MORE;
	memcpy(pieces[0].iov_base, &header, sizeof(header));
	memcpy(pieces[1].iov_base, packet + at, header.bytes);
	at += header.bytes;
	return (ssize_t)(sizeof(header) + header.bytes);
}

/* The header declares that poll() only writes to its argument; this definition also reads it. */
int mock_poll(struct pollfd *fds, nfds_t count, int timeout) __asm__("poll");

int mock_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	struct timespec time = { .tv_sec = timeout / 1000, .tv_nsec = timeout % 1000 * 1000000 };
	struct pollfd back = { .fd = back_fd, .events = POLLIN };
	bool ours = count == 1 && mock_stream_is(fds[0].fd);

	if (!ours)
		return ppoll(fds, count, timeout < 0 ? NULL : &time, NULL);
	/* MOCK_STREAM_SIGNAL: a signal comes just before the wait. */
	if (setting("MOCK_STREAM_SIGNAL", 0))
		raise((int)setting("MOCK_STREAM_SIGNAL", 0));
	/* MOCK_STREAM_STILL: nothing ever comes. */
	if (setting("MOCK_STREAM_STILL", 0))
		return mock_say_and_wait("poll", reads, timeout < 0 ? NULL : &time);
	return back_fd < 0 || at < have ? 1 : ppoll(&back, 1, timeout < 0 ? NULL : &time, NULL);
}

int fsync(int fd)
{
	if (!mock_stream_is(fd))
		return REAL(fsync)(fd);
	return stuck() ? interrupted() : 0;
}
