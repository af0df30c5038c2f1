/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* Paths of the driver whose allocations fail in turn. */
#ifndef LITEPCIE_TEST_FAIL_NTH_H
#define LITEPCIE_TEST_FAIL_NTH_H

#include "../check.h"

#define MIB	(1 << 20)

/* A path has a preparation without failures, the path itself, and the way back. */
struct path {
	const char *name;
	void (*before)(void);
	/* Returns a negative number, and errno, if it failed. */
	long (*run)(void);
	void (*after)(void);
};

/* Tables that end with a path without a name. */
extern const struct path memory_paths[], node_paths[];

/* 2 MiB of the program, the open card, and another file of a path. */
extern uint8_t *memory;
extern int card, helper;

/* Writes `value` to the file `name` in the folder `path`. */
void set(const char *path, const char *name, const char *value);
/* Ends a mapping. The allocation that fails can be one of munmap(), which then leaves the mapping. */
void unmap(void *at, size_t bytes);
void nothing(void);
void before_card(void);
void after_card(void);

#endif
