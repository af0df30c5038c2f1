/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* The kernel functions that ring.c and queue.c use, for a user-space program on a little-endian machine. */
#ifndef LITEPCIE_SHIM_KERNEL_H
#define LITEPCIE_SHIM_KERNEL_H

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a little-endian machine");

typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#define BIT(n)			(1ul << (n))
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define max_t(type, a, b)	((type)(a) > (type)(b) ? (type)(a) : (type)(b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define div_u64(dividend, divisor) ((u64)(dividend) / (u32)(divisor))
#define cpu_to_le32(value)	((__le32)(u32)(value))
#define le32_to_cpu(value)	((u32)(value))
#define lower_32_bits(value)	((u32)(value))
#define upper_32_bits(value)	((u32)((u64)(value) >> 32))

#define SZ_4K	0x1000
#define SZ_64K	0x10000
#define SZ_1M	0x100000
#define SZ_4M	0x400000

#endif
