// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* System calls that wait for their end, with arguments that are valid, nearly valid, or wild. */
#include "storm.h"
#include <sched.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

/* The smallest system call, so that no length or pointer is refused by the C library. */
static void one_piece(void)
{
	static const long numbers[] = { SYS_pread64, SYS_pwrite64 };
	size_t length = some_length();

	counted(syscall(numbers[pick(2)], some_file(), some_memory(), length, some_offset(length)));
}

static void at_the_position(void)
{
	static const long numbers[] = { SYS_read, SYS_write };
	int file = some_file();
	size_t length = some_length() % (1 << 20);

	lseek(file, pick(HAND_BYTES), SEEK_SET);
	counted(syscall(numbers[pick(2)], file, some_memory(), length));
}

static void seek(void)
{
	int file = some_file();

	counted(lseek(file, (off_t)random_bits() >> pick(64), (int)pick(7)));
	lseek(file, pick(HAND_BYTES), SEEK_SET);
}

static void pieces(void)
{
	static const long numbers[] = { SYS_preadv, SYS_pwritev, SYS_preadv2, SYS_pwritev2 };
	unsigned int count = pick(20), number = pick(4);
	struct iovec parts[20];
	size_t length = 0;

	for (unsigned int i = 0; i < count; i++) {
		parts[i] = (struct iovec){ some_memory(), some_length() };
		length += parts[i].iov_len > HAND_BYTES ? HAND_BYTES + 1 : parts[i].iov_len;
	}
	if (one_in(30))
		count = random_bits();
	counted(syscall(numbers[number], some_file(), one_in(50) ? some_memory() : parts, count,
			some_offset(length), 0, number < 2 ? 0 : one_in(2) ? pick(64) : random_bits()));
}

static void control(void)
{
	static const unsigned long numbers[] = { LITEPCIE_IOC_INFO, LITEPCIE_IOC_COUNTERS, LITEPCIE_IOC_ERRORS,
		LITEPCIE_IOC_SCRATCH, LITEPCIE_IOC_RESET };
	static const uint32_t sizes[] = { sizeof(struct litepcie_info), sizeof(struct litepcie_counters),
		sizeof(struct litepcie_errors), sizeof(struct litepcie_scratch), sizeof(struct litepcie_reset) };
	unsigned int which = pick(ARRAY_SIZE(sizes));
	unsigned long number = numbers[which];
	uint32_t words[2048] = { sizes[which] };

	/* Of the engine that is reset. */
	if (number == LITEPCIE_IOC_RESET) {
		words[2] = pick(3);
		words[3] = pick(2);
	}
	if (one_in(4))
		number = one_in(2) ? _IOWR(LITEPCIE_IOC_MAGIC, pick(256), uint64_t) : random_bits() >> pick(64);
	if (one_in(4))
		words[0] = random_bits() >> pick(32);
	if (one_in(4))
		words[1 + pick(one_in(2) ? 8 : 2047)] = random_bits() >> pick(64);
	counted(ioctl(some_file(), number, one_in(10) ? some_memory() : words));
}

static void window(void)
{
	static const int shared[] = { MAP_SHARED, MAP_SHARED, MAP_PRIVATE, MAP_SHARED_VALIDATE };
	size_t length = one_in(2) ? 4096 * (1 + pick(256)) : some_length();
	off_t offset = one_in(2) ? 0 : (off_t)(one_in(2) ? pick(256) * 4096 : (random_bits() >> pick(64)) & ~4095l);
	uint8_t *at = mmap(NULL, length, (int)pick(8), shared[pick(4)], some_file(), offset);

	counted((long)at);
	if (at == MAP_FAILED)
		return;
	for (unsigned int i = pick(4); i; i--)
		touch(at + pick(length), (int)pick(2));
	if (one_in(4))
		mprotect(at, 4096, (int)pick(8));
	if (one_in(8))
		madvise(at, length, (int)pick(30));
	/* Memory that cannot be pinned. */
	pread(some_file(), at, 4096, 0);
	pwrite(some_file(), at, 4096, 0);
	if (one_in(4))
		at = mremap(at, length, length + (one_in(2) ? 4096 : 0), MREMAP_MAYMOVE);
	if (at != MAP_FAILED)
		munmap(at, length + 4096);
}

/* Between the card and a pipe or a file in memory. */
static void copies(void)
{
	int file = some_file(), other = memfd_create("copy", MFD_CLOEXEC), pipes[2];
	size_t length = some_length() % (1 << 20);
	loff_t offset = (off_t)pick(HAND_BYTES);

	if (other < 0 || pipe2(pipes, O_CLOEXEC | O_NONBLOCK))
		return;
	if (ftruncate(other, 65536))
		abort();
	switch (pick(6)) {
	case 0:
		counted(splice(file, &offset, pipes[1], NULL, length, (unsigned int)pick(16)));
		break;
	case 1:
		if (splice(other, NULL, pipes[1], NULL, 65536, 0) > 0)
			counted(splice(pipes[0], NULL, file, &offset, length, (unsigned int)pick(16)));
		break;
	case 2:
		lseek(file, pick(HAND_BYTES), SEEK_SET);
		counted(sendfile(file, other, NULL, length));
		break;
	case 3:
		counted(sendfile(other, file, &offset, length));
		break;
	case 4:
		counted(copy_file_range(file, &offset, other, NULL, length, 0));
		break;
	default:
		if (write(pipes[1], some_memory(), 4096) > 0)
			counted(splice(pipes[0], NULL, file, &offset, 4096, 0));
	}
	close(other);
	close(pipes[0]);
	close(pipes[1]);
}

static void state(void)
{
	struct f_owner_ex owner = { F_OWNER_PID, getpid() };
	int file = some_file();

	switch (pick(7)) {
	case 0:
		counted(fcntl(file, F_SETFL, (int)(random_bits() & (O_NONBLOCK | O_APPEND | O_ASYNC | O_DIRECT))));
		break;
	case 1:
		counted(fcntl(file, F_SETOWN_EX, &owner));
		break;
	case 2:
		counted(fcntl(file, (int)pick(40), pick(4)));
		break;
	case 3:
		counted(ftruncate(file, pick(4096)));
		break;
	case 4:
		counted(fallocate(file, (int)pick(128), pick(4096), pick(4096)));
		break;
	case 5:
		counted(fsync(file) | fdatasync(file));
		break;
	default:
		counted(dup(file) >= 0 ? close(dup(file)) : -1);
	}
}

static void waits(void)
{
	struct pollfd polled = { some_file(), (short)random_bits(), 0 };
	struct epoll_event event = { (uint32_t)random_bits(), { 0 } };
	int set;

	if (one_in(2)) {
		counted(poll(&polled, 1, (int)pick(3)));
		return;
	}
	set = epoll_create1(EPOLL_CLOEXEC);
	counted(epoll_ctl(set, EPOLL_CTL_ADD, polled.fd, &event));
	epoll_wait(set, &event, 1, (int)pick(2));
	close(set);
}

static void interrupts(void)
{
	struct itimerval timer = { .it_value = { 0, 1 + (long)pick(20000) } };

	counted(setitimer(ITIMER_REAL, &timer, NULL));
	one_piece();
}

/* A child shares files and mappings, uses them, and ends while calls of the parent run. */
static void forks(void)
{
	pid_t child = fork();

	counted(child);
	if (!child) {
		alarm(5);
		signal(SIGALRM, SIG_DFL);
		for (unsigned int i = pick(4); i; i--)
			one_piece();
		_exit(0);
	}
	if (child > 0 && one_in(2))
		kill(child, SIGKILL);
	if (child > 0)
		while (waitpid(child, NULL, 0) < 0 && kill(child, 0) == 0)
			sched_yield();
}

const struct kind kinds[] = {
	{ "read, write", one_piece }, { "read, write", one_piece }, { "read, write", one_piece },
	{ "at the position", at_the_position }, { "lseek", seek }, { "vectors", pieces }, { "vectors", pieces },
	{ "ioctl", control }, { "window", window }, { "splice", copies }, { "state", state }, { "poll", waits },
	{ "signals", interrupts }, { "fork", forks }, { "open", files_open }, { "memory", memory_map },
	{ }
};
