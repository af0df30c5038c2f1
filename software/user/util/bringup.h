/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* The image for bring-up of a SerDes, through a serial port. */
#ifndef LITEPCIE_UTIL_BRINGUP_H
#define LITEPCIE_UTIL_BRINGUP_H

#include <stdbool.h>
#include <stdint.h>

#include "litepcie_lane.h"

/* Registers of the SerDes that are read: of the channel, and of both channels. */
#define BRINGUP_SERDES_REGISTERS 64

/* The first registers of the page, which one command reads. */
#define BRINGUP_WORDS ((LITEPCIE_LANE_STATUS_7 - LITEPCIE_LANE_TEST) / 4 + 1)

/* What the command line asks for. */
struct bringup_options {
	const char *test, *capture, *registers, *save;
	double seconds;
};

/* A symbol of a recording: K (bit 8), data, and the status that the SerDes gave with it. */
struct bringup_symbol {
	uint16_t symbol;
	uint8_t status;
};

/* What was measured. Counts are of @cycles. */
struct bringup {
	uint32_t cycles, transmit, receive, los, lol, plol, status[8];
	uint32_t levels, mode, detections, detected;
	bool recorded, triggered; /* not triggered: what came when the waiting was over */
	uint32_t words[LITEPCIE_LANE_CAPTURE_WORDS];
	bool dumped;
	uint8_t registers[2][BRINGUP_SERDES_REGISTERS];
};

struct lane_port;
struct lane_state;

/* Whether the command line asks for what only this image has; the option is then in @name. */
bool bringup_asked(const struct bringup_options *o, const char **name);

/* Checks the options. Returns 0, or the exit code after one line on stderr. */
int bringup_check(const struct bringup_options *o);

/* Does what is asked for, and measures. Returns 0, or the exit code after one line on stderr. */
int bringup_measure(struct lane_port *port, const struct bringup_options *o, uint32_t clock_hz,
		    struct bringup *b);

/* One symbol of a word of the recording: the lower @half (0) came first. */
struct bringup_symbol bringup_symbol(uint32_t word, int half);

/* Changes per second. */
double bringup_rate(const struct bringup *b, uint32_t changes, uint32_t clock_hz);

/* A clock in Hz; 0: it stands still. */
double bringup_hz(const struct bringup *b, uint32_t eighths, uint32_t clock_hz);

/* Prints what was measured. The recording only if it was asked for. */
void bringup_text(const struct lane_state *state, bool recording);
void bringup_json(const struct lane_state *state);

/* The likeliest cause of what was measured; NULL: none. */
const char *bringup_advice(const struct lane_state *state);

#endif /* LITEPCIE_UTIL_BRINGUP_H */
