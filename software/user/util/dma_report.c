// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Results of dma_test, as text and as JSON. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "card.h"
#include "dma_test.h"
#include "link.h"
#include "output.h"

/* Results of dma_test as text. */

#define MB 1e6

/* A label, and text that goes on below itself; labels of results begin with two spaces. */
static void __attribute__((format(printf, 2, 3)))
print_line(const char *label, const char *format, ...)
{
	int column = label[0] == ' ' ? 25 : 9;
	va_list arguments;
	char text[1024];

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	printf("%-*s", column, label);
	print_wrapped(text, column, column);
}

/* What --preserve does not keep is lost: said before the test begins. */
static void overwritten(const struct dma_test *test)
{
	char text[128];
	size_t used = 0;

	for (unsigned int i = 0; i < 2; i++) {
		uint64_t offset = test->sides[i].offset;

		if (!sequence_has(test->options->sequence, i) ||
		    (used && offset == test->sides[0].offset))
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s%" PRIu64 " to %" PRIu64, used ? " and " : "", offset,
					 offset + test->area - 1);
	}
	print_line("memory", "bytes %s of the card's memory are overwritten%s", text,
		   test->options->preserve ? ", and restored at the end" : "");
}

void dma_report_begin(const struct dma_test *test)
{
	const struct litepcie_info *i = &test->info;
	const struct dma_options *o = test->options;
	struct utsname host = { 0 };
	struct link_state link;
	char degraded[LINK_TEXT], times[64], depth[40] = "", pattern[300];

	uname(&host);
	print_line("device", "%s at %s: %s, gateware %" PRIu32 ".%" PRIu32, test->settings->device,
		   i->bus_address, i->target, i->gateware_version >> 16,
		   i->gateware_version & 0xffff);
	print_line("host", "%s %s %s", host.sysname, host.release, host.machine);
	printf("link     Gen%" PRIu32 " x%" PRIu32 ", MPS %" PRIu32 ", MRRS %" PRIu32
	       " bytes; data path %" PRIu32 " bits at %.3f MHz\n",
	       i->link_gen, i->link_lanes, i->max_payload_bytes, i->max_read_request_bytes,
	       i->data_width_bits, i->clock_hz / 1e6);
	link_state_of(&link, i);
	link_state_degraded(&link, degraded, sizeof(degraded));
	if (degraded[0])
		print_line("slower", "%s", degraded);
	if (o->seconds && !o->iterations)
		snprintf(times, sizeof(times), "for %g s", o->seconds);
	else
		snprintf(times, sizeof(times), "x %" PRIu64, test->iterations);
	if (o->depth > 1)
		snprintf(depth, sizeof(depth), " x %" PRIu64 " in flight", o->depth);
	pattern_text(test, pattern, sizeof(pattern));
	print_line("test",
		   "%s, %" PRIu64 " bytes%s %s after 1 warm-up, card offset %" PRIu64
		   ", host offset %" PRIu64 ", %s",
		   sequence_names[o->sequence], test->length, depth, times, o->offset,
		   o->host_offset, pattern);
	overwritten(test);
	/* The test can take minutes; this is shown before. */
	fflush(stdout);
}

static void theory_line(const char *name, double theory, double average)
{
	printf("  %-22s %10.1f %10s %10s  MB/s; reached %.1f %%\n", name, theory / MB, "", "",
	       100 * average / theory);
}

static void theory(const struct dma_test *test, const struct side *side, double average)
{
	const struct litepcie_info *i = &test->info;
	struct dma_theory theory;
	const char *reason;
	char bound[24];

	if (!dma_theory_of(test, side->direction, &theory)) {
		printf("  theory                 not defined for Gen%u x%u, MPS %u, MRRS %u\n",
		       i->link_gen, i->link_lanes, i->max_payload_bytes, i->max_read_request_bytes);
		return;
	}
	snprintf(bound, sizeof(bound), "bound, %u tags", theory.tags);
	theory_line("theory, AN 456", theory.note, average);
	theory_line("theory, pcie-bench", theory.bench, average);
	theory_line(bound, theory.bound, average);
	reason = dma_theory_exceeded(test, side, &theory, average);
	if (reason)
		print_line("  above theory", "%s", reason);
}

static void times_of_calls(const struct latencies *times)
{
	char p99[40] = "", p999[40] = "";

	if (latencies_tell(times, 0.99))
		snprintf(p99, sizeof(p99), " p99 %.1f,", 1e6 * latencies_at(times, 0.99));
	if (latencies_tell(times, 0.999))
		snprintf(p999, sizeof(p999), " p99.9 %.1f,", 1e6 * latencies_at(times, 0.999));
	print_line("  time of a call", "p50 %.1f,%s%s longest %.1f us",
		   1e6 * latencies_at(times, 0.5), p99, p999, 1e6 * latencies_at(times, 1));
}

static void of_side(const struct dma_test *test, const struct side *side)
{
	const struct measure *m = &side->measure;
	double length = (double)test->area, active = (double)m->counter_cycles;
	double average;

	if (!m->transfers)
		return;
	printf("\n%-24s %10s %10s %10s\n",
	       side->direction == LITEPCIE_TO_CARD ? "read: host to card" : "write: card to host",
	       "peak", "average", "last");
	average = counter_rate(test, m->counter_bytes, m->counter_cycles);
	printf("  %-22s %10.1f %10.1f %10.1f  MB/s\n", "hardware counter",
	       counter_rate(test, m->peak_bytes, m->peak_cycles) / MB, average / MB,
	       counter_rate(test, m->last_bytes, m->last_cycles) / MB);
	printf("  %-22s %10.1f %10.1f %10.1f  MB/s; %.1f us each\n", "host wall clock",
	       length / m->wall_least / MB, (double)m->bytes / m->wall_seconds / MB,
	       length / m->wall_last / MB, 1e6 * m->call_seconds / (double)m->transfers);
	times_of_calls(&m->latencies);
	theory(test, side, average);
	for (unsigned int i = 0;
	     test->info.channels > 1 && i < test->info.channels && i < MOST_CHANNELS; i++)
		if (m->channel_cycles[i])
			printf("  channel %-14u %10s %10.1f %10s  MB/s, %" PRIu64 " bytes\n", i, "",
			       counter_rate(test, m->channel_bytes[i], m->channel_cycles[i]) / MB,
			       "", m->channel_bytes[i]);
	print_line("  waiting for",
		   "descriptor %.1f, tag %.1f, link %.1f, data %.1f %% of the active cycles",
		   100 * (double)m->wait_descriptor / active, 100 * (double)m->wait_tag / active,
		   100 * (double)m->wait_link / active, 100 * (double)m->wait_data / active);
}

void dma_report_text(const struct dma_test *test)
{
	uint64_t transfers = test->sides[0].measure.transfers + test->sides[1].measure.transfers;

	if (test->several)
		printf("\n%s\n", test->settings->device);
	for (unsigned int i = 0; i < 2; i++)
		of_side(test, &test->sides[i]);
	if (!transfers)
		return;
	printf("\n");
	if (test->options->sequence == READ_AND_WRITE)
		printf("The two calls overlapped for %.0f %% of the longer one, by the host's "
		       "clock.\n",
		       100 * test->overlap * (double)test->options->depth /
			       (double)test->sides[0].measure.transfers);
	print_wrapped(sysfs_simulated(test->info.bus_address)
			      ? "MB/s is 10^6 bytes per second. The host measures the wall clock "
				"around the system call; in simulation it says nothing about the "
				"link."
			      : "MB/s is 10^6 bytes per second. The host measures the wall clock "
				"around the system call.",
		      0, 0);
	if (test->disturbed[0])
		printf("note: the rates are not those of the test alone: %s.\n", test->disturbed);
	if (test->options->preserve && !test->lost)
		printf("The card's memory has its bytes again.\n");
	if (!test->mismatch.what && !test->error[0] && !test->signal)
		printf("%" PRIu64 " transfers verified: every byte, and the guard bytes around the "
		       "data.\n",
		       transfers);
}

/* Results of dma_test as JSON. Values that were not measured are absent. */

static void of_what(const struct dma_test *test)
{
	const struct litepcie_info *i = &test->info;
	const struct dma_options *o = test->options;
	struct utsname host = { 0 };
	struct link_state link;
	uint64_t measured = 0;
	char degraded[LINK_TEXT];
	char version[24];

	for (unsigned int i = 0; i < 2; i++)
		if (test->sides[i].measure.transfers / o->depth > measured)
			measured = test->sides[i].measure.transfers / o->depth;
	uname(&host);
	link_state_of(&link, i);
	link_state_degraded(&link, degraded, sizeof(degraded));
	snprintf(version, sizeof(version), "%" PRIu32 ".%" PRIu32, i->gateware_version >> 16,
		 i->gateware_version & 0xffff);
	json_text("device", test->settings->device);
	json_text("bus_address", i->bus_address);
	json_text("target", i->target);
	json_text("gateware_version", version);
	json_text("kernel", host.release);
	json_number("gen", i->link_gen);
	json_number("lanes", i->link_lanes);
	json_number("mps_bytes", i->max_payload_bytes);
	json_number("mrrs_bytes", i->max_read_request_bytes);
	json_number("datapath_bits", i->data_width_bits);
	json_number("clock_hz", i->clock_hz);
	if (degraded[0])
		json_text("degraded", degraded);
	json_text("sequence", sequence_names[o->sequence]);
	json_number("transfer_bytes", test->length);
	json_number("in_flight", o->depth);
	json_number("iterations", o->seconds && !o->iterations ? measured : test->iterations);
	if (o->seconds)
		json_real("time_limit_seconds", o->seconds, 3);
	json_real("elapsed_seconds", test->ended > test->began ? test->ended - test->began : 0, 6);
	json_number("warm_up_iterations", 1);
	json_number("offset_bytes", o->offset);
	json_number("host_offset_bytes", o->host_offset);
	json_text("pattern", pattern_names[o->pattern]);
	if (o->pattern == PRBS)
		json_number("seed", o->seed);
	else if (o->pattern == FROM_FILE)
		json_text("file", o->file);
	else
		json_number("value", o->value);
}

static void rates(const char *key, double peak, double average, double last)
{
	json_object(key);
	json_real("peak", peak, 0);
	json_real("average", average, 0);
	json_real("last", last, 0);
	json_end();
}

static void json_of_theory(const struct dma_test *test, const struct side *side)
{
	const struct measure *m = &side->measure;
	struct dma_theory theory;
	const char *reason;

	if (!dma_theory_of(test, side->direction, &theory))
		return;
	reason = dma_theory_exceeded(test, side, &theory,
				     counter_rate(test, m->counter_bytes, m->counter_cycles));
	json_object("theory_bytes_per_second");
	json_real("application_note", theory.note, 0);
	json_real("pcie_bench", theory.bench, 0);
	json_real("bound", theory.bound, 0);
	json_number("request_header_bytes", theory.header_bytes);
	json_number("tags", theory.tags);
	json_number("latency_ns", test->options->latency_ns);
	json_end();
	if (reason)
		json_text("above_theory", reason);
}

static void channels(const struct dma_test *test, const struct measure *m)
{
	if (test->info.channels < 2)
		return;
	json_array("channels");
	for (unsigned int i = 0; i < test->info.channels && i < MOST_CHANNELS; i++) {
		json_object(NULL);
		json_number("channel", i);
		json_number("counter_bytes", m->channel_bytes[i]);
		json_number("counter_active_cycles", m->channel_cycles[i]);
		json_end();
	}
	json_end();
}

static void json_of_side(const struct dma_test *test, const struct side *side)
{
	const struct measure *m = &side->measure;
	double length = (double)test->area;
	double active = (double)m->counter_cycles;

	if (!m->transfers)
		return;
	json_object(direction_word(side->direction));
	json_number("transfers", m->transfers);
	json_number("bytes", m->bytes);
	json_number("counter_bytes", m->counter_bytes);
	json_number("counter_active_cycles", m->counter_cycles);
	rates("counter_bytes_per_second", counter_rate(test, m->peak_bytes, m->peak_cycles),
	      counter_rate(test, m->counter_bytes, m->counter_cycles),
	      counter_rate(test, m->last_bytes, m->last_cycles));
	rates("host_wall_clock_bytes_per_second", length / m->wall_least,
	      (double)m->bytes / m->wall_seconds, length / m->wall_last);
	json_real("host_wall_clock_microseconds_per_call",
		  1e6 * m->call_seconds / (double)m->transfers, 3);
	json_object("host_wall_clock_call_microseconds");
	json_real("p50", 1e6 * latencies_at(&m->latencies, 0.5), 3);
	if (latencies_tell(&m->latencies, 0.99))
		json_real("p99", 1e6 * latencies_at(&m->latencies, 0.99), 3);
	if (latencies_tell(&m->latencies, 0.999))
		json_real("p99_9", 1e6 * latencies_at(&m->latencies, 0.999), 3);
	json_real("longest", 1e6 * latencies_at(&m->latencies, 1), 3);
	json_end();
	channels(test, m);
	json_of_theory(test, side);
	json_object("wait_percent_of_active_cycles");
	json_real("descriptor", 100 * (double)m->wait_descriptor / active, 3);
	json_real("tag", 100 * (double)m->wait_tag / active, 3);
	json_real("link", 100 * (double)m->wait_link / active, 3);
	json_real("data", 100 * (double)m->wait_data / active, 3);
	json_end();
	json_end();
}

static void of_mismatch(const struct mismatch *m)
{
	if (!m->what)
		return;
	json_object("mismatch");
	json_text("where", m->what);
	json_text("direction", direction_word(m->direction));
	json_number("iteration", m->iteration);
	json_real("position_bytes", (double)m->position, 0);
	if (m->what != host_guard)
		json_number("card_offset_bytes", m->card_offset);
	json_number("expected", m->expected);
	json_number("got", m->got);
	json_number("differing_bytes", m->differing);
	if (m->again)
		json_text("read_back_again", m->again);
	json_end();
}

void dma_report_json(const struct dma_test *test)
{
	if (test->options->json_lines)
		json_line("dma_test");
	else
		json_document("dma_test");
	if (test->options->json_lines)
		json_text("event", "result");
	json_bool("ok", !test->mismatch.what && !test->error[0] && !test->signal);
	of_what(test);
	for (unsigned int i = 0; i < 2; i++)
		json_of_side(test, &test->sides[i]);
	if (test->options->sequence == READ_AND_WRITE && test->sides[0].measure.transfers)
		json_real("host_wall_clock_overlap_percent",
			  100 * test->overlap * (double)test->options->depth /
				  (double)test->sides[0].measure.transfers,
			  1);
	of_mismatch(&test->mismatch);
	if (test->error[0])
		json_text("error", test->error);
	if (test->disturbed[0])
		json_text("disturbed", test->disturbed);
	if (test->options->preserve)
		json_bool("preserved", !test->lost);
	if (test->card_errors[0])
		json_text("card_errors", test->card_errors);
	if (test->signal)
		json_number("ended_by_signal", (uint64_t)test->signal);
	json_end();
}
