// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Tables of the PCI Express capability. PCI Express Base 5.0, 7.5.3. */
#include "config_space.h"

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
