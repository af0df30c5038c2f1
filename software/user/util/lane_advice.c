// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* What the state of the lane suggests to do next. */
#include <stddef.h>

#include "lane.h"

/* Places in LITEPCIE_LANE_STATES. */
#define POLLING_ACTIVE	      2
#define POLLING_COMPLIANCE    3
#define POLLING_CONFIGURATION 4
#define CONFIGURATION_IDLE    9
#define L0		      10
#define LOOPBACK_ACTIVE	      16
#define LOOPBACK_EXIT	      17

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
