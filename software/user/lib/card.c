// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The handle; one function per ioctl of <linux/litepcie.h>. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "handle.h"

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
