/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* The actions of mem. */
#ifndef LITEPCIE_UTIL_MEM_H
#define LITEPCIE_UTIL_MEM_H

#include <errno.h>
#include <limits.h>

#include "memory.h"

#define NOT_GIVEN UINT64_MAX
#define NO_WIDTH  UINT_MAX

enum mem_pattern { PATTERN_CONSTANT, PATTERN_COUNTER, PATTERN_RANDOM };

struct mem_options {
	uint64_t offset, length, to; /* length 0, to NOT_GIVEN: not given */
	uint64_t value, seed;
	unsigned int width, pattern; /* 1 << width bytes, NO_WIDTH: not given; enum mem_pattern */
	const char *file;
	bool pio;
};

/* Each works on the range of @memory, and returns the exit code. */
int mem_read(struct memory *memory, const struct mem_options *o);
int mem_write(struct memory *memory, const struct mem_options *o);
int mem_fill(struct memory *memory, const struct mem_options *o);
int mem_dump(struct memory *memory, const struct mem_options *o);
int mem_load(struct memory *memory, const struct mem_options *o);
int mem_verify(struct memory *memory, const struct mem_options *o);

/*
 * The size of a regular file in *@bytes; NOT_GIVEN for a pipe. 0, or the exit code after one line
 * on stderr.
 */
int mem_file_bytes(const char *path, uint64_t *bytes);

#endif /* LITEPCIE_UTIL_MEM_H */
