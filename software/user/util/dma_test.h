/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* dma_test from the inside: what is asked for, moved, measured and found wrong. */
#ifndef LITEPCIE_UTIL_DMA_TEST_H
#define LITEPCIE_UTIL_DMA_TEST_H

#include "util.h"

enum sequence { WRITE, READ, READ_THEN_WRITE, WRITE_THEN_READ, READ_AND_WRITE };

extern const char *const sequence_names[];

struct dma_options {
	unsigned int sequence; /* enum sequence */
	uint64_t length, iterations, offset, host_offset, seed;
	unsigned int header; /* 0: 12 bytes, 1: 16; theory only */
};

#define HOST_GUARD  128 /* bytes before and behind a host buffer */
#define CARD_GUARD  64	/* bytes before and behind an area of the card's memory, at most */
#define AREA_ALIGN  4096
#define GUARD_VALUE 0xa5

/* Host memory with guard bytes around it. */
struct buffer {
	void *allocation;
	uint8_t *data;
};

/* Bytes of the card's memory beside an area, which no transfer of the test may change. */
struct card_guard {
	uint64_t offset;
	size_t bytes;
	uint8_t saved[CARD_GUARD];
};

/* What one direction achieved. Counter: of the card; wall: of the host, around the system call. */
struct measure {
	uint64_t transfers, bytes;
	uint64_t counter_bytes, counter_cycles;
	uint64_t wait_descriptor, wait_tag, wait_link, wait_data; /* cycles */
	uint64_t peak_bytes, peak_cycles, last_bytes, last_cycles;
	double wall_seconds, wall_least, wall_last;
};

/*
 * One direction of the test. Its data always makes the whole way source, card, landing: the half
 * that names the direction is measured, the other prepares or verifies.
 */
struct side {
	unsigned int direction; /* LITEPCIE_READER or LITEPCIE_WRITER */
	uint64_t offset;	/* of its area in the card's memory */
	struct buffer source, landing;
	struct card_guard guards[2];
	struct litepcie_counters before;
	struct measure measure;
	double start, stop; /* of the measured call, seconds */
	int result;	    /* of the measured call: 0 or a negative errno */
};

/* Where a wrong byte was. */
extern const char in_data[], host_guard[], card_guard[];

/* The first byte found wrong. */
struct mismatch {
	const char *what; /* NULL: none; else one of those above */
	unsigned int direction;
	uint64_t iteration;   /* 0: the warm-up */
	int64_t position;     /* relative to the first byte of the data */
	uint64_t card_offset; /* of the byte, without meaning for a host guard */
	uint8_t expected, got;
	uint64_t differing; /* bytes of this transfer that differ */
	const char *again;  /* "right" or "wrong too" when read back again; NULL: not tried */
};

struct dma_test {
	const struct settings *settings;
	const struct dma_options *options;
	struct litepcie *card;
	struct litepcie_info info;
	struct side sides[2]; /* by direction */
	uint64_t iteration;
	double overlap; /* sum over the iterations of READ_AND_WRITE, each 0 .. 1 */
	struct mismatch mismatch;
	struct litepcie_errors errors; /* of the card before the test */
	char error[256];	       /* one line, empty: none */
	char card_errors[128];	       /* what the card counted since, empty: nothing */
	int signal;		       /* that ended the test, 0: none */
};

/* Which directions a sequence measures. */
bool sequence_has(unsigned int sequence, unsigned int direction);

/* "read" or "write" */
const char *direction_word(unsigned int direction);

/* dma_data.c. Bytes of @turn differ from those of the 255 turns before it, in every place. */
bool buffer_allocate(struct buffer *buffer, uint64_t bytes, uint64_t host_offset);
void buffer_free(struct buffer *buffer);
void fill_pattern(uint8_t *data, uint64_t bytes, uint64_t seed, uint64_t turn);
void fill_inverse(uint8_t *data, const uint8_t *of, uint64_t bytes);
bool landing_is_source(const struct dma_test *test, const struct side *side);
/* False, with the mismatch filled, if @side's landing is not its source between whole guards. */
bool landing_is_right(struct dma_test *test, const struct side *side);
/* The same for bytes of the card's memory beside the area, as read back now. */
bool card_guard_is_right(struct dma_test *test, const struct side *side,
			 const struct card_guard *guard, const uint8_t *now);

/* dma_errors.c. 0, or -1 with the error said: what the card itself saw go wrong. */
int card_errors_begin(struct dma_test *test);
int card_errors_check(struct dma_test *test, const struct side *side);

/* dma_run.c. 0, or -1 with error, mismatch or signal saying why. */
int dma_run(struct dma_test *test);

/* dma_measure.c */
double counter_rate(const struct dma_test *test, uint64_t bytes, uint64_t cycles);
int measure_add(struct dma_test *test, struct side *side);

/* dma_report.c, dma_json.c: of a run that is over, whole or not. */
void dma_report_text(const struct dma_test *test);
void dma_report_json(const struct dma_test *test);

#endif /* LITEPCIE_UTIL_DMA_TEST_H */
