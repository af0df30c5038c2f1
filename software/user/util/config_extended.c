// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Tables of the extended capabilities. PCI Express Base 5.0, 7.6 to 7.9. */
#include "config_space.h"

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
