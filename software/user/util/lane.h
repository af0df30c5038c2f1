/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* State of the lane of a card with the endpoint in gateware, through the driver or a serial port.
 */
#ifndef LITEPCIE_UTIL_LANE_H
#define LITEPCIE_UTIL_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "bringup.h"
#include "litepcie_lane.h"
#include "util.h"

#define X(name, meaning) LANE_##name,
enum lane_counter { LITEPCIE_LANE_COUNTERS(X) LANE_COUNTERS };
#undef X

/* A way to the registers of the SoC. */
struct lane_port {
	void *handle;
	const char *name; /* for messages */
	/* @address: offset in the registers. Each returns 0, or the exit code after one line on
	 * stderr. */
	int (*read)(struct lane_port *port, uint32_t address, uint32_t *words, unsigned int count);
	int (*write)(struct lane_port *port, uint32_t address, uint32_t value);
	void (*close)(struct lane_port *port);
	uint32_t base; /* of a serial port: address of the registers on the bus */
	char ltssm[8]; /* of a card with a hard block, which has no such registers; else empty */
};

/* Both return 0, or the exit code after one line on stderr. */
int lane_card_open(struct lane_port *port, const struct settings *settings);
int lane_serial_open(struct lane_port *port, const char *path, uint64_t baud, uint64_t address);

/* What was read at one moment. */
struct lane_state {
	uint32_t clock_hz, locks, refclk_hz, refclk_window, refclk_cycles, image;
	bool runs; /* the link's clock does: only then the following is known */
	uint32_t words[LITEPCIE_LANE_WORDS];
	struct bringup measured; /* of an image for bring-up */
};

/* Checks that the registers are there, and reads those of the bus. Returns 0, or the exit code. */
int lane_check(struct lane_port *port, struct lane_state *state);

/* Reads the snapshot, after lane_check(). Returns 0, or the exit code. */
int lane_read(struct lane_port *port, struct lane_state *state);

/* Clears the counters. Returns 0, or the exit code. */
int lane_clear(struct lane_port *port);

static inline bool lane_bringup(const struct lane_state *state)
{
	return state->image & LITEPCIE_LANE_IMAGE_BRINGUP;
}

/* The field of @word that @mask selects. */
static inline uint32_t lane_field(uint32_t word, uint32_t mask)
{
	return (word & mask) >> __builtin_ctz(mask);
}

/* Prints the state as text or JSON. @recording: also what was recorded. */
void lane_text(const struct lane_state *state, bool recording);
void lane_json(const struct lane_state *state, const char *port);

/* What to do next at the bench, in one or two sentences; NULL: nothing. */
const char *lane_advice(const struct lane_state *state);

#endif /* LITEPCIE_UTIL_LANE_H */
