// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Prints what the image for bring-up has measured. */
#include "bringup.h"

#include <inttypes.h>
#include <stdio.h>

#include "json.h"
#include "lane.h"

#define LINK_HZ 125e6

/* Symbols of a recording in the text: the words from the trigger on. */
#define SHOWN_WORDS 64
#define PER_LINE    8

static const char *const modes[] = {
#define X(name) name,
	LITEPCIE_LANE_TESTS(X)
#undef X
};

static const char *const meanings[] = {
	"no error",   "SKP added", "SKP removed", "receiver found",
	"wrong code", "overflow",  "underflow",	  "wrong disparity"
};

static const struct {
	const char *name, *key;
	uint32_t level;
	size_t where;
} signals[] = {
	{ "loss of signal", "loss_of_signal", LITEPCIE_LANE_LEVELS_LOS,
	  offsetof(struct bringup, los) },
	{ "loss of lock", "loss_of_lock", LITEPCIE_LANE_LEVELS_LOL, offsetof(struct bringup, lol) },
	{ "PLL loss of lock", "loss_of_pll_lock", LITEPCIE_LANE_LEVELS_PLOL,
	  offsetof(struct bringup, plol) },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static uint32_t changes(const struct bringup *b, size_t where)
{
	return *(const uint32_t *)((const char *)b + where);
}

static unsigned int shown_detections(const struct bringup *b)
{
	return b->detections < 16 ? b->detections : 16;
}

static double share(const struct bringup *b, unsigned int status)
{
	double all = 0;

	for (unsigned int i = 0; i < COUNT(b->status); i++)
		all += b->status[i];
	return all ? 100 * b->status[status] / all : 0;
}

/* Text ------------------------------------------------------------------------------------------
 */

static void text_clock(const char *name, double hz)
{
	if (hz)
		printf("  %-17s%.3f MHz, %+.0f ppm\n", name, hz / 1e6, 1e6 * (hz / LINK_HZ - 1));
	else
		printf("  %-17sstands still\n", name);
}

static void text_symbol(uint32_t word, int half)
{
	struct bringup_symbol s = bringup_symbol(word, half);
	char text[12];
	int length = snprintf(text, sizeof(text), "%c%d.%d", s.symbol & 0x100 ? 'K' : 'D',
			      s.symbol & 31, s.symbol >> 5 & 7);

	if (s.status)
		snprintf(text + length, sizeof(text) - (size_t)length, "/%d", s.status);
	printf(" %7s", text);
}

static void text_words(const struct bringup *b)
{
	for (unsigned int i = 0; i < SHOWN_WORDS; i++) {
		uint32_t word = b->words[LITEPCIE_LANE_CAPTURE_BEFORE + i];

		if (i % PER_LINE == 0)
			printf("  %3u", i);
		text_symbol(word, 0);
		text_symbol(word, 1);
		if (i % PER_LINE == PER_LINE - 1)
			printf("\n");
	}
}

void bringup_text(const struct lane_state *state, bool recording)
{
	const struct bringup *b = &state->measured;

	printf("bring-up           measured for %.3g s, lane: %s\n",
	       (double)b->cycles / state->clock_hz, modes[b->mode]);
	text_clock("transmit clock", bringup_hz(b, b->transmit, state->clock_hz));
	text_clock("receive clock", bringup_hz(b, b->receive, state->clock_hz));
	for (size_t i = 0; i < COUNT(signals); i++)
		printf("  %-17s%s, %.1f changes per second\n", signals[i].name,
		       b->levels & signals[i].level ? "yes" : "no",
		       bringup_rate(b, changes(b, signals[i].where), state->clock_hz));
	printf("  %-17s%" PRIu32 "%s", "detections", b->detections,
	       b->detections ? "; the last ones, newest first (DONE CON):" : "");
	for (unsigned int i = 0; i < shown_detections(b); i++)
		printf(" %d%d", b->detected >> (2 * i) & 1, b->detected >> (2 * i + 1) & 1);
	printf("\n  status of symbols\n");
	for (unsigned int i = 0; i < COUNT(b->status); i++)
		printf("    %u %-16s%10" PRIu32 "  %6.2f %%\n", i, meanings[i], b->status[i],
		       share(b, i));
	printf("  %-17s%s\n", "recording",
	       !b->recorded   ? "none: the receive clock stands still"
	       : b->triggered ? "512 words of the receive bus"
			      : "512 words of the receive bus; the trigger did not come");
	if (recording && b->recorded)
		text_words(b);
}

/* JSON ------------------------------------------------------------------------------------------
 */

static void json_recording(const struct bringup *b)
{
	json_object("recording");
	json_bool("triggered", b->triggered);
	json_number("words_before_trigger", LITEPCIE_LANE_CAPTURE_BEFORE);
	json_array("words");
	for (unsigned int i = 0; i < LITEPCIE_LANE_CAPTURE_WORDS; i++)
		json_number(NULL, b->words[i]);
	json_end();
	json_end();
}

static void json_registers(const struct bringup *b)
{
	static const char *const keys[] = { "registers_of_channel", "common_registers" };

	for (unsigned int k = 0; k < COUNT(keys); k++) {
		json_array(keys[k]);
		for (unsigned int i = 0; i < BRINGUP_SERDES_REGISTERS; i++)
			json_number(NULL, b->registers[k][i]);
		json_end();
	}
}

void bringup_json(const struct lane_state *state)
{
	const struct bringup *b = &state->measured;

	json_object("bringup");
	json_real("measured_seconds", (double)b->cycles / state->clock_hz, 6);
	json_text("test", modes[b->mode]);
	json_number("transmit_clock_hz", (uint64_t)bringup_hz(b, b->transmit, state->clock_hz));
	json_number("receive_clock_hz", (uint64_t)bringup_hz(b, b->receive, state->clock_hz));
	for (size_t i = 0; i < COUNT(signals); i++) {
		json_object(signals[i].key);
		json_bool("now", b->levels & signals[i].level);
		json_real("changes_per_second",
			  bringup_rate(b, changes(b, signals[i].where), state->clock_hz), 1);
		json_end();
	}
	json_number("detections", b->detections);
	json_array("last_detections");
	for (unsigned int i = 0; i < shown_detections(b); i++) {
		json_object(NULL);
		json_bool("done", b->detected >> (2 * i) & 1);
		json_bool("con", b->detected >> (2 * i + 1) & 1);
		json_end();
	}
	json_end();
	json_array("symbols_by_status");
	for (unsigned int i = 0; i < COUNT(b->status); i++)
		json_number(NULL, b->status[i]);
	json_end();
	if (b->recorded)
		json_recording(b);
	if (b->dumped)
		json_registers(b);
	json_end();
}
