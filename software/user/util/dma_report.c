// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Results of dma_test as text. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "dma_test.h"
#include "link_state.h"
#include "sysfs.h"

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
	       side->direction == LITEPCIE_READER ? "read: host to card" : "write: card to host",
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
