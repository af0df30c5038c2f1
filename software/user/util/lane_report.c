// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Prints the state of the lane. */
#include "link.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output.h"

#define CYCLE_NS 8
#define LINK_HZ	 (1000000000 / CYCLE_NS)

static const struct {
	const char *name, *meaning;
} counters[] = {
#define X(name, meaning) { #name, meaning },
	LITEPCIE_LANE_COUNTERS(X)
#undef X
}, causes[] = {
#define X(name, meaning) { #name, meaning },
	LITEPCIE_LANE_CAUSES(X)
#undef X
};

static const char *const states[] = {
#define X(name) name,
	LITEPCIE_LANE_STATES(X)
#undef X
};

static const struct {
	const char *name;
	unsigned int word;
} credits[] = {
	{ "posted", LITEPCIE_LANE_WORD_POSTED },
	{ "nonposted", LITEPCIE_LANE_WORD_NONPOSTED },
	{ "completion", LITEPCIE_LANE_WORD_COMPLETION },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static uint32_t counter(const struct lane_state *s, enum lane_counter which)
{
	return s->words[LITEPCIE_LANE_COUNTERS_AT + which];
}

static uint32_t status(const struct lane_state *s)
{
	return s->words[LITEPCIE_LANE_WORD_STATUS];
}

/* Bits that no state has are a damaged answer, or a card that is newer. */
static const char *state_of(uint32_t number)
{
	return number < COUNT(states) ? states[number] : "unknown";
}

static const char *state_name(const struct lane_state *s)
{
	return state_of(lane_field(status(s), LITEPCIE_LANE_STATUS_LTSSM));
}

static uint64_t now_ns(const struct lane_state *s)
{
	return CYCLE_NS * ((uint64_t)s->words[LITEPCIE_LANE_WORD_TIME_HI] << 32 |
			   s->words[LITEPCIE_LANE_WORD_TIME_LO]);
}

/* 0: unknown, or it stands still. */
static uint64_t link_hz(const struct lane_state *s)
{
	return (uint64_t)s->words[LITEPCIE_LANE_WORD_LINK_CLOCK] * s->clock_hz /
	       LITEPCIE_LANE_LINK_WINDOW;
}

static uint32_t of_receiver(const struct lane_state *s, uint32_t mask)
{
	return lane_field(s->words[LITEPCIE_LANE_WORD_RECEIVER], mask);
}

/* The clock recovered from the lane. 0: it stands still. */
static uint64_t receiver_hz(const struct lane_state *s)
{
	return (uint64_t)8 * of_receiver(s, LITEPCIE_LANE_RECEIVER_CLOCK) * s->clock_hz /
	       LITEPCIE_LANE_LINK_WINDOW;
}

/* While the PLL is locked, the link's clock tells a reference clock that logic does not get. */
static bool refclk_derived(const struct lane_state *s)
{
	return !s->refclk_cycles && s->locks & LITEPCIE_LANE_LOCKS_PLL && link_hz(s);
}

/* 0: unknown, or it stands still. */
static uint64_t refclk_hz(const struct lane_state *s)
{
	if (refclk_derived(s))
		return link_hz(s) * s->refclk_hz / LINK_HZ;
	return s->refclk_cycles ? (uint64_t)s->refclk_window * s->clock_hz / s->refclk_cycles : 0;
}

struct transition {
	const char *state;
	uint32_t causes;
	uint64_t ns;
};

/* The numbers of the transitions that the log holds: from the first to before the end. */
static void logged(const struct lane_state *s, uint32_t *first, uint32_t *end)
{
	*end = s->words[LITEPCIE_LANE_WORD_LOGGED];
	*first = *end > LITEPCIE_LANE_LOG_ENTRIES ? *end - LITEPCIE_LANE_LOG_ENTRIES : 0;
}

static struct transition transition(const struct lane_state *s, uint32_t number)
{
	const uint32_t *words =
		s->words + LITEPCIE_LANE_LOG_AT + 2 * (number % LITEPCIE_LANE_LOG_ENTRIES);

	return (struct transition){
		.state = state_of(lane_field(words[0], LITEPCIE_LANE_ENTRY_STATE)),
		.causes = lane_field(words[0], LITEPCIE_LANE_ENTRY_CAUSE),
		.ns = CYCLE_NS *
		      ((uint64_t)lane_field(words[0], LITEPCIE_LANE_ENTRY_TIME_HI) << 32 |
		       words[1]),
	};
}

/* Text --------------------------------------------------------------------------------------- */

static void text_clocks(const struct lane_state *s)
{
	if (s->locks & LITEPCIE_LANE_LOCKS_KNOWN) {
		if (refclk_hz(s))
			printf("reference clock    %.3f MHz%s, nominal %.3f\n",
			       (double)refclk_hz(s) / 1e6,
			       refclk_derived(s) ? " by the link clock" : "", s->refclk_hz / 1e6);
		else
			printf("reference clock    %s\n", s->locks & LITEPCIE_LANE_LOCKS_MEASURED
								  ? "stands still"
								  : "not measured");
		printf("locks              PLL %s (SerDes: %s), receiver %s; %s\n",
		       s->locks & LITEPCIE_LANE_LOCKS_PLL ? "locked" : "not locked",
		       s->locks & LITEPCIE_LANE_LOCKS_PLL_LOL ? "not locked" : "locked",
		       s->locks & LITEPCIE_LANE_LOCKS_CDR ? "locked" : "not locked",
		       s->locks & LITEPCIE_LANE_LOCKS_SIGNAL ? "a signal comes" : "no signal");
	}
	if (link_hz(s))
		printf("link clock         %.3f MHz, nominal %.3f\n", (double)link_hz(s) / 1e6,
		       LINK_HZ / 1e6);
	else
		printf("link clock         %s\n", s->runs ? "not measured yet" : "stands still");
	if (s->locks & LITEPCIE_LANE_LOCKS_KNOWN && link_hz(s))
		printf("receiver clock     %.3f MHz\n", (double)receiver_hz(s) / 1e6);
}

static void text_credit(uint32_t value, uint32_t none, bool infinite)
{
	if (infinite)
		printf(" %10s", "infinite");
	else if (value == none)
		printf(" %10s", "-");
	else
		printf(" %10" PRIu32, value);
}

static void text_credits(const struct lane_state *s)
{
	uint32_t infinite = lane_field(status(s), LITEPCIE_LANE_STATUS_INFINITE);

	printf("fewest credits left   headers       data  (-: no TLP needed them)\n");
	for (size_t i = 0; i < COUNT(credits); i++) {
		uint32_t word = s->words[credits[i].word];

		printf("  %-16s", credits[i].name);
		text_credit(lane_field(word, LITEPCIE_LANE_POSTED_HEADERS), 0xff,
			    infinite >> (2 * i) & 1);
		text_credit(lane_field(word, LITEPCIE_LANE_POSTED_DATA), 0xfff,
			    infinite >> (2 * i + 1) & 1);
		printf("\n");
	}
}

static void text_counters(const struct lane_state *s)
{
	printf("counters\n");
	for (size_t i = 0; i < COUNT(counters); i++)
		printf("  %-16s %10" PRIu32 "  %s\n", counters[i].name, counter(s, i),
		       counters[i].meaning);
}

/* While the link trains, training sets, silence and the like are no reason of their own. */
static bool tells(const char *from, const char *cause)
{
	return !strcmp(from, "L0") || !strcmp(cause, "expired");
}

static void text_log(const struct lane_state *s)
{
	const char *from = states[0];
	uint32_t first, end;

	logged(s, &first, &end);
	printf("transitions        %" PRIu32
	       "%s; times in us since the link's clock began, now %.3f\n",
	       end, first ? ", of which the last 64" : "", (double)now_ns(s) / 1e3);
	for (uint32_t n = first; n < end; n++) {
		struct transition t = transition(s, n);
		const char *before = "  (";

		printf("  %16.3f  %s", (double)t.ns / 1e3, t.state);
		for (size_t i = 0; i < COUNT(causes); i++) {
			if (!(t.causes >> i & 1) || !tells(from, causes[i].name))
				continue;
			printf("%s%s", before, causes[i].meaning);
			before = "; ";
		}
		printf("%s\n", *before == ';' ? ")" : "");
		from = t.state;
	}
}

void lane_text(const struct lane_state *s, bool recording)
{
	const char *advice = lane_advice(s);
	uint32_t now = status(s);

	if (s->runs) {
		printf("state              %s; link %s, flow control %s\n", state_name(s),
		       now & LITEPCIE_LANE_STATUS_LINK_UP ? "up" : "down",
		       now & LITEPCIE_LANE_STATUS_DL_UP ? "initialized" : "not initialized");
		printf("receiver           %s; lane %s, %s%s\n",
		       !(now & LITEPCIE_LANE_STATUS_DETECT_DONE)   ? "not looked for yet"
		       : now & LITEPCIE_LANE_STATUS_DETECT_PRESENT ? "found"
								   : "not found",
		       now & LITEPCIE_LANE_STATUS_INVERTED ? "inverted" : "not inverted",
		       now & LITEPCIE_LANE_STATUS_RX_IDLE ? "idle" : "active",
		       now & LITEPCIE_LANE_STATUS_NO_SCRAMBLING ? ", not scrambled" : "");
	}
	text_clocks(s);
	if (lane_bringup(s))
		bringup_text(s, recording);
	if (s->runs) {
		if (!lane_bringup(s))
			text_credits(s);
		text_counters(s);
		text_log(s);
	}
	if (advice)
		printf("%s\n", advice);
}

/* JSON --------------------------------------------------------------------------------------- */

static void json_clocks(const struct lane_state *s)
{
	bool known = s->locks & LITEPCIE_LANE_LOCKS_KNOWN;

	json_bool("link_clock_runs", s->runs);
	if (link_hz(s))
		json_number("link_clock_hz", link_hz(s));
	if (!known)
		return;
	json_bool("reference_clock_measured", s->locks & LITEPCIE_LANE_LOCKS_MEASURED);
	if (s->locks & LITEPCIE_LANE_LOCKS_MEASURED || refclk_derived(s))
		json_number("reference_clock_hz", refclk_hz(s));
	json_number("reference_clock_nominal_hz", s->refclk_hz);
	json_bool("pll_locked", s->locks & LITEPCIE_LANE_LOCKS_PLL);
	json_bool("pll_locked_by_serdes", !(s->locks & LITEPCIE_LANE_LOCKS_PLL_LOL));
	json_bool("receiver_locked", s->locks & LITEPCIE_LANE_LOCKS_CDR);
	json_bool("signal", s->locks & LITEPCIE_LANE_LOCKS_SIGNAL);
	if (s->runs)
		json_number("detections_without_answer",
			    of_receiver(s, LITEPCIE_LANE_RECEIVER_MISSING));
	if (link_hz(s))
		json_number("receiver_clock_hz", receiver_hz(s));
}

/* Absent: infinite, or no TLP needed them. */
static void json_credits(const struct lane_state *s)
{
	uint32_t infinite = lane_field(status(s), LITEPCIE_LANE_STATUS_INFINITE);

	json_object("fewest_credits");
	for (size_t i = 0; i < COUNT(credits); i++) {
		uint32_t headers =
			lane_field(s->words[credits[i].word], LITEPCIE_LANE_POSTED_HEADERS);
		uint32_t data = lane_field(s->words[credits[i].word], LITEPCIE_LANE_POSTED_DATA);

		json_object(credits[i].name);
		json_bool("infinite_headers", infinite >> (2 * i) & 1);
		json_bool("infinite_data", infinite >> (2 * i + 1) & 1);
		if (headers != 0xff && !(infinite >> (2 * i) & 1))
			json_number("headers", headers);
		if (data != 0xfff && !(infinite >> (2 * i + 1) & 1))
			json_number("data", data);
		json_end();
	}
	json_end();
}

static void json_log(const struct lane_state *s)
{
	uint32_t first, end;

	logged(s, &first, &end);
	json_number("time_ns", now_ns(s));
	json_number("transitions_counted", end);
	json_array("transitions");
	for (uint32_t n = first; n < end; n++) {
		struct transition t = transition(s, n);

		json_object(NULL);
		json_number("time_ns", t.ns);
		json_text("state", t.state);
		json_array("causes");
		for (size_t i = 0; i < COUNT(causes); i++)
			if (t.causes >> i & 1)
				json_text(NULL, causes[i].name);
		json_end();
		json_end();
	}
	json_end();
}

void lane_json(const struct lane_state *s, const char *port)
{
	const char *advice = lane_advice(s);

	json_document("link");
	json_bool("ok", true);
	json_text("port", port);
	json_clocks(s);
	if (s->runs) {
		json_text("state", state_name(s));
		json_bool("link_up", status(s) & LITEPCIE_LANE_STATUS_LINK_UP);
		json_bool("flow_control_initialized", status(s) & LITEPCIE_LANE_STATUS_DL_UP);
		json_bool("receiver_detected", status(s) & LITEPCIE_LANE_STATUS_DETECT_PRESENT);
		json_bool("lane_inverted", status(s) & LITEPCIE_LANE_STATUS_INVERTED);
		json_bool("lane_idle", status(s) & LITEPCIE_LANE_STATUS_RX_IDLE);
		json_bool("scrambled", !(status(s) & LITEPCIE_LANE_STATUS_NO_SCRAMBLING));
		if (!lane_bringup(s))
			json_credits(s);
		json_object("counters");
		for (size_t i = 0; i < COUNT(counters); i++)
			json_number(counters[i].name, counter(s, i));
		json_end();
		json_log(s);
	}
	if (lane_bringup(s))
		bringup_json(s);
	if (advice)
		json_text("advice", advice);
	json_end();
}
