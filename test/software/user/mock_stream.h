/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* The stream of the mock card, for mock_card.c. */
#ifndef MOCK_STREAM_H
#define MOCK_STREAM_H

#include <stdbool.h>
#include <time.h>

#define STREAM_DEVICE "/dev/litepcie0_stream0"

int mock_stream_open(int flags);
bool mock_stream_is(int fd);
/* In mock_card.c: what tests wait for. */
void mock_say(const char *event, unsigned long number);
int mock_say_and_wait(const char *event, unsigned long number, const struct timespec *time);

int mock_stream_ioctl(unsigned long request, void *argument);

#endif /* MOCK_STREAM_H */
