/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* The link of a card, what card and slot can do, and the lane of the endpoint in gateware. */
#ifndef LITEPCIE_UTIL_LINK_H
#define LITEPCIE_UTIL_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "litepcie_lane.h"
#include "util.h"

struct width {
	unsigned int gen, lanes; /* 0: not known */
};

/* What the host has set, and what card and slot can do; 0: not known. */
struct sizes {
	unsigned int mps_bytes, mrrs_bytes;
};

struct link_state {
	struct width now, card, slot;
	struct sizes sizes, card_sizes, slot_sizes; /* MRRS: of the host only */
	unsigned int tags;			    /* that the card has */
	bool extended_tags_off;
};

#define LINK_TEXT 768 /* most characters of a line about the link */

/* Tags that the card may use now. */
unsigned int link_state_tags(const struct litepcie_info *info);

/* Reads what sysfs has of the card at @address; the rest is not known. */
void link_state_read(struct link_state *link, const char *address);

/* The same with the link of @info, and what the card was built for. */
void link_state_of(struct link_state *link, const struct litepcie_info *info);

/* "Gen2 x4", or "?" if it is not known */
void width_text(struct width width, char *text, size_t size);

/*
 * Writes one line that says what is slower than the card and why; empty if nothing is. MPS of card
 * and slot are known to root only.
 */
void link_state_degraded(const struct link_state *link, char *text, size_t size);

/* The image for bring-up of a SerDes, through a serial port. */

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

/* State of the lane of a card with the endpoint in gateware, through the driver or a serial port.
 */

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

#endif /* LITEPCIE_UTIL_LINK_H */
