// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The likeliest cause of what the image for bring-up has measured. */
#include "bringup.h"

#include <stddef.h>

#include "lane.h"

/* Places in LITEPCIE_LANE_STATES. */
#define POLLING_ACTIVE 2
#define L0	       10

#define COM	       0x1bc
#define UNDECODABLE    0x1ee

/* Changes per second, from which a signal comes and goes. Each training attempt may make a few. */
#define MANY_CHANGES 200

struct symbols {
	unsigned int all, commas, undecodable;
};

static struct symbols symbols_of(const struct bringup *b)
{
	struct symbols s = { 0 };

	for (unsigned int i = 0; b->recorded && i < 2 * LITEPCIE_LANE_CAPTURE_WORDS; i++) {
		uint16_t symbol = bringup_symbol(b->words[i / 2], i % 2).symbol;

		s.all++;
		s.commas += symbol == COM;
		s.undecodable += symbol == UNDECODABLE;
	}
	return s;
}

/* A value that nine of ten symbols have, though it is not the usual one. 0: none. */
static unsigned int stuck_status(const struct bringup *b)
{
	uint64_t all = 0;

	for (unsigned int i = 0; i < 8; i++)
		all += b->status[i];
	for (unsigned int i = 1; i < 8; i++)
		if (all && b->status[i] > all / 10 * 9)
			return i;
	return 0;
}

/* Of the last 16 detections, as far as there were so many: how many have this bit. */
static unsigned int detections_with(const struct bringup *b, unsigned int bit)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < 16 && i < b->detections; i++)
		count += b->detected >> (2 * i + bit) & 1;
	return count;
}

static const char *advice_of_detection(const struct bringup *b, bool signal)
{
	if (!b->detections)
		return NULL;
	if (!detections_with(b, 0))
		return "Receiver detection gets no answer of the SerDes (DONE stays 0). Training "
		       "goes on without it; build the card with --no-receiver-detect.";
	if (!detections_with(b, 1) && signal)
		return "Receiver detection finds nobody (CON stays 0), though a signal comes: it "
		       "is wrong on this board. Build the card with --no-receiver-detect.";
	return NULL;
}

/* Of signal and lock. */
static const char *advice_of_signal(const struct lane_state *s, const struct symbols *seen)
{
	const struct bringup *b = &s->measured;
	bool los = b->levels & LITEPCIE_LANE_LEVELS_LOS, lol = b->levels & LITEPCIE_LANE_LEVELS_LOL;
	bool good = seen->commas && seen->undecodable < seen->all / 10;

	if (bringup_rate(b, b->los, s->clock_hz) > MANY_CHANGES && good)
		return "Loss of signal comes and goes while the symbols are good: its level fits "
		       "not to this board. The link trains in spite of it; try --analogue "
		       "litesata.";
	if (los && !lol && good)
		return "Loss of signal is set while the receiver is locked and the symbols are "
		       "good: its level fits not to this board. The link trains in spite of it; "
		       "try "
		       "--analogue litesata.";
	if (bringup_rate(b, b->lol, s->clock_hz) > MANY_CHANGES)
		return "The lock of the receiver comes and goes. Try the other analogue words; see "
		       "docs/bring-up-ecp5.md.";
	if (!los && lol)
		return "A signal comes, but the receiver does not lock to it. Is the host's clock "
		       "the card's? If so, try the other analogue words; see "
		       "docs/bring-up-ecp5.md.";
	if (!lol && !b->receive)
		return "The receiver says that it is locked, but its clock stands still. Try the "
		       "other analogue words; see docs/bring-up-ecp5.md.";
	if (los && !good && b->detections && detections_with(b, 0) && !detections_with(b, 1))
		return "No receiver is at the other end, and no signal comes. Is the card in its "
		       "slot, the host on, and PRSNT# set?";
	return NULL;
}

static const char *advice_of_symbols(const struct lane_state *s, const struct symbols *seen)
{
	const struct bringup *b = &s->measured;
	bool lol = b->levels & LITEPCIE_LANE_LEVELS_LOL;

	if (lol || !seen->all)
		return NULL;
	if (stuck_status(b) && seen->undecodable < seen->all / 10)
		return "Almost every symbol has the same status, and the symbols are good: the "
		       "status (bits 9 to 11 of the receive bus) is stuck on this board. The link "
		       "trains without it.";
	if (seen->undecodable > seen->all / 4)
		return "The receiver is locked, but many symbols are codes that do not exist: try "
		       "the other analogue words, then --serdes raw; see docs/bring-up-ecp5.md.";
	return NULL;
}

/* Among the transitions that the log holds: a host may train anew, because no packet is answered.
 */
static bool reached_l0(const struct lane_state *s)
{
	uint32_t logged = s->words[LITEPCIE_LANE_WORD_LOGGED];

	for (uint32_t n = 0; n < logged && n < LITEPCIE_LANE_LOG_ENTRIES; n++)
		if (lane_field(s->words[LITEPCIE_LANE_LOG_AT + 2 * n], LITEPCIE_LANE_ENTRY_STATE) ==
		    L0)
			return true;
	return false;
}

const char *bringup_advice(const struct lane_state *s)
{
	uint32_t state =
		lane_field(s->words[LITEPCIE_LANE_WORD_STATUS], LITEPCIE_LANE_STATUS_LTSSM);
	const struct bringup *b = &s->measured;
	struct symbols seen = symbols_of(b);
	const char *text = advice_of_signal(s, &seen);

	if (!text)
		text = advice_of_symbols(s, &seen);
	if (!text && state <= POLLING_ACTIVE)
		text = advice_of_detection(b, seen.commas);
	if (!text && b->mode != LITEPCIE_LANE_TEST_TRAIN)
		return "The lane is held in Polling.Active: --test train lets it train.";
	if (!text && reached_l0(s))
		return "The lane has reached L0: SerDes and link training work. This image is no "
		       "card, and answers no packet, so load the card's bitstream.";
	return text;
}
