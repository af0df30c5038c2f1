/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* Buffers of other devices, and calls that attach and move them. */
#ifndef LITEPCIE_TEST_DMABUF_H
#define LITEPCIE_TEST_DMABUF_H

#include <linux/litepcie.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include "../../exporter/exporter.h"
#include "../check.h"

struct buffer {
	int fd;
	size_t bytes;
	uint8_t *memory;
	uint32_t handle; /* in the file that attached it last */
};

/* Where buffers come from: /dev/exporter, or else udmabuf. */
extern int exporter;

struct buffer buffer_new(size_t bytes, uint32_t flags);
void buffer_free(struct buffer *b);
/* The processor begins to access the buffer, or has ended. */
void buffer_begin(struct buffer *b);
void buffer_end(struct buffer *b);
/* What the exporter counts: attached, mapped or buffers. */
int counted(const char *what);

int attach(int fd, struct buffer *b);
int detach(int fd, uint32_t handle);
struct litepcie_dmabuf_move move_of(struct buffer *b, unsigned int direction, uint64_t offset, uint64_t card_offset,
				    uint64_t bytes);
/* Bytes moved, or -1. */
long move(int fd, struct buffer *b, unsigned int direction, uint64_t offset, uint64_t card_offset, uint64_t bytes);
/* Ticket, or -1. */
long start(int fd, struct buffer *b, unsigned int direction, uint64_t offset, uint64_t card_offset, uint64_t bytes);
/* Bytes moved, or -1. */
long wait_for(int fd, uint32_t ticket, uint32_t flags);

void bad_arguments(int fd);

#endif
