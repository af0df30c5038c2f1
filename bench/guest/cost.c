// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Runs in the guest: moves blocks between memory and a file, with marks for the emulator (count.c) around the part that
 * is measured. All memory is touched and one round of operations is done before it.
 *
 * usage: cost FILE read|write sync|vector|uring|fixed|polled BYTES DEPTH CALLERS OPERATIONS
 *
 *   sync     pread and pwrite; DEPTH is 1
 *   vector   preadv and pwritev of four equal pieces; DEPTH is 1
 *   uring    io_uring, each operation with an address
 *   fixed    io_uring, buffers registered before
 *   polled   io_uring, the program polls for the ends (IORING_SETUP_IOPOLL)
 *
 * io_uring has DEPTH operations outstanding. A system call waits until half of them have ended and starts as many new
 * ones. Each caller is a thread with an open file, a ring and memory of its own; OPERATIONS is for each caller.
 *
 * Prints the interrupts of the card during the measured part.
 */
#define _GNU_SOURCE
#include "mark.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST_DEPTH 64
#define MOST_CALLERS 16
#define REGION (8u << 20) /* of the file, for each caller */
#define PIECES 4

static const char *path, *how;
static int writes;
static size_t bytes;
static unsigned int depth, callers, operations;
static pthread_barrier_t barrier;

struct caller {
	unsigned int number;
	int fd, ring;
	uint8_t *memory;
	unsigned int *sq, *cq;
	struct io_uring_params p;
	struct io_uring_sqe *entries;
	unsigned int started;
};

static off_t place(struct caller *c, unsigned int i)
{
	return (off_t)c->number * REGION + (uint64_t)i * bytes % REGION;
}

static void set_up_ring(struct caller *c)
{
	struct iovec vectors[MOST_DEPTH];

	c->p.flags = *how == 'p' ? IORING_SETUP_IOPOLL : 0;
	c->ring = syscall(SYS_io_uring_setup, depth, &c->p);
	must(c->ring >= 0);
	c->sq = mmap(NULL, c->p.sq_off.array + c->p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED, c->ring,
		     IORING_OFF_SQ_RING);
	c->cq = mmap(NULL, c->p.cq_off.cqes + c->p.cq_entries * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE,
		     MAP_SHARED, c->ring, IORING_OFF_CQ_RING);
	c->entries = mmap(NULL, c->p.sq_entries * sizeof(*c->entries), PROT_READ | PROT_WRITE, MAP_SHARED, c->ring,
			  IORING_OFF_SQES);
	must(c->sq != MAP_FAILED && c->cq != MAP_FAILED && c->entries != MAP_FAILED);
	for (unsigned int i = 0; i < depth; i++)
		vectors[i] = (struct iovec){ c->memory + i * bytes, bytes };
	if (!strcmp(how, "fixed"))
		must(!syscall(SYS_io_uring_register, c->ring, IORING_REGISTER_BUFFERS, vectors, depth));
}

static void set_up(struct caller *c)
{
	size_t whole = bytes * depth;

	/* A disk takes whole sectors only with O_DIRECT. */
	c->fd = open(path, O_RDWR | (bytes % 512 && *how != 'p' ? 0 : O_DIRECT));
	must(c->fd >= 0);
	must(!posix_memalign((void **)&c->memory, 2 << 20, whole));
	memset(c->memory, c->number + 1, whole);
	if (strchr("ufp", *how))
		set_up_ring(c);
}

static void sync_operations(struct caller *c, unsigned int count)
{
	struct iovec pieces[PIECES];
	ssize_t done;

	for (unsigned int i = 0; i < PIECES; i++)
		pieces[i] = (struct iovec){ c->memory + i * bytes / PIECES, bytes / PIECES };
	for (unsigned int i = 0; i < count; i++) {
		if (*how == 'v')
			done = writes ? pwritev(c->fd, pieces, PIECES, place(c, i)) :
					preadv(c->fd, pieces, PIECES, place(c, i));
		else
			done = writes ? pwrite(c->fd, c->memory, bytes, place(c, i)) :
					pread(c->fd, c->memory, bytes, place(c, i));
		must(done == (ssize_t)bytes);
	}
}

static void start(struct caller *c, unsigned int slot)
{
	unsigned int *tail = &c->sq[c->p.sq_off.tail / 4], at = *tail & (c->p.sq_entries - 1);
	int fixed = *how == 'f';

	c->entries[at] = (struct io_uring_sqe){
		.opcode = fixed ? (writes ? IORING_OP_WRITE_FIXED : IORING_OP_READ_FIXED) :
				  (writes ? IORING_OP_WRITE : IORING_OP_READ),
		.fd = c->fd, .addr = (uintptr_t)(c->memory + slot * bytes), .len = bytes,
		.off = place(c, c->started++), .buf_index = fixed ? slot : 0, .user_data = slot,
	};
	c->sq[c->p.sq_off.array / 4 + at] = at;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
}

static void ring_operations(struct caller *c, unsigned int count)
{
	unsigned int *head = &c->cq[c->p.cq_off.head / 4], *tail = &c->cq[c->p.cq_off.tail / 4];
	struct io_uring_cqe *ends = (void *)((uint8_t *)c->cq + c->p.cq_off.cqes);
	unsigned int begun = 0, ended = 0, new = 0, half = depth > 1 ? depth / 2 : 1;

	for (; begun < depth && begun < count; begun++, new++)
		start(c, begun);
	while (ended < count) {
		unsigned int least = count - ended < half ? count - ended : half;

		must(syscall(SYS_io_uring_enter, c->ring, new, least, IORING_ENTER_GETEVENTS, NULL, 0) == (long)new);
		new = 0;
		while (*head != __atomic_load_n(tail, __ATOMIC_ACQUIRE)) {
			struct io_uring_cqe *end = &ends[*head & (c->p.cq_entries - 1)];

			if (end->res != (int)bytes) {
				fprintf(stderr, "cost: an operation ended with %d\n", end->res);
				exit(1);
			}
			ended++;
			if (begun < count) {
				start(c, end->user_data);
				begun++;
				new++;
			}
			__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
		}
	}
}

static void operate(struct caller *c, unsigned int count)
{
	if (c->sq)
		ring_operations(c, count);
	else
		sync_operations(c, count);
}

/* Long operations need none: their memory was touched. */
static unsigned int warm_up(void)
{
	return bytes < (1 << 20) ? depth * 2 : 1;
}

static void *other_caller(void *data)
{
	struct caller *c = data;

	set_up(c);
	operate(c, warm_up());
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	operate(c, operations);
	pthread_barrier_wait(&barrier);
	return NULL;
}

int main(int argc, char **argv)
{
	struct caller all[MOST_CALLERS] = { 0 };
	pthread_t threads[MOST_CALLERS];
	unsigned long before;

	if (argc != 8) {
		fprintf(stderr, "usage: cost FILE read|write sync|vector|uring|fixed|polled BYTES DEPTH CALLERS "
				"OPERATIONS\n");
		return 2;
	}
	path = argv[1];
	writes = *argv[2] == 'w';
	how = argv[3];
	bytes = strtoul(argv[4], NULL, 0);
	depth = strtoul(argv[5], NULL, 0);
	callers = strtoul(argv[6], NULL, 0);
	operations = strtoul(argv[7], NULL, 0);
	must(depth && depth <= MOST_DEPTH && callers && callers <= MOST_CALLERS);
	must(!pthread_barrier_init(&barrier, NULL, callers));
	for (unsigned int i = 1; i < callers; i++) {
		all[i].number = i;
		must(!pthread_create(&threads[i], NULL, other_caller, &all[i]));
	}
	set_up(&all[0]);
	operate(&all[0], warm_up());
	pthread_barrier_wait(&barrier);
	before = interrupts();
	MARK(0);
	if (callers > 1)
		pthread_barrier_wait(&barrier);
	operate(&all[0], operations);
	if (callers > 1)
		pthread_barrier_wait(&barrier);
	MARK(1);
	printf("%lu\n", interrupts() - before);
	return 0;
}
