// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Sends records to a card that returns their CRC-32 (examples/gateware/stream_crc.py),
 * compares with its own, and says how many bytes per second the card has taken.
 *
 *	stream_crc [RECORDS [BYTES]]
 */
#include <fcntl.h>
#include <liblitepcie.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Registers in /dev/litepcie0_user; csr.h of the board has them. */
enum { BEATS = 0x0, CYCLES = 0x4 };
enum { WINDOW = 32, BEAT_BYTES = 16, CLOCK_HZ = 125000000 };

static uint32_t crc32(const unsigned char *byte, size_t bytes)
{
	uint32_t crc = ~0u;

	while (bytes--) {
		crc ^= *byte++;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static uint32_t get(int user, off_t offset)
{
	uint32_t value = 0;

	if (pread(user, &value, sizeof(value), offset) != sizeof(value))
		perror("/dev/litepcie0_user");
	return value;
}

/* Record @n begins at its number in the data. Its length depends on it, too. */
static size_t length(unsigned int n, size_t bytes)
{
	return bytes - n % (bytes < 37 ? bytes : 37);
}

int main(int argc, char **argv)
{
	unsigned int records = argc > 1 ? atoi(argv[1]) : 256, sent = 0, done = 0;
	size_t bytes = argc > 2 ? strtoul(argv[2], NULL, 0) : 16384;
	int user = open("/dev/litepcie0_user", O_RDONLY), err, more;
	unsigned char *data = malloc(bytes + records);
	uint32_t results[256], beats, cycles;
	struct litepcie_stream *stream;
	ssize_t got = 0;

	err = litepcie_stream_open(&stream, "/dev/litepcie0_stream0", O_RDWR);
	if (err < 0 || user < 0 || !data || !bytes) {
		fprintf(stderr, "stream_crc: %s\n", err < 0 ? litepcie_strerror(err) : "no card");
		return 1;
	}
	for (size_t i = 0; i < bytes + records; i++)
		data[i] = rand();
	beats = get(user, BEATS);
	cycles = get(user, CYCLES);
	while (done < records && got >= 0) {
		/* With more records on the way, results that nobody reads would stop the card. */
		for (; sent < records && sent - done < WINDOW && got >= 0; sent++)
			got = litepcie_stream_write(stream, data + sent, length(sent, bytes), 0);
		if (got >= 0)
			got = litepcie_stream_read(stream, results, sizeof(results), &more);
		for (ssize_t i = 0; i < got / 4; i++, done++) {
			if (results[i] != crc32(data + done, length(done, bytes)))
				return fprintf(stderr, "record %u differs\n", done), 1;
		}
	}
	litepcie_stream_close(stream);
	if (got < 0)
		return fprintf(stderr, "stream_crc: %s\n", litepcie_strerror(got)), 1;
	beats = get(user, BEATS) - beats;
	cycles = get(user, CYCLES) - cycles;
	printf("%u records: CRCs equal, %u beats in %u cycles, %.1f MB/s\n", records, beats, cycles,
	       cycles ? 1e-6 * beats * BEAT_BYTES * CLOCK_HZ / cycles : 0);
	return 0;
}
