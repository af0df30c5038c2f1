// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Payload rates that a link can carry, by the formulas of Intel's and Freescale's application
 * notes, and that of pcie-bench with DLLPs spread over the lanes. Nothing here is measured.
 */
#include <errno.h>
#include <stdbool.h>

#include "liblitepcie.h"

/* Bytes per TLP in addition to header and payload: STP, sequence number, LCRC, END. */
#define GENERATIONS	  4
#define FRAMING		  8
#define COMPLETION_HEADER 12

#define DLLP_SYMBOLS	  8.0
/* A SKP ordered set of 4 symbols on every lane, at most every 1538 symbol times. */
#define SKP_SHARE (4.0 / 1538.0)

static double least(double a, double b)
{
	return a < b ? a : b;
}

static double packets(uint64_t bytes, unsigned int most)
{
	return (double)(bytes / most + (bytes % most != 0));
}

static bool lanes_valid(unsigned int lanes)
{
	return lanes == 1 || lanes == 2 || lanes == 4 || lanes == 8 || lanes == 16;
}

static bool size_valid(unsigned int bytes)
{
	return bytes >= 128 && bytes <= 4096 && (bytes & (bytes - 1)) == 0;
}

static bool link_valid(const struct litepcie_link *link)
{
	return link->gen >= 1 && link->gen <= GENERATIONS && lanes_valid(link->lanes) &&
	       size_valid(link->max_payload_bytes) && size_valid(link->max_read_request_bytes) &&
	       (link->request_header_bytes == 12 || link->request_header_bytes == 16) &&
	       (link->ecrc_bytes == 0 || link->ecrc_bytes == 4) &&
	       (!link->completion_bytes || link->completion_bytes == 64 ||
		(size_valid(link->completion_bytes) &&
		 link->completion_bytes <= link->max_payload_bytes));
}

static unsigned int completion_bytes(const struct litepcie_link *link)
{
	return link->completion_bytes ? link->completion_bytes : link->max_payload_bytes;
}

struct litepcie_link litepcie_link_of(const struct litepcie_info *info,
				      unsigned int request_header_bytes)
{
	return (struct litepcie_link){
		.gen = info->link_gen,
		.lanes = info->link_lanes,
		.max_payload_bytes = info->max_payload_bytes,
		.max_read_request_bytes = info->max_read_request_bytes,
		.request_header_bytes = request_header_bytes,
	};
}

int litepcie_theory_raw(unsigned int gen, unsigned int lanes, double *bytes_per_second)
{
	static const double lane[] = { 250e6, 500e6, 8e9 * 128 / 130 / 8, 16e9 * 128 / 130 / 8 };

	if (gen < 1 || gen > GENERATIONS || !lanes_valid(lanes))
		return -EINVAL;
	*bytes_per_second = lane[gen - 1] * lanes;
	return 0;
}

int litepcie_theory_application_note(const struct litepcie_link *link, struct litepcie_rates *rates)
{
	double payload = link->max_payload_bytes, completion, raw;

	if (!link_valid(link) || litepcie_theory_raw(link->gen, link->lanes, &raw) < 0)
		return -EINVAL;
	completion = completion_bytes(link);
	rates->read =
		raw * completion / (completion + FRAMING + COMPLETION_HEADER + link->ecrc_bytes);
	rates->write =
		raw * payload / (payload + FRAMING + link->request_header_bytes + link->ecrc_bytes);
	rates->both = least(rates->read, rates->write);
	return 0;
}

/*
 * AckFactor of the specification: how many TLPs of the largest size may share one ACK. It is larger
 * for wide links, on which a TLP is short, and smaller for a large MPS.
 */
static double ack_factor(unsigned int lanes, unsigned int max_payload_bytes)
{
	bool small = max_payload_bytes <= 256;

	if (lanes == 16)
		return small ? 3.0 : 2.0;
	if (lanes == 8)
		return small ? 2.5 : 1.0;
	return small ? 1.4 : 1.0;
}

int litepcie_ack_limit(unsigned int gen, unsigned int lanes, unsigned int max_payload_bytes)
{
	/* InternalDelay and TLPOverhead of the specification, in symbol times. */
	static const unsigned int internal_delay[] = { 19, 70, 115, 185 };
	const unsigned int tlp_overhead = 28;
	double tlp = max_payload_bytes + tlp_overhead;

	if (gen < 1 || gen > GENERATIONS || !lanes_valid(lanes) || !size_valid(max_payload_bytes))
		return -EINVAL;
	return (int)(tlp * ack_factor(lanes, max_payload_bytes) / lanes) + internal_delay[gen - 1];
}

int litepcie_theory_pcie_bench(const struct litepcie_link *link, uint64_t transfer_bytes,
			       struct litepcie_rates *rates)
{
	double request = FRAMING + link->request_header_bytes + link->ecrc_bytes;
	double bytes = (double)transfer_bytes;
	double raw, rate, dllps, writes, reads, completions;

	if (!link_valid(link) || !transfer_bytes)
		return -EINVAL;
	litepcie_theory_raw(link->gen, link->lanes, &raw);
	/* One ACK and one flow control update per ACK limit. */
	dllps = 2 * DLLP_SYMBOLS / link->lanes /
		litepcie_ack_limit(link->gen, link->lanes, link->max_payload_bytes);
	rate = raw * (1 - dllps - SKP_SHARE);

	writes = packets(transfer_bytes, link->max_payload_bytes) * request;
	reads = packets(transfer_bytes, link->max_read_request_bytes) * request;
	completions = packets(transfer_bytes, completion_bytes(link)) *
		      (FRAMING + COMPLETION_HEADER + link->ecrc_bytes);
	rates->write = rate * bytes / (bytes + writes);
	rates->read = least(rate * bytes / (bytes + completions), rate * bytes / reads);
	/* The card sends write payload and read requests over the same direction. */
	rates->both = least(rate * bytes / (bytes + writes + reads),
			    rate * bytes / (bytes + completions));
	return 0;
}

/*
 * 20 bytes per TLP and per read request, and an ACK and a flow control DLLP of 8 bytes for every 4
 * TLPs.
 */
int litepcie_theory_msc815x(const struct litepcie_link *link, uint64_t transfer_bytes, int acks_all,
			    struct litepcie_rates *rates)
{
	const double dllps = 2 * DLLP_SYMBOLS;
	const unsigned int per_ack = 4;
	double request = FRAMING + link->request_header_bytes + link->ecrc_bytes;
	double completion = FRAMING + COMPLETION_HEADER + link->ecrc_bytes;
	double bytes = (double)transfer_bytes;
	double raw, writes, requests, completions, acknowledged;

	if (!link_valid(link) || !transfer_bytes)
		return -EINVAL;
	litepcie_theory_raw(link->gen, link->lanes, &raw);
	writes = packets(transfer_bytes, link->max_payload_bytes);
	requests = packets(transfer_bytes, link->max_read_request_bytes);
	completions = packets(transfer_bytes, completion_bytes(link));
	acknowledged = completions + (acks_all ? requests : 0);

	rates->write = raw * bytes /
		       (bytes + writes * request + dllps * packets((uint64_t)writes, per_ack));
	rates->read = raw * bytes /
		      (bytes + requests * request + completions * completion +
		       dllps * packets((uint64_t)acknowledged, per_ack));
	rates->both = least(rates->read, rates->write);
	return 0;
}

int litepcie_theory_bound(const struct litepcie_link *link, uint64_t transfer_bytes,
			  uint64_t latency_ns, unsigned int tags, struct litepcie_rates *rates)
{
	int err = litepcie_theory_pcie_bench(link, transfer_bytes, rates);
	double request;

	if (err < 0 || !tags)
		return -EINVAL;
	request = least((double)transfer_bytes, link->max_read_request_bytes);
	if (latency_ns)
		rates->read = least(rates->read, tags * request / ((double)latency_ns * 1e-9));
	rates->both = least(rates->both, rates->read);
	return 0;
}
