// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * A plugin of QEMU's software emulation (TCG): counts what the guest executes between the marks that cost.c makes.
 *
 * count.so,log=PATH       appends a line for each pair of marks: instructions of programs, instructions of the kernel,
 *                         system calls, loads and stores of kernel modules that reach a device
 * count.so,profile=PATH   writes executed instructions by address of their block, for the last pair of marks
 * count.so,timer=PATH     leaves out the timer interrupts; PATH has the address of their entry, as /proc/kallsyms
 *                         writes it, and is read at the first of each pair of marks. For one processor
 *
 * How many timer interrupts come while a program waits for the card depends on the speed of the machine.
 *
 * All processors are counted together. An instruction with a REP prefix counts once for each of its repetitions that
 * the emulator executes on its own. Source: version 7 of QEMU's plugin interface, of QEMU 11.1.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK_BYTES 7    /* nopl disp32(%rax); the displacement is MARK + number */
#define MARK       0x4c500000u
#define START      0
#define STOP       1

/* Instructions around an interrupt. Its entry is a stub that begins with CLD and PUSH, within these bytes. */
#define PUSH       "\x6a\xff"
#define IRET       "\x48\xcf"
#define SYSRET     "\x48\x0f\x07"
#define STUB_BYTES 32

#define KERNEL     0xffff800000000000u
#define MODULES    0xffffffffc0000000u /* x86-64 loads modules from here on */

/* What the plugin uses of QEMU's interface. */
struct scoreboard;
struct block;
struct instruction;
struct hwaddr;

struct counter {
	struct scoreboard *score;
	size_t offset;
};

enum { INLINE_ADD = 0, NO_REGISTERS = 0, READS_AND_WRITES = 3 };

int qemu_plugin_version = 7;
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*run)(struct block *, void *), void *data);
size_t qemu_plugin_tb_n_insns(const struct block *block);
uint64_t qemu_plugin_tb_vaddr(const struct block *block);
struct instruction *qemu_plugin_tb_get_insn(const struct block *block, size_t index);
size_t qemu_plugin_insn_data(const struct instruction *instruction, void *to, size_t bytes);
uint64_t qemu_plugin_insn_vaddr(const struct instruction *instruction);
struct scoreboard *qemu_plugin_scoreboard_new(size_t bytes);
uint64_t qemu_plugin_u64_sum(struct counter counter);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct instruction *instruction, int operation,
							 struct counter counter, uint64_t value);
void qemu_plugin_register_vcpu_insn_exec_cb(struct instruction *instruction, void (*run)(unsigned int, void *),
					    int flags, void *data);
void qemu_plugin_register_vcpu_tb_exec_cb(struct block *block, void (*run)(unsigned int, void *), int flags,
					  void *data);
void qemu_plugin_register_vcpu_mem_cb(struct instruction *instruction,
				      void (*run)(unsigned int, uint32_t, uint64_t, void *), int flags, int accesses,
				      void *data);
struct hwaddr *qemu_plugin_get_hwaddr(uint32_t access, uint64_t address);
bool qemu_plugin_hwaddr_is_io(const struct hwaddr *address);
bool qemu_plugin_mem_is_store(uint32_t access);

enum { PROGRAMS, KERNELS, CALLS, COUNTERS };

static struct scoreboard *score;
static uint64_t before[COUNTERS], loads, stores;
static FILE *output;
static const char *profile, *timer_path;
static volatile bool counts;

static uint64_t timer, entered[COUNTERS], left_out[COUNTERS];
static unsigned int depth; /* of interrupts, from a timer interrupt on */

struct profiled {
	struct profiled *next;
	uint64_t address, executed, instructions;
};
static struct profiled *profiled;

static struct counter counter(int which)
{
	return (struct counter){ score, which * sizeof(uint64_t) };
}

static void write_profile(void)
{
	FILE *file = fopen(profile, "w");

	if (!file)
		return;
	for (struct profiled *p = profiled; p; p = p->next)
		if (p->executed)
			fprintf(file, "%" PRIx64 " %" PRIu64 "\n", p->address, p->executed * p->instructions);
	fclose(file);
}

static void sums(uint64_t *now)
{
	for (int i = 0; i < COUNTERS; i++)
		now[i] = qemu_plugin_u64_sum(counter(i));
}

static void interrupt_enters(unsigned int processor, void *data)
{
	(void)processor;
	if (depth) {
		depth++;
	} else if (timer && (uintptr_t)data - timer < STUB_BYTES) {
		depth = 1;
		sums(entered);
	}
}

static void interrupt_leaves(unsigned int processor, void *data)
{
	uint64_t now[COUNTERS];

	(void)processor;
	if (!depth)
		return;
	/* A return to a program ends all. */
	depth = data ? 0 : depth - 1;
	if (depth)
		return;
	sums(now);
	for (int i = 0; i < COUNTERS; i++)
		left_out[i] += now[i] - entered[i];
}

static void read_timer(void)
{
	FILE *file = timer_path ? fopen(timer_path, "r") : NULL;

	timer = 0;
	if (!file)
		return;
	if (fscanf(file, "%" SCNx64, &timer) != 1)
		timer = 0;
	fclose(file);
}

static void mark(unsigned int processor, void *data)
{
	uint64_t now[COUNTERS];

	(void)processor;
	sums(now);
	if ((uintptr_t)data == START) {
		read_timer();
		memcpy(before, now, sizeof(before));
		memset(left_out, 0, sizeof(left_out));
		depth = 0;
		loads = stores = 0;
		for (struct profiled *p = profiled; p; p = p->next)
			p->executed = 0;
		counts = true;
		return;
	}
	counts = false;
	if (output) {
		for (int i = 0; i < COUNTERS; i++)
			fprintf(output, "%" PRIu64 " ", now[i] - before[i] - left_out[i]);
		fprintf(output, "%" PRIu64 " %" PRIu64 "\n", loads, stores);
		fflush(output);
	}
	if (profile)
		write_profile();
}

static void access_of_module(unsigned int processor, uint32_t access, uint64_t address, void *data)
{
	struct hwaddr *where;

	(void)processor;
	(void)data;
	if (!counts)
		return;
	where = qemu_plugin_get_hwaddr(access, address);
	if (where && qemu_plugin_hwaddr_is_io(where))
		__atomic_fetch_add(qemu_plugin_mem_is_store(access) ? &stores : &loads, 1, __ATOMIC_RELAXED);
}

static void block_executed(unsigned int processor, void *data)
{
	(void)processor;
	if (counts)
		((struct profiled *)data)->executed++;
}

static void watch_instruction(struct instruction *instruction)
{
	uint64_t address = qemu_plugin_insn_vaddr(instruction);
	bool kernel = address >= KERNEL;
	uint8_t bytes[MARK_BYTES + 1];
	size_t length = qemu_plugin_insn_data(instruction, bytes, sizeof(bytes));
	uint32_t number;

	qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(instruction, INLINE_ADD,
							    counter(kernel ? KERNELS : PROGRAMS), 1);
	if (kernel && address >= MODULES)
		qemu_plugin_register_vcpu_mem_cb(instruction, access_of_module, NO_REGISTERS, READS_AND_WRITES, NULL);
	if (kernel && length == 2 && !memcmp(bytes, PUSH, 2))
		qemu_plugin_register_vcpu_insn_exec_cb(instruction, interrupt_enters, NO_REGISTERS,
						       (void *)(uintptr_t)address);
	if (kernel && length == 2 && !memcmp(bytes, IRET, 2))
		qemu_plugin_register_vcpu_insn_exec_cb(instruction, interrupt_leaves, NO_REGISTERS, NULL);
	if (kernel && length == 3 && !memcmp(bytes, SYSRET, 3))
		qemu_plugin_register_vcpu_insn_exec_cb(instruction, interrupt_leaves, NO_REGISTERS, &depth);
	if (!kernel && length == 2 && !memcmp(bytes, "\x0f\x05", 2))
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(instruction, INLINE_ADD, counter(CALLS), 1);
	if (kernel || length != MARK_BYTES || memcmp(bytes, "\x0f\x1f\x80", 3))
		return;
	memcpy(&number, bytes + 3, 4);
	number -= MARK;
	if (number <= STOP)
		qemu_plugin_register_vcpu_insn_exec_cb(instruction, mark, NO_REGISTERS, (void *)(uintptr_t)number);
}

/* QEMU translates one block at a time. */
static void watch_block(struct block *block, void *data)
{
	size_t instructions = qemu_plugin_tb_n_insns(block);

	(void)data;
	for (size_t i = 0; i < instructions; i++)
		watch_instruction(qemu_plugin_tb_get_insn(block, i));
	if (profile) {
		struct profiled *p = calloc(1, sizeof(*p));

		if (!p)
			return;
		p->address = qemu_plugin_tb_vaddr(block);
		p->instructions = instructions;
		do
			p->next = __atomic_load_n(&profiled, __ATOMIC_ACQUIRE);
		while (!__atomic_compare_exchange_n(&profiled, &p->next, p, false, __ATOMIC_RELEASE,
						    __ATOMIC_RELAXED));
		qemu_plugin_register_vcpu_tb_exec_cb(block, block_executed, NO_REGISTERS, p);
	}
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "log=", 4))
			output = fopen(argv[i] + 4, "a");
		if (!strncmp(argv[i], "profile=", 8))
			profile = argv[i] + 8;
		if (!strncmp(argv[i], "timer=", 6))
			timer_path = argv[i] + 6;
	}
	if (!output) {
		fprintf(stderr, "count: log=PATH is missing or cannot be written\n");
		return 1;
	}
	score = qemu_plugin_scoreboard_new(COUNTERS * sizeof(uint64_t));
	qemu_plugin_register_vcpu_tb_trans_cb(id, watch_block, NULL);
	return 0;
}
