// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Entry of the program, system calls, and the functions that the compiler calls. */
#include "system.h"

unsigned int checks;

asm(".globl _start\n"
    "_start:\n"
    "	xor %ebp, %ebp\n"
    "	and $-16, %esp\n"
    "	call run\n"
    ".globl call_kernel\n"
    "call_kernel:\n"
    "	push %ebp\n"
    "	push %edi\n"
    "	push %esi\n"
    "	push %ebx\n"
    "	mov 20(%esp), %eax\n"
    "	mov 24(%esp), %ebx\n"
    "	mov 28(%esp), %ecx\n"
    "	mov 32(%esp), %edx\n"
    "	mov 36(%esp), %esi\n"
    "	mov 40(%esp), %edi\n"
    "	mov 44(%esp), %ebp\n"
    "	int $0x80\n"
    "	pop %ebx\n"
    "	pop %esi\n"
    "	pop %edi\n"
    "	pop %ebp\n"
    "	ret\n");

void *memset(void *to, int value, size_t count)
{
	volatile __u8 *bytes = to;

	while (count--)
		*bytes++ = value;
	return to;
}

void *memcpy(void *to, const void *from, size_t count)
{
	const volatile __u8 *source = from;
	volatile __u8 *bytes = to;

	while (count--)
		*bytes++ = *source++;
	return to;
}

void say(const char *text)
{
	unsigned int length = 0;

	while (text[length])
		length++;
	call(__NR_write, 1, text, length, 0, 0, 0);
}

void say_number(long number)
{
	char digits[12], *at = digits + sizeof(digits) - 1;
	unsigned long rest = number < 0 ? -number : number;

	*at = 0;
	do
		*--at = '0' + rest % 10;
	while (rest /= 10);
	if (number < 0)
		*--at = '-';
	say(at);
}

void fill(__u8 *bytes, unsigned int count, unsigned int seed)
{
	for (unsigned int i = 0; i < count; i++) {
		seed = seed * 1664525 + 1013904223;
		bytes[i] = seed >> 24;
	}
}

int equal(const void *a, const void *b, unsigned int count)
{
	const __u8 *x = a, *y = b;

	while (count && *x == *y)
		x++, y++, count--;
	return !count;
}

void end(int status)
{
	for (;;)
		call(__NR_exit, status, 0, 0, 0, 0, 0);
}
