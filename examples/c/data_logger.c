// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Records samples of a data logger (examples/gateware/data_logger.py) at PERCENT of the
 * link's raw rate, checks each of them, and says how many records were lost.
 *
 *	data_logger [PERCENT [RECORDS]]
 */
#include <fcntl.h>
#include <liblitepcie.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Registers in /dev/litepcie0_user; csr.h of the board has them. */
enum { RATE = 0x0, OVERRUNS = 0x4 };
enum { SAMPLES = 504, BEAT_BYTES = 16 };

struct record {
	uint32_t sequence, lost;
	uint64_t time;
	uint16_t samples[SAMPLES];
};

static void set(int user, off_t offset, uint32_t value)
{
	if (pwrite(user, &value, sizeof(value), offset) != sizeof(value))
		perror("/dev/litepcie0_user");
}

/* Whole records: a read may return fewer bytes. */
static int fill(int stream, struct record *record)
{
	size_t done = 0;

	while (done < sizeof(*record)) {
		ssize_t got = read(stream, (char *)record + done, sizeof(*record) - done);

		if (got <= 0)
			return -1;
		done += got;
	}
	return 0;
}

static int wrong(const struct record *record)
{
	for (int i = 0; i < SAMPLES; i++)
		if (record->samples[i] != (uint16_t)(record->sequence * SAMPLES + i))
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int percent = argc > 1 ? atoi(argv[1]) : 80, lost = 0;
	unsigned int records = argc > 2 ? atoi(argv[2]) : 2048;
	int stream = open("/dev/litepcie0_stream0", O_RDONLY);
	int user = open("/dev/litepcie0_user", O_RDWR), err;
	struct pollfd begin = { .fd = stream, .events = POLLIN };
	struct record record = {};
	struct litepcie_info info;
	struct litepcie *card;
	uint64_t first = 0;
	double link = 0;

	err = litepcie_open_index(&card, 0);
	if (!err)
		err = litepcie_get_info(card, &info);
	if (!err)
		err = litepcie_theory_raw(info.link_gen, info.link_lanes, &link);
	if (err < 0 || stream < 0 || user < 0)
		return fprintf(stderr, "data_logger: %s\n", litepcie_strerror(err ? err : -6)), 1;
	set(user, RATE, 0);
	poll(&begin, 1, 0); /* The ring begins before the samples. */
	set(user, RATE, 65536 * percent / 100 * link / (BEAT_BYTES * (double)info.clock_hz));
	for (unsigned int n = 0; n < records; n++) {
		if (fill(stream, &record))
			return perror("/dev/litepcie0_stream0"), 1;
		if (wrong(&record) || record.sequence != n + record.lost)
			return fprintf(stderr, "record %u is wrong\n", n), 1;
		first = n ? first : record.time;
		lost = record.lost;
	}
	set(user, RATE, 0);
	printf("%u records, %u lost, %.1f MB/s\n", records, lost,
	       1e-6 * (records - 1) * sizeof(record) * info.clock_hz / (record.time - first));
	return 0;
}
