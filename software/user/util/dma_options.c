// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The options of dma_test. */
#include <stdlib.h>

#include "dma_test.h"

/* clang-format off */
const char *const sequence_names[] = {
	"write", "read", "read-then-write", "write-then-read", "read-and-write", NULL,
};
/* clang-format on */
const char *const pattern_names[] = { "prbs", "counter", "constant", "file", NULL };
static const char *const header_names[] = { "12", "16", NULL };

#define FIELD(name) offsetof(struct dma_options, name)

const struct option dma_option_table[] = {
	{ .name = "sequence",
	  .letter = 's',
	  .kind = OPTION_CHOICE,
	  .argument = "SEQUENCE",
	  .help = "directions and their order (default read-then-write); one of",
	  .where = FIELD(sequence),
	  .choices = sequence_names },
	{ .name = "length",
	  .letter = 'l',
	  .kind = OPTION_SIZE,
	  .argument = "BYTES",
	  .help = "bytes per transfer, such as 4K or 1M (default the file, or 100000 if it fits)",
	  .where = FIELD(length),
	  .min = 1,
	  .max = UINT64_C(1) << 40 },
	{ .name = "iterations",
	  .letter = 'n',
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "measured transfers per direction (default 20, none with --time)",
	  .where = FIELD(iterations),
	  .min = 1,
	  .max = 1000000000 },
	{ .name = "time",
	  .letter = 't',
	  .kind = OPTION_SECONDS,
	  .argument = "SECONDS",
	  .help = "end after this time, not after 20 iterations",
	  .where = FIELD(seconds),
	  .min = 1,
	  .max = 31536000000 },
	{ .name = "interval",
	  .letter = 'i',
	  .kind = OPTION_SECONDS,
	  .argument = "SECONDS",
	  .help = "also print the rates of each interval, at the end of a transfer",
	  .where = FIELD(interval),
	  .min = 1,
	  .max = 86400000 },
	{ .name = "json-lines",
	  .kind = OPTION_FLAG,
	  .help = "print JSON, an object in a line for each interval (default 1 s) and for the "
		  "result",
	  .where = FIELD(json_lines) },
	{ .name = "preserve",
	  .kind = OPTION_FLAG,
	  .help = "give the card's memory its bytes back at the end",
	  .where = FIELD(preserve) },
	{ .name = "offset",
	  .letter = 'o',
	  .kind = OPTION_SIZE,
	  .argument = "BYTES",
	  .help = "offset in the card's memory (default 0)",
	  .where = FIELD(offset),
	  .max = INT64_MAX },
	{ .name = "host-offset",
	  .kind = OPTION_SIZE,
	  .argument = "BYTES",
	  .help = "offset of the host buffers in a page, 0 to 4095 (default 0)",
	  .where = FIELD(host_offset),
	  .max = AREA_ALIGN - 1 },
	{ .name = "depth",
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "transfers in flight, 1 to 256 (default 1)",
	  .where = FIELD(depth),
	  .min = 1,
	  .max = LITEPCIE_QUEUE_MOST },
	{ .name = "cards",
	  .kind = OPTION_TEXT,
	  .argument = "N,N...",
	  .help = "test these cards at the same time, such as 0,1",
	  .where = FIELD(cards) },
	{ .name = "pattern",
	  .letter = 'p',
	  .kind = OPTION_CHOICE,
	  .argument = "PATTERN",
	  .help = "test data (default prbs); one of",
	  .where = FIELD(pattern),
	  .choices = pattern_names },
	{ .name = "value",
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "32 bit word of constant, first one of counter (default 0)",
	  .where = FIELD(value),
	  .max = UINT32_MAX },
	{ .name = "file",
	  .letter = 'f',
	  .kind = OPTION_TEXT,
	  .argument = "FILE",
	  .help = "the bytes of each transfer with --pattern file",
	  .where = FIELD(file) },
	{ .name = "seed",
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "seed of prbs (default 1)",
	  .where = FIELD(seed),
	  .max = UINT64_MAX },
	{ .name = "latency-ns",
	  .kind = OPTION_COUNT,
	  .argument = "NS",
	  .help = "time of the host to answer a read, for the bound (default 0)",
	  .where = FIELD(latency_ns),
	  .max = 1000000000 },
	{ .name = "header",
	  .kind = OPTION_CHOICE,
	  .argument = "BYTES",
	  .help = "request header in the theory; 16 for buffers above 4 GiB (default 12)",
	  .where = FIELD(header),
	  .choices = header_names },
	{ 0 },
};

void *dma_defaults(void)
{
	struct dma_options *o = calloc(1, sizeof(*o));

	if (o)
		*o = (struct dma_options){
			.sequence = READ_THEN_WRITE,
			.seed = 1,
			.depth = 1,
			.value = NOT_GIVEN,
		};
	return o;
}
