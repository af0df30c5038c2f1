// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* usage: stream TEST [ARGUMENT ...] */
#include "stream.h"

char **arguments;

struct litepcie_stream_setup set_up(int fd, unsigned int direction, unsigned int depth, unsigned int buffer_bytes,
				    unsigned int mode)
{
	struct litepcie_stream_setup setup = { .size = sizeof(setup), .direction = direction, .depth = depth,
		.buffer_bytes = buffer_bytes, .mode = mode };

	check(!ioctl(fd, LITEPCIE_IOC_STREAM_SETUP, &setup), "%u x %u: %s", depth, buffer_bytes, strerror(errno));
	return setup;
}

struct litepcie_stream_info info_of(int fd, unsigned int direction)
{
	struct litepcie_stream_info info = { .size = sizeof(info), .direction = direction };

	ok(!ioctl(fd, LITEPCIE_IOC_STREAM_INFO, &info));
	return info;
}

void await(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	check(poll(&p, 1, 60000) == 1, "no event in a minute");
	check(p.revents & events, "events %x, wanted %x", p.revents, events);
}

void write_all(int fd, const uint8_t *bytes, size_t length)
{
	ssize_t n = write(fd, bytes, length);

	check(n == (ssize_t)length, "write of %zu: %zd, %s", length, n, strerror(errno));
}

void send_packet(int fd, size_t length, uint32_t pass)
{
	uint8_t *bytes = malloc(length);

	check(bytes != NULL, "memory");
	fill(bytes, length, pass);
	write_all(fd, bytes, length);
	free(bytes);
}

/* The card may give a packet in several parts, and a read takes what has come. */
void expect_packet(int fd, size_t length, uint32_t pass)
{
	uint8_t *expected = malloc(length), *got = malloc(length + 1);
	size_t have = 0;
	ssize_t n;

	check(expected && got, "memory");
	fill(expected, length, pass);
	while (have < length) {
		n = read(fd, got + have, length + 1 - have);
		check(n > 0, "read after %zu of %zu: %zd, %s", have, length, n, strerror(errno));
		have += n;
	}
	check(have == length, "%zu bytes instead of %zu: the next packet began", have, length);
	check_bytes(got, expected, length, "packet");
	free(expected);
	free(got);
}

void loop_packet(int fd, size_t length, uint32_t pass)
{
	send_packet(fd, length, pass);
	expect_packet(fd, length, pass);
}

ssize_t read_with_header(int fd, struct litepcie_stream_header *header, uint8_t *bytes, size_t most)
{
	struct iovec pieces[2] = { { header, sizeof(*header) }, { bytes, most } };
	ssize_t n = readv(fd, pieces, 2);

	return n < 0 ? n : n - (ssize_t)sizeof(*header);
}

/*
 * After a reset of the card's reader in a packet, the beats that had left it still loop back,
 * without an end: they come before the next packet, as a packet that was cut.
 */
void resync(void)
{
	static const uint8_t mark[] = "all before this goes";
	struct litepcie_stream_header header;
	int fd = opened(STREAM, O_RDWR);
	uint8_t bytes[1000];
	ssize_t n;

	set_up(fd, LITEPCIE_FROM_CARD, 0, 0, LITEPCIE_STREAM_HEADERS);
	/* What is whole may be left as well: all before this packet goes. */
	write_all(fd, (void *)mark, sizeof(mark));
	do {
		n = read_with_header(fd, &header, bytes, sizeof(bytes));
		ok(n > 0 || errno == ENODATA);
	} while (n != sizeof(mark) || memcmp(bytes, mark, sizeof(mark)));
	close(fd);
}

unsigned long long counter(const char *direction, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/litepcie_stream/litepcie0_stream0/%s/%s", direction, name);
	return number_in(path);
}

int main(int argc, char **argv)
{
	const struct test *tables[] = { call_tests, ring_tests, loss_tests, pattern_tests, direct_tests,
		direct_memory_tests };
	int fd;

	check(argc > 1, "usage: stream TEST");
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		for (const struct test *t = tables[i]; t->name; t++)
			if (!strcmp(t->name, argv[1])) {
				arguments = argv + 2;
				/* Another test may have left a part of a packet, or a whole one. */
				if (tables[i] != pattern_tests && (fd = open(STREAM, O_RDWR)) >= 0) {
					close(fd);
					resync();
				}
				t->run();
				finish(argv[1]);
			}
	check(0, "no test %s", argv[1]);
}
