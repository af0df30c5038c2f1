// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * A hand: a process whose threads make random calls until it is killed. Its memory has pages of every kind, and its
 * threads change the memory while calls use it.
 */
#include "storm.h"
#include <linux/userfaultfd.h>
#include <sys/resource.h>

#define AREA	(2l << 20)
#define FILES	8

enum { PRIVATE, SHARED, READ_ONLY, NONE, HOLES, WINDOW, MISSING, SHORT_FILE, AREAS };

static uint8_t *areas[AREAS];
static int files[FILES];
static __thread sigjmp_buf *fault_return;

static const int flags[] = { O_RDWR, O_RDWR, O_RDONLY, O_WRONLY, O_RDWR | O_NONBLOCK, O_RDWR | O_APPEND,
	O_RDWR | O_SYNC, O_PATH };

void files_open(void)
{
	unsigned int which = pick(FILES);
	int file = counted(device_open("", flags[pick(ARRAY_SIZE(flags))]));
	int old = files[which];

	if (file < 0 && !one_in(20))
		return;
	files[which] = file;
	if (old > 0)
		close(old);
}

int some_file(void)
{
	int file = files[pick(FILES)];

	if (file <= 0)
		files_open();
	return one_in(200) ? (int)random_bits() : file;
}

static void map(unsigned int area)
{
	int prot = area == READ_ONLY ? PROT_READ : area == NONE ? PROT_NONE : PROT_READ | PROT_WRITE;
	int how = MAP_FIXED | (area == PRIVATE || area == HOLES || area == MISSING || prot != (PROT_READ | PROT_WRITE) ?
		MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
	int file = -1;

	if (area == WINDOW)
		file = device_open("", O_RDWR);
	if (area == SHARED || area == SHORT_FILE) {
		file = memfd_create("storm", MFD_CLOEXEC);
		if (ftruncate(file, area == SHARED ? AREA : AREA / 2 + 100))
			abort();
	}
	if (file >= 0 || how & MAP_ANONYMOUS)
		mmap(areas[area], area == WINDOW ? AREA / 2 : AREA, prot, how, file, 0);
	if (file >= 0)
		close(file);
}

/* Pages of the area MISSING never come: who touches one waits until the process is killed. */
static void register_missing(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int file = syscall(SYS_userfaultfd, O_CLOEXEC);

	range.range.start = (unsigned long)areas[MISSING];
	range.range.len = AREA;
	if (file < 0 || ioctl(file, UFFDIO_API, &api) || ioctl(file, UFFDIO_REGISTER, &range))
		return;
	/* The file stays open: closing it would end the waiting. */
}

void memory_map(void)
{
	unsigned int area = pick(AREAS);
	uint8_t *at = areas[area] + pick(AREA / 4096) * 4096;
	size_t length = (1 + pick(64)) * 4096;
	static const int advice[] = { MADV_DONTNEED, MADV_HUGEPAGE, MADV_FREE, MADV_WILLNEED, MADV_DONTFORK,
		MADV_DOFORK, MADV_REMOVE, MADV_MERGEABLE, MADV_COLD, MADV_PAGEOUT };

	if (area == MISSING)
		return;
	if (at + length > areas[area] + AREA)
		length = areas[area] + AREA - at;
	switch (pick(6)) {
	case 0:
		counted(munmap(at, length));
		break;
	case 1:
		counted(mprotect(at, length, (int)pick(4)));
		break;
	case 2:
		counted(madvise(at, length, advice[pick(ARRAY_SIZE(advice))]));
		break;
	case 3:
		counted(mlock(at, length));
		counted(munlock(at, length));
		break;
	case 4:
		counted((long)mremap(at, length, length, MREMAP_MAYMOVE | MREMAP_FIXED,
			areas[HOLES] + pick(AREA / 8192) * 4096));
		break;
	default:
		map(area);
	}
}

void *some_memory(void)
{
	unsigned int area = one_in(3) ? pick(AREAS) : pick(2);
	uint64_t wild;

	/* Seldom, because the call never ends by itself. */
	if (area == MISSING && !one_in(20))
		area = PRIVATE;
	if (one_in(20)) {
		wild = random_bits();
		return (void *)(wild >> pick(64));
	}
	return areas[area] + (one_in(2) ? pick(AREA / 8192) * 4096 : pick(AREA / 2));
}

void *private_memory(void)
{
	return areas[PRIVATE] + pick(AREA / 8192) * 4096;
}

size_t some_length(void)
{
	switch (pick(20)) {
	case 0:
		return 0;
	case 1:
		return random_bits() >> pick(64);
	case 2:
		return pick(1 << 20);
	case 3:
		return (1 + pick(256)) * 4096;
	case 4 ... 10:
		return pick(16384);
	default:
		return 1 + pick(256);
	}
}

off_t some_offset(size_t length)
{
	switch (pick(20)) {
	case 0:	/* A huge length is cut at the end of the card's memory, which is behind the witnesses'. */
		return CARD_BYTES - pick(4096);
	case 1:
		return CARD_BYTES + (off_t)(random_bits() >> (1 + pick(40)));
	case 2:
		return -(off_t)(random_bits() >> 1);
	default:
		return length > HAND_BYTES ? CARD_BYTES - (off_t)pick(100) : (off_t)pick(HAND_BYTES);
	}
}

static void caught(int signal)
{
	if (fault_return)
		siglongjmp(*fault_return, signal);
	_exit(3);
}

void faults_catch(void)
{
	struct sigaction fault = { .sa_handler = caught, .sa_flags = SA_NODEFER };
	struct sigaction other = { .sa_handler = no_handler }; /* ends a wait */

	sigaction(SIGSEGV, &fault, NULL);
	sigaction(SIGBUS, &fault, NULL);
	sigaction(SIGUSR1, &other, NULL);
	sigaction(SIGALRM, &other, NULL);
	sigaction(SIGIO, &other, NULL);
	sigaction(SIGPIPE, &other, NULL);
}

void touch(volatile uint8_t *at, int write)
{
	sigjmp_buf here;

	if (!sigsetjmp(here, 1)) {
		fault_return = &here;
		if (write)
			*at = 0x5a;
		else
			(void)*at;
	}
	fault_return = NULL;
}

struct start {
	uint64_t seed;
	unsigned int hand, thread;
};

static void *thread(void *argument)
{
	struct start *start = argument;

	random_seed(start->seed, start->hand, start->thread);
	for (;;) {
		current_kind = pick(all_kinds_count);
		all_kinds[current_kind].act();
	}
	return NULL;
}

void hand(uint64_t seed, unsigned int number)
{
	static struct start starts[3];
	struct rlimit no_core = { 0, 0 };
	unsigned int threads;
	pthread_t id;

	random_seed(seed, number, 99);
	setrlimit(RLIMIT_CORE, &no_core);
	faults_catch();
	for (unsigned int i = 0; i < AREAS; i++) {
		areas[i] = mmap(NULL, AREA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		map(i);
	}
	register_missing();
	for (unsigned int i = 0; i < FILES; i++)
		files_open();
	streams_open();
	user_files_open();
	exporter_open();
	if (one_in(3) && setresuid(65534, 65534, 65534))
		abort();
	threads = 1 + pick(ARRAY_SIZE(starts));
	for (unsigned int i = 1; i <= threads; i++) {
		starts[i - 1] = (struct start){ seed, number, i };
		if (i < threads)
			pthread_create(&id, NULL, thread, &starts[i - 1]);
		else
			thread(&starts[i - 1]);
	}
}
