/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* The stream of the mock card, for mock_card.c. */
#ifndef MOCK_STREAM_H
#define MOCK_STREAM_H

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define STREAM_DEVICE "/dev/litepcie0_stream0"
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static inline uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static inline int fail(int error)
{
	errno = error;
	return -1;
}

int mock_stream_open(int flags);
bool mock_stream_is(int fd);
int mock_stream_ioctl(unsigned long request, void *argument);
/* In mock_card.c: what tests wait for. */
void mock_say(const char *event, unsigned long number);
int mock_say_and_wait(const char *event, unsigned long number, const struct timespec *time);

#endif /* MOCK_STREAM_H */
