/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* An io_uring, without a library. */
#ifndef LITEPCIE_TEST_URING_H
#define LITEPCIE_TEST_URING_H

#include <dirent.h>
#include <linux/io_uring.h>
#include "check.h"

struct uring {
	int fd;
	struct io_uring_params p;
	uint8_t *rings;
	struct io_uring_sqe *entries;
};

static inline unsigned int *uring_word(struct uring *u, unsigned int offset)
{
	return (unsigned int *)(u->rings + offset);
}

static inline void uring_open(struct uring *u, unsigned int entries, unsigned int flags)
{
	int prot = PROT_READ | PROT_WRITE;

	*u = (struct uring){ .p.flags = flags };
	u->fd = syscall(SYS_io_uring_setup, entries, &u->p);
	ok(u->fd >= 0 && u->p.features & IORING_FEAT_SINGLE_MMAP);
	u->rings = mmap(NULL, u->p.cq_off.cqes + u->p.cq_entries * sizeof(struct io_uring_cqe), prot, MAP_SHARED, u->fd,
			IORING_OFF_SQ_RING);
	u->entries = mmap(NULL, u->p.sq_entries * sizeof(*u->entries), prot, MAP_SHARED, u->fd, IORING_OFF_SQES);
	ok(u->rings != MAP_FAILED && u->entries != MAP_FAILED);
}

static inline void uring_unmap(struct uring *u)
{
	munmap(u->rings, u->p.cq_off.cqes + u->p.cq_entries * sizeof(struct io_uring_cqe));
	munmap(u->entries, u->p.sq_entries * sizeof(*u->entries));
}

/* Adds a call; uring_enter() starts it. */
static inline void uring_put(struct uring *u, struct io_uring_sqe entry)
{
	unsigned int *tail = uring_word(u, u->p.sq_off.tail), slot = *tail & (u->p.sq_entries - 1);

	u->entries[slot] = entry;
	uring_word(u, u->p.sq_off.array)[slot] = slot;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
}

/* Starts `new` calls, and waits until `least` have ended. */
static inline void uring_enter(struct uring *u, unsigned int new, unsigned int least)
{
	long taken = syscall(SYS_io_uring_enter, u->fd, new, least, least ? IORING_ENTER_GETEVENTS : 0, NULL, 0);

	check(taken == (long)new, "%ld: %s", taken, strerror(errno));
}

/* How many calls have ended. */
static inline unsigned int uring_ended(struct uring *u)
{
	return __atomic_load_n(uring_word(u, u->p.cq_off.tail), __ATOMIC_ACQUIRE) - *uring_word(u, u->p.cq_off.head);
}

/* Takes the end of a call, for which it waits. */
static inline struct io_uring_cqe uring_take(struct uring *u)
{
	unsigned int *head = uring_word(u, u->p.cq_off.head);
	struct io_uring_cqe *ends = (void *)(u->rings + u->p.cq_off.cqes), end;

	while (!uring_ended(u))
		uring_enter(u, 0, 1);
	end = ends[*head & (u->p.cq_entries - 1)];
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return end;
}

/* Does a thread of this process wait in the driver? */
static inline bool waits_in_driver(void)
{
	DIR *folder = opendir("/proc/self/task");
	struct dirent *task;
	bool waits = false;

	while (!waits && (task = readdir(folder))) {
		char path[300], where[64] = "";
		int fd;

		snprintf(path, sizeof(path), "/proc/self/task/%s/wchan", task->d_name);
		fd = open(path, O_RDONLY);
		waits = fd >= 0 && read(fd, where, sizeof(where)) > 0 && !strncmp(where, "litepcie_", 9);
		close(fd);
	}
	closedir(folder);
	return waits;
}

/* Makes a call in a thread of io_uring, and cancels it when it waits in the driver. Returns its result. */
static inline int uring_cancelled(struct io_uring_sqe call)
{
	struct io_uring_cqe end;
	struct uring ring;
	int result = 0;

	call.flags = IOSQE_ASYNC;
	call.user_data = 1;
	uring_open(&ring, 2, 0);
	uring_put(&ring, call);
	uring_enter(&ring, 1, 0);
	while (!waits_in_driver() && !uring_ended(&ring))
		usleep(1000);
	uring_put(&ring, (struct io_uring_sqe){ .opcode = IORING_OP_ASYNC_CANCEL, .addr = 1 });
	uring_enter(&ring, 1, 0);
	for (unsigned int left = 2; left; left--) {
		end = uring_take(&ring);
		if (end.user_data)
			result = end.res;
	}
	uring_unmap(&ring);
	close(ring.fd);
	return result;
}

#endif
