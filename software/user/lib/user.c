// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The user's logic: its registers, and its interrupts. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "liblitepcie.h"

/* The user's registers: /dev/litepcieN_user by address on the bus of the SoC. */

#define CLASS_OF_USER "/sys/class/litepcie_user"
#define WORD	      sizeof(uint32_t)

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

	snprintf(name, sizeof(name), CLASS_OF_USER "/%.40s/origin", slash ? slash + 1 : path);
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

/* Interrupts of the user's logic: found by name, armed and waited for. */

#define CLASS_OF_INTERRUPT "/sys/class/litepcie_interrupt"
#define MOST		   16 /* interrupts of a card */

struct litepcie_interrupt {
	int fd;
};

/* Is interrupt @number of card @index called @name? 1, 0, or -ENOENT after the last one. */
static int has_name(unsigned int index, unsigned int number, const char *name)
{
	char path[80], text[32] = "";
	FILE *file;
	int same;

	snprintf(path, sizeof(path), CLASS_OF_INTERRUPT "/litepcie%u_interrupt%u/name", index,
		 number);
	file = fopen(path, "re");
	if (!file)
		return -ENOENT;
	same = fgets(text, sizeof(text), file) && strlen(name) &&
	       !strncmp(text, name, strlen(name)) && text[strlen(name)] == '\n';
	fclose(file);
	return same;
}

int litepcie_interrupt_open(struct litepcie_interrupt **interrupt, unsigned int index,
			    const char *name)
{
	struct litepcie_interrupt *handle;
	int number = 0, found;
	char path[40];
	int err;

	*interrupt = NULL;
	while ((found = has_name(index, number, name)) == 0 && number < MOST)
		number++;
	if (found != 1)
		return -ENOENT;
	handle = malloc(sizeof(*handle));
	if (!handle)
		return -ENOMEM;
	snprintf(path, sizeof(path), "/dev/litepcie%u_interrupt%d", index, number);
	handle->fd = open(path, O_RDWR | O_CLOEXEC);
	if (handle->fd < 0) {
		err = -errno;
		free(handle);
		return err;
	}
	*interrupt = handle;
	return 0;
}

void litepcie_interrupt_close(struct litepcie_interrupt *interrupt)
{
	if (!interrupt)
		return;
	close(interrupt->fd);
	free(interrupt);
}

int litepcie_interrupt_fd(const struct litepcie_interrupt *interrupt)
{
	return interrupt->fd;
}

int litepcie_interrupt_arm(struct litepcie_interrupt *interrupt, int on)
{
	uint32_t value = !!on;

	return write(interrupt->fd, &value, sizeof(value)) < 0 ? -errno : 0;
}

int litepcie_interrupt_wait(struct litepcie_interrupt *interrupt, int timeout_ms, uint32_t *count)
{
	struct pollfd fd = { .fd = interrupt->fd, .events = POLLIN };
	uint32_t messages = 0;
	int ready = poll(&fd, 1, 0);

	/* One that came before is taken first: it disarmed the interrupt. */
	if (!ready) {
		int err = litepcie_interrupt_arm(interrupt, 1);

		if (err < 0)
			return err;
		ready = poll(&fd, 1, timeout_ms);
	}
	if (!ready)
		return -ETIMEDOUT;
	if (ready < 0 || read(interrupt->fd, &messages, sizeof(messages)) < 0)
		return -errno;
	if (count)
		*count = messages;
	return 0;
}
