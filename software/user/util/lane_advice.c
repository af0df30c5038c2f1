// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* What the state of the lane suggests to do next. */
#include <stddef.h>

#include "link.h"

/* Places in LITEPCIE_LANE_STATES. */
#define POLLING_ACTIVE	      2
#define POLLING_COMPLIANCE    3
#define POLLING_CONFIGURATION 4
#define CONFIGURATION_IDLE    9
#define L0		      10
#define LOOPBACK_ACTIVE	      16
#define LOOPBACK_EXIT	      17

/* The likeliest cause of what the image for bring-up has measured. */

#define COM	    0x1bc
#define UNDECODABLE 0x1ee

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

/* What the clocks, the training and the errors of the lane suggest. */

/* Fewer errors may be of the time before the link was up. */
#define SOME_ERRORS 10

static uint32_t counter(const struct lane_state *s, enum lane_counter which)
{
	return s->words[LITEPCIE_LANE_COUNTERS_AT + which];
}

static const char *advice_of_clocks(const struct lane_state *s)
{
	bool known = s->locks & LITEPCIE_LANE_LOCKS_KNOWN;
	bool locked = s->locks & LITEPCIE_LANE_LOCKS_PLL;
	bool measured = known && !locked && s->locks & LITEPCIE_LANE_LOCKS_MEASURED;

	if (measured && !s->refclk_cycles)
		return "The reference clock stands still. Is the card in its slot, and the host "
		       "on?";
	if (measured && !(s->locks & LITEPCIE_LANE_LOCKS_REFCLK))
		return "The reference clock has another frequency than 100 or 200 MHz. "
		       "Program "
		       "the board's clock chip; see docs/bring-up-ecp5.md.";
	if (known && !measured && !locked)
		return "The transmit PLL does not lock. The reference clock, which this FPGA "
		       "cannot measure, may "
		       "stand still or have another frequency than 100 or 200 MHz; see "
		       "docs/bring-up-ecp5.md.";
	if (known && !locked)
		return "The transmit PLL does not lock, though the reference clock is right. Try "
		       "the other "
		       "analogue words; see docs/bring-up-ecp5.md.";
	if (!s->runs)
		return "The link's clock stands still: the SerDes is in reset, or the slot holds "
		       "PERST#.";
	return NULL;
}

/* Parts per million between the recovered clock and the link's: spread clocks are 2500 on average.
 */
static double off_ppm(uint32_t recovered, uint32_t link)
{
	return link ? 1e6 * ((double)recovered - link) / link : 0;
}

/* Of a receiver with a signal that understands no training sets. */
static const char *advice_of_receiver(const struct lane_state *s)
{
	uint32_t clock =
		8 * lane_field(s->words[LITEPCIE_LANE_WORD_RECEIVER], LITEPCIE_LANE_RECEIVER_CLOCK);
	uint32_t link = s->words[LITEPCIE_LANE_WORD_LINK_CLOCK];

	if (!(s->locks & LITEPCIE_LANE_LOCKS_KNOWN))
		return NULL;
	if (link && !clock)
		return "A signal comes, but the receiver's clock stands still. Try the other "
		       "analogue words; see docs/bring-up-ecp5.md.";
	if (!(s->locks & LITEPCIE_LANE_LOCKS_CDR))
		return "A signal comes, but the receiver does not lock to it. Try the other "
		       "analogue words; see docs/bring-up-ecp5.md.";
	if (off_ppm(clock, link) > 1000 || off_ppm(clock, link) < -1000)
		return "The receiver's clock is off by more than 1000 ppm: the host's clock is "
		       "spread and the card has another one, or the receiver follows noise. Give "
		       "the card the slot's clock.";
	if (counter(s, LANE_lock_losses) > SOME_ERRORS)
		return "The receiver locks, and loses the lock again. Try the other analogue "
		       "words; see docs/bring-up-ecp5.md.";
	return NULL;
}

static const char *advice_of_training(const struct lane_state *s)
{
	uint32_t now = s->words[LITEPCIE_LANE_WORD_STATUS];
	uint32_t state = lane_field(now, LITEPCIE_LANE_STATUS_LTSSM);

	if (now & LITEPCIE_LANE_STATUS_DL_UP)
		return NULL;
	if (!(now & LITEPCIE_LANE_STATUS_READY))
		return "The transmitter is not ready: the slot holds PERST#, or the PLL is not "
		       "locked.";
	if (state <= POLLING_ACTIVE && (now & LITEPCIE_LANE_STATUS_RX_IDLE) &&
	    (now & LITEPCIE_LANE_STATUS_DETECT_DONE) &&
	    !(now & LITEPCIE_LANE_STATUS_DETECT_PRESENT))
		return "No receiver is at the other end. Is the card in its slot, the host on, and "
		       "PRSNT# set?";
	if (state == LOOPBACK_ACTIVE || state == LOOPBACK_EXIT)
		return "The other end has asked for Loopback: what it sends goes back to it until "
		       "it ends that.";
	if (state == POLLING_COMPLIANCE && !(now & LITEPCIE_LANE_STATUS_RX_IDLE))
		return "The other end has asked for the modified compliance pattern, which is sent "
		       "until the "
		       "lane is idle.";
	if (state == POLLING_COMPLIANCE)
		return "There is a receiver, but it sends nothing: the compliance pattern is sent. "
		       "Is the "
		       "slot enabled, and does the host train it after PERST#?";
	if (state < POLLING_COMPLIANCE && (now & LITEPCIE_LANE_STATUS_RX_IDLE))
		return "There is a receiver, but it sends nothing. Is the slot enabled, and does "
		       "the host "
		       "train it after PERST#?";
	if (state <= POLLING_CONFIGURATION && advice_of_receiver(s))
		return advice_of_receiver(s);
	if (state <= POLLING_CONFIGURATION)
		return "The host sends, but no training sets were understood. See the symbol and "
		       "set errors, "
		       "and the lock of the receiver.";
	if (state <= CONFIGURATION_IDLE)
		return "Training sets are understood, but the host does not go on. See where the "
		       "transitions "
		       "end, and the damaged sets.";
	if (state == L0)
		return "The lane is in L0, but flow control is not initialized: DLLPs do not come, "
		       "or not back.";
	return NULL;
}

static const char *advice_of_errors(const struct lane_state *s)
{
	if (counter(s, LANE_rollovers) ||
	    counter(s, LANE_replay_timeouts) > counter(s, LANE_naks_received))
		return "ACKs are lost or come late. With few symbol errors here, the way to the "
		       "host is bad.";
	if (counter(s, LANE_symbol_errors) > SOME_ERRORS)
		return "Symbols are damaged on the way from the host. Reseat the card; then try "
		       "the other "
		       "analogue words.";
	if (counter(s, LANE_naks_received) > SOME_ERRORS)
		return "The host received damaged TLPs: the way to it is bad.";
	return NULL;
}

const char *lane_advice(const struct lane_state *s)
{
	const char *text = advice_of_clocks(s);

	if (!text && lane_bringup(s))
		text = bringup_advice(s);
	if (!text && s->runs)
		text = advice_of_training(s);
	if (!text && s->runs)
		text = advice_of_errors(s);
	return text;
}
