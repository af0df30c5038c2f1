// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Uses the registers of the image for bring-up, and prints what it has measured. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "link.h"
#include "output.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* Words that one command of a serial port may read. */
#define CHUNK	 64

#define PAUSE_NS 2000000

static const char *const tests[] = {
#define X(name) name,
	LITEPCIE_LANE_TESTS(X)
#undef X
}, *const triggers[] = {
#define X(name) name,
	LITEPCIE_LANE_TRIGGERS(X)
#undef X
}, *const states[] = {
#define X(name) name,
	LITEPCIE_LANE_STATES(X)
#undef X
};

bool bringup_asked(const struct bringup_options *o, const char **name)
{
	*name = o->test	       ? "--test"
		: o->capture   ? "--capture"
		: o->registers ? "--registers"
		: o->save      ? "--save"
		: o->seconds   ? "--seconds"
			       : NULL;
	return *name;
}

/* Options ---------------------------------------------------------------------------------------
 */

/* The place of @word in @names, or -1. */
static int place_of(const char *word, size_t length, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(names[i]) == length && !strncasecmp(names[i], word, length))
			return (int)i;
	return -1;
}

/* Makes of TRIGGER, or TRIGGER:VALUE, the word for the register. Returns false if it is neither. */
static bool trigger_of(const char *text, uint32_t *word)
{
	const char *mark = strchr(text, ':');
	size_t length = mark ? (size_t)(mark - text) : strlen(text);
	int trigger = place_of(text, length, triggers, COUNT(triggers)), value = 0;
	bool takes =
		trigger == LITEPCIE_LANE_TRIGGER_STATE || trigger == LITEPCIE_LANE_TRIGGER_STATUS;

	if (trigger < 0 || takes != (mark != NULL))
		return false;
	if (trigger == LITEPCIE_LANE_TRIGGER_STATE)
		value = place_of(mark + 1, strlen(mark + 1), states, COUNT(states));
	else if (takes)
		value = mark[1] >= '0' && mark[1] <= '7' && !mark[2] ? mark[1] - '0' : -1;
	*word = (uint32_t)trigger << 1 | (uint32_t)value << 4;
	return value >= 0;
}

/* An access to a register of the SerDes: the word for the register, and whether it writes. */
static const char *access_of(const char *text, uint32_t *word)
{
	uint32_t common = 0;
	unsigned long address, data = 0;
	char *end;

	if (!strncmp(text, "common:", 7)) {
		common = LITEPCIE_LANE_SCI_COMMON;
		text += 7;
	}
	address = strtoul(text, &end, 0);
	if (end == text || address >= BRINGUP_SERDES_REGISTERS)
		return NULL;
	*word = common | (uint32_t)address << 8;
	if (*end == '=') {
		text = end + 1;
		data = strtoul(text, &end, 0);
		if (end == text || data > 0xff)
			return NULL;
		*word |= LITEPCIE_LANE_SCI_WRITE | (uint32_t)data;
	}
	return *end == ',' && end[1] ? end + 1 : *end ? NULL : end;
}

int bringup_check(const struct bringup_options *o)
{
	uint32_t word;

	if (o->test && place_of(o->test, strlen(o->test), tests, COUNT(tests)) < 0)
		return fail(EXIT_USAGE,
			    "--test: %s is not supported; choose train, hold, d10.2 or compliance",
			    o->test);
	if (o->capture && !trigger_of(o->capture, &word))
		return fail(EXIT_USAGE,
			    "--capture: %s is not supported; choose now, comma, status:N with N "
			    "from 0 to 7, or state:NAME with a state such as Polling.Active",
			    o->capture);
	for (const char *text = o->registers; text && *text;) {
		const char *next = access_of(text, &word);

		if (!next)
			return fail(EXIT_USAGE,
				    "--registers: %s is not supported; give a list such as "
				    "0x15,common:0x0a,0x16=0x3f with addresses below 0x40",
				    o->registers);
		text = next;
	}
	return 0;
}

/* Registers of the SerDes -----------------------------------------------------------------------
 */

static int serdes_access(struct lane_port *port, uint32_t word, uint8_t *data)
{
	uint32_t result = LITEPCIE_LANE_SCI_RESULT_BUSY;
	int code = port->write(port, LITEPCIE_LANE_SCI, word);

	/* It takes less than a command of the serial port. */
	if (!code)
		code = port->read(port, LITEPCIE_LANE_SCI_RESULT, &result, 1);
	if (!code && result & LITEPCIE_LANE_SCI_RESULT_BUSY)
		code = fail(EXIT_FAILED, "%s: an access to a register of the SerDes does not end",
			    port->name);
	*data = (uint8_t)result;
	return code;
}

/* Reads all of them, for the file. */
static int serdes_dump(struct lane_port *port, struct bringup *b)
{
	int code = 0;

	for (uint32_t n = 0; !code && n < 2 * BRINGUP_SERDES_REGISTERS; n++) {
		uint32_t common = n / BRINGUP_SERDES_REGISTERS;
		uint32_t address = n % BRINGUP_SERDES_REGISTERS;

		code = serdes_access(port, (common ? LITEPCIE_LANE_SCI_COMMON : 0) | address << 8,
				     &b->registers[common][address]);
	}
	b->dumped = !code;
	return code;
}

/* Reads and writes those of the command line, in its order, and prints each. */
static int serdes_list(struct lane_port *port, const char *list)
{
	int code = 0;

	while (!code && *list) {
		uint32_t word = 0;
		uint8_t data = 0;

		list = access_of(list, &word);
		if (word & LITEPCIE_LANE_SCI_WRITE)
			code = serdes_access(port, word, &data);
		if (!code)
			code = serdes_access(
				port,
				word & (LITEPCIE_LANE_SCI_COMMON | LITEPCIE_LANE_SCI_ADDRESS_MASK),
				&data);
		if (!code)
			fprintf(stderr, "register %s0x%02x of the SerDes %s 0x%02x\n",
				word & LITEPCIE_LANE_SCI_COMMON ? "common:" : "",
				lane_field(word, LITEPCIE_LANE_SCI_ADDRESS_MASK),
				word & LITEPCIE_LANE_SCI_WRITE ? "now reads as" : "reads as", data);
	}
	return code;
}

/* Measurement -----------------------------------------------------------------------------------
 */

static void wait_for(double seconds)
{
	struct timespec t = { .tv_sec = (time_t)seconds };

	t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
	nanosleep(&t, NULL);
}

/* The counters may be read while they stand still only. */
static int count(struct lane_port *port, double seconds, uint32_t mode, struct bringup *b)
{
	uint32_t before[BRINGUP_WORDS], after[BRINGUP_WORDS];
	int code = port->write(port, LITEPCIE_LANE_TEST, mode);

	if (!code)
		code = port->read(port, LITEPCIE_LANE_TEST, before, BRINGUP_WORDS);
	if (!code)
		code = port->write(port, LITEPCIE_LANE_TEST, mode | LITEPCIE_LANE_TEST_RUN);
	if (!code) {
		wait_for(seconds);
		code = port->write(port, LITEPCIE_LANE_TEST, mode);
	}
	if (!code)
		code = port->read(port, LITEPCIE_LANE_TEST, after, BRINGUP_WORDS);
	if (code)
		return code;
#define AT(name)     ((LITEPCIE_LANE_##name - LITEPCIE_LANE_TEST) / 4)
#define CHANGE(name) (after[AT(name)] - before[AT(name)])
	b->mode = mode;
	b->cycles = CHANGE(CYCLES);
	b->transmit = CHANGE(TRANSMIT);
	b->receive = CHANGE(RECEIVE);
	b->los = CHANGE(LOS);
	b->lol = CHANGE(LOL);
	b->plol = CHANGE(PLOL);
	b->levels = after[AT(LEVELS)];
	b->detections = after[AT(DETECTIONS)];
	b->detected = after[AT(DETECTED)];
	for (unsigned int i = 0; i < COUNT(b->status); i++)
		b->status[i] = after[AT(STATUS_0) + i] - before[AT(STATUS_0) + i];
#undef CHANGE
#undef AT
	return 0;
}

/* Waits for the end of a recording. *@captured has BUSY afterwards if it did not end. */
static int recorded(struct lane_port *port, double seconds, uint32_t *captured)
{
	double end = now() + seconds;
	int code;

	for (;;) {
		code = port->read(port, LITEPCIE_LANE_CAPTURED, captured, 1);
		if (code || !(*captured & LITEPCIE_LANE_CAPTURED_BUSY) || now() > end)
			return code;
		wait_for(PAUSE_NS / 1e9);
	}
}

static int record(struct lane_port *port, const struct bringup_options *o, struct bringup *b)
{
	uint32_t trigger = 0, captured = 0, first, words[LITEPCIE_LANE_CAPTURE_WORDS];
	int code;

	if (o->capture)
		trigger_of(o->capture, &trigger);
	code = port->write(port, LITEPCIE_LANE_CAPTURE, trigger | LITEPCIE_LANE_CAPTURE_ARM);
	if (!code)
		code = recorded(port, o->seconds, &captured);
	b->triggered = !(captured & LITEPCIE_LANE_CAPTURED_BUSY);
	if (!code && !b->triggered) {
		/* Without a trigger. */
		code = port->write(port, LITEPCIE_LANE_CAPTURE, 0);
		if (!code)
			code = recorded(port, 0.1, &captured);
	}
	b->recorded = !code && !(captured & LITEPCIE_LANE_CAPTURED_BUSY);
	for (unsigned int i = 0; !code && b->recorded && i < COUNT(words); i += CHUNK)
		code = port->read(port, LITEPCIE_LANE_CAPTURE_MEMORY + 4 * i, words + i, CHUNK);
	first = lane_field(captured, LITEPCIE_LANE_CAPTURED_FIRST_MASK);
	for (unsigned int i = 0; !code && b->recorded && i < COUNT(words); i++)
		b->words[i] = words[(first + i) % COUNT(words)];
	return code;
}

/* Answers carry no checksum: noise on the line, or another program there, shows at least here. */
static int check_line(struct lane_port *port)
{
	uint32_t magic;
	int code = port->read(port, LITEPCIE_LANE_MAGIC, &magic, 1);

	if (!code && magic != LITEPCIE_LANE_MAGIC_VALUE)
		return fail(EXIT_FAILED,
			    "%s: other bytes are between the answers, so nothing is reported: "
			    "check the cable, and that no other program uses the port",
			    port->name);
	return code;
}

int bringup_measure(struct lane_port *port, const struct bringup_options *o, uint32_t clock_hz,
		    struct bringup *b)
{
	uint32_t mode = 0;
	int code = port->read(port, LITEPCIE_LANE_TEST, &mode, 1);

	mode &= LITEPCIE_LANE_TEST_MODE_MASK;
	if (o->test)
		mode = (uint32_t)place_of(o->test, strlen(o->test), tests, COUNT(tests));
	if (!code && o->registers)
		code = serdes_list(port, o->registers);
	if (!code)
		code = count(port, o->seconds, mode, b);
	if (!code && !b->cycles)
		code = fail(EXIT_FAILED,
			    "%s: the counters of the image do not run; is its clock of %" PRIu32
			    " Hz right?",
			    port->name, clock_hz);
	if (!code)
		code = record(port, o, b);
	if (!code && o->save)
		code = serdes_dump(port, b);
	if (!code)
		code = check_line(port);
	return code;
}

struct bringup_symbol bringup_symbol(uint32_t word, int half)
{
	word >>= 12 * half;
	return (struct bringup_symbol){ .symbol = word & 0x1ff, .status = word >> 9 & 7 };
}

double bringup_rate(const struct bringup *b, uint32_t changes, uint32_t clock_hz)
{
	return (double)changes * clock_hz / b->cycles;
}

double bringup_hz(const struct bringup *b, uint32_t eighths, uint32_t clock_hz)
{
	return 8 * bringup_rate(b, eighths, clock_hz);
}

/* Report ----------------------------------------------------------------------------------------
 */

#define LINK_HZ 125e6

/* Symbols of a recording in the text: the words from the trigger on. */
#define SHOWN_WORDS 64
#define PER_LINE    8

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
	       (double)b->cycles / state->clock_hz, tests[b->mode]);
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
	json_text("test", tests[b->mode]);
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
