// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Tables of the extended capabilities whose length depends on what they say: virtual channels,
 * SR-IOV, resizable BARs, downstream port containment. PCI Express Base 5.0, 7.8.6, 7.9.1, 7.9.14,
 * 9.3.3.
 */
#include "config_space.h"

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
