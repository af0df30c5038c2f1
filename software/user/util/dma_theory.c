// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* What the link can carry in a direction of dma_test, by three formulas. */
#include <inttypes.h>
#include <stdio.h>

#include "dma_test.h"
#include "link_state.h"

#define DLLP_SHARE  1.05  /* more than the formulas give to ACK and flow control packets */
#define SHORT_BYTES 16384 /* the card may have sent a large part of it to the PHY only */

static double of_direction(const struct dma_test *test, const struct litepcie_rates *rates,
			   unsigned int direction)
{
	if (test->options->sequence == READ_AND_WRITE)
		return rates->both;
	return direction == LITEPCIE_READER ? rates->read : rates->write;
}

bool dma_theory_of(const struct dma_test *test, unsigned int direction, struct dma_theory *theory)
{
	struct litepcie_link link = litepcie_link_of(&test->info, test->options->header ? 16 : 12);
	struct litepcie_rates note, bench, bound;

	theory->header_bytes = link.request_header_bytes;
	theory->tags = link_state_tags(&test->info);
	if (litepcie_theory_application_note(&link, &note) < 0 ||
	    litepcie_theory_pcie_bench(&link, test->length, &bench) < 0 ||
	    litepcie_theory_bound(&link, test->length, test->options->latency_ns, theory->tags,
				  &bound) < 0)
		return false;
	theory->note = of_direction(test, &note, direction);
	theory->bench = of_direction(test, &bench, direction);
	theory->bound = of_direction(test, &bound, direction);
	return true;
}

const char *dma_theory_exceeded(const struct dma_test *test, const struct side *side,
				const struct dma_theory *theory, double average)
{
	if (average <= theory->bench && average <= theory->bound)
		return NULL;
	if (average <= theory->bench)
		return "the host answers faster than --latency-ns says";
	if (average <= DLLP_SHARE * theory->bench)
		return "the link needs fewer ACK and flow control packets than pcie-bench and the "
		       "bound assume";
	if (side->direction == LITEPCIE_WRITER && test->length < SHORT_BYTES)
		return "a short write: the card's counter ends before the link has sent all bytes";
	if (test->options->header)
		return "the formulas assume the header of --header 16; the host may use 12 bytes";
	return "no formula allows it: compare link and clock with those of info";
}
