// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Tables of the first 256 bytes: header and capabilities. */
#include "config_space.h"

/* Tables of the header: type 0 of an endpoint, type 1 of a port or bridge. PCI Local Bus 3.0, 6.1.
 */

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

/* Tables of the capabilities in the first 256 bytes. PCI Local Bus 3.0, 6.7 and 6.8. */

/* clang-format off */
static const struct config_field pm_caps[] = {
	NUMBER(2, 0, "version"), FLAG(3, "PME clock"), FLAG(4, "immediate readiness"),
	FLAG(5, "device specific init"),
	CHOICE(8, 6, "aux current", "0 mA|55 mA|100 mA|160 mA|220 mA|270 mA|320 mA|375 mA"),
	FLAG(9, "D1"), FLAG(10, "D2"), FLAG(11, "PME from D0"), FLAG(12, "PME from D1"),
	FLAG(13, "PME from D2"), FLAG(14, "PME from D3hot"), FLAG(15, "PME from D3cold"), { 0 },
};

static const struct config_field pm_control[] = {
	CHOICE(1, 0, "power state", "D0|D1|D2|D3"), FLAG(3, "no soft reset"),
	FLAG(8, "PME enable"), NUMBER(12, 9, "data select"), NUMBER(14, 13, "data scale"),
	FLAG(15, "PME status"), { 0 },
};

static const struct config_register pm[] = {
	REGISTER(0x02, 2, "Power Management Capabilities", pm_caps),
	REGISTER(0x04, 2, "Power Management Control/Status", pm_control),
	REGISTER(0x06, 1, "Bridge Support Extensions", NULL),
	REGISTER(0x07, 1, "Data", NULL),
	{ 0 },
};

#define VECTORS "1|2|4|8|16|32"

static const struct config_field msi_control[] = {
	FLAG(0, "enable"), CHOICE(3, 1, "vectors possible", VECTORS),
	CHOICE(6, 4, "vectors enabled", VECTORS), FLAG(7, "64-bit address"),
	FLAG(8, "masks"), FLAG(9, "extended data capable"), FLAG(10, "extended data enable"), { 0 },
};

static const struct config_field msix_control[] = {
	CHOICE(10, 0, "vectors", config_plus_one), FLAG(14, "all masked"), FLAG(15, "enable"),
	{ 0 },
};

static const struct config_field msix_place[] = {
	NUMBER(2, 0, "BAR"), CHOICE(31, 3, "offset", config_times_8), { 0 },
};
/* clang-format on */

static bool is_wide(const struct config_space *space, unsigned int base,
		    const struct config_register *which)
{
	(void)which;
	return config_get(space, base + 2, 2) >> 7 & 1;
}

static bool is_narrow(const struct config_space *space, unsigned int base,
		      const struct config_register *which)
{
	return !is_wide(space, base, which);
}

static bool has_masks(const struct config_space *space, unsigned int base)
{
	return config_get(space, base + 2, 2) >> 8 & 1;
}

static bool masks_wide(const struct config_space *space, unsigned int base,
		       const struct config_register *which)
{
	return has_masks(space, base) && is_wide(space, base, which);
}

static bool masks_narrow(const struct config_space *space, unsigned int base,
			 const struct config_register *which)
{
	return has_masks(space, base) && is_narrow(space, base, which);
}

static const struct config_register msi[] = {
	REGISTER(0x02, 2, "Message Control", msi_control),
	REGISTER(0x04, 4, "Message Address", NULL),
	{ 0x08, 4, "Message Upper Address", NULL, is_wide },
	{ 0x08, 2, "Message Data", NULL, is_narrow },
	{ 0x0c, 2, "Message Data", NULL, is_wide },
	{ 0x0c, 4, "Mask Bits", NULL, masks_narrow },
	{ 0x10, 4, "Pending Bits", NULL, masks_narrow },
	{ 0x10, 4, "Mask Bits", NULL, masks_wide },
	{ 0x14, 4, "Pending Bits", NULL, masks_wide },
	{ 0 },
};

static const struct config_register msix[] = {
	REGISTER(0x02, 2, "Message Control", msix_control),
	REGISTER(0x04, 4, "Table", msix_place),
	REGISTER(0x08, 4, "Pending Bit Array", msix_place),
	{ 0 },
};

static const struct config_register vendor[] = {
	REGISTER(0x02, 1, "Length", NULL),
	{ 0 },
};

static const struct config_register subsystem[] = {
	REGISTER(0x04, 2, "Subsystem Vendor ID", NULL),
	REGISTER(0x06, 2, "Subsystem ID", NULL),
	{ 0 },
};

const struct config_block config_capabilities[] = {
	{ 0x01, "Power Management", pm },
	{ 0x02, "AGP", NULL },
	{ 0x03, "Vital Product Data", NULL },
	{ 0x04, "Slot Identification", NULL },
	{ 0x05, "MSI", msi },
	{ 0x06, "CompactPCI Hot Swap", NULL },
	{ 0x07, "PCI-X", NULL },
	{ 0x08, "HyperTransport", NULL },
	{ 0x09, "Vendor Specific", vendor },
	{ 0x0a, "Debug Port", NULL },
	{ 0x0c, "Hot Plug", NULL },
	{ 0x0d, "Subsystem ID", subsystem },
	{ 0x10, "PCI Express", config_express },
	{ 0x11, "MSI-X", msix },
	{ 0x12, "SATA", NULL },
	{ 0x13, "Advanced Features", NULL },
	{ 0x14, "Enhanced Allocation", NULL },
	{ 0 },
};

/* Tables of the PCI Express capability. PCI Express Base 5.0, 7.5.3. */

#define SIZES	  "128 bytes|256 bytes|512 bytes|1024 bytes|2048 bytes|4096 bytes"
#define LATENCIES "64 ns|128 ns|256 ns|512 ns|1 us|2 us|4 us|no limit"
#define L0S_EXITS                                                                           \
	"less than 64 ns|64 ns to 128 ns|128 ns to 256 ns|256 ns to 512 ns|512 ns to 1 us|" \
	"1 us to 2 us|2 us to 4 us|more than 4 us"
#define L1_EXITS                                                                              \
	"less than 1 us|1 us to 2 us|2 us to 4 us|4 us to 8 us|8 us to 16 us|16 us to 32 us|" \
	"32 us to 64 us|more than 64 us"
#define SCALES "1 W|0.1 W|0.01 W|0.001 W"

/* clang-format off */
static const struct config_field flags[] = {
	NUMBER(3, 0, "version"),
	CHOICE(7, 4, "type", "endpoint|legacy endpoint|?|?|root port|upstream port|downstream port|"
	       "PCI Express to PCI bridge|PCI to PCI Express bridge|root complex endpoint|"
	       "event collector"),
	FLAG(8, "slot implemented"), NUMBER(13, 9, "interrupt message number"), { 0 },
};

static const struct config_field devcap[] = {
	CHOICE(2, 0, "max payload supported", SIZES), CHOICE(4, 3, "phantom functions", "0|1|3|7"),
	FLAG(5, "extended tag supported"), CHOICE(8, 6, "L0s acceptable latency", LATENCIES),
	CHOICE(11, 9, "L1 acceptable latency",
	       "1 us|2 us|4 us|8 us|16 us|32 us|64 us|no limit"),
	FLAG(12, "attention button"), FLAG(13, "attention indicator"), FLAG(14, "power indicator"),
	FLAG(15, "role-based error reporting"), NUMBER(25, 18, "slot power limit"),
	CHOICE(27, 26, "slot power scale", SCALES), FLAG(28, "function level reset"),
	FLAG(30, "TEE-IO"), { 0 },
};

static const struct config_field devctl[] = {
	FLAG(0, "report correctable errors"), FLAG(1, "report non-fatal errors"),
	FLAG(2, "report fatal errors"), FLAG(3, "report unsupported requests"),
	FLAG(4, "relaxed ordering"), CHOICE(7, 5, "max payload", SIZES), FLAG(8, "extended tag"),
	FLAG(9, "phantom functions"), FLAG(10, "aux power"), FLAG(11, "no snoop"),
	CHOICE(14, 12, "max read request", SIZES), FLAG(15, "bridge retry, or start a reset"),
	{ 0 },
};

static const struct config_field devsta[] = {
	FLAG(0, "correctable error"), FLAG(1, "non-fatal error"), FLAG(2, "fatal error"),
	FLAG(3, "unsupported request"), FLAG(4, "aux power"), FLAG(5, "transactions pending"),
	{ 0 },
};

static const struct config_field lnkcap[] = {
	CHOICE(3, 0, "max speed", config_speeds), NUMBER(9, 4, "max width"),
	CHOICE(11, 10, "ASPM", "none|L0s|L1|L0s and L1"),
	CHOICE(14, 12, "L0s exit latency", L0S_EXITS), CHOICE(17, 15, "L1 exit latency", L1_EXITS),
	FLAG(18, "clock power management"), FLAG(19, "surprise down reporting"),
	FLAG(20, "link active reporting"), FLAG(21, "bandwidth notification"),
	FLAG(22, "ASPM optionality"), NUMBER(31, 24, "port"), { 0 },
};

static const struct config_field lnkctl[] = {
	CHOICE(1, 0, "ASPM", "off|L0s|L1|L0s and L1"),
	CHOICE(3, 3, "read completion boundary", "64 bytes|128 bytes"),
	FLAG(4, "link disable"), FLAG(5, "retrain"), FLAG(6, "common clock"),
	FLAG(7, "extended synch"), FLAG(8, "clock power management"),
	FLAG(9, "autonomous width disable"), FLAG(10, "bandwidth management interrupt"),
	FLAG(11, "autonomous bandwidth interrupt"), { 0 },
};

static const struct config_field lnksta[] = {
	CHOICE(3, 0, "speed", config_speeds), NUMBER(9, 4, "width"),
	FLAG(10, "training error"), FLAG(11, "training"),
	FLAG(12, "slot clock"), FLAG(13, "link active"), FLAG(14, "bandwidth management"),
	FLAG(15, "autonomous bandwidth"), { 0 },
};

static const struct config_field sltcap[] = {
	FLAG(0, "attention button"), FLAG(1, "power controller"), FLAG(2, "latch sensor"),
	FLAG(3, "attention indicator"), FLAG(4, "power indicator"), FLAG(5, "surprise removal"),
	FLAG(6, "hot plug"), NUMBER(14, 7, "power limit"), CHOICE(16, 15, "power scale", SCALES),
	FLAG(17, "interlock"), FLAG(18, "no command completed"), NUMBER(31, 19, "slot number"),
	{ 0 },
};

#define INDICATOR "reserved|on|blinking|off"

static const struct config_field sltctl[] = {
	FLAG(0, "attention button enable"), FLAG(1, "power fault enable"),
	FLAG(2, "latch sensor enable"), FLAG(3, "presence enable"),
	FLAG(4, "command completed interrupt"), FLAG(5, "hot plug interrupt"),
	CHOICE(7, 6, "attention indicator", INDICATOR), CHOICE(9, 8, "power indicator", INDICATOR),
	CHOICE(10, 10, "slot power", "on|off"), FLAG(11, "interlock"),
	FLAG(12, "link state changed enable"), { 0 },
};

static const struct config_field sltsta[] = {
	FLAG(0, "attention button pressed"), FLAG(1, "power fault"), FLAG(2, "latch changed"),
	FLAG(3, "presence changed"), FLAG(4, "command completed"), FLAG(5, "latch open"),
	FLAG(6, "card present"), FLAG(7, "interlock engaged"), FLAG(8, "link state changed"), { 0 },
};

static const struct config_field rootctl[] = {
	FLAG(0, "system error on correctable"), FLAG(1, "system error on non-fatal"),
	FLAG(2, "system error on fatal"), FLAG(3, "PME interrupt"), FLAG(4, "CRS visible"), { 0 },
};

static const struct config_field rootcap[] = { FLAG(0, "CRS visible"), { 0 } };

static const struct config_field rootsta[] = {
	HEX(15, 0, "PME requester"), FLAG(16, "PME status"), FLAG(17, "PME pending"), { 0 },
};

static const struct config_field devcap2[] = {
	CHOICE(3, 0, "completion timeout ranges", "none|A|B|A, B|?|?|B, C|A to C|?|?|?|?|?|?|"
	       "B to D|A to D"),
	FLAG(4, "completion timeout disable"), FLAG(5, "ARI forwarding"),
	FLAG(6, "atomic routing"), FLAG(7, "32-bit atomic completer"),
	FLAG(8, "64-bit atomic completer"), FLAG(9, "128-bit CAS completer"),
	FLAG(10, "no relaxed peer to peer"), FLAG(11, "LTR"), NUMBER(13, 12, "TPH completer"),
	FLAG(16, "10-bit tag completer"), FLAG(17, "10-bit tag requester"),
	CHOICE(19, 18, "OBFF", "no|message|WAKE#|WAKE# or message"),
	FLAG(20, "extended fmt field"), FLAG(21, "end-end prefixes"),
	NUMBER(23, 22, "max end-end prefixes"), NUMBER(25, 24, "emergency power reduction"),
	FLAG(26, "emergency power reduction needs init"), FLAG(31, "FRS"), { 0 },
};

static const struct config_field devctl2[] = {
	CHOICE(3, 0, "completion timeout", "50 us to 50 ms|50 us to 100 us|1 ms to 10 ms|?|?|"
	       "16 ms to 55 ms|65 ms to 210 ms|?|?|260 ms to 900 ms|1 s to 3.5 s|?|?|4 s to 13 s|"
	       "17 s to 64 s"),
	FLAG(4, "completion timeout disable"), FLAG(5, "ARI forwarding"),
	FLAG(6, "atomic requester"), FLAG(7, "atomic egress blocking"), FLAG(8, "IDO request"),
	FLAG(9, "IDO completion"), FLAG(10, "LTR"), FLAG(11, "emergency power reduction"),
	FLAG(12, "10-bit tag requester"),
	CHOICE(14, 13, "OBFF", "off|message A|message B|WAKE#"),
	FLAG(15, "end-end prefix blocking"), { 0 },
};

static const struct config_field lnkcap2[] = {
	FLAG(1, "2.5 GT/s"), FLAG(2, "5 GT/s"), FLAG(3, "8 GT/s"), FLAG(4, "16 GT/s"),
	FLAG(5, "32 GT/s"), FLAG(6, "64 GT/s"), FLAG(8, "crosslink"),
	FLAG(23, "retimer detected"), FLAG(24, "two retimers detected"), FLAG(31, "DRS"), { 0 },
};

static const struct config_field lnkctl2[] = {
	CHOICE(3, 0, "target speed", config_speeds), FLAG(4, "enter compliance"),
	FLAG(5, "autonomous speed disable"), CHOICE(6, 6, "selectable de-emphasis", "-6 dB|-3.5 dB"),
	NUMBER(9, 7, "transmit margin"), FLAG(10, "modified compliance"),
	FLAG(11, "compliance SOS"), NUMBER(15, 12, "compliance preset"), { 0 },
};

static const struct config_field lnksta2[] = {
	CHOICE(0, 0, "de-emphasis", "-6 dB|-3.5 dB"), FLAG(1, "equalization complete"),
	FLAG(2, "equalization phase 1"), FLAG(3, "equalization phase 2"),
	FLAG(4, "equalization phase 3"), FLAG(5, "equalization request"),
	FLAG(6, "retimer present"), FLAG(7, "two retimers present"),
	CHOICE(9, 8, "crosslink", "not known|upstream|downstream|not resolved"),
	NUMBER(14, 12, "downstream component"), FLAG(15, "DRS received"), { 0 },
};
/* clang-format on */

static unsigned int port_type(const struct config_space *space, unsigned int base)
{
	return config_get(space, base + 2, 2) >> 4 & 15;
}

/* A function inside the root complex has no link. */
static bool has_link(const struct config_space *space, unsigned int base,
		     const struct config_register *which)
{
	bool second = which->offset > 0x20;
	unsigned int type = port_type(space, base);

	return type != 9 && type != 10 && (!second || (config_get(space, base + 2, 2) & 15) >= 2);
}

static bool has_slot(const struct config_space *space, unsigned int base,
		     const struct config_register *which)
{
	unsigned int type = port_type(space, base);

	(void)which;
	return (type == 4 || type == 6) && config_get(space, base + 2, 2) >> 8 & 1;
}

static bool has_root(const struct config_space *space, unsigned int base,
		     const struct config_register *which)
{
	unsigned int type = port_type(space, base);

	(void)which;
	return type == 4 || type == 10;
}

static bool has_second(const struct config_space *space, unsigned int base,
		       const struct config_register *which)
{
	(void)which;
	return (config_get(space, base + 2, 2) & 15) >= 2;
}

const struct config_register config_express[] = {
	REGISTER(0x02, 2, "PCI Express Capabilities", flags),
	REGISTER(0x04, 4, "Device Capabilities", devcap),
	REGISTER(0x08, 2, "Device Control", devctl),
	REGISTER(0x0a, 2, "Device Status", devsta),
	{ 0x0c, 4, "Link Capabilities", lnkcap, has_link },
	{ 0x10, 2, "Link Control", lnkctl, has_link },
	{ 0x12, 2, "Link Status", lnksta, has_link },
	{ 0x14, 4, "Slot Capabilities", sltcap, has_slot },
	{ 0x18, 2, "Slot Control", sltctl, has_slot },
	{ 0x1a, 2, "Slot Status", sltsta, has_slot },
	{ 0x1c, 2, "Root Control", rootctl, has_root },
	{ 0x1e, 2, "Root Capabilities", rootcap, has_root },
	{ 0x20, 4, "Root Status", rootsta, has_root },
	{ 0x24, 4, "Device Capabilities 2", devcap2, has_second },
	{ 0x28, 2, "Device Control 2", devctl2, has_second },
	{ 0x2a, 2, "Device Status 2", NULL, has_second },
	{ 0x2c, 4, "Link Capabilities 2", lnkcap2, has_link },
	{ 0x30, 2, "Link Control 2", lnkctl2, has_link },
	{ 0x32, 2, "Link Status 2", lnksta2, has_link },
	{ 0 },
};
