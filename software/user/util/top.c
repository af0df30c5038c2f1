// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* top: what the card does, interval by interval: rates, use of the link, waits, interrupts, errors.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "card.h"
#include "output.h"

#define MOST_CHANNELS 8
#define MOST_USERS    16

struct top_options {
	uint64_t interval_ms, count;
	bool batch;
};

static const struct option options[] = {
	{ .name = "interval-ms",
	  .letter = 'i',
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "length of an interval (default 1000)",
	  .where = offsetof(struct top_options, interval_ms),
	  .min = 10,
	  .max = 3600000 },
	{ .name = "count",
	  .letter = 'n',
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "intervals (default: until Ctrl-C)",
	  .where = offsetof(struct top_options, count),
	  .max = UINT32_MAX },
	{ .name = "batch",
	  .letter = 'b',
	  .kind = OPTION_FLAG,
	  .help = "print a line for each interval, and never redraw the terminal",
	  .where = offsetof(struct top_options, batch) },
	{ 0 },
};

static void *defaults(void)
{
	struct top_options *o = calloc(1, sizeof(*o));

	if (o)
		o->interval_ms = 1000;
	return o;
}

struct sample {
	double time;
	struct litepcie_counters engines[MOST_CHANNELS][2];
	struct litepcie_errors errors;
	uint64_t interrupts;
};

struct top {
	const struct settings *settings;
	struct litepcie *card;
	struct litepcie_info info;
	const char *name; /* litepcie0 */
	int interrupts;	  /* the open file, -1: none */
	unsigned int channels;
	double theory[2]; /* bytes per second by direction, 0: not known */
	struct sample before, now;
	struct card_user users[MOST_USERS];
	size_t user_count;
};

static int sample(struct top *top, struct sample *s)
{
	int err = 0;

	for (unsigned int c = 0; c < top->channels; c++)
		for (unsigned int d = 0; !err && d < 2; d++)
			err = litepcie_get_counters(top->card, c, d, &s->engines[c][d]);
	if (!err)
		err = litepcie_get_errors(top->card, &s->errors);
	if (err)
		return fail(exit_code_of(err), "%s: counters: %s", top->settings->device,
			    litepcie_strerror(err));
	if (top->interrupts >= 0)
		s->interrupts = interrupts_count(top->interrupts, top->name);
	s->time = now();
	return 0;
}

/* What an engine did in an interval. */
struct work {
	double rate;	/* bytes per second */
	double active;	/* percent of the time */
	double wait[4]; /* percent of the active cycles */
	uint32_t descriptors, tlps;
};

static struct work work_of(const struct top *top, unsigned int channel, unsigned int direction)
{
	const struct litepcie_counters *a = &top->before.engines[channel][direction];
	const struct litepcie_counters *b = &top->now.engines[channel][direction];
	double seconds = top->now.time - top->before.time;
	double cycles = (double)(b->active_cycles - a->active_cycles);
	struct work work = { 0 };

	/* After a reset of the engine, the counters begin anew. */
	if (b->active_cycles < a->active_cycles || b->bytes < a->bytes)
		return work;
	work.rate = (double)(b->bytes - a->bytes) / seconds;
	work.active = top->info.clock_hz ? 100 * cycles / (top->info.clock_hz * seconds) : 0;
	work.descriptors = b->descriptors - a->descriptors;
	work.tlps = b->tlps - a->tlps;
	if (!cycles)
		return work;
	work.wait[0] = 100 * (double)(uint32_t)(b->wait_descriptor - a->wait_descriptor) / cycles;
	work.wait[1] = 100 * (double)(uint32_t)(b->wait_tag - a->wait_tag) / cycles;
	work.wait[2] = 100 * (double)(uint32_t)(b->wait_link - a->wait_link) / cycles;
	work.wait[3] = 100 * (double)(uint32_t)(b->wait_data - a->wait_data) / cycles;
	return work;
}

static double rate_of(const struct top *top, unsigned int direction)
{
	double rate = 0;

	for (unsigned int c = 0; c < top->channels; c++)
		rate += work_of(top, c, direction).rate;
	return rate;
}

static double use_of_link(const struct top *top, unsigned int direction)
{
	return top->theory[direction] ? 100 * rate_of(top, direction) / top->theory[direction] : 0;
}

static double interrupts_per_second(const struct top *top)
{
	return (double)(top->now.interrupts - top->before.interrupts) /
	       (top->now.time - top->before.time);
}

/* "; used by fio (123)" */
static void text_of_users(const struct top *top, char *text, size_t size)
{
	size_t used = 0;

	text[0] = 0;
	for (size_t i = 0; i < top->user_count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s (%d)",
					 i ? ", " : "used by ", top->users[i].name,
					 top->users[i].pid);
}

static void line_of_interval(const struct top *top, double since)
{
	char errors[256], users[512];

	text_of_users(top, users, sizeof(users));
	card_errors_since(&top->before.errors, &top->now.errors, errors, sizeof(errors));
	printf("%.1f s: read %.1f MB/s, write %.1f MB/s, %.0f interrupts per second%s%s%s%s\n",
	       since, rate_of(top, LITEPCIE_TO_CARD) / 1e6, rate_of(top, LITEPCIE_FROM_CARD) / 1e6,
	       interrupts_per_second(top), users[0] ? "; " : "", users,
	       errors[0] ? "; errors: " : "", errors);
}

static void text_interval(const struct top *top, double since)
{
	char errors[256], users[512];

	printf("%s at %s, Gen%u x%u, %.1f s\n", top->settings->device, top->info.bus_address,
	       top->info.link_gen, top->info.link_lanes, since);
	if (top->channels)
		printf("engine         MB/s  active %%  descriptor   tag  link  data   TLPs\n");
	else
		printf("no memory channels; top does not count streams\n");
	for (unsigned int c = 0; c < top->channels; c++) {
		for (unsigned int d = 0; d < 2; d++) {
			struct work w = work_of(top, c, d);

			printf("%s %-3u %9.1f %9.1f %11.1f %5.1f %5.1f %5.1f %5" PRIu32 "\n",
			       litepcie_direction_name(d), c, w.rate / 1e6, w.active, w.wait[0],
			       w.wait[1], w.wait[2], w.wait[3], w.tlps);
		}
	}
	if (top->channels)
		printf("link use: read %.1f %%, write %.1f %%; ",
		       use_of_link(top, LITEPCIE_TO_CARD), use_of_link(top, LITEPCIE_FROM_CARD));
	printf("%.0f interrupts per second", interrupts_per_second(top));
	card_errors_since(&top->before.errors, &top->now.errors, errors, sizeof(errors));
	printf("%s%s\n", errors[0] ? "; errors: " : "", errors);
	text_of_users(top, users, sizeof(users));
	if (users[0])
		print_wrapped(users, 2, 2);
}

static void json_interval(const struct top *top, double since)
{
	static const char *const waits[] = { "descriptor", "tag", "link", "data" };
	char errors[256];

	json_line("top");
	json_text("device", top->settings->device);
	json_real("time_seconds", since, 3);
	json_array("engines");
	for (unsigned int i = 0; i < 2 * top->channels; i++) {
		struct work w = work_of(top, i / 2, i % 2);

		json_object(NULL);
		json_text("engine", litepcie_direction_name(i % 2));
		json_number("channel", i / 2);
		json_real("counter_bytes_per_second", w.rate, 0);
		json_real("active_percent", w.active, 3);
		json_number("descriptors", w.descriptors);
		json_number("tlps", w.tlps);
		json_object("wait_percent_of_active_cycles");
		for (unsigned int k = 0; k < 4; k++)
			json_real(waits[k], w.wait[k], 3);
		json_end();
		json_end();
	}
	json_end();
	json_object("link_use_percent");
	json_real("read", use_of_link(top, LITEPCIE_TO_CARD), 3);
	json_real("write", use_of_link(top, LITEPCIE_FROM_CARD), 3);
	json_end();
	json_real("interrupts_per_second", interrupts_per_second(top), 1);
	card_errors_since(&top->before.errors, &top->now.errors, errors, sizeof(errors));
	if (errors[0])
		json_text("card_errors", errors);
	json_array("users");
	for (size_t i = 0; i < top->user_count; i++) {
		json_object(NULL);
		json_number("process_id", (uint64_t)top->users[i].pid);
		json_text("name", top->users[i].name);
		json_end();
	}
	json_end();
	json_end();
}

static int watch(struct top *top, const struct top_options *o)
{
	int code = sample(top, &top->before), signal;
	double start = top->before.time;

	signals_hold();
	for (uint64_t i = 0; !code && (!o->count || i < o->count); i++) {
		signal = signals_wait(o->interval_ms);
		/* Ctrl-C is the usual end. */
		if (signal)
			return 128 + signal;
		code = sample(top, &top->now);
		if (code)
			break;
		top->user_count = card_users(top->settings->device, top->users, MOST_USERS);
		if (top->settings->json) {
			json_interval(top, top->now.time - start);
		} else if (o->batch) {
			line_of_interval(top, top->now.time - start);
		} else {
			if (isatty(STDOUT_FILENO))
				printf("\033[H\033[J");
			text_interval(top, top->now.time - start);
		}
		fflush(stdout);
		top->before = top->now;
	}
	return code;
}

static int top_run(const struct settings *settings, const void *values, const char *argument)
{
	const char *slash = strrchr(settings->device, '/');
	struct top top = { .settings = settings, .name = slash ? slash + 1 : settings->device };
	struct litepcie_rates rates;
	struct litepcie_link link;
	int code = 0;

	(void)argument;
	top.card = open_card(settings, &top.info, &code);
	if (!top.card)
		return code;
	top.channels = top.info.channels < MOST_CHANNELS ? top.info.channels : MOST_CHANNELS;
	link = litepcie_link_of(&top.info, 12);
	if (!litepcie_theory_pcie_bench(&link, 1 << 20, &rates)) {
		top.theory[LITEPCIE_TO_CARD] = rates.read;
		top.theory[LITEPCIE_FROM_CARD] = rates.write;
	}
	top.interrupts = interrupts_open();
	code = watch(&top, values);
	if (top.interrupts >= 0)
		close(top.interrupts);
	litepcie_close(top.card);
	return code;
}

const struct command command_top = {
	.name = "top",
	.summary = "print what the card does, interval by interval",
	.details = "For each engine: payload rate, share of the time in which it was active, and "
		   "what it\nwaited for, in percent of the active cycles. Link use is the payload "
		   "in percent of\nwhat the link can carry (pcie-bench). All programs that use the "
		   "card are counted;\nthe counters are read once per interval, which disturbs no "
		   "transfer. Other\nprocesses that have the card open are named, with root those "
		   "of all users. With\n--json each interval is an object in a line of its own.",
	.options = options,
	.defaults = defaults,
	.run = top_run,
};
