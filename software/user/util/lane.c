// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Reads the registers and the snapshot of the lane. */
#include "lane.h"

#include <string.h>
#include <time.h>

/* A request takes 5 us of the link's clock; a simulated card takes longer. */
#define TRIES	 100
#define PAUSE_NS 2000000

/* Words that one command of a serial port may read: its answer must not take 100 ms. */
#define CHUNK 64

/* Reads words of the snapshot, from @first to before @end. */
static int read_words(struct lane_port *port, struct lane_state *state, unsigned int first,
		      unsigned int end)
{
	int code = 0;

	for (; !code && first < end; first += CHUNK)
		code = port->read(port, LITEPCIE_LANE_SNAPSHOT + 4 * first, state->words + first,
				  end - first < CHUNK ? end - first : CHUNK);
	return code;
}

/* Reads the snapshot, of its log only what is filled: a serial port is slow. */
static int read_snapshot(struct lane_port *port, struct lane_state *state)
{
	int code = read_words(port, state, 0, LITEPCIE_LANE_STATE_END);
	uint32_t logged = state->words[LITEPCIE_LANE_WORD_LOGGED];

	if (logged > LITEPCIE_LANE_LOG_ENTRIES)
		logged = LITEPCIE_LANE_LOG_ENTRIES;
	return code ? code
		    : read_words(port, state, LITEPCIE_LANE_LOG_AT,
				 LITEPCIE_LANE_LOG_AT + 2 * logged);
}

/* Makes a request, and waits for its end. @done stays false if the link's clock stands still. */
static int request(struct lane_port *port, uint32_t control, uint32_t busy, bool *done)
{
	struct timespec pause = { .tv_nsec = PAUSE_NS };
	int code = port->write(port, LITEPCIE_LANE_CONTROL, control);

	*done = false;
	for (int i = 0; !code && !*done && i < TRIES; i++) {
		uint32_t value;

		if (i)
			nanosleep(&pause, NULL);
		code = port->read(port, LITEPCIE_LANE_BUSY, &value, 1);
		*done = !code && !(value & busy);
	}
	return code;
}

int lane_check(struct lane_port *port, struct lane_state *state)
{
	uint32_t words[(LITEPCIE_LANE_IMAGE - LITEPCIE_LANE_MAGIC) / 4 + 1];
	int code = port->read(port, LITEPCIE_LANE_MAGIC, words, sizeof(words) / sizeof(*words));

#define REGISTER(name) words[(LITEPCIE_LANE_##name - LITEPCIE_LANE_MAGIC) / 4]
	memset(state, 0, sizeof(*state));
	if (code)
		return code;
	if (REGISTER(MAGIC) != LITEPCIE_LANE_MAGIC_VALUE)
		return fail(
			EXIT_FAILED,
			"%s: there are no registers of a lane: 0x%08x instead of 0x%08x; is "
			"this card's bitstream one of LitePCIe SoC with the endpoint in gateware?",
			port->name, REGISTER(MAGIC), LITEPCIE_LANE_MAGIC_VALUE);
	if (REGISTER(VERSION) != LITEPCIE_LANE_VERSION_VALUE)
		return fail(EXIT_FAILED,
			    "%s: the bitstream's state of the lane has version %u, this program "
			    "has version %d: use both of the same release",
			    port->name, REGISTER(VERSION), LITEPCIE_LANE_VERSION_VALUE);
	state->clock_hz = REGISTER(CLOCK_HZ);
	state->locks = REGISTER(LOCKS);
	state->refclk_hz = REGISTER(REFCLK_HZ);
	state->refclk_window = REGISTER(REFCLK_WINDOW);
	state->refclk_cycles = REGISTER(REFCLK_CYCLES);
	state->image = REGISTER(IMAGE);
#undef REGISTER
	return 0;
}

int lane_read(struct lane_port *port, struct lane_state *state)
{
	int code = request(port, LITEPCIE_LANE_CONTROL_SAMPLE, LITEPCIE_LANE_BUSY_SAMPLE,
			   &state->runs);

	if (!code && state->runs)
		code = read_snapshot(port, state);
	return code;
}

int lane_clear(struct lane_port *port)
{
	bool done;
	int code = request(port, LITEPCIE_LANE_CONTROL_CLEAR, LITEPCIE_LANE_BUSY_CLEAR, &done);

	if (!code && !done)
		return fail(EXIT_FAILED,
			    "%s: the link's clock stands still; the counters are cleared when it "
			    "runs",
			    port->name);
	return code;
}
