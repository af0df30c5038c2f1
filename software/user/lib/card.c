// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * The card: one function per ioctl of <linux/litepcie.h>, transfers of any length, and texts for
 * the numbers of the interface.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "handle.h"
#include "litepcie_regs.h"

#define FIRST_VERSION_OF_INFO offsetof(struct litepcie_info, reserved)

static int card_ioctl(int fd, unsigned long request, void *argument)
{
	return ioctl(fd, request, argument) < 0 ? -errno : 0;
}

static int fd_info(int fd, struct litepcie_info *info)
{
	int err;

	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	err = card_ioctl(fd, LITEPCIE_IOC_INFO, info);
	if (err < 0)
		return err;
	/* Another driver may use the same ioctl number; ours fills at least the first version. */
	if (info->size < FIRST_VERSION_OF_INFO || !info->uapi_version)
		return -ENOTTY;
	info->target[sizeof(info->target) - 1] = 0;
	info->bus_address[sizeof(info->bus_address) - 1] = 0;
	return 0;
}

/* Opens @path if it belongs to the litepcie driver: a file descriptor, or a negative errno. */
static int open_fd(const char *path, int flags, struct litepcie_info *info)
{
	int fd = open(path, flags | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = fd_info(fd, info);
	if (err < 0) {
		close(fd);
		return err;
	}
	return fd;
}

int litepcie_open(struct litepcie **card, const char *path)
{
	struct litepcie_info info;
	struct litepcie *handle;
	int fd = open_fd(path, O_RDWR, &info);

	*card = NULL;
	if (fd < 0)
		return fd;
	handle = info.uapi_version == LITEPCIE_UAPI_VERSION ? malloc(sizeof(*handle)) : NULL;
	if (!handle) {
		close(fd);
		return info.uapi_version == LITEPCIE_UAPI_VERSION ? -ENOMEM : -EPROTONOSUPPORT;
	}
	handle->fd = fd;
	*card = handle;
	return 0;
}

int litepcie_open_index(struct litepcie **card, unsigned int index)
{
	char path[32];

	snprintf(path, sizeof(path), "/dev/litepcie%u", index);
	return litepcie_open(card, path);
}

void litepcie_close(struct litepcie *card)
{
	if (!card)
		return;
	close(card->fd);
	free(card);
}

int litepcie_fd(const struct litepcie *card)
{
	return card->fd;
}

int litepcie_driver_version(const char *path)
{
	struct litepcie_info info;
	int fd = open_fd(path, O_RDONLY, &info);

	if (fd < 0)
		return fd;
	close(fd);
	return (int)info.uapi_version;
}

int litepcie_get_info(struct litepcie *card, struct litepcie_info *info)
{
	return fd_info(card->fd, info);
}

int litepcie_get_counters(struct litepcie *card, unsigned int channel, unsigned int direction,
			  struct litepcie_counters *counters)
{
	memset(counters, 0, sizeof(*counters));
	counters->size = sizeof(*counters);
	counters->channel = channel;
	counters->direction = direction;
	return card_ioctl(card->fd, LITEPCIE_IOC_COUNTERS, counters);
}

int litepcie_reset_engine(struct litepcie *card, unsigned int channel, unsigned int direction)
{
	struct litepcie_reset reset = {
		.size = sizeof(reset),
		.channel = channel,
		.direction = direction,
	};

	return card_ioctl(card->fd, LITEPCIE_IOC_RESET, &reset);
}

int litepcie_get_errors(struct litepcie *card, struct litepcie_errors *errors)
{
	memset(errors, 0, sizeof(*errors));
	errors->size = sizeof(*errors);
	return card_ioctl(card->fd, LITEPCIE_IOC_ERRORS, errors);
}

int litepcie_scratch(struct litepcie *card, uint32_t value, uint32_t *readback)
{
	struct litepcie_scratch scratch = { .size = sizeof(scratch), .value = value };
	int err = card_ioctl(card->fd, LITEPCIE_IOC_SCRATCH, &scratch);

	*readback = scratch.readback;
	return err;
}

/* Transfers of any length: pread(2) and pwrite(2) in a loop. */

/* File offsets are signed: the offset of every byte must be at most INT64_MAX. */
static int offset_fits(size_t bytes, uint64_t offset)
{
	return offset <= INT64_MAX && bytes <= (uint64_t)INT64_MAX - offset;
}

ssize_t litepcie_pread(struct litepcie *card, void *buffer, size_t bytes, uint64_t offset)
{
	size_t moved = 0;

	if (!offset_fits(bytes, offset))
		return -EINVAL;
	while (moved < bytes) {
		ssize_t n = pread(card->fd, (char *)buffer + moved, bytes - moved, offset + moved);

		if (n < 0 && errno == EINTR && moved)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		moved += n;
	}
	return moved;
}

ssize_t litepcie_pwrite(struct litepcie *card, const void *buffer, size_t bytes, uint64_t offset)
{
	size_t moved = 0;

	if (!offset_fits(bytes, offset))
		return -EINVAL;
	while (moved < bytes) {
		ssize_t n = pwrite(card->fd, (const char *)buffer + moved, bytes - moved,
				   offset + moved);

		if (n < 0 && errno == EINTR && moved)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -ENOSPC;
		moved += n;
	}
	return moved;
}

/* Texts for the numbers of the interface. */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* clang-format off */
static const struct {
	uint32_t mask;
	const char *name;
} capabilities[] = {
	{ LITEPCIE_CAPABILITY_TO_CARD, "reader" },
	{ LITEPCIE_CAPABILITY_FROM_CARD, "writer" },
	{ LITEPCIE_CAPABILITY_MSI, "msi" },
	{ LITEPCIE_CAPABILITY_LINK, "link" },
	{ LITEPCIE_CAPABILITY_WINDOW, "window" },
	{ LITEPCIE_CAPABILITY_STREAM, "stream" },
	{ LITEPCIE_CAPABILITY_DIRECT, "direct" },
	{ LITEPCIE_CAPABILITY_MSIX, "msix" },
	{ LITEPCIE_CAPABILITY_USER, "user" },
	{ LITEPCIE_CAPABILITY_INTERRUPT, "interrupt" },
	{ LITEPCIE_CAPABILITY_HOST, "host" },
	{ LITEPCIE_CAPABILITY_LANE, "lane" },
};
/* clang-format on */

/* Errors of <linux/litepcie.h> and of open(). */
static const struct {
	int error;
	const char *text;
} errors[] = {
	{ EACCES, "permission denied" },
	{ EFAULT, "the buffer is not accessible" },
	{ EINTR, "interrupted by a signal before the first byte was moved" },
	{ EINVAL, "the driver rejected a value" },
	{ EIO, "the host answered a request of the card with an error (unsupported request, "
	       "completer abort, poisoned or wrong data)" },
	{ ENODEV, "the card is gone, or the driver was unbound" },
	{ ENOENT, "no such device file" },
	{ ENOMEM, "not enough memory" },
	{ ENOSPC, "past the end of the card's memory" },
	{ ENOTTY, "not a device of the LitePCIe SoC driver" },
	{ ENXIO, "the device file belongs to no driver" },
	{ EOPNOTSUPP, "the card has no engine for this direction" },
	{ EPERM, "not permitted; for a stream: its ring is larger than root allows in "
		 "/sys/module/litepcie/parameters/stream_bytes" },
	{ ERANGE, "outside the range of the user's registers" },
	{ EPROTONOSUPPORT, "the driver has another interface version" },
	{ ETIMEDOUT, "a completion timed out, or the card made no progress" },
};

const char *litepcie_capability_name(unsigned int bit)
{
	for (size_t i = 0; i < COUNT(capabilities); i++)
		if (bit < 32 && capabilities[i].mask == UINT32_C(1) << bit)
			return capabilities[i].name;
	return NULL;
}

const char *litepcie_direction_name(unsigned int direction)
{
	if (direction == LITEPCIE_TO_CARD)
		return "reader";
	return direction == LITEPCIE_FROM_CARD ? "writer" : NULL;
}

const char *litepcie_strerror(int error)
{
	for (size_t i = 0; i < COUNT(errors); i++)
		if (errors[i].error == -error)
			return errors[i].text;
	return strerror(-error);
}

const char *litepcie_version(void)
{
	return LITEPCIE_VERSION_TEXT;
}
