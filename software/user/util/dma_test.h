/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* Structures and functions of dma_test. */
#ifndef LITEPCIE_UTIL_DMA_TEST_H
#define LITEPCIE_UTIL_DMA_TEST_H

#include <pthread.h>

#include "util.h"

enum sequence { WRITE, READ, READ_THEN_WRITE, WRITE_THEN_READ, READ_AND_WRITE };

extern const char *const sequence_names[];

struct dma_options {
	unsigned int sequence; /* enum sequence */
	uint64_t length;       /* 0: not given */
	uint64_t offset, host_offset, seed, value;
	uint64_t depth, latency_ns;
	unsigned int pattern; /* enum pattern */
	const char *file, *cards;
	double seconds, interval; /* 0: not given */
	uint64_t iterations;	  /* 0: not given */
	unsigned int header;	  /* 0: 12 bytes, 1: 16 bytes; for the theory only */
	bool json_lines, preserve;
};

#define NOT_GIVEN UINT64_MAX /* --value */

enum pattern { PRBS, COUNTER, CONSTANT, FROM_FILE };

extern const char *const pattern_names[];

extern const struct option dma_option_table[];

#define HOST_GUARD  128 /* bytes before and after a host buffer */
#define CARD_GUARD  64	/* most bytes before and after an area of the card's memory */
#define AREA_ALIGN  4096
#define GUARD_VALUE 0xa5

/* Host memory with guard bytes around it. */
struct buffer {
	void *allocation;
	uint8_t *data;
};

/* Bytes of the card's memory before or after an area; no transfer may change them. */
struct card_guard {
	uint64_t offset;
	size_t bytes;
	uint8_t saved[CARD_GUARD];
};

/* Memory channels that dma_test counts; no card has more. */
#define MOST_CHANNELS 8

/* Times of calls: 64 buckets for each power of two of nanoseconds, up to 2^45. */
#define LATENCY_BUCKETS 2624

struct latencies {
	uint64_t count;
	uint32_t buckets[LATENCY_BUCKETS];
};

/* Results of one direction. Counter: of the card; wall: of the host, around the system call. */
struct measure {
	uint64_t transfers, bytes;
	uint64_t counter_bytes, counter_cycles;
	uint64_t wait_descriptor, wait_tag, wait_link, wait_data; /* cycles */
	uint64_t peak_bytes, peak_cycles, last_bytes, last_cycles;
	double wall_seconds, wall_least, wall_last; /* of iterations */
	double call_seconds;			    /* of transfers, added up */
	struct latencies latencies;
	uint64_t channel_bytes[MOST_CHANNELS], channel_cycles[MOST_CHANNELS];
	uint64_t other_bytes; /* that the engines of the other direction moved meanwhile */
};

/*
 * One direction of the test. Data always goes from the source buffer to the card and from there to
 * the landing buffer. One of the two transfers is measured, the other one prepares or verifies.
 */
struct side {
	unsigned int direction; /* LITEPCIE_TO_CARD or LITEPCIE_FROM_CARD */
	uint64_t offset;	/* offset of its area in the card's memory */
	struct buffer source, landing;
	struct card_guard guards[2];
	struct litepcie_counters before[MOST_CHANNELS]; /* by channel */
	uint64_t other_before;				/* bytes of the other direction */
	uint8_t *kept;			     /* what --preserve writes back, NULL: nothing */
	struct litepcie_queue *queue;	     /* NULL: one transfer at a time */
	double seconds[LITEPCIE_QUEUE_MOST]; /* of each transfer of the last iteration */
	struct measure measure;
	double start, stop; /* times of the measured call, seconds */
	int result;	    /* result of the measured call: 0 or a negative errno */
};

/* Places of a wrong byte. */
extern const char in_data[], host_guard[], card_guard[];

/* The first byte found wrong. */
struct mismatch {
	const char *what; /* NULL: no wrong byte; else in_data, host_guard or card_guard */
	unsigned int direction;
	uint64_t iteration;   /* 0: the warm-up */
	int64_t position;     /* relative to the first byte of the data */
	uint64_t card_offset; /* card address of the byte; not valid for host_guard */
	uint8_t expected, got;
	uint64_t differing; /* bytes of this transfer that differ */
	const char *again;  /* result of reading back again: "right", "wrong too"; NULL: not done */
};

struct dma_test {
	const struct settings *settings;
	const struct dma_options *options;
	struct litepcie *card;
	struct litepcie_info info;
	bool json;	      /* no text on stdout */
	uint64_t length;      /* bytes of a transfer */
	uint64_t area;	      /* of all transfers that are in flight */
	uint8_t *content;     /* of --file, NULL: none */
	bool several;	      /* one of several cards */
	uint64_t iterations;  /* most of them */
	double interval;      /* seconds, 0: no lines */
	double began, ended;  /* the measured iterations, seconds */
	struct side sides[2]; /* by direction */
	uint64_t iteration;
	_Atomic uint64_t shown; /* the same for the line on a terminal */
	double overlap;		/* sum over the iterations of READ_AND_WRITE, each 0 .. 1 */
	struct mismatch mismatch;
	struct litepcie_errors errors; /* the card's counters before the test */
	char error[256];	       /* one line, empty: none */
	int failure;		       /* the negative errno behind it, 0: none */
	bool lost;		       /* --preserve: the memory did not get its bytes back */
	char disturbed[160];	       /* other traffic during the test, empty: none */
	char card_errors[128];	       /* errors the card has counted since, empty: none */
	int signal;		       /* signal that ended the test, 0: none */
};

/* Which directions a sequence measures. */
bool sequence_has(unsigned int sequence, unsigned int direction);

/* "read" or "write" */
const char *direction_word(unsigned int direction);

/* dma_data.c: 0 or the exit code after one line on stderr. Also sets test->length and area. */
int pattern_begin(struct dma_test *test);
/* Fills @data with test->area bytes. */
void pattern_fill(const struct dma_test *test, uint8_t *data, uint64_t fill);
/* Each transfer has the same bytes: only those left over from elsewhere are found. */
bool pattern_repeats(const struct dma_test *test);
/* "seed 1", "pattern counter from 0" */
void pattern_text(const struct dma_test *test, char *text, size_t size);

/* dma_cards.c: runs the test on each card of --cards. Returns the exit code. */
int dma_cards(const struct settings *settings, const struct dma_options *options);
/* One of several cards: waits until all have had their warm-up; makes its report one piece. */
void dma_cards_meet(void);
void dma_cards_report_begin(void);
void dma_cards_report_end(const struct dma_test *test);

/* Every byte of a @fill differs from the same byte of the 255 fills before. */
bool buffer_allocate(struct buffer *buffer, uint64_t bytes, uint64_t host_offset);
void buffer_free(struct buffer *buffer);
void fill_pattern(uint8_t *data, uint64_t bytes, uint64_t seed, uint64_t fill);
void fill_inverse(uint8_t *data, const uint8_t *of, uint64_t bytes);
bool landing_is_source(const struct dma_test *test, const struct side *side);
/* False, with the mismatch filled in, if @side's landing buffer or its guards are wrong. */
bool landing_is_right(struct dma_test *test, const struct side *side);
/* The same if the landing buffer has not the inverse of the source. */
bool landing_is_inverse(struct dma_test *test, const struct side *side);

/* 0, or -1 with test->error, mismatch or signal filled in. */
int card_guards_save(struct dma_test *test, struct side *side);
int card_guards_check(struct dma_test *test, const struct side *side);
/* --preserve: 0 or the exit code; an error of the end becomes test->error. */
int dma_preserve(struct dma_test *test);
void dma_restore(struct dma_test *test);

/* dma_run.c. From now on, SIGINT and SIGTERM end the test, not the process. */
void dma_catch_signals(void);
/* The signal that came, or 0. */
int dma_caught(void);

/* The test on the card of @settings; the exit code. */
int dma_test_card(const struct settings *settings, const struct dma_options *options, bool several);
/* Returns -1 if @err is an error, with test->signal or test->error filled in. */
int dma_failed(struct dma_test *test, const struct side *side, const char *step, int err);
/* 0, or -1 with test->error, mismatch or signal filled in. */
int dma_run(struct dma_test *test);

/* dma_measure.c: errors that the card has counted. 0, or -1 with test->error filled in. */
int card_errors_begin(struct dma_test *test);
int card_errors_check(struct dma_test *test, const struct side *side);

/* --interval: after an iteration, at @now seconds */
void dma_interval(struct dma_test *test, double now);

/* Whether there are enough times for a percentile: at least one is above @part of all. */
bool latencies_tell(const struct latencies *latencies, double part);
/* Seconds that the share @part of the calls (0 .. 1) did not exceed, within 1 %; 0 without calls.
 */
double latencies_at(const struct latencies *latencies, double part);

/* A line on a terminal while the test runs. */
void dma_progress_begin(struct dma_test *test);
void dma_progress_end(void);

double counter_rate(const struct dma_test *test, uint64_t bytes, uint64_t cycles);
/* Fills in test->disturbed. */
void dma_note_disturbed(struct dma_test *test);
/* Bytes that all engines of @direction have moved, or a negative errno. */
int measure_bytes(const struct dma_test *test, unsigned int direction, uint64_t *bytes);
/* Reads the counters of all channels of @side. 0 or a negative errno. */
int measure_sample(struct dma_test *test, struct side *side, struct litepcie_counters *counters);
int measure_add(struct dma_test *test, struct side *side);

/* Bytes per second in one direction. */
struct dma_theory {
	double note, bench, bound;
	unsigned int header_bytes, tags;
};

/* False if the link has no theory. */
bool dma_theory_of(const struct dma_test *test, unsigned int direction, struct dma_theory *theory);
/* Why @average is above one of the rates; NULL if it is not. */
const char *dma_theory_exceeded(const struct dma_test *test, const struct side *side,
				const struct dma_theory *theory, double average);

/* dma_report.c: reports of a complete or incomplete run. */
void dma_report_begin(const struct dma_test *test); /* text: what is tested */
void dma_report_text(const struct dma_test *test);
void dma_report_json(const struct dma_test *test);

#endif /* LITEPCIE_UTIL_DMA_TEST_H */
