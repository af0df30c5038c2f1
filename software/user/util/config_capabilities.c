// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Tables of the capabilities in the first 256 bytes. PCI Local Bus 3.0, 6.7 and 6.8. */
#include "config_space.h"

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
