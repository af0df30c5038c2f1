/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* Shared by the tests of /dev/litepcie0_stream0: the card sends back what is written, packet by packet. */
#ifndef LITEPCIE_TEST_STREAM_H
#define LITEPCIE_TEST_STREAM_H

#include <linux/litepcie_stream.h>

#include "../check.h"

/* Of the command line, after the name of the test. */
extern char **arguments;

extern const struct test call_tests[], ring_tests[], loss_tests[], pattern_tests[], direct_tests[],
	direct_memory_tests[];

struct litepcie_stream_setup set_up(int fd, unsigned int direction, unsigned int depth,
				    unsigned int buffer_bytes, unsigned int mode);
struct litepcie_stream_info info_of(int fd, unsigned int direction);
void await(int fd, short events);
void write_all(int fd, const uint8_t *bytes, size_t length);
void send_packet(int fd, size_t length, uint32_t pass);
void expect_packet(int fd, size_t length, uint32_t pass);
/* Both of them. */
void loop_packet(int fd, size_t length, uint32_t pass);
ssize_t read_with_header(int fd, struct litepcie_stream_header *header, uint8_t *bytes, size_t most);
void resync(void);
unsigned long long counter(const char *direction, const char *name);
/* Of all cards: bytes that the driver copied, and pages that it has pinned. */
unsigned long long copied(void);
long long pinned(void);
/* Waits until a call has its memory pinned, to post it. */
void await_pinned(void);

#endif
