// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* calc: the rates that a link can carry, by three formulas, without a card. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "output.h"
#include "util.h"

#define MB   1e6
#define GBIT (1e9 / 8)

enum { ACKS_DATA, ACKS_ALL };

static const char *const header_names[] = { "12", "16", NULL };
static const char *const ack_names[] = { "data", "all", NULL };

struct calc_options {
	uint64_t gen, lanes, mps, mrrs, completion, length, latency_ns, tags;
	unsigned int header, acks;
	bool ecrc;
};

#define FIELD(name) offsetof(struct calc_options, name)

static const struct option options[] = {
	{ .name = "gen",
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "generation of the link, 1 to 4 (default 2)",
	  .where = FIELD(gen),
	  .min = 1,
	  .max = 4 },
	{ .name = "lanes",
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "lanes of the link: 1, 2, 4, 8 or 16 (default 4)",
	  .where = FIELD(lanes),
	  .min = 1,
	  .max = 16 },
	{ .name = "mps",
	  .kind = OPTION_SIZE,
	  .argument = "BYTES",
	  .help = "Max_Payload_Size, 128 to 4K (default 256)",
	  .where = FIELD(mps),
	  .min = 128,
	  .max = 4096 },
	{ .name = "mrrs",
	  .kind = OPTION_SIZE,
	  .argument = "BYTES",
	  .help = "Max_Read_Request_Size, 128 to 4K (default 512)",
	  .where = FIELD(mrrs),
	  .min = 128,
	  .max = 4096 },
	{ .name = "completion",
	  .kind = OPTION_SIZE,
	  .argument = "BYTES",
	  .help = "most data of a completion, 64 to MPS (default MPS)",
	  .where = FIELD(completion),
	  .min = 64,
	  .max = 4096 },
	{ .name = "header",
	  .kind = OPTION_CHOICE,
	  .argument = "BYTES",
	  .help = "request header; 16 for buffers above 4 GiB (default 12)",
	  .where = FIELD(header),
	  .choices = header_names },
	{ .name = "ecrc",
	  .kind = OPTION_FLAG,
	  .help = "each TLP has an ECRC of 4 bytes",
	  .where = FIELD(ecrc) },
	{ .name = "length",
	  .letter = 'l',
	  .kind = OPTION_SIZE,
	  .argument = "BYTES",
	  .help = "bytes per transfer (default 1M)",
	  .where = FIELD(length),
	  .min = 1,
	  .max = UINT64_C(1) << 40 },
	{ .name = "latency-ns",
	  .kind = OPTION_COUNT,
	  .argument = "NS",
	  .help = "from a read request to its completion, for the bound (default 1000)",
	  .where = FIELD(latency_ns),
	  .max = 1000000000 },
	{ .name = "tags",
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "read requests in flight, for the bound (default 32)",
	  .where = FIELD(tags),
	  .min = 1,
	  .max = 1024 },
	{ .name = "acks",
	  .kind = OPTION_CHOICE,
	  .argument = "RULE",
	  .help = "which TLPs the MSC815x note acknowledges by fours (default data); one of",
	  .where = FIELD(acks),
	  .choices = ack_names },
	{ 0 },
};

static void *defaults(void)
{
	struct calc_options *o = calloc(1, sizeof(*o));

	if (o)
		*o = (struct calc_options){
			.gen = 2,
			.lanes = 4,
			.mps = 256,
			.mrrs = 512,
			.length = 1 << 20,
			.latency_ns = 1000,
			.tags = 32,
		};
	return o;
}

struct calc_result {
	double raw;
	struct litepcie_rates note, msc, lanes, bound;
};

static int calculate(const struct calc_options *o, struct calc_result *r)
{
	struct litepcie_link link = {
		.gen = (unsigned int)o->gen,
		.lanes = (unsigned int)o->lanes,
		.max_payload_bytes = (unsigned int)o->mps,
		.max_read_request_bytes = (unsigned int)o->mrrs,
		.request_header_bytes = o->header ? 16 : 12,
		.completion_bytes = (unsigned int)o->completion,
		.ecrc_bytes = o->ecrc ? 4 : 0,
	};
	int err = litepcie_theory_raw(link.gen, link.lanes, &r->raw);

	if (err >= 0)
		err = litepcie_theory_application_note(&link, &r->note);
	if (err >= 0)
		err = litepcie_theory_pcie_bench(&link, o->length, &r->lanes);
	if (err >= 0)
		err = litepcie_theory_msc815x(&link, o->length, o->acks == ACKS_ALL, &r->msc);
	if (err >= 0)
		err = litepcie_theory_bound(&link, o->length, o->latency_ns, (unsigned int)o->tags,
					    &r->bound);
	return err;
}

/* The notes print whole MB/s without rounding up; the 1e-6 keeps a whole number whole. */
static unsigned int whole_mb(double rate)
{
	return (unsigned int)(rate / MB + 1e-6);
}

static void line(const char *name, const struct litepcie_rates *r, const char *remark)
{
	int column = printf("%-22s %10.1f %10.1f %10.1f%s", name, r->read / MB, r->write / MB,
			    r->both / MB, *remark ? "  " : "");

	print_wrapped(remark, column, column);
}

static void text_of(const struct calc_options *o, const struct calc_result *r)
{
	char remark[80], link[160];

	snprintf(link, sizeof(link),
		 "Gen%" PRIu64 " x%" PRIu64 ", MPS %" PRIu64 ", MRRS %" PRIu64
		 " bytes, transfers of %" PRIu64 " bytes: %.1f MB/s before headers",
		 o->gen, o->lanes, o->mps, o->mrrs, o->length, r->raw / MB);
	print_wrapped(link, 2, 0);
	putchar('\n');
	printf("%-22s %10s %10s %10s  MB/s\n", "", "read", "write", "each of both");
	snprintf(remark, sizeof(remark), "printed as %u MB/s", whole_mb(r->note.both));
	line("AN 456, AN 855", &r->note, remark);
	snprintf(remark, sizeof(remark), "printed as %.2f, %.2f Gbit/s (both ways together)",
		 2 * r->msc.read / GBIT, 2 * r->msc.write / GBIT);
	line("MSC8156, MSC8157", &r->msc, remark);
	line("pcie-bench, by lanes", &r->lanes, "");
	snprintf(remark, sizeof(remark), "with %" PRIu64 " requests in flight for %" PRIu64 " ns",
		 o->tags, o->latency_ns);
	line("bound", &r->bound, remark);
}

static void json_of_rates(const char *key, const struct litepcie_rates *r)
{
	json_object(key);
	json_real("read", r->read, 0);
	json_real("write", r->write, 0);
	json_real("both", r->both, 0);
	json_end();
}

static void json_of(const struct calc_options *o, const struct calc_result *r)
{
	json_document("calc");
	json_number("gen", o->gen);
	json_number("lanes", o->lanes);
	json_number("mps_bytes", o->mps);
	json_number("mrrs_bytes", o->mrrs);
	json_number("completion_bytes", o->completion ? o->completion : o->mps);
	json_number("request_header_bytes", o->header ? 16 : 12);
	json_bool("ecrc", o->ecrc);
	json_number("transfer_bytes", o->length);
	json_number("latency_ns", o->latency_ns);
	json_number("tags", o->tags);
	json_real("raw_bytes_per_second", r->raw, 0);
	json_of_rates("application_note_bytes_per_second", &r->note);
	json_number("application_note_printed_mb_per_second", whole_mb(r->note.both));
	json_of_rates("msc815x_bytes_per_second", &r->msc);
	json_object("msc815x_printed_gbit_per_second");
	json_real("read", 2 * r->msc.read / GBIT, 2);
	json_real("write", 2 * r->msc.write / GBIT, 2);
	json_end();
	json_of_rates("pcie_bench_bytes_per_second", &r->lanes);
	json_of_rates("bound_bytes_per_second", &r->bound);
	json_end();
}

static int calc_run(const struct settings *settings, const void *values, const char *argument)
{
	const struct calc_options *o = values;
	struct calc_result result;

	(void)argument;
	if (calculate(o, &result) < 0)
		return fail(EXIT_USAGE,
			    "these values are no link; lanes are 1, 2, 4, 8 or 16, MPS and MRRS "
			    "powers of "
			    "two, and a completion has 64 bytes or a power of two up to MPS");
	if (settings->json)
		json_of(o, &result);
	else
		text_of(o, &result);
	return 0;
}

const struct command command_calc = {
	.name = "calc",
	.summary = "calculate the rates that a link can carry; needs no card",
	.details =
		"AN 456, AN 855: the payload of a TLP divided by its bytes on the link. The notes\n"
		"print whole MB/s and drop the rest.\n\n"
		"MSC8156, MSC8157: also counts read requests, and 16 bytes of DLLPs for every 4\n"
		"TLPs of a transfer. The notes print the sum of both directions, in Gbit/s. Their\n"
		"columns for MPS 128 count read requests among these TLPs (--acks all), the "
		"others\n"
		"only TLPs with data (--acks data). They have MRRS 256 (--mrrs 256).\n\n"
		"pcie-bench, by lanes: counts DLLPs at the distance that the specification asks\n"
		"for, spread over the lanes.\n\n"
		"bound: the same, but reads move at most --tags requests of MRRS bytes per\n"
		"--latency-ns.",
	.options = options,
	.defaults = defaults,
	.run = calc_run,
};
