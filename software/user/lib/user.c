// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The user's registers: /dev/litepcieN_user by address on the bus of the SoC. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "liblitepcie.h"

#define CLASS "/sys/class/litepcie_user"
#define WORD  sizeof(uint32_t)

struct litepcie_user {
	int fd;
	uint32_t origin;
};

static int read_origin(const char *path, uint32_t *origin)
{
	const char *slash = strrchr(path, '/');
	char name[96], text[24] = "";
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), CLASS "/%.40s/origin", slash ? slash + 1 : path);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -ENOTTY;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	*origin = (uint32_t)strtoul(text, NULL, 0);
	return n > 0 ? 0 : -ENOTTY;
}

int litepcie_user_open(struct litepcie_user **user, const char *path)
{
	struct litepcie_user *handle = malloc(sizeof(*handle));
	int err;

	*user = NULL;
	if (!handle)
		return -ENOMEM;
	handle->fd = open(path, O_RDWR | O_CLOEXEC);
	err = handle->fd < 0 ? -errno : read_origin(path, &handle->origin);
	if (err < 0) {
		if (handle->fd >= 0)
			close(handle->fd);
		free(handle);
		return err;
	}
	*user = handle;
	return 0;
}

void litepcie_user_close(struct litepcie_user *user)
{
	if (!user)
		return;
	close(user->fd);
	free(user);
}

uint32_t litepcie_user_origin(const struct litepcie_user *user)
{
	return user->origin;
}

/* The driver moves fewer words than asked only at the end of the range, or after a signal. */
static int result_of(ssize_t moved, unsigned int count)
{
	if (moved < 0)
		return -errno;
	if ((size_t)moved == count * WORD)
		return 0;
	return moved ? -EINTR : -ERANGE;
}

int litepcie_user_read(struct litepcie_user *user, uint32_t address, uint32_t *words,
		       unsigned int count)
{
	if (address < user->origin)
		return -ERANGE;
	return result_of(pread(user->fd, words, count * WORD, address - user->origin), count);
}

int litepcie_user_write(struct litepcie_user *user, uint32_t address, const uint32_t *words,
			unsigned int count)
{
	if (address < user->origin)
		return -ERANGE;
	return result_of(pwrite(user->fd, words, count * WORD, address - user->origin), count);
}
