/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/*
 * Shared by the tests of /dev/litepcie0_stream0, which the card loops back: what
 * is written comes back, packet by packet.
 */
#ifndef LITEPCIE_TEST_STREAM_H
#define LITEPCIE_TEST_STREAM_H

#define _GNU_SOURCE
#include <linux/litepcie_stream.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#include "../check.h"

#define STREAM "/dev/litepcie0_stream0"

/* Of the command line, after the name of the test. */
extern char **arguments;

extern const struct test call_tests[], ring_tests[], loss_tests[], pattern_tests[];

int open_stream(int flags);
struct litepcie_stream_setup set_up(int fd, unsigned int direction, unsigned int depth,
				    unsigned int buffer_bytes, unsigned int mode);
struct litepcie_stream_info info_of(int fd, unsigned int direction);
void await(int fd, short events);
void write_all(int fd, const uint8_t *bytes, size_t length);
void send_packet(int fd, size_t length, uint32_t pass);
void expect_packet(int fd, size_t length, uint32_t pass);
ssize_t read_with_header(int fd, struct litepcie_stream_header *header, uint8_t *bytes,
			 size_t most);
void resync(void);
unsigned long long counter(const char *direction, const char *name);

#endif
