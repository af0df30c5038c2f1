// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Tables of the header: type 0 of an endpoint, type 1 of a port or bridge. PCI Local Bus 3.0, 6.1.
 */
#include "config_space.h"

#define FIRST_BAR 0x10

/* clang-format off */
static const struct config_field command[] = {
	FLAG(0, "I/O space"), FLAG(1, "memory space"), FLAG(2, "bus master"),
	FLAG(3, "special cycles"), FLAG(4, "memory write and invalidate"),
	FLAG(5, "VGA palette snoop"), FLAG(6, "parity error response"), FLAG(7, "stepping"),
	FLAG(8, "SERR# enable"), FLAG(9, "fast back-to-back"), FLAG(10, "interrupt disable"), { 0 },
};

static const char devsel[] = "fast|medium|slow|reserved";

static const struct config_field status[] = {
	FLAG(0, "immediate readiness"), FLAG(3, "interrupt status"), FLAG(4, "capabilities list"),
	FLAG(5, "66 MHz capable"), FLAG(7, "fast back-to-back capable"),
	FLAG(8, "master data parity error"), CHOICE(10, 9, "DEVSEL timing", devsel),
	FLAG(11, "signaled target abort"), FLAG(12, "received target abort"),
	FLAG(13, "received master abort"), FLAG(14, "signaled system error"),
	FLAG(15, "detected parity error"), { 0 },
};

static const struct config_field secondary_status[] = {
	FLAG(5, "66 MHz capable"), FLAG(7, "fast back-to-back capable"),
	FLAG(8, "master data parity error"), CHOICE(10, 9, "DEVSEL timing", devsel),
	FLAG(11, "signaled target abort"), FLAG(12, "received target abort"),
	FLAG(13, "received master abort"), FLAG(14, "received system error"),
	FLAG(15, "detected parity error"), { 0 },
};

static const struct config_field header_type[] = {
	CHOICE(6, 0, "layout", "endpoint|bridge|CardBus bridge"), FLAG(7, "several functions"),
	{ 0 },
};

static const struct config_field bist[] = {
	NUMBER(3, 0, "completion code"), FLAG(6, "start"), FLAG(7, "capable"), { 0 },
};

static const struct config_field bar_memory[] = {
	CHOICE(0, 0, "space", "memory|I/O"), CHOICE(2, 1, "type", "32 bits|below 1 MiB|64 bits"),
	FLAG(3, "prefetchable"), { 0 },
};

static const struct config_field bar_io[] = { CHOICE(0, 0, "space", "memory|I/O"), { 0 } };

static const struct config_field rom[] = { FLAG(0, "enable"), HEX(31, 11, "base, in 2 KiB"), { 0 } };

static const struct config_field pin[] = {
	CHOICE(7, 0, "pin", "none|INTA#|INTB#|INTC#|INTD#"), { 0 },
};

static const char io_width[] = "16 bits|32 bits", memory_width[] = "32 bits|64 bits";

static const struct config_field io_window[] = {
	CHOICE(3, 0, "addresses", io_width), HEX(7, 4, "bits 15:12"), { 0 },
};

static const struct config_field memory_window[] = { HEX(15, 4, "bits 31:20"), { 0 } };

static const struct config_field prefetch_window[] = {
	CHOICE(3, 0, "addresses", memory_width), HEX(15, 4, "bits 31:20"), { 0 },
};

static const struct config_field bridge_control[] = {
	FLAG(0, "parity error response"), FLAG(1, "SERR# enable"), FLAG(2, "ISA enable"),
	FLAG(3, "VGA enable"), FLAG(4, "VGA 16-bit decode"), FLAG(5, "master abort mode"),
	FLAG(6, "secondary bus reset"), FLAG(7, "fast back-to-back"),
	FLAG(8, "primary discard timer"), FLAG(9, "secondary discard timer"),
	FLAG(10, "discard timer status"), FLAG(11, "discard timer SERR# enable"), { 0 },
};
/* clang-format on */

enum bar_kind { BAR_MEMORY, BAR_IO, BAR_UPPER };

/* The upper half of a 64-bit BAR has no bits of its own. */
static enum bar_kind bar_kind(const struct config_space *space, unsigned int offset)
{
	for (unsigned int at = FIRST_BAR;; at += 4) {
		uint32_t bar = config_get(space, at, 4);
		bool wide = (bar & 7) == 4;

		if (at == offset)
			return bar & 1 ? BAR_IO : BAR_MEMORY;
		if (wide && at + 4 == offset)
			return BAR_UPPER;
		at += wide ? 4 : 0;
	}
}

static bool is_memory(const struct config_space *space, unsigned int base,
		      const struct config_register *which)
{
	return bar_kind(space, base + which->offset) == BAR_MEMORY;
}

static bool is_io(const struct config_space *space, unsigned int base,
		  const struct config_register *which)
{
	return bar_kind(space, base + which->offset) == BAR_IO;
}

static bool is_upper(const struct config_space *space, unsigned int base,
		     const struct config_register *which)
{
	return bar_kind(space, base + which->offset) == BAR_UPPER;
}

/* clang-format off */
#define BAR(n)                                                                                     \
	{ FIRST_BAR + 4 * (n), 4, "BAR " #n, bar_memory, is_memory },                              \
	{ FIRST_BAR + 4 * (n), 4, "BAR " #n, bar_io, is_io },                                      \
	{ FIRST_BAR + 4 * (n), 4, "BAR " #n ", upper half of the one before", NULL, is_upper }

#define COMMON                                                                                     \
	REGISTER(0x00, 2, "Vendor ID", NULL),                                                      \
	REGISTER(0x02, 2, "Device ID", NULL),                                                      \
	REGISTER(0x04, 2, "Command", command),                                                     \
	REGISTER(0x06, 2, "Status", status),                                                       \
	REGISTER(0x08, 1, "Revision ID", NULL),                                                    \
	REGISTER(0x09, 1, "Programming Interface", NULL),                                          \
	REGISTER(0x0a, 1, "Sub-Class", NULL),                                                      \
	REGISTER(0x0b, 1, "Base Class", NULL),                                                     \
	REGISTER(0x0c, 1, "Cache Line Size (in 4 bytes)", NULL),                                   \
	REGISTER(0x0d, 1, "Latency Timer", NULL),                                                  \
	REGISTER(0x0e, 1, "Header Type", header_type),                                             \
	REGISTER(0x0f, 1, "BIST", bist)

static const struct config_register type0[] = {
	COMMON, BAR(0), BAR(1), BAR(2), BAR(3), BAR(4), BAR(5),
	REGISTER(0x28, 4, "CardBus CIS Pointer", NULL),
	REGISTER(0x2c, 2, "Subsystem Vendor ID", NULL),
	REGISTER(0x2e, 2, "Subsystem ID", NULL),
	REGISTER(0x30, 4, "Expansion ROM Base", rom),
	REGISTER(0x34, 1, "Capabilities Pointer", NULL),
	REGISTER(0x3c, 1, "Interrupt Line", NULL),
	REGISTER(0x3d, 1, "Interrupt Pin", pin),
	REGISTER(0x3e, 1, "Min_Gnt", NULL),
	REGISTER(0x3f, 1, "Max_Lat", NULL),
	{ 0 },
};

static const struct config_register type1[] = {
	COMMON, BAR(0), BAR(1),
	REGISTER(0x18, 1, "Primary Bus", NULL),
	REGISTER(0x19, 1, "Secondary Bus", NULL),
	REGISTER(0x1a, 1, "Subordinate Bus", NULL),
	REGISTER(0x1b, 1, "Secondary Latency Timer", NULL),
	REGISTER(0x1c, 1, "I/O Base", io_window),
	REGISTER(0x1d, 1, "I/O Limit", io_window),
	REGISTER(0x1e, 2, "Secondary Status", secondary_status),
	REGISTER(0x20, 2, "Memory Base", memory_window),
	REGISTER(0x22, 2, "Memory Limit", memory_window),
	REGISTER(0x24, 2, "Prefetchable Base", prefetch_window),
	REGISTER(0x26, 2, "Prefetchable Limit", prefetch_window),
	REGISTER(0x28, 4, "Prefetchable Base, upper half", NULL),
	REGISTER(0x2c, 4, "Prefetchable Limit, upper half", NULL),
	REGISTER(0x30, 2, "I/O Base, upper half", NULL),
	REGISTER(0x32, 2, "I/O Limit, upper half", NULL),
	REGISTER(0x34, 1, "Capabilities Pointer", NULL),
	REGISTER(0x38, 4, "Expansion ROM Base", rom),
	REGISTER(0x3c, 1, "Interrupt Line", NULL),
	REGISTER(0x3d, 1, "Interrupt Pin", pin),
	REGISTER(0x3e, 2, "Bridge Control", bridge_control),
	{ 0 },
};
/* clang-format on */

const struct config_block config_type0 = { 0, "type 0 header", type0 };
const struct config_block config_type1 = { 1, "type 1 header", type1 };
