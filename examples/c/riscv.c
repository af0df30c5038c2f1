// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Lets the card's processor add up words in a memory that it shares with the
 *host, and waits for its interrupt (examples/gateware/riscv.py). Does so
 *REQUESTS times.
 *
 *	riscv [REQUESTS]
 */
#include <fcntl.h>
#include <liblitepcie.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Places in /dev/litepcie0_user. */
enum { ASKED = 0x0, ANSWERED = 0x4, COUNT = 0x8, SUM = 0xc, DATA = 0x10, WORDS = 1000 };

static int put(int user, off_t offset, const uint32_t *words, uint32_t count)
{
	ssize_t bytes = count * sizeof(*words);

	return pwrite(user, words, bytes, offset) == bytes ? 0 : -1;
}

static int get(int user, off_t offset, uint32_t *word)
{
	return pread(user, word, sizeof(*word), offset) == sizeof(*word) ? 0 : -1;
}

static int ask(int user, struct litepcie_interrupt *answer, uint32_t count)
{
	uint32_t words[WORDS], sum = 0, number, answered, got;
	int err;

	for (uint32_t i = 0; i < count; i++)
		sum += words[i] = random();
	if (get(user, ASKED, &number) || litepcie_interrupt_arm(answer, 1))
		return perror("/dev/litepcie0_user"), 1;
	number++;
	/* The number last: the processor begins when it sees it. */
	if (put(user, DATA, words, count) || put(user, COUNT, &count, 1) ||
	    put(user, ASKED, &number, 1))
		return perror("/dev/litepcie0_user"), 1;
	err = litepcie_interrupt_wait(answer, 10000, NULL);
	if (err)
		return fprintf(stderr, "answer: %s\n", litepcie_strerror(err)), 1;
	if (get(user, ANSWERED, &answered) || get(user, SUM, &got))
		return perror("/dev/litepcie0_user"), 1;
	if (answered != number || got != sum)
		return fprintf(stderr, "request %u: the answer is wrong\n", number), 1;
	return 0;
}

int main(int argc, char **argv)
{
	int requests = argc > 1 ? atoi(argv[1]) : 10, user = open("/dev/litepcie0_user", O_RDWR),
	    err;
	struct litepcie_interrupt *answer;

	if (user < 0)
		return perror("/dev/litepcie0_user"), 1;
	err = litepcie_interrupt_open(&answer, 0, "answer");
	if (err)
		return fprintf(stderr, "answer: %s\n", litepcie_strerror(err)), 1;
	for (int n = 0; n < requests && !err; n++)
		err = ask(user, answer, n * 97 % (WORDS + 1));
	litepcie_interrupt_close(answer);
	if (!err)
		printf("%d requests: the processor's sums are right\n", requests);
	return err;
}
