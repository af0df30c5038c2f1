// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * /dev/litepcie0_stream1, whose card sends a pattern and checks one (gateware/stream_dma/pattern.py). Every word and
 * every packet end is compared: a gap, a repetition or a word of before is found.
 */
#include "stream.h"

#define PATTERN "/dev/litepcie0_stream1"
#define WORDS_MAX 8
#define DEPTH 8 /* buffers, of the program that is cut off */

static unsigned int width; /* words of 64 bit in a beat */

static int ends(uint32_t beat)
{
	uint32_t low = beat & 0x3fff;

	return (beat & 0xfff) == 0xfff || low == 0x100 || low == 0x101 || low == 0x117;
}

static unsigned int bytes_of(uint32_t beat)
{
	return ends(beat) ? (beat >> 14) % (8 * width) + 1 : 8 * width;
}

static void make_beat(uint32_t beat, uint64_t *words)
{
	for (uint32_t n = 0; n < width; n++)
		words[n] = (width * beat + n) | (uint64_t)~(width * beat + n) << 32;
}

/* Makes the packet that begins with *beat, of at most a buffer; returns its bytes. */
static uint32_t make_packet(uint32_t *beat, uint8_t *to, size_t most)
{
	uint64_t words[WORDS_MAX];
	uint32_t have = 0, last;

	do {
		last = (*beat)++;
		make_beat(last, words);
		memcpy(to + have, words, bytes_of(last));
		have += bytes_of(last);
	} while (have < most && !ends(last));
	check(ends(last), "a packet is at most a buffer");
	return have;
}

/* Compares bytes with the pattern from place *at of beat *beat on. */
struct place {
	uint32_t beat;
	unsigned int at;
	int known;
};

static void compare(struct place *p, const uint8_t *bytes, size_t length, int more)
{
	uint64_t words[WORDS_MAX];

	if (!p->known) {
		memcpy(words, bytes, 8);
		p->beat = (uint32_t)words[0] / width;
		p->known = 1;
	}
	while (length) {
		unsigned int part = bytes_of(p->beat) - p->at;

		part = part < length ? part : length;
		make_beat(p->beat, words);
		if (memcmp(bytes, (uint8_t *)words + p->at, part))
			check_bytes(bytes, (uint8_t *)words + p->at, part, "pattern");
		bytes += part;
		length -= part;
		p->at += part;
		if (p->at < bytes_of(p->beat))
			break;
		check(length || ends(p->beat) != more, "the end of the packet at beat %u", p->beat);
		check(!length || !ends(p->beat), "two packets in a buffer at beat %u", p->beat);
		p->at = 0;
		p->beat++;
	}
}

static void set_width(const char *bits)
{
	width = bits ? atoi(bits) / 64 : 0;
	check(width >= 1 && width <= WORDS_MAX, "bits of a beat: 64 to 512");
}

/* usage: stream source read|map|direct MEBIBYTES BITS [DEPTH] */
static void source(void)
{
	uint64_t left = strtoull(arguments[1], NULL, 0) << 20, total = left, calls = 0, full = 0;
	int map = !strcmp(arguments[0], "map"), direct = !strcmp(arguments[0], "direct");
	int fd = opened(PATTERN, O_RDONLY | (direct ? O_DIRECT : 0));
	static uint8_t bytes[1 << 18];
	struct litepcie_stream_header header;
	struct litepcie_stream_ring *ring = NULL;
	struct litepcie_stream_info info;
	struct place place = { 0 };
	double begin = now();

	set_width(arguments[2]);
	set_up(fd, LITEPCIE_FROM_CARD, arguments[3] ? atoi(arguments[3]) : 0, 0, LITEPCIE_STREAM_HEADERS);
	info = info_of(fd, LITEPCIE_FROM_CARD);
	if (!direct)
		ring = mmap(NULL, info.map_bytes, PROT_READ, MAP_SHARED, fd, info.map_offset);
	ok(ring != MAP_FAILED);
	/* All buffers are full: what a program that is slower than the card meets. */
	await(fd, POLLIN);
	while (ring && info_of(fd, LITEPCIE_FROM_CARD).ready < ring->depth)
		usleep(10000);
	while (left && !map) {
		ssize_t n = read_with_header(fd, &header, bytes, sizeof(bytes));

		ok(n > 0);
		if (++calls == (ring ? ring->depth : 1))
			full = calls;
		compare(&place, bytes, n, header.flags);
		left -= (uint64_t)n < left ? (uint64_t)n : left;
	}
	while (left) {
		struct litepcie_stream_advance a = { .size = sizeof(a), .direction = LITEPCIE_FROM_CARD };
		uint32_t tail = ring->tail, head;

		head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
		if (head == tail) {
			await(fd, POLLIN);
			calls++;
			continue;
		}
		for (; tail + a.count != head; a.count++) {
			uint32_t slot = ring->slots[(tail + a.count) & (ring->depth - 1)];
			uint64_t n = slot & LITEPCIE_STREAM_SLOT_BYTES;

			compare(&place, (uint8_t *)ring + info.buffers_offset + (size_t)((tail + a.count) &
				(ring->depth - 1)) * ring->stride, n, !(slot & LITEPCIE_STREAM_SLOT_LAST));
			left -= n < left ? n : left;
		}
		ok(!ioctl(fd, LITEPCIE_IOC_STREAM_ADVANCE, &a));
		calls++;
		if (a.count == ring->depth)
			full = 1;
	}
	info = info_of(fd, LITEPCIE_FROM_CARD);
	check(full == (map || direct ? 1 : ring->depth), "%llu calls for a full ring", (unsigned long long)full);
	printf("%s: %llu calls for a full ring, %.1f calls/MiB, %.1f MiB/s of the guest's time, %llu overruns\n",
	       arguments[0], (unsigned long long)full, (double)calls / (total >> 20), (total >> 20) / (now() - begin),
	       (unsigned long long)info.overruns);
}

/* Writes the pattern from beat 0 on; prints the number of beats. usage: stream check write|map|direct MEBIBYTES BITS */
static void checker(void)
{
	uint64_t left = strtoull(arguments[1], NULL, 0) << 20, total = left, calls = 0;
	/* mmap() asks for a file that is open for reading too. */
	int map = !strcmp(arguments[0], "map"), direct = !strcmp(arguments[0], "direct") ? O_DIRECT : 0;
	int fd = opened(PATTERN, map ? O_RDWR : O_WRONLY | direct);
	struct litepcie_stream_advance a = { .size = sizeof(a), .direction = LITEPCIE_TO_CARD };
	struct litepcie_stream_ring *ring = NULL;
	struct litepcie_stream_info info;
	static uint8_t bytes[65536];
	uint32_t beat = 0, have;
	double begin = now();

	set_width(arguments[2]);
	info = info_of(fd, LITEPCIE_TO_CARD);
	if (map)
		ring = mmap(NULL, info.map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, info.map_offset);
	ok(!map || (ring != MAP_FAILED && ring->buffer_bytes == sizeof(bytes)));
	if (map)
		ok(!ioctl(fd, LITEPCIE_IOC_STREAM_ADVANCE, &a));
	while (left) {
		uint32_t tail = a.tail;
		uint8_t *to = map ? (uint8_t *)ring + info.buffers_offset +
				    (size_t)(tail & (ring->depth - 1)) * ring->stride : bytes;

		if (map && tail - __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE) == ring->depth) {
			await(fd, POLLOUT);
			calls++;
			continue;
		}
		have = make_packet(&beat, to, sizeof(bytes));
		if (map) {
			ring->slots[tail & (ring->depth - 1)] = have | LITEPCIE_STREAM_SLOT_LAST;
			a.count = 1;
			ok(!ioctl(fd, LITEPCIE_IOC_STREAM_ADVANCE, &a));
		} else {
			write_all(fd, bytes, have);
		}
		calls++;
		left -= have < left ? have : left;
	}
	ok(!fsync(fd));
	printf("%s: %.1f calls/MiB, %.1f MiB/s of the guest's time\nbeats %u\n", arguments[0],
	       (double)calls / (total >> 20), (total >> 20) / (now() - begin), beat);
}

/*
 * Closes the source in the middle, at many moments. The next file goes on where the bytes end that the driver counted
 * as lost, or with the packet after them: the card drops the rest of a packet that was cut, which counts as lost when
 * that file is closed. usage: stream dropped TIMES BITS
 */
static void dropped(void)
{
	unsigned int times = strtoul(arguments[0], NULL, 0);
	struct litepcie_stream_header header;
	static uint8_t bytes[1 << 16];
	struct place place = { 0 };
	uint64_t lost = 0, all = 0, rest = 0;

	set_width(arguments[1]);
	for (unsigned int i = 0; i < times; i++) {
		int fd = opened(PATTERN, O_RDONLY);
		uint64_t before = lost;

		lost = info_of(fd, LITEPCIE_FROM_CARD).lost_bytes;
		set_up(fd, LITEPCIE_FROM_CARD, 2 << i % 4, 1000 + 7777 * (i % 5), LITEPCIE_STREAM_HEADERS);
		for (uint64_t left = i ? lost - before - rest : 0; left; all++, left--)
			if (++place.at == bytes_of(place.beat)) {
				place.at = 0;
				place.beat++;
			}
		check(!place.at, "the card drops whole beats: %u bytes of one are left", place.at);
		for (rest = 0; i && !ends(place.beat - 1); place.beat++)
			rest += bytes_of(place.beat);
		all += rest;
		for (unsigned int n = 0; n <= i % 7; n++) {
			size_t most = n < i % 7 ? sizeof(bytes) : 8 + i * 331 % 900;
			ssize_t got = read_with_header(fd, &header, bytes, most);

			ok(got > 0);
			compare(&place, bytes, got, header.flags);
		}
		close(fd);
	}
	printf("dropped %llu bytes\n", (unsigned long long)all);
}

/* A signal ends close() while the card has not taken all. usage: stream interrupted BITS; prints written and lost. */
static void interrupted(void)
{
	struct itimerval soon = { .it_value.tv_usec = 1000 };
	int fd = opened(PATTERN, O_WRONLY | O_NONBLOCK);
	static uint8_t bytes[65536];
	uint64_t written = 0, lost;
	ssize_t n;

	set_width(arguments[0]);
	alarm_ends_calls();
	lost = info_of(fd, LITEPCIE_TO_CARD).lost_bytes;
	for (uint32_t beat = 0;;) {
		uint32_t have = make_packet(&beat, bytes, sizeof(bytes));

		n = write(fd, bytes, have);
		written += n > 0 ? n : 0;
		if (n != have)
			break;
	}
	ok(n > 0 || errno == EAGAIN);
	ok(!setitimer(ITIMER_REAL, &soon, NULL));
	close(fd);
	fd = opened(PATTERN, O_WRONLY);
	lost = info_of(fd, LITEPCIE_TO_CARD).lost_bytes - lost;
	printf("written %llu lost %llu\n", (unsigned long long)written, (unsigned long long)lost);
}

/* The source by read(), also with O_DIRECT, or by the mapped ring. */
struct taker {
	int fd, map, direct;
	struct litepcie_stream_info info;
	struct litepcie_stream_ring *ring;
	unsigned int held; /* buffers to give back */
};

static struct taker begin_taking(int map, int direct)
{
	struct taker t = { .fd = opened(PATTERN, O_RDONLY | (direct ? O_DIRECT : 0)), .map = map, .direct = direct };

	set_up(t.fd, LITEPCIE_FROM_CARD, DEPTH, 5000, LITEPCIE_STREAM_HEADERS);
	t.info = info_of(t.fd, LITEPCIE_FROM_CARD);
	if (map)
		t.ring = mmap(NULL, t.info.map_bytes, PROT_READ, MAP_SHARED, t.fd, t.info.map_offset);
	ok(t.ring != MAP_FAILED);
	return t;
}

static void end_taking(struct taker *t)
{
	ok(!t->map || !munmap(t->ring, t->info.map_bytes));
	ok(!close(t->fd));
}

/* The next bytes of one packet, and whether it goes on: their number, or a negative errno. */
static ssize_t take(struct taker *t, const uint8_t **bytes, int *more)
{
	struct litepcie_stream_advance a = { .size = sizeof(a), .direction = LITEPCIE_FROM_CARD };
	struct litepcie_stream_header header;
	static uint8_t copy[3000];
	uint32_t slot;
	ssize_t n;

	if (!t->map) {
		n = read_with_header(t->fd, &header, copy, sizeof(copy));
		*bytes = copy;
		*more = header.flags;
		return n < 0 ? -errno : n;
	}
	for (;;) {
		struct pollfd p = { .fd = t->fd, .events = POLLIN };

		a.count = t->held;
		if (ioctl(t->fd, LITEPCIE_IOC_STREAM_ADVANCE, &a))
			return -errno;
		t->held = 0;
		if (a.head != a.tail)
			break;
		check(poll(&p, 1, 60000) == 1, "no event in a minute");
	}
	slot = t->ring->slots[a.tail % DEPTH];
	*bytes = (uint8_t *)t->ring + t->info.buffers_offset + a.tail % DEPTH * (size_t)t->ring->stride;
	*more = !(slot & LITEPCIE_STREAM_SLOT_LAST);
	t->held = 1;
	return slot & LITEPCIE_STREAM_SLOT_BYTES;
}

/* Takes parts, the last of which ends in the middle of a packet. If no place is known, they begin with a packet. */
static int take_half(struct taker *t, struct place *place)
{
	const uint8_t *bytes = NULL;
	int more = 0;
	ssize_t n;

	for (unsigned int parts = 0; parts < 3 || !more; parts++) {
		n = take(t, &bytes, &more);
		if (n < 0)
			return n;
		/* A packet may have less than a word, which does not tell its place. */
		if (!place->known && n < 8)
			continue;
		if (!place->known) {
			compare(place, bytes, 8, n > 8 || more);
			check(ends(place->beat - !place->at - 1), "no packet begins at beat %u",
			      place->beat - !place->at);
			bytes += 8;
			n -= 8;
		}
		if (n)
			compare(place, bytes, n, more);
	}
	return 0;
}

/*
 * Cuts packets of the source, or does what cuts none, and goes on. What comes without an error has no gap. What comes
 * after an error, or in a new file, begins with a packet. CUT and BACK are shell commands. Without CUT the file is
 * closed. ERRORS is how often a call fails after BACK; with -1, none fails at all.
 * usage: stream cuts read|map|direct BITS ERRORS CUT BACK
 */
static void cuts(void)
{
	struct taker t = begin_taking(!strcmp(arguments[0], "map"), !strcmp(arguments[0], "direct"));
	int errors = atoi(arguments[2]);
	struct place place = { 0 };

	set_width(arguments[1]);
	for (int i = 0; i < 3; i++) {
		int error = take_half(&t, &place);

		check(!error, "%s", strerror(-error));
		/* An overrun: all buffers are full. */
		while (!t.direct && info_of(t.fd, LITEPCIE_FROM_CARD).ready < DEPTH)
			usleep(1000);
		if (!*arguments[3]) {
			end_taking(&t);
			t = begin_taking(t.map, t.direct);
		} else {
			check(!system(arguments[3]), "%s", arguments[3]);
			while (errors >= 0 && !take_half(&t, &place))
				;
			check(!system(arguments[4]), "%s", arguments[4]);
		}
		if (errors >= 0)
			place = (struct place){ 0 };
		for (int failed = 0; failed < errors; failed++)
			check(take_half(&t, &place) < 0, "error %d of %d did not come", failed + 1, errors);
	}
	ok(!take_half(&t, &place));
	end_taking(&t);
}

const struct test pattern_tests[] = {
	{ "cuts", cuts }, { "source", source }, { "check", checker }, { "dropped", dropped },
	{ "interrupted", interrupted }, { }
};
