// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * A mock card for the unit tests of the tool and the library, and for programs of users without a card
 * (mock_card.py), by LD_PRELOAD: open() of /dev/litepcie0 opens the file MOCK_FILE, the card's memory. The
 * other settings are variables with a number, described where they are used. The real driver and card are
 * tested in the guest (test/guest/).
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/aio_abi.h>
#include <linux/litepcie.h>

#include "mock_stream.h"

#define DEVICE "/dev/litepcie0"
#define SECOND "/dev/litepcie1"
#define BYTES_PER_CYCLE 10

static int card_fd = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct litepcie_counters counters[2];
static unsigned long calls, ioctls, opens, preads;

/* MOCK_CALLS: a file that gets the numbers of calls of this process. */
__attribute__((destructor)) static void write_calls(void)
{
	const char *path = getenv("MOCK_CALLS");
	FILE *file = path ? fopen(path, "w") : NULL;

	if (!file)
		return;
	fprintf(file, "%lu %lu %lu\n", ioctls, opens, preads);
	fclose(file);
}

/* MOCK_SAYS: a file that gets a line for each event, so that a test waits for an event and not for a time. */
void mock_say(const char *event, unsigned long number)
{
	const char *path = getenv("MOCK_SAYS");
	int fd = path ? REAL(open)(path, O_WRONLY | O_APPEND | O_CREAT, 0666) : -1;

	if (fd < 0)
		return;
	dprintf(fd, "%s %lu\n", event, number);
	close(fd);
}

/* Says an event and waits. A signal that comes after the event ends the wait. */
int mock_say_and_wait(const char *event, unsigned long number, const struct timespec *time)
{
	sigset_t all, before;
	int n, err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	mock_say(event, number);
	n = ppoll(NULL, 0, time, &before);
	err = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = err;
	return n;
}

/* The program catches or holds its signals from now on. */
int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
	int code = REAL(sigaction)(number, action, before);

	if (number == SIGTERM && action)
		mock_say("signals", 0);
	return code;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
	int code = REAL(sigprocmask)(how, set, before);

	if (how == SIG_BLOCK && set && sigismember(set, SIGTERM))
		mock_say("signals", 0);
	return code;
}

/* MOCK_SECOND: a file that is the memory of another card. */
static int open_card(const char *file, int flags)
{
	/* MOCK_OPEN_ERRNO: errno of open(). */
	int err = (int)setting("MOCK_OPEN_ERRNO", 0);

	if (err)
		return fail(err);
	card_fd = REAL(open)(file, flags);
	return card_fd;
}

/* MOCK_USER, MOCK_INTERRUPTS, MOCK_PROC, MOCK_SYSFS: a file or a folder instead of these. */
static const char *moved(const char *path, char *buffer)
{
	static const char *const places[][2] = { { DEVICE "_user", "MOCK_USER" },
		{ "/proc/interrupts", "MOCK_INTERRUPTS" }, { "/proc", "MOCK_PROC" }, { "/sys/", "MOCK_SYSFS" } };

	for (unsigned int i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		size_t length = strlen(places[i][0]);
		const char *other = getenv(places[i][1]);

		if (strncmp(path, places[i][0], length) || !other)
			continue;
		snprintf(buffer, PATH_MAX, "%s/%s", other, path + length);
		buffer[strlen(buffer) - (path[length] == 0)] = 0; /* A file has no slash after its name. */
		return buffer;
	}
	return strncmp(path, "/sys/", 5) ? path : "/nowhere";
}

DIR *opendir(const char *path)
{
	char buffer[PATH_MAX];

	return REAL(opendir)(moved(path, buffer));
}

ssize_t readlink(const char *path, char *target, size_t size)
{
	char buffer[PATH_MAX];

	return REAL(readlink)(moved(path, buffer), target, size);
}

/* MOCK_STAT: a file whose owner and mode the device file has. */
int stat(const char *path, struct stat *status)
{
	const char *file = getenv("MOCK_STAT");

	return REAL(stat)(file && !strcmp(path, DEVICE) ? file : path, status);
}

int stat64(const char *path, struct stat64 *status) __attribute__((alias("stat")));

int open(const char *path, int flags, ...)
{
	char buffer[PATH_MAX];
	va_list arguments;
	mode_t mode;

	opens++;
	if (!strcmp(path, DEVICE))
		return open_card(getenv("MOCK_FILE"), flags);
	if (!strcmp(path, SECOND) && getenv("MOCK_SECOND"))
		return open_card(getenv("MOCK_SECOND"), flags);
	if (!strcmp(path, STREAM_DEVICE))
		return mock_stream_open(flags);
	va_start(arguments, flags);
	mode = va_arg(arguments, mode_t);
	va_end(arguments);
	return REAL(open)(moved(path, buffer), flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

/* MOCK_NO_MMAP: errno of mapping the window. */
void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	if (fd >= 0 && fd == card_fd) {
		if (setting("MOCK_NO_MMAP", 0))
			return (void *)(intptr_t)fail((int)setting("MOCK_NO_MMAP", 0)); /* -1 is MAP_FAILED. */
		offset &= ~(off_t)LITEPCIE_MMAP_COMBINED;
	}
	return REAL(mmap)(address, bytes, protection, flags, fd, offset);
}

void *mmap64(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
	__attribute__((alias("mmap")));

static int give_info(struct litepcie_info *info)
{
	if (info->size < sizeof(*info) || info->flags)
		return fail(EINVAL);
	/* MOCK_UAPI, MOCK_CAPABILITIES, ...: values that card and driver report. */
	*info = (struct litepcie_info){
		.size = sizeof(*info),
		.uapi_version = setting("MOCK_UAPI", LITEPCIE_UAPI_VERSION),
		.gateware_version = 1 << 16,
		.capabilities = setting("MOCK_CAPABILITIES", 0x1f),
		.channels = setting("MOCK_CHANNELS", 1),
		.memory_bytes = setting("MOCK_MEMORY", 1 << 20),
		.window_bytes = 1 << 16,
		.clock_hz = 125000000,
		.data_width_bits = 128,
		.built_gen = 2,
		.built_lanes = 4,
		.link_gen = setting("MOCK_GEN", 2),
		.link_lanes = setting("MOCK_LANES", 4),
		.max_payload_bytes = setting("MOCK_MPS", 256),
		.max_read_request_bytes = setting("MOCK_MRRS", 512),
		.tags = setting("MOCK_TAGS", 32),
		.streams = setting("MOCK_STREAMS", 0),
		.stream_lacks = setting("MOCK_STREAM_LACKS", 0),
		.target = "mock",
		.link_status = setting("MOCK_STATUS", 0xb),
		.bus_address = "0000:01:00.0",
	};
	return 0;
}

static int give_scratch(struct litepcie_scratch *scratch)
{
	/* MOCK_SCRATCH_AND: bits that are not stuck at 0. */
	scratch->readback = scratch->value & setting("MOCK_SCRATCH_AND", UINT32_MAX);
	return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list arguments;
	void *argument;

	va_start(arguments, request);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	ioctls++;
	if (mock_stream_is(fd))
		return mock_stream_ioctl(request, argument);
	if (fd != card_fd)
		return REAL(ioctl)(fd, request, argument);
	/* MOCK_NOT_A_CARD: a device of another driver. */
	if (setting("MOCK_NOT_A_CARD", 0))
		return fail(ENOTTY);
	switch (request) {
	case LITEPCIE_IOC_INFO:
		return give_info(argument);
	case LITEPCIE_IOC_SCRATCH:
		return give_scratch(argument);
	case LITEPCIE_IOC_ERRORS:
		*(struct litepcie_errors *)argument = (struct litepcie_errors){
			.size = sizeof(struct litepcie_errors), .unexpected = 3,
			/* MOCK_UR_FROM: from this call on, an error is counted. */
			.unsupported_request = calls >= setting("MOCK_UR_FROM", UINT64_MAX),
		};
		return 0;
	case LITEPCIE_IOC_COUNTERS: {
		struct litepcie_counters *c = argument;
		unsigned int direction = c->direction, channel = c->channel;

		/* MOCK_CHANNEL: the channel that moves the data. */
		/* MOCK_TRAFFIC: bytes that the engines move between two looks at the counters. */
		pthread_mutex_lock(&lock);
		counters[direction].bytes += setting("MOCK_TRAFFIC", 0);
		counters[direction].active_cycles += setting("MOCK_TRAFFIC", 0) / BYTES_PER_CYCLE;
		counters[direction].wait_tag += setting("MOCK_TRAFFIC", 0) / BYTES_PER_CYCLE / 2;
		*c = channel == setting("MOCK_CHANNEL", 0) ? counters[direction] : (struct litepcie_counters){ 0 };
		pthread_mutex_unlock(&lock);
		c->size = sizeof(*c);
		c->channel = channel;
		c->direction = direction;
		return 0;
	}
	case LITEPCIE_IOC_RESET: {
		struct litepcie_reset *reset = argument;

		/* MOCK_RESET_ERRNO: errno of a reset. */
		if (setting("MOCK_RESET_ERRNO", 0))
			return fail((int)setting("MOCK_RESET_ERRNO", 0));
		if (reset->channel >= setting("MOCK_CHANNELS", 1) || reset->direction > 1)
			return fail(EINVAL);
		counters[reset->direction] = (struct litepcie_counters){ 0 };
		return 0;
	}
	default:
		return fail(ENOTTY);
	}
}

static int sleep_us(uint64_t us, unsigned long call)
{
	struct timespec t = { .tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000 * 1000) };

	return mock_say_and_wait("call", call, &t);
}

/* Counts a call and its bytes; returns nonzero and sets errno if this call must fail. */
static int account(unsigned int direction, size_t *bytes)
{
	struct litepcie_counters *c = &counters[direction];
	/* MOCK_SHORT: most bytes per call. MOCK_FAIL_CALL: the call that fails, with MOCK_FAIL_ERRNO. */
	size_t most = setting("MOCK_SHORT", SIZE_MAX);
	unsigned long call;
	int fails;

	if (*bytes > most)
		*bytes = most;
	pthread_mutex_lock(&lock);
	call = ++calls;
	fails = call == setting("MOCK_FAIL_CALL", 0);
	/* MOCK_STILL: counters do not increase. */
	if (!fails && !setting("MOCK_STILL", 0)) {
		uint64_t cycles = (*bytes + BYTES_PER_CYCLE - 1) / BYTES_PER_CYCLE;

		c->bytes += *bytes;
		c->active_cycles += cycles;
		/* MOCK_OTHER_READ, MOCK_OTHER_WRITE: bytes of another program, in each call. */
		counters[LITEPCIE_TO_CARD].bytes += setting("MOCK_OTHER_READ", 0);
		counters[LITEPCIE_FROM_CARD].bytes += setting("MOCK_OTHER_WRITE", 0);
		c->descriptors++;
		c->tlps += (*bytes + 255) / 256;
		/* Starts just below 2^32, so that a test sees it wrap. */
		c->wait_link += cycles / 4;
		c->wait_data = (c->wait_data ? c->wait_data : UINT32_MAX - 100) + cycles / 10;
	}
	pthread_mutex_unlock(&lock);
	/* MOCK_DELAY_US: duration of a call, from call MOCK_LONG_FROM on; a signal ends it early. */
	if (setting("MOCK_DELAY_US", 0) && call >= setting("MOCK_LONG_FROM", 0) &&
	    sleep_us(setting("MOCK_DELAY_US", 0), call) < 0)
		return -1;
	if (fails)
		errno = (int)setting("MOCK_FAIL_ERRNO", EIO);
	return fails;
}

ssize_t pread(int fd, void *buffer, size_t bytes, off_t offset)
{
	ssize_t n;

	preads++;
	if (fd != card_fd)
		return REAL(pread)(fd, buffer, bytes, offset);
	if (account(LITEPCIE_FROM_CARD, &bytes))
		return -1;
	/* MOCK_LOSE_READS: from this call on, nothing arrives, but the call reports success. */
	if (calls >= setting("MOCK_LOSE_READS", UINT64_MAX))
		return (ssize_t)bytes;
	n = REAL(pread)(fd, buffer, bytes, offset);
	/* MOCK_FLIP: offset in each large transfer at which a bit flips on the way to the host. */
	if (n > (ssize_t)setting("MOCK_FLIP", SSIZE_MAX))
		((uint8_t *)buffer)[setting("MOCK_FLIP", 0)] ^= 0x10;
	/* MOCK_SPILL_HOST: one byte too many is written to host memory, after (1) or before (2) the data. */
	if (n > 64 && setting("MOCK_SPILL_HOST", 0))
		((uint8_t *)buffer)[setting("MOCK_SPILL_HOST", 0) == 1 ? n : -1] = 0;
	return n;
}

ssize_t pread64(int fd, void *buffer, size_t bytes, off_t offset) __attribute__((alias("pread")));

ssize_t pwrite(int fd, const void *buffer, size_t bytes, off_t offset)
{
	uint64_t memory = setting("MOCK_MEMORY", 1 << 20);

	if (fd != card_fd)
		return REAL(pwrite)(fd, buffer, bytes, offset);
	if ((uint64_t)offset >= memory)
		return fail(ENOSPC);
	if (bytes > memory - (uint64_t)offset)
		bytes = memory - (uint64_t)offset;
	if (account(LITEPCIE_TO_CARD, &bytes))
		return -1;
	/* MOCK_LOSE_FROM: from this call on, nothing is written, but the call reports success. */
	if (calls >= setting("MOCK_LOSE_FROM", UINT64_MAX))
		return (ssize_t)bytes;
	/* MOCK_SPILL_CARD: one byte too many is written to the card's memory. */
	if (setting("MOCK_SPILL_CARD", 0))
		REAL(pwrite)(fd, "\xee", 1, offset + (off_t)bytes);
	return REAL(pwrite)(fd, buffer, bytes, offset);
}

ssize_t pwrite64(int fd, const void *buffer, size_t bytes, off_t offset) __attribute__((alias("pwrite")));

/* MOCK_AIO: the kernel has no io_uring, and aio goes through the calls above. */
#define MOST_CONTEXTS 4

static struct context {
	struct io_event ended[256];
	unsigned int count;
} contexts[MOST_CONTEXTS];
static unsigned long contexts_count;

static long setup(aio_context_t *number)
{
	pthread_mutex_lock(&lock);
	*number = contexts_count++ % MOST_CONTEXTS;
	contexts[*number].count = 0;
	pthread_mutex_unlock(&lock);
	return 0;
}

static long submit(struct context *context, const struct iocb *one)
{
	const uint64_t count = 1;
	void *buffer = (void *)(uintptr_t)one->aio_buf;
	off_t at = (off_t)one->aio_offset;
	ssize_t n = one->aio_lio_opcode == IOCB_CMD_PREAD ?
			    pread((int)one->aio_fildes, buffer, one->aio_nbytes, at) :
			    pwrite((int)one->aio_fildes, buffer, one->aio_nbytes, at);

	pthread_mutex_lock(&lock);
	context->ended[context->count++] = (struct io_event){ .data = one->aio_data, .res = n < 0 ? -errno : n };
	pthread_mutex_unlock(&lock);
	return write((int)one->aio_resfd, &count, sizeof(count)) == sizeof(count) ? 1 : -1;
}

/* The results come in the reverse order. */
static long take(struct context *context, long most, struct io_event *events)
{
	long count = 0;

	pthread_mutex_lock(&lock);
	while (count < most && context->count)
		events[count++] = context->ended[--context->count];
	pthread_mutex_unlock(&lock);
	return count;
}

long syscall(long number, ...)
{
	va_list list;
	long a[6];

	va_start(list, number);
	for (unsigned int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	switch (setting("MOCK_AIO", 0) ? number : -1) {
	case SYS_io_setup:
		return setup((aio_context_t *)a[1]);
	case SYS_io_destroy:
		return 0;
	case SYS_io_submit:
		return submit(&contexts[a[0]], *(struct iocb **)a[2]);
	case SYS_io_getevents:
		return take(&contexts[a[0]], a[2], (struct io_event *)a[3]);
	case SYS_io_uring_setup:
		return fail(ENOSYS);
	default:
		return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	}
}
