// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Tables of the extended capabilities. */
#include "config_space.h"

/* Tables of the extended capabilities. PCI Express Base 5.0, 7.6 to 7.9. */

/* clang-format off */
static const struct config_field uncorrectable[] = {
	FLAG(4, "data link protocol error"), FLAG(5, "surprise down"), FLAG(12, "poisoned TLP"),
	FLAG(13, "flow control protocol error"), FLAG(14, "completion timeout"),
	FLAG(15, "completer abort"), FLAG(16, "unexpected completion"),
	FLAG(17, "receiver overflow"), FLAG(18, "malformed TLP"), FLAG(19, "ECRC error"),
	FLAG(20, "unsupported request"), FLAG(21, "ACS violation"), FLAG(22, "internal error"),
	FLAG(23, "multicast blocked"), FLAG(24, "atomic egress blocked"),
	FLAG(25, "prefix blocked"), FLAG(26, "poisoned TLP egress blocked"),
	FLAG(27, "deferrable write blocked"), FLAG(28, "IDE check failed"),
	FLAG(29, "misrouted IDE TLP"), FLAG(30, "PCRC check failed"),
	FLAG(31, "translation egress blocked"), { 0 },
};

static const struct config_field correctable[] = {
	FLAG(0, "receiver error"), FLAG(6, "bad TLP"), FLAG(7, "bad DLLP"),
	FLAG(8, "replay number rollover"), FLAG(12, "replay timer timeout"),
	FLAG(13, "advisory non-fatal error"), FLAG(14, "corrected internal error"),
	FLAG(15, "header log overflow"), { 0 },
};

static const struct config_field aer_control[] = {
	HEX(4, 0, "first error"), FLAG(5, "ECRC generation capable"),
	FLAG(6, "ECRC generation enable"), FLAG(7, "ECRC check capable"),
	FLAG(8, "ECRC check enable"), FLAG(9, "several headers capable"),
	FLAG(10, "several headers enable"), FLAG(11, "prefix log present"),
	FLAG(12, "timeout header log capable"), { 0 },
};

static const struct config_register aer[] = {
	REGISTER(0x04, 4, "Uncorrectable Error Status", uncorrectable),
	REGISTER(0x08, 4, "Uncorrectable Error Mask", uncorrectable),
	REGISTER(0x0c, 4, "Uncorrectable Error Severity", uncorrectable),
	REGISTER(0x10, 4, "Correctable Error Status", correctable),
	REGISTER(0x14, 4, "Correctable Error Mask", correctable),
	REGISTER(0x18, 4, "Capabilities and Control", aer_control),
	REGISTER(0x1c, 4, "Header Log 1", NULL), REGISTER(0x20, 4, "Header Log 2", NULL),
	REGISTER(0x24, 4, "Header Log 3", NULL), REGISTER(0x28, 4, "Header Log 4", NULL),
	{ 0 },
};

static const struct config_register serial[] = {
	REGISTER(0x04, 4, "Serial Number, lower half", NULL),
	REGISTER(0x08, 4, "Serial Number, upper half", NULL),
	{ 0 },
};

static const struct config_field vsec_header[] = {
	HEX(15, 0, "ID"), NUMBER(19, 16, "revision"), NUMBER(31, 20, "bytes"), { 0 },
};

static const struct config_register vsec[] = {
	REGISTER(0x04, 4, "Vendor Specific Header", vsec_header),
	{ 0 },
};

static const struct config_field acs_bits[] = {
	FLAG(0, "source validation"), FLAG(1, "translation blocking"),
	FLAG(2, "request redirect"), FLAG(3, "completion redirect"),
	FLAG(4, "upstream forwarding"), FLAG(5, "egress control"),
	FLAG(6, "direct translated"), { 0 },
};

static const struct config_register acs[] = {
	REGISTER(0x04, 2, "ACS Capability", acs_bits),
	REGISTER(0x06, 2, "ACS Control", acs_bits),
	{ 0 },
};

static const struct config_field ari_caps[] = {
	FLAG(0, "MFVC groups"), FLAG(1, "ACS groups"), NUMBER(15, 8, "next function"), { 0 },
};

static const struct config_field ari_control[] = {
	FLAG(0, "MFVC groups"), FLAG(1, "ACS groups"), NUMBER(6, 4, "group"), { 0 },
};

static const struct config_register ari[] = {
	REGISTER(0x04, 2, "ARI Capability", ari_caps),
	REGISTER(0x06, 2, "ARI Control", ari_control),
	{ 0 },
};

static const struct config_field latency[] = {
	NUMBER(9, 0, "value"),
	CHOICE(12, 10, "scale", "1 ns|32 ns|1024 ns|32768 ns|1048576 ns|33554432 ns"), { 0 },
};

static const struct config_register ltr[] = {
	REGISTER(0x04, 2, "Max Snoop Latency", latency),
	REGISTER(0x06, 2, "Max No-Snoop Latency", latency),
	{ 0 },
};

static const struct config_field control3[] = {
	FLAG(0, "perform equalization"), FLAG(1, "equalization interrupt"),
	NUMBER(15, 9, "lower SKP speeds"), { 0 },
};

static const struct config_register secondary[] = {
	REGISTER(0x04, 4, "Link Control 3", control3),
	REGISTER(0x08, 4, "Lane Error Status", NULL),
	{ 0 },
};

#define SUBSTATES \
	FLAG(0, "PCI-PM L1.2"), FLAG(1, "PCI-PM L1.1"), FLAG(2, "ASPM L1.2"), FLAG(3, "ASPM L1.1")

static const struct config_field l1ss_caps[] = {
	SUBSTATES, FLAG(4, "L1 substates"), NUMBER(15, 8, "common mode restore, us"),
	CHOICE(17, 16, "power on scale", "2 us|10 us|100 us"), NUMBER(23, 19, "power on value"),
	{ 0 },
};

static const struct config_field l1ss_control1[] = {
	SUBSTATES, NUMBER(15, 8, "common mode restore, us"), NUMBER(25, 16, "LTR L1.2 threshold"),
	CHOICE(31, 29, "LTR L1.2 scale", "1 ns|32 ns|1024 ns|32768 ns|1048576 ns|33554432 ns"),
	{ 0 },
};

static const struct config_field l1ss_control2[] = {
	CHOICE(1, 0, "power on scale", "2 us|10 us|100 us"), NUMBER(7, 3, "power on value"), { 0 },
};

static const struct config_register l1ss[] = {
	REGISTER(0x04, 4, "L1 Substates Capabilities", l1ss_caps),
	REGISTER(0x08, 4, "L1 Substates Control 1", l1ss_control1),
	REGISTER(0x0c, 4, "L1 Substates Control 2", l1ss_control2),
	{ 0 },
};

static const struct config_field ptm_caps[] = {
	FLAG(0, "requester"), FLAG(1, "responder"), FLAG(2, "root"),
	NUMBER(15, 8, "granularity, ns"), { 0 },
};

static const struct config_field ptm_control[] = {
	FLAG(0, "enable"), FLAG(1, "root selected"), NUMBER(15, 8, "granularity, ns"), { 0 },
};

static const struct config_register ptm[] = {
	REGISTER(0x04, 4, "PTM Capability", ptm_caps),
	REGISTER(0x08, 4, "PTM Control", ptm_control),
	{ 0 },
};

static const struct config_field dlf_caps[] = {
	FLAG(0, "scaled flow control"), FLAG(31, "exchange enable"), { 0 },
};

static const struct config_field dlf_status[] = {
	FLAG(0, "partner has scaled flow control"), FLAG(31, "valid"), { 0 },
};

static const struct config_register dlf[] = {
	REGISTER(0x04, 4, "Data Link Feature Capabilities", dlf_caps),
	REGISTER(0x08, 4, "Data Link Feature Status", dlf_status),
	{ 0 },
};

static const struct config_field gen4_status[] = {
	FLAG(0, "equalization complete"), FLAG(1, "equalization phase 1"),
	FLAG(2, "equalization phase 2"), FLAG(3, "equalization phase 3"),
	FLAG(4, "equalization request"), { 0 },
};

static const struct config_register gen4[] = {
	REGISTER(0x04, 4, "16 GT/s Capabilities", NULL),
	REGISTER(0x08, 4, "16 GT/s Control", NULL),
	REGISTER(0x0c, 4, "16 GT/s Status", gen4_status),
	{ 0 },
};
/* clang-format on */

const struct config_block config_extended[] = {
	{ 0x01, "Advanced Error Reporting", aer },
	{ 0x02, "Virtual Channel", config_vc },
	{ 0x03, "Device Serial Number", serial },
	{ 0x04, "Power Budgeting", NULL },
	{ 0x05, "Root Complex Link Declaration", NULL },
	{ 0x07, "Event Collector Association", NULL },
	{ 0x09, "Virtual Channel with MFVC", config_vc },
	{ 0x0b, "Vendor Specific", vsec },
	{ 0x0d, "Access Control Services", acs },
	{ 0x0e, "Alternative Routing-ID", ari },
	{ 0x0f, "Address Translation", NULL },
	{ 0x10, "Single Root I/O Virtualization", config_sriov },
	{ 0x12, "Multicast", NULL },
	{ 0x13, "Page Request", NULL },
	{ 0x15, "Resizable BAR", config_resizable },
	{ 0x16, "Dynamic Power Allocation", NULL },
	{ 0x17, "TLP Processing Hints", NULL },
	{ 0x18, "Latency Tolerance Reporting", ltr },
	{ 0x19, "Secondary PCI Express", secondary },
	{ 0x1b, "Process Address Space ID", NULL },
	{ 0x1d, "Downstream Port Containment", config_dpc },
	{ 0x1e, "L1 PM Substates", l1ss },
	{ 0x1f, "Precision Time Measurement", ptm },
	{ 0x23, "Designated Vendor Specific", NULL },
	{ 0x25, "Data Link Feature", dlf },
	{ 0x26, "Physical Layer 16 GT/s", gen4 },
	{ 0x27, "Lane Margining", NULL },
	{ 0x2a, "Physical Layer 32 GT/s", NULL },
	{ 0 },
};

/*
 * Tables of the extended capabilities whose length depends on what they say: virtual channels,
 * SR-IOV, resizable BARs, downstream port containment. PCI Express Base 5.0, 7.8.6, 7.9.1, 7.9.14,
 * 9.3.3.
 */

/* ---- Virtual channels ------------------------------------------------------------------------ */

#define VC_FIRST 0x10
#define VC_BYTES 12

/* clang-format off */
static const struct config_field vc_caps1[] = {
	NUMBER(2, 0, "extended channels"), NUMBER(6, 4, "low priority channels"),
	CHOICE(9, 8, "reference clock", "100 ns"),
	CHOICE(11, 10, "port arbitration entry, bits", "1|2|4|8"), { 0 },
};

static const struct config_field vc_caps2[] = {
	FLAG(0, "fixed arbitration"), FLAG(1, "weighted round robin 32"),
	FLAG(2, "weighted round robin 64"), FLAG(3, "weighted round robin 128"),
	HEX(31, 24, "arbitration table offset, 16 bytes"), { 0 },
};

static const struct config_field vc_port_control[] = {
	FLAG(0, "load arbitration table"), NUMBER(3, 1, "arbitration"), { 0 },
};

static const struct config_field vc_port_status[] = { FLAG(0, "arbitration table changed"), { 0 } };

static const struct config_field vc_resource[] = {
	FLAG(0, "fixed arbitration"), FLAG(1, "weighted round robin 32"),
	FLAG(2, "weighted round robin 64"), FLAG(3, "weighted round robin 128"),
	FLAG(4, "timed round robin 128"), FLAG(5, "weighted round robin 256"),
	FLAG(15, "rejects snoop transactions"), CHOICE(22, 16, "time slots", config_plus_one),
	HEX(31, 24, "arbitration table offset, 16 bytes"), { 0 },
};

static const struct config_field vc_control[] = {
	HEX(7, 0, "traffic classes"), FLAG(16, "load arbitration table"),
	NUMBER(19, 17, "port arbitration"), NUMBER(26, 24, "channel"), FLAG(31, "enable"), { 0 },
};

static const struct config_field vc_status[] = {
	FLAG(0, "arbitration table changed"), FLAG(1, "negotiation pending"), { 0 },
};
/* clang-format on */

static bool has_channel(const struct config_space *space, unsigned int base,
			const struct config_register *which)
{
	return (which->offset - VC_FIRST) / VC_BYTES <= (int)(config_get(space, base + 4, 4) & 7);
}

#define CHANNEL(n)                                                                                \
	{ VC_FIRST + VC_BYTES * n, 4, "VC " #n " Capability", vc_resource, has_channel },         \
		{ VC_FIRST + VC_BYTES * n + 4, 4, "VC " #n " Control", vc_control, has_channel }, \
	{                                                                                         \
		VC_FIRST + VC_BYTES *n + 10, 2, "VC " #n " Status", vc_status, has_channel        \
	}

/* clang-format off */
const struct config_register config_vc[] = {
	REGISTER(0x04, 4, "Port VC Capability 1", vc_caps1),
	REGISTER(0x08, 4, "Port VC Capability 2", vc_caps2),
	REGISTER(0x0c, 2, "Port VC Control", vc_port_control),
	REGISTER(0x0e, 2, "Port VC Status", vc_port_status),
	CHANNEL(0), CHANNEL(1), CHANNEL(2), CHANNEL(3), CHANNEL(4), CHANNEL(5), CHANNEL(6),
	CHANNEL(7), { 0 },
};

/* ---- SR-IOV ---------------------------------------------------------------------------------- */

static const struct config_field iov_caps[] = {
	FLAG(0, "VF migration"), FLAG(1, "ARI hierarchy preserved"),
	FLAG(2, "VF 10-bit tag requester"), NUMBER(31, 21, "interrupt message number"), { 0 },
};

static const struct config_field iov_control[] = {
	FLAG(0, "VF enable"), FLAG(1, "VF migration enable"),
	FLAG(2, "VF migration interrupt enable"), FLAG(3, "VF memory space"),
	FLAG(4, "ARI hierarchy"), FLAG(5, "VF 10-bit tag requester enable"), { 0 },
};

static const struct config_field iov_status[] = { FLAG(0, "VF migration"), { 0 } };
static const struct config_field whole_16[] = { NUMBER(15, 0, "value"), { 0 } };
static const struct config_field link_8[] = { HEX(7, 0, "function"), { 0 } };
static const struct config_field id_16[] = { HEX(15, 0, "ID"), { 0 } };
static const struct config_field pages[] = { HEX(31, 0, "sizes, 4 KiB and up"), { 0 } };

static const struct config_field migration[] = {
	NUMBER(2, 0, "BAR"), CHOICE(31, 3, "offset", config_times_8), { 0 },
};

const struct config_register config_sriov[] = {
	REGISTER(0x04, 4, "SR-IOV Capabilities", iov_caps),
	REGISTER(0x08, 2, "SR-IOV Control", iov_control),
	REGISTER(0x0a, 2, "SR-IOV Status", iov_status),
	REGISTER(0x0c, 2, "Initial VFs", whole_16),
	REGISTER(0x0e, 2, "Total VFs", whole_16),
	REGISTER(0x10, 2, "Number of VFs", whole_16),
	REGISTER(0x12, 1, "Function Dependency Link", link_8),
	REGISTER(0x14, 2, "First VF Offset", whole_16),
	REGISTER(0x16, 2, "VF Stride", whole_16),
	REGISTER(0x1a, 2, "VF Device ID", id_16),
	REGISTER(0x1c, 4, "Supported Page Sizes", pages),
	REGISTER(0x20, 4, "System Page Size", pages),
	REGISTER(0x24, 4, "VF BAR 0", NULL), REGISTER(0x28, 4, "VF BAR 1", NULL),
	REGISTER(0x2c, 4, "VF BAR 2", NULL), REGISTER(0x30, 4, "VF BAR 3", NULL),
	REGISTER(0x34, 4, "VF BAR 4", NULL), REGISTER(0x38, 4, "VF BAR 5", NULL),
	REGISTER(0x3c, 4, "VF Migration State Array", migration),
	{ 0 },
};
/* clang-format on */

/* ---- Resizable BARs -------------------------------------------------------------------------- */

#define SIZES                                                                               \
	"1 MiB|2 MiB|4 MiB|8 MiB|16 MiB|32 MiB|64 MiB|128 MiB|256 MiB|512 MiB|1 GiB|2 GiB|" \
	"4 GiB|8 GiB|16 GiB|32 GiB|64 GiB|128 GiB|256 GiB|512 GiB|1 TiB|2 TiB|4 TiB|8 TiB|" \
	"16 TiB|32 TiB|64 TiB|128 TiB"

/* clang-format off */
static const struct config_field bar_sizes[] = {
	FLAG(4, "1 MiB"), FLAG(5, "2 MiB"), FLAG(6, "4 MiB"), FLAG(7, "8 MiB"), FLAG(8, "16 MiB"),
	FLAG(9, "32 MiB"), FLAG(10, "64 MiB"), FLAG(11, "128 MiB"), FLAG(12, "256 MiB"),
	FLAG(13, "512 MiB"), FLAG(14, "1 GiB"), FLAG(15, "2 GiB"), FLAG(16, "4 GiB"),
	FLAG(17, "8 GiB"), FLAG(18, "16 GiB"), FLAG(19, "32 GiB"), FLAG(20, "64 GiB"),
	FLAG(21, "128 GiB"), FLAG(22, "256 GiB"), FLAG(23, "512 GiB"), FLAG(24, "1 TiB"),
	FLAG(25, "2 TiB"), FLAG(26, "4 TiB"), FLAG(27, "8 TiB"), FLAG(28, "16 TiB"),
	FLAG(29, "32 TiB"), FLAG(30, "64 TiB"), FLAG(31, "128 TiB"), { 0 },
};

static const struct config_field bar_control[] = {
	NUMBER(2, 0, "BAR"), NUMBER(7, 5, "resizable BARs"), CHOICE(13, 8, "size", SIZES), { 0 },
};
/* clang-format on */

/* The first control register has the number of BARs, 1 to 6. */
static bool has_bar(const struct config_space *space, unsigned int base,
		    const struct config_register *which)
{
	unsigned int bars = config_get(space, base + 8, 4) >> 5 & 7;

	return which->offset < 12 || (which->offset - 4U) / 8 < bars;
}

#define BAR(n)                                                           \
	{ 8 * n + 4, 4, "BAR " #n " Sizes", bar_sizes, has_bar },        \
	{                                                                \
		8 * n + 8, 4, "BAR " #n " Control", bar_control, has_bar \
	}

const struct config_register config_resizable[] = {
	BAR(0), BAR(1), BAR(2), BAR(3), BAR(4), BAR(5), { 0 },
};

/* ---- Downstream port containment ------------------------------------------------------------- */

/* clang-format off */
static const struct config_field dpc_caps[] = {
	NUMBER(4, 0, "interrupt message number"), FLAG(5, "root port extensions"),
	FLAG(6, "poisoned TLP egress blocking"), FLAG(7, "software trigger"),
	NUMBER(11, 8, "root port PIO log dwords"), FLAG(12, "DL_Active ERR_COR"), { 0 },
};

static const struct config_field dpc_control[] = {
	CHOICE(1, 0, "trigger", "off|fatal|non-fatal or fatal"),
	FLAG(2, "completion as unsupported request"), FLAG(3, "interrupt enable"),
	FLAG(4, "ERR_COR enable"), FLAG(5, "poisoned TLP egress blocking enable"),
	FLAG(6, "software trigger"), FLAG(7, "DL_Active ERR_COR enable"), { 0 },
};

static const struct config_field dpc_status[] = {
	FLAG(0, "triggered"),
	CHOICE(2, 1, "reason", "uncorrectable error|ERR_NONFATAL|ERR_FATAL|see the extension"),
	FLAG(3, "interrupt"), FLAG(4, "root port busy"),
	CHOICE(6, 5, "reason extension", "root port PIO error|software trigger"),
	HEX(12, 8, "root port PIO first error"), { 0 },
};

static const struct config_field pio_errors[] = {
	FLAG(0, "configuration: unsupported request"), FLAG(1, "configuration: completer abort"),
	FLAG(2, "configuration: completion timeout"), FLAG(8, "I/O: unsupported request"),
	FLAG(9, "I/O: completer abort"), FLAG(10, "I/O: completion timeout"),
	FLAG(16, "memory: unsupported request"), FLAG(17, "memory: completer abort"),
	FLAG(18, "memory: completion timeout"), { 0 },
};
/* clang-format on */

static bool has_extensions(const struct config_space *space, unsigned int base,
			   const struct config_register *which)
{
	(void)which;
	return config_get(space, base + 4, 2) >> 5 & 1;
}

const struct config_register config_dpc[] = {
	REGISTER(0x04, 2, "DPC Capability", dpc_caps),
	REGISTER(0x06, 2, "DPC Control", dpc_control),
	REGISTER(0x08, 2, "DPC Status", dpc_status),
	REGISTER(0x0a, 2, "DPC Error Source ID", NULL),
	{ 0x0c, 4, "RP PIO Status", pio_errors, has_extensions },
	{ 0x10, 4, "RP PIO Mask", pio_errors, has_extensions },
	{ 0x14, 4, "RP PIO Severity", pio_errors, has_extensions },
	{ 0x18, 4, "RP PIO SysError", pio_errors, has_extensions },
	{ 0x1c, 4, "RP PIO Exception", pio_errors, has_extensions },
	{ 0 },
};
