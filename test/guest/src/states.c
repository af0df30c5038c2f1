// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Calls of every kind while something happens to the card: memory, stream, interrupts, the user's registers and buffers
 * of the user's logic.
 * usage: states idle|waiting|flight|rest|calm|direct|posted LIMIT_MS COMMAND [RECOVER]
 *        states reset
 * Begins the calls, runs COMMAND, and checks that each call has ended LIMIT_MS after COMMAND began. With RECOVER, all
 * calls must have failed, and new ones must fail; RECOVER is then run. In the end, a call of each kind must work.
 * "rest" is "flight" with the stream's output free; with "calm", no call may fail. With "direct", a stream moves in
 * memory of calls (O_DIRECT); with "posted", the card has memory of a read(). The second form resets the first reader.
 */
#include "hostbuf.h"

#define BYTES 1024 /* that the user's logic copies */
#define BIG (1 << 20)
#define PULSE 1
#define STORM 2

/* Of the user core, in /dev/litepcie0_user. */
enum { OPERAND = 0, CORE_PULSE = 0x0c, CORE_STORM = 0x10 };

/* A thread: its call returns an errno, or 0 if it ended because of `stop`. */
struct waiter {
	const char *name;
	int (*call)(void);
	pthread_t thread;
	int error;
	volatile long ended;
};

static volatile int stop;
static int stream_in, stream_out, pulse, pulse_of_thread, storm;

static long now_ms(void)
{
	return now() * 1000;
}

static int memory_write(void)
{
	static uint8_t bytes[BIG];

	while (!stop)
		if (pwrite(fd, bytes, BIG, 0) < 0)
			return errno;
	return 0;
}

static int memory_read(void)
{
	static uint8_t bytes[BIG];

	while (!stop)
		if (pread(fd, bytes, BIG, 0) < 0)
			return errno;
	return 0;
}

static int stream_read(void)
{
	static uint8_t bytes[65536];

	while (read(stream_in, bytes, sizeof(bytes)) > 0)
		;
	return errno;
}

static int stream_write(void)
{
	static uint8_t bytes[65536];

	while (write(stream_out, bytes, sizeof(bytes)) > 0)
		;
	return errno;
}

static int poll_error(int file)
{
	struct pollfd p = { .fd = file };

	poll(&p, 1, -1);
	return p.revents & POLLERR ? EPIPE : 0;
}

static int stream_poll(void)
{
	return poll_error(stream_in);
}

static int interrupt_read(void)
{
	uint32_t count;

	return read(pulse_of_thread, &count, 4) == 4 ? 0 : errno;
}

static int interrupt_poll(void)
{
	return poll_error(pulse);
}

static int interrupt_storm(void)
{
	uint32_t count, on = 1;

	while (write(storm, &on, 4) == 4 && read(storm, &count, 4) == 4)
		;
	return errno;
}

static int registers(void)
{
	uint32_t value;

	while (!stop)
		if (pread(user, &value, 4, OPERAND) != 4)
			return errno;
	return 0;
}

#define CALL(text, function) { .name = text, .call = function }

static struct waiter waiting[] = { CALL("stream read", stream_read), CALL("stream poll", stream_poll),
	CALL("interrupt read", interrupt_read), CALL("interrupt poll", interrupt_poll), { } };

/* The write to a stream is the last one, as "rest" leaves it out. */
static struct waiter flight[] = { CALL("memory write", memory_write), CALL("memory read", memory_read),
	CALL("stream read", stream_read), CALL("interrupt read", interrupt_read),
	CALL("interrupt storm", interrupt_storm), CALL("registers", registers),
	CALL("stream write", stream_write), { } };

static struct waiter calm[] = { CALL("memory write", memory_write), CALL("memory read", memory_read),
	CALL("registers", registers), { } };

static struct waiter direct[] = { CALL("stream read", stream_read), CALL("stream write", stream_write), { } };

static struct waiter posted[] = { CALL("stream read", stream_read), { } };

static struct waiter idle[] = { { } };

static const struct {
	const char *name;
	struct waiter *waiters;
} states[] = { { "idle", idle }, { "waiting", waiting }, { "flight", flight }, { "rest", flight }, { "calm", calm },
	{ "direct", direct }, { "posted", posted } };

/* O_DIRECT if the streams are open with it: then poll() says nothing of them. */
static int mode;

/* Needs the card's engine to end its reset. */
static int reset(void)
{
	struct litepcie_reset reset = { .size = sizeof(reset) };

	if (ioctl(open_device(), LITEPCIE_IOC_RESET, &reset))
		printf("reset: %s\n", strerror(errno));
	return 0;
}

static void *run(void *argument)
{
	struct waiter *waiter = argument;

	errno = 0;
	waiter->error = waiter->call();
	waiter->ended = now_ms();
	return NULL;
}

/* An error of before is returned once. */
static void stream_works(int in, int out)
{
	static uint8_t sent[3000], got[65536];
	ssize_t n;

	fill(sent, sizeof(sent), 7);
	n = write(out, sent, sizeof(sent));
	if (n < 0)
		n = write(out, sent, sizeof(sent));
	check(n == sizeof(sent), "write: %s", strerror(errno));
	for (int errors = 0; errors < 3;) {
		struct pollfd p = { .fd = in, .events = POLLIN };

		check(poll(&p, 1, 10000) == 1, "nothing to read");
		n = read(in, got, sizeof(got));
		/* With O_DIRECT, what came with the news of a cut is lost too. */
		ok(n > 0 || !mode || write(out, sent, sizeof(sent)) > 0);
		errors += n < 0;
		/* What the loop held before comes first. */
		if (n >= (ssize_t)sizeof(sent) && !memcmp(got + n - sizeof(sent), sent, sizeof(sent)))
			return;
	}
	check(0, "read: %s", strerror(errno));
}

/* Does an interrupt that is armed come? */
static void interrupt_works(int file)
{
	struct pollfd p = { .fd = file, .events = POLLIN };
	uint32_t count = 0, on = 1;

	check(write(file, &on, 4) == 4, "arm: %s", strerror(errno));
	store(CORE_PULSE, 1);
	check(poll(&p, 1, 10000) == 1 && p.revents == POLLIN, "events %x: no interrupt", p.revents);
	ok(read(file, &count, 4) == 4);
}

static void memory_works(int file)
{
	static uint8_t sent[100000], got[100000];

	fill(sent, sizeof(sent), 5);
	ok(pwrite(file, sent, sizeof(sent), 4096) == sizeof(sent));
	ok(pread(file, got, sizeof(got), 4096) == sizeof(got));
	check_bytes(got, sent, sizeof(sent), "memory");
}

static void registers_work(void)
{
	store(OPERAND, 0x1234);
	check(load(OPERAND) == 0x1234 && load(OPERAND + 4) == ~0x1234u, "%x", load(OPERAND));
}

static void copier_works(struct buffer *a, struct buffer *b)
{
	fill(a->bytes, BYTES, 3);
	memset(b->bytes, 0, BYTES);
	copy_all(a->is.card_address, b->is.card_address, BYTES);
	check(!load(ERRORS), "%u errors", load(ERRORS));
	check_pattern(b->bytes, BYTES, 3);
}

#define fails(call)							\
	do {								\
		long begun = now_ms();					\
		check((long)(call) == -1, "a call works");		\
		ok(errno == ENODEV || errno == EIO);			\
		check(now_ms() - begun < limit, "%ld ms", now_ms() - begun);	\
	} while (0)

/* Each kind of call fails, in time. */
static void all_fail(long limit)
{
	struct pollfd p = { .fd = stream_in, .events = POLLIN };
	struct buffer more;
	uint32_t word = 1;

	fails(pwrite(fd, &word, 4, 0));
	fails(pread(fd, &word, 4, 0));
	fails(write(stream_out, &word, 4));
	fails(read(stream_in, &word, 4));
	check(poll(&p, 1, 0) == 1 && (mode || p.revents & POLLERR), "stream: events %x", p.revents);
	fails(read(pulse, &word, 4));
	word = 1;
	fails(write(pulse, &word, 4));
	p.fd = pulse;
	check(poll(&p, 1, 0) == 1 && p.revents & POLLERR, "interrupt: events %x", p.revents);
	fails(pread(user, &word, 4, OPERAND));
	fails(pwrite(user, &word, 4, OPERAND));
	fails(create(fd, &more, 4096, READ));
	fails(open("/dev/litepcie0_interrupt0", O_RDWR));
}

int main(int argc, char **argv)
{
	const char *recover = argc > 4 ? argv[4] : NULL;
	struct waiter *waiters = NULL, *w;
	uint32_t on = 1, count;
	struct buffer a, b;
	long limit, begun;
	int rest;

	setbuf(stdout, NULL);
	if (argc == 2)
		return reset();
	check(argc > 3, "usage");
	limit = atol(argv[2]);
	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		if (!strcmp(argv[1], states[i].name))
			waiters = states[i].waiters;
	check(waiters, "%s", argv[1]);
	rest = !strcmp(argv[1], "rest");
	if (rest)
		flight[ARRAY_SIZE(flight) - 2] = (struct waiter){ };
	fd = open_device();
	user = open(USER, O_RDWR);
	mode = waiters == direct || waiters == posted ? O_DIRECT : 0;
	stream_in = open(STREAM, O_RDONLY | mode);
	stream_out = waiters == direct || (waiters == flight && !rest) ? open(STREAM, O_WRONLY | mode) : -1;
	pulse = open_interrupt(PULSE, 0);
	pulse_of_thread = open_interrupt(PULSE, 0);
	storm = open_interrupt(STORM, 0);
	ok(user >= 0 && stream_in >= 0);
	stop_copier();
	a = buffer(fd, BYTES, READ);
	b = buffer(fd, BYTES, WRITE);
	memset(b.bytes, 0, BYTES);
	ok(write(pulse, &on, 4) == 4);
	if (waiters == flight) {
		store(CORE_STORM, 1);
		copy(a.is.card_address, b.is.card_address, BYTES, START | AGAIN);
	}
	for (w = waiters; w->name; w++)
		check(!pthread_create(&w->thread, NULL, run, w), "%s", w->name);
	usleep(200000);
	for (w = waiters; w->name; w++)
		check(!w->ended, "%s has ended: %s", w->name, strerror(w->error));
	begun = now_ms();
	check(!system(argv[3]), "%s", argv[3]);
	if (!recover)
		stop = 1;
	for (w = waiters; w->name; w++) {
		while (!w->ended && now_ms() - begun < limit)
			usleep(10000);
		check(w->ended, "%s: still waits after %ld ms", w->name, now_ms() - begun);
		printf("%s: %s after %ld ms\n", w->name, strerror(w->error), w->ended - begun);
		check(w->error || !recover, "%s did not fail", w->name);
		check(!w->error || waiters != calm, "%s failed", w->name);
	}
	if (stream_out < 0)
		stream_out = open(STREAM, O_WRONLY | mode);
	if (recover) {
		/* With nobody who waits, the card is found gone after timeout_ms. */
		while (waiters == idle && now_ms() - begun < limit)
			usleep(10000);
		all_fail(limit);
		check(!system(recover), "%s", recover);
	}
	memory_works(open_device());
	memory_works(fd);
	registers_work();
	store(CORE_STORM, 0);
	/* Events may have been lost, which is told once. */
	if (waiters != calm)
		ok(read(pulse, &count, 4) == -1 && errno == ENODATA);
	interrupt_works(pulse);
	stream_works(stream_in, stream_out);
	stop_copier();
	copier_works(&a, &b);
	release(fd, &a);
	release(fd, &b);
	a = buffer(fd, BYTES, READ);
	b = buffer(fd, BYTES, WRITE);
	copier_works(&a, &b);
	finish("states");
}
