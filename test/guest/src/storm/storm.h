/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* What the parts of the storm share: random numbers, counters of calls, memory to aim at. */
#ifndef LITEPCIE_TEST_STORM_H
#define LITEPCIE_TEST_STORM_H

#include <setjmp.h>
#include "../check.h"

#define CARD_BYTES	(64l << 20)
/* The witnesses own this part of the card's memory; no hand writes to it. */
#define WITNESS_AT	(40l << 20)
#define WITNESS_BYTES	(20l << 20)
#define HAND_BYTES	(16l << 20)

/* Random numbers of a thread. They depend on the seed, the hand and the thread alone. */
void random_seed(uint64_t seed, uint64_t hand, uint64_t thread);
uint64_t random_bits(void);
/* Returns 0 to count - 1. */
uint64_t pick(uint64_t count);
/* Returns whether one of `count` equally likely cases occurred. */
static inline int one_in(uint64_t count)
{
	return pick(count) == 0;
}

/* Counters of one kind of call, shared by all processes. */
struct kind {
	const char *name;
	void (*act)(void);
};

#define EVENTS		5	/* of the weather */
#define EVENTS_AT	48	/* where their counters begin */
#define DATA_AT		62	/* the counters of the witnesses */
#define PAGES_AT	63

struct counters {
	unsigned long calls[64];
	unsigned long succeeded[64];
	double longest[EVENTS];	/* s */
};

extern struct counters *counters;
extern __thread unsigned int current_kind;
/* Counts a call of the current kind. Returns its result. */
long counted(long result);

/* Opens a node of the card, "" or such as "_user". Open files of an unbound card let it have another number. */
int device_open(const char *node, int flags);

/* The memory and the files of a hand. */
void *some_memory(void);
/* Not of the area whose pages never come. */
void *private_memory(void);
size_t some_length(void);
/* An offset in the card's memory that is not the witnesses'. */
off_t some_offset(size_t length);
int some_file(void);
void files_open(void);
void memory_map(void);
/* Reads or writes memory of the process, which may not be there. */
void touch(volatile uint8_t *at, int write);
void faults_catch(void);

/* Tables of kinds, each of which ends with one without a name. */
extern const struct kind kinds[], async_kinds[], stream_kinds[], user_kinds[], buffer_kinds[], hostbuf_kinds[];
/* Those of all tables. */
extern struct kind all_kinds[EVENTS_AT];
extern unsigned int all_kinds_count;
/* Open files while the hand may: some hands become a user who may not. */
void streams_open(void);
void user_files_open(void);
void exporter_open(void);

/* Writes registers of the card's user logic. */
void logic_write(off_t offset, const void *words, size_t bytes);

/* SIGTERM sets `over`. */
extern volatile sig_atomic_t over;
void end_when_told(void);

/* Processes; they do not return. */
void hand(uint64_t seed, unsigned int number);
void weather(uint64_t seed);
void witness_data(uint64_t seed);
void witness_pages(uint64_t seed);

void weather_print(void);

#endif
