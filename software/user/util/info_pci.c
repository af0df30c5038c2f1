// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The part of info that Linux has: PCI ids, family, slot, interrupts. */
#include "info.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "interrupts.h"
#include "json.h"
#include "sysfs.h"

/* The numbers of gateware/board/identity.py and of the driver's table. */
static const struct {
	unsigned int vendor, device;
	const char *family;
} families[] = {
	{ 0x1234, 0x1ce0, "simulation" },  { 0x10ee, 0x1ce1, "Artix-7" },
	{ 0x10ee, 0x1ce2, "Kintex-7" },	   { 0x10ee, 0x1ce3, "UltraScale" },
	{ 0x10ee, 0x1ce4, "UltraScale+" }, { 0x1204, 0x1ce5, "ECP5" },
};

struct pci {
	bool known;
	unsigned int vendor, device, subsystem_vendor, subsystem, revision;
	const char *family; /* NULL: another maker's numbers */
	char slot[SYSFS_TEXT];
	const char *kind; /* of interrupts, NULL: not known */
	size_t vectors;
	uint64_t count;
};

static void read_interrupts(struct pci *pci, const char *folder, const char *device)
{
	char path[SYSFS_TEXT + 16], mode[SYSFS_TEXT];
	const char *name = strrchr(device, '/');
	char **names;
	int fd;

	snprintf(path, sizeof(path), "%s/msi_irqs", folder);
	names = sysfs_names(path, &pci->vectors);
	if (pci->vectors) {
		sysfs_line(path, names[0], mode, sizeof(mode));
		pci->kind = strcmp(mode, "msix") ? "MSI" : "MSI-X";
	}
	sysfs_free(names, pci->vectors);
	fd = interrupts_open();
	if (fd < 0)
		return;
	pci->count = interrupts_count(fd, name ? name + 1 : device);
	close(fd);
}

static void read_pci(struct pci *pci, const struct settings *settings,
		     const struct litepcie_info *info)
{
	char folder[SYSFS_TEXT], text[SYSFS_TEXT];

	memset(pci, 0, sizeof(*pci));
	snprintf(folder, sizeof(folder), "%s/%.24s", SYSFS_DEVICES, info->bus_address);
	pci->known = sysfs_line(folder, "vendor", text, sizeof(text));
	if (!pci->known)
		return;
	pci->vendor = sysfs_hex(folder, "vendor");
	pci->device = sysfs_hex(folder, "device");
	pci->subsystem_vendor = sysfs_hex(folder, "subsystem_vendor");
	pci->subsystem = sysfs_hex(folder, "subsystem_device");
	pci->revision = sysfs_hex(folder, "revision");
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (families[i].vendor == pci->vendor && families[i].device == pci->device)
			pci->family = families[i].family;
	sysfs_slot(info->bus_address, pci->slot, sizeof(pci->slot));
	read_interrupts(pci, folder, settings->device);
}

void info_pci_text(const struct settings *settings, const struct litepcie_info *info)
{
	struct pci pci;

	read_pci(&pci, settings, info);
	if (!pci.known)
		return;
	printf("PCI ids   %04x:%04x, subsystem %04x:%04x, revision %02x: family %s\n", pci.vendor,
	       pci.device, pci.subsystem_vendor, pci.subsystem, pci.revision,
	       pci.family ? pci.family : "not known");
	if (pci.slot[0])
		printf("slot      %s\n", pci.slot);
	if (pci.kind)
		printf("interrupt %s, %zu vector%s, %" PRIu64 " so far\n", pci.kind, pci.vectors,
		       pci.vectors == 1 ? "" : "s", pci.count);
}

void info_pci_json(const struct settings *settings, const struct litepcie_info *info)
{
	struct pci pci;

	read_pci(&pci, settings, info);
	if (!pci.known)
		return;
	json_object("pci");
	json_number("vendor_id", pci.vendor);
	json_number("device_id", pci.device);
	json_number("subsystem_vendor_id", pci.subsystem_vendor);
	json_number("subsystem_id", pci.subsystem);
	json_number("revision", pci.revision);
	if (pci.family)
		json_text("family", pci.family);
	if (pci.slot[0])
		json_text("slot", pci.slot);
	json_end();
	if (!pci.kind)
		return;
	json_object("interrupts");
	json_text("kind", pci.kind);
	json_number("vectors", pci.vectors);
	json_number("count", pci.count);
	json_end();
}
