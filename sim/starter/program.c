// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Sends words to NAME, which adds the number in its register "offset" to each, and compares. */
#include <fcntl.h>
#include <liblitepcie.h>
#include <stdio.h>
#include <unistd.h>

#include "csr.h" /* Of the build: addresses of the registers of the SoC. */

enum { WORDS = 10000, OFFSET = 1000 };

static uint32_t sent[WORDS], got[WORDS];

int main(void)
{
	int user = open("/dev/litepcie0_user", O_RDWR), err, more = 1;
	uint32_t offset = OFFSET, before, after;
	struct litepcie_stream *stream;
	ssize_t done = 0, part;

	err = litepcie_stream_open(&stream, "/dev/litepcie0_stream0", O_RDWR);
	if (err < 0 || user < 0)
		return fprintf(stderr, "NAME: no card\n"), 1;
	for (int i = 0; i < WORDS; i++)
		sent[i] = i * 7919;
	pread(user, &before, sizeof(before), CSR_CORE_WORDS_ADDR);
	pwrite(user, &offset, sizeof(offset), CSR_CORE_OFFSET_ADDR);
	litepcie_stream_write(stream, sent, sizeof(sent), 0);
	while (more) {
		part = litepcie_stream_read(stream, (char *)got + done, sizeof(got) - done, &more);
		if (part < 0)
			return fprintf(stderr, "NAME: %s\n", litepcie_strerror(part)), 1;
		done += part;
	}
	for (int i = 0; i < WORDS; i++)
		if (got[i] != sent[i] + OFFSET)
			return fprintf(stderr, "NAME: word %d differs\n", i), 1;
	pread(user, &after, sizeof(after), CSR_CORE_WORDS_ADDR);
	printf("%u words: right\n", after - before);
	return litepcie_stream_close(stream) < 0;
}
