// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* info: what the card is, and what the host knows of it. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "card.h"
#include "link.h"
#include "litepcie_regs.h"
#include "output.h"

/* The part of info that Linux has: PCI ids, family, slot, interrupts. */

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

static void info_pci_text(const struct settings *settings, const struct litepcie_info *info)
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

static void info_pci_json(const struct settings *settings, const struct litepcie_info *info)
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

/* info: identity of the card, state of its link, counters of its engines, errors. */

#define MAJOR(version) ((version) >> 16)
#define MINOR(version) ((version)&0xffff)

#define COLUMN	       10 /* of what follows a label */

static void text_size(const char *label, uint64_t bytes)
{
	printf("%-10s%" PRIu64 " bytes", label, bytes);
	if (bytes >= 1 << 20)
		printf(" (%.5g MiB)", bytes / 1048576.0);
	printf("\n");
}

/* State of the link and what the host has enabled. An older driver reports 0: unknown. */
static const struct {
	uint32_t mask;
	const char *key, *text;
} states[] = {
	{ LITEPCIE_LINK_STATUS_UP, "up", "link up" },
	{ LITEPCIE_LINK_STATUS_BUS_MASTER, "bus_master", "bus master" },
	{ LITEPCIE_LINK_STATUS_MSI, "msi", "MSI" },
	{ LITEPCIE_LINK_STATUS_EXTENDED_TAG, "extended_tags", "extended tags" },
};

#define STATES (sizeof(states) / sizeof(states[0]))

static void text_of_status(uint32_t status)
{
	for (size_t i = 0; status && i < STATES; i++)
		printf("%s%s: %s%s", i ? ", " : "state     ", states[i].text,
		       status & states[i].mask ? "yes" : "no", i + 1 < STATES ? "" : "\n");
}

#define MOST_STREAMS 16 /* of litepcie_info.stream_lacks */

enum ways { BOTH_WAYS, TO_HOST, FROM_HOST };

static const struct {
	const char *key, *text;
} ways[] = {
	[BOTH_WAYS] = { "both", "both directions" },
	[TO_HOST] = { "to_host", "to the host only" },
	[FROM_HOST] = { "from_host", "from the host only" },
};

static enum ways ways_of(const struct litepcie_info *info, unsigned int stream)
{
	uint32_t lacks = info->stream_lacks >> stream;

	if (lacks & 1)
		return TO_HOST;
	return lacks >> 16 & 1 ? FROM_HOST : BOTH_WAYS;
}

static void text_of_info(const struct settings *settings, const struct litepcie_info *info)
{
	char names[256], gateware[400], degraded[LINK_TEXT];
	struct link_state link;

	capability_names(info->capabilities, names, sizeof(names));
	printf("device    %s at %s, driver interface %" PRIu32 "\n", settings->device,
	       info->bus_address, info->uapi_version);
	info_pci_text(settings, info);
	printf("%-*s", COLUMN, "gateware");
	snprintf(gateware, sizeof(gateware), "%s, version %" PRIu32 ".%" PRIu32 ": %s",
		 info->target, MAJOR(info->gateware_version), MINOR(info->gateware_version), names);
	print_wrapped(gateware, COLUMN, COLUMN);
	printf("built for Gen%" PRIu32 " x%" PRIu32 ", data path %" PRIu32 " bits at %.3f MHz\n",
	       info->built_gen, info->built_lanes, info->data_width_bits, info->clock_hz / 1e6);
	printf("link      Gen%" PRIu32 " x%" PRIu32 ", MPS %" PRIu32 ", MRRS %" PRIu32 " bytes\n",
	       info->link_gen, info->link_lanes, info->max_payload_bytes,
	       info->max_read_request_bytes);
	link_state_of(&link, info);
	link_state_degraded(&link, degraded, sizeof(degraded));
	if (degraded[0]) {
		printf("%-*s", COLUMN, "slower");
		print_wrapped(degraded, COLUMN, COLUMN);
	}
	text_of_status(info->link_status);
	text_size("memory", info->memory_bytes);
	text_size("window", info->window_bytes);
	printf("engines   %" PRIu32 " channel%s, %" PRIu32 " stream%s, %" PRIu32 " tags\n",
	       info->channels, info->channels == 1 ? "" : "s", info->streams,
	       info->streams == 1 ? "" : "s", info->tags);
	for (unsigned int n = 0; n < info->streams && n < MOST_STREAMS; n++)
		if (ways_of(info, n) != BOTH_WAYS)
			printf("stream %-3u%s\n", n, ways[ways_of(info, n)].text);
}

static void text_of_counters(const struct litepcie_counters *c)
{
	char text[256];

	printf("%s %" PRIu32 "  ", litepcie_direction_name(c->direction), c->channel);
	snprintf(text, sizeof(text),
		 "%" PRIu64 " bytes, %" PRIu32 " descriptors, %" PRIu32 " TLPs, %" PRIu64
		 " active cycles; of these waiting for: descriptor %" PRIu32 ", tag %" PRIu32
		 ", link %" PRIu32 ", data %" PRIu32,
		 (uint64_t)c->bytes, c->descriptors, c->tlps, (uint64_t)c->active_cycles,
		 c->wait_descriptor, c->wait_tag, c->wait_link, c->wait_data);
	print_wrapped(text, COLUMN, COLUMN);
}

static void text_of_errors(const struct litepcie_errors *errors)
{
	char text[512] = "";
	size_t used = 0;

	for (const struct card_error *e = card_errors; e->key; e++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %" PRIu32,
					 used ? ", " : "", e->text, card_error_count(errors, e));
	printf("%-*s", COLUMN, "errors");
	print_wrapped(text, COLUMN, COLUMN);
}

static void json_of_info(const struct settings *settings, const struct litepcie_info *info)
{
	char version[24], degraded[LINK_TEXT];
	struct link_state link;

	link_state_of(&link, info);
	link_state_degraded(&link, degraded, sizeof(degraded));
	snprintf(version, sizeof(version), "%" PRIu32 ".%" PRIu32, MAJOR(info->gateware_version),
		 MINOR(info->gateware_version));
	json_document("info");
	json_text("device", settings->device);
	json_text("bus_address", info->bus_address);
	json_number("driver_interface", info->uapi_version);
	info_pci_json(settings, info);
	json_text("target", info->target);
	json_text("gateware_version", version);
	json_array("capabilities");
	for (unsigned int bit = 0; bit < 32; bit++) {
		const char *name = litepcie_capability_name(bit);

		snprintf(version, sizeof(version), "bit %u", bit);
		if (info->capabilities >> bit & 1)
			json_text(NULL, name ? name : version);
	}
	json_end();
	json_object("link");
	json_number("gen", info->link_gen);
	json_number("lanes", info->link_lanes);
	json_number("built_gen", info->built_gen);
	json_number("built_lanes", info->built_lanes);
	json_number("mps_bytes", info->max_payload_bytes);
	json_number("mrrs_bytes", info->max_read_request_bytes);
	if (degraded[0])
		json_text("degraded", degraded);
	for (size_t i = 0; info->link_status && i < STATES; i++)
		json_bool(states[i].key, info->link_status & states[i].mask);
	json_end();
	json_number("clock_hz", info->clock_hz);
	json_number("datapath_bits", info->data_width_bits);
	json_number("memory_bytes", info->memory_bytes);
	json_number("window_bytes", info->window_bytes);
	json_number("channels", info->channels);
	json_number("streams", info->streams);
	json_array("stream_directions");
	for (unsigned int n = 0; n < info->streams && n < MOST_STREAMS; n++)
		json_text(NULL, ways[ways_of(info, n)].key);
	json_end();
	json_number("tags", info->tags);
}

static void json_of_counters(const struct litepcie_counters *c)
{
	json_object(NULL);
	json_number("channel", c->channel);
	json_text("engine", litepcie_direction_name(c->direction));
	json_number("bytes", c->bytes);
	json_number("active_cycles", c->active_cycles);
	json_number("descriptors", c->descriptors);
	json_number("tlps", c->tlps);
	json_number("wait_descriptor_cycles", c->wait_descriptor);
	json_number("wait_tag_cycles", c->wait_tag);
	json_number("wait_link_cycles", c->wait_link);
	json_number("wait_data_cycles", c->wait_data);
	json_end();
}

static bool has_engine(const struct litepcie_info *info, unsigned int direction)
{
	return info->capabilities & (direction == LITEPCIE_TO_CARD ? LITEPCIE_CAPABILITY_TO_CARD
								   : LITEPCIE_CAPABILITY_FROM_CARD);
}

static int show_counters(struct litepcie *card, const struct litepcie_info *info,
			 void (*show)(const struct litepcie_counters *))
{
	for (unsigned int i = 0; i < 2 * info->channels; i++) {
		struct litepcie_counters counters;
		int err;

		if (!has_engine(info, i % 2))
			continue;
		err = litepcie_get_counters(card, i / 2, i % 2, &counters);
		if (err < 0)
			return err;
		show(&counters);
	}
	return 0;
}

static int show(struct litepcie *card, const struct settings *settings,
		const struct litepcie_info *info)
{
	struct litepcie_errors errors;
	int err = litepcie_get_errors(card, &errors);

	if (err < 0)
		return err;
	if (!settings->json) {
		text_of_info(settings, info);
		err = show_counters(card, info, text_of_counters);
		text_of_errors(&errors);
		return err;
	}
	json_of_info(settings, info);
	json_array("engines");
	err = show_counters(card, info, json_of_counters);
	json_end();
	json_object("errors");
	for (const struct card_error *e = card_errors; e->key; e++)
		json_number(e->key, card_error_count(&errors, e));
	json_end();
	json_end();
	return err;
}

static int info_run(const struct settings *settings, const void *values, const char *argument)
{
	struct litepcie_info info;
	int code = 0, err;
	struct litepcie *card = open_card(settings, &info, &code);

	(void)values;
	(void)argument;
	if (!card)
		return code;
	err = show(card, settings, &info);
	litepcie_close(card);
	if (err < 0)
		return fail(exit_code_of(err), "%s: %s", settings->device, litepcie_strerror(err));
	return 0;
}

const struct command command_info = {
	.name = "info",
	.summary = "print identity, link, counters and errors of the card",
	.details = "Prints the identity of the card, its PCI ids, slot and interrupts, its link "
		   "now and the link it was built for, "
		   "what\n"
		   "the host has enabled, the counters of its engines since their last reset, and "
		   "the\n"
		   "error counters of its transaction layer.",
	.run = info_run,
};
