// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* list and bus: what sysfs says of all cards, and of all PCI devices. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "card.h"
#include "link.h"
#include "output.h"

/* list: all cards of the driver, without opening one. */

#define LIST_COLUMN 9 /* of the text beside "link" and "slower" */

struct card_entry {
	char device[80], address[SYSFS_TEXT], target[SYSFS_TEXT], gateware[SYSFS_TEXT];
	char slot[SYSFS_TEXT], numa[SYSFS_TEXT], driver[SYSFS_TEXT];
	struct link_state link;
};

static void read_card(struct card_entry *card, const char *name)
{
	char folder[SYSFS_TEXT], pci[SYSFS_TEXT];

	snprintf(folder, sizeof(folder), "%s/%.64s", SYSFS_CARDS, name);
	snprintf(card->device, sizeof(card->device), "/dev/%.64s", name);
	sysfs_link(folder, "device", card->address, sizeof(card->address));
	sysfs_line(folder, "target", card->target, sizeof(card->target));
	sysfs_line(folder, "gateware_version", card->gateware, sizeof(card->gateware));
	snprintf(pci, sizeof(pci), "%s/%.24s", SYSFS_DEVICES, card->address);
	/* -1: the machine has no NUMA nodes. */
	if (!sysfs_line(pci, "numa_node", card->numa, sizeof(card->numa)) || card->numa[0] == '-')
		card->numa[0] = 0;
	if (!sysfs_line("/sys/module/litepcie", "version", card->driver, sizeof(card->driver)))
		sysfs_line("/sys/module/litepcie", "srcversion", card->driver,
			   sizeof(card->driver));
	sysfs_slot(card->address, card->slot, sizeof(card->slot));
	link_state_read(&card->link, card->address);
}

static const char *shown(const char *text)
{
	return *text ? text : "?";
}

static void text_of_card(const struct card_entry *card)
{
	char now[24], possible[24], slot[24], degraded[LINK_TEXT], text[4 * SYSFS_TEXT];

	width_text(card->link.now, now, sizeof(now));
	width_text(card->link.card, possible, sizeof(possible));
	width_text(card->link.slot, slot, sizeof(slot));
	printf("%s at %s: %s, gateware %s\n", card->device, card->address, shown(card->target),
	       shown(card->gateware));
	snprintf(text, sizeof(text),
		 "%s, card %s, slot %s; slot name %s, NUMA node %s, driver version %s", now,
		 possible, slot, shown(card->slot), shown(card->numa), shown(card->driver));
	printf("  link   ");
	print_wrapped(text, LIST_COLUMN, LIST_COLUMN);
	link_state_degraded(&card->link, degraded, sizeof(degraded));
	if (degraded[0]) {
		printf("  slower ");
		print_wrapped(degraded, LIST_COLUMN, LIST_COLUMN);
	}
}

static void json_width(const char *key, struct width width)
{
	if (!width.gen)
		return;
	json_object(key);
	json_number("gen", width.gen);
	json_number("lanes", width.lanes);
	json_end();
}

/* What is not known is absent. */
static void json_if(const char *key, const char *text)
{
	if (*text)
		json_text(key, text);
}

static void json_of_card(const struct card_entry *card)
{
	char degraded[LINK_TEXT];

	link_state_degraded(&card->link, degraded, sizeof(degraded));
	json_object(NULL);
	json_text("device", card->device);
	json_text("bus_address", card->address);
	json_if("target", card->target);
	json_if("gateware_version", card->gateware);
	json_width("link", card->link.now);
	json_width("card_link", card->link.card);
	json_width("slot_link", card->link.slot);
	json_if("degraded", degraded);
	json_if("slot", card->slot);
	if (*card->numa)
		json_number("numa_node", strtoull(card->numa, NULL, 10));
	json_if("driver_version", card->driver);
	json_end();
}

static int list_run(const struct settings *settings, const void *values, const char *argument)
{
	size_t count;
	char **names = sysfs_names(SYSFS_CARDS, &count);

	(void)values;
	(void)argument;
	if (settings->json) {
		json_document("list");
		json_array("cards");
	}
	for (size_t i = 0; i < count; i++) {
		struct card_entry card;

		read_card(&card, names[i]);
		if (settings->json)
			json_of_card(&card);
		else
			text_of_card(&card);
	}
	sysfs_free(names, count);
	if (settings->json) {
		json_end();
		json_end();
	}
	if (!count)
		return fail(EXIT_GONE, "no card; check that the module is loaded (lsmod | grep "
				       "litepcie) and the card is there (lspci)");
	return 0;
}

const struct command command_list = {
	.name = "list",
	.summary = "print all cards, with their links, slots and driver",
	.details = "Reads sysfs and opens no card. \"slower\" says why a link is slower than the "
		   "card.",
	.run = list_run,
};

/* bus: every device of the PCI buses. */

struct bus_options {
	bool cards;
	const char *names;
};

#define WHERE(name) offsetof(struct bus_options, name)

/* Of the text after an address. */
#define BUS_COLUMN 16

static const struct option options[] = {
	{ .name = "cards",
	  .kind = OPTION_FLAG,
	  .help = "only the cards of the driver",
	  .where = WHERE(cards) },
	{ .name = "names",
	  .kind = OPTION_TEXT,
	  .argument = "FILE",
	  .help = "the file pci.ids (default: that of the system)",
	  .where = WHERE(names) },
	{ 0 },
};

static void *defaults(void)
{
	return calloc(1, sizeof(struct bus_options));
}

struct bus_device {
	const char *address; /* DDDD:BB:DD.F */
	unsigned int domain, bus, slot, function;
	unsigned int vendor, device, subsystem_vendor, subsystem, class, revision;
	char vendor_name[120], device_name[120], class_name[120];
	char driver[SYSFS_TEXT], card[SYSFS_TEXT]; /* litepcie0; empty: not ours */
	struct link_state link;
};

static void find_card(const char *folder, char *name, size_t size)
{
	char path[SYSFS_TEXT + 16];
	size_t count;
	char **names;

	snprintf(path, sizeof(path), "%s/litepcie", folder);
	names = sysfs_names(path, &count);
	name[0] = 0;
	/* The user's bus and streams of a card are there too: litepcie0_stream0. */
	for (size_t i = 0; i < count; i++)
		if (!strchr(names[i], '_'))
			snprintf(name, size, "%s", names[i]);
	sysfs_free(names, count);
}

static bool read_device(struct bus_device *d, const char *address, const struct pci_names *names)
{
	char folder[SYSFS_TEXT];

	memset(d, 0, sizeof(*d));
	d->address = address;
	if (sscanf(address, "%x:%x:%x.%x", &d->domain, &d->bus, &d->slot, &d->function) != 4)
		return false;
	snprintf(folder, sizeof(folder), "%s/%.24s", SYSFS_DEVICES, address);
	d->vendor = sysfs_hex(folder, "vendor");
	d->device = sysfs_hex(folder, "device");
	d->subsystem_vendor = sysfs_hex(folder, "subsystem_vendor");
	d->subsystem = sysfs_hex(folder, "subsystem_device");
	d->class = sysfs_hex(folder, "class");
	d->revision = sysfs_hex(folder, "revision");
	pci_vendor_name(names, d->vendor, d->vendor_name, sizeof(d->vendor_name));
	pci_device_name(names, d->vendor, d->device, d->device_name, sizeof(d->device_name));
	pci_class_name(names, d->class >> 8, d->class_name, sizeof(d->class_name));
	sysfs_link(folder, "driver", d->driver, sizeof(d->driver));
	find_card(folder, d->card, sizeof(d->card));
	link_state_read(&d->link, address);
	return true;
}

static void text_device(const struct bus_device *d)
{
	char text[512], now[24], possible[24];

	snprintf(text, sizeof(text), "%s [%04x]: %s %s [%04x:%04x] (rev %02x)",
		 *d->class_name ? d->class_name : "Class", d->class >> 8,
		 *d->vendor_name ? d->vendor_name : "Vendor",
		 *d->device_name ? d->device_name : "Device", d->vendor, d->device, d->revision);
	printf("%c %s  ", *d->card ? '*' : ' ', d->address);
	print_wrapped(text, BUS_COLUMN, BUS_COLUMN);
	if (d->link.now.gen) {
		width_text(d->link.now, now, sizeof(now));
		width_text(d->link.card, possible, sizeof(possible));
		printf("%*slink %s, possible %s\n", BUS_COLUMN, "", now, possible);
	}
	if (*d->driver)
		printf("%*sdriver %s%s%s\n", BUS_COLUMN, "", d->driver, *d->card ? ", /dev/" : "",
		       d->card);
}

static void json_device(const struct bus_device *d)
{
	char device[SYSFS_TEXT + 8];

	json_object(NULL);
	json_text("bus_address", d->address);
	json_number("domain", d->domain);
	json_number("bus", d->bus);
	json_number("slot", d->slot);
	json_number("function", d->function);
	json_number("vendor_id", d->vendor);
	json_number("device_id", d->device);
	json_number("subsystem_vendor_id", d->subsystem_vendor);
	json_number("subsystem_id", d->subsystem);
	json_number("class", d->class);
	json_number("revision", d->revision);
	json_if("vendor_name", d->vendor_name);
	json_if("device_name", d->device_name);
	json_if("class_name", d->class_name);
	json_width("link", d->link.now);
	json_width("card_link", d->link.card);
	json_if("driver", d->driver);
	if (*d->card) {
		snprintf(device, sizeof(device), "/dev/%s", d->card);
		json_text("device", device);
	}
	json_end();
}

static void print_all(const struct settings *settings, const struct bus_options *o,
		      const struct pci_names *known)
{
	size_t count;
	char **names = sysfs_names(SYSFS_DEVICES, &count);

	if (settings->json) {
		json_document("bus");
		json_bool("names_known", known);
		json_array("devices");
	}
	for (size_t i = 0; i < count; i++) {
		struct bus_device device;

		if (!read_device(&device, names[i], known) || (o->cards && !*device.card))
			continue;
		if (settings->json)
			json_device(&device);
		else
			text_device(&device);
	}
	sysfs_free(names, count);
	if (settings->json) {
		json_end();
		json_end();
	}
}

static int bus_run(const struct settings *settings, const void *values, const char *argument)
{
	const struct bus_options *o = values;
	struct pci_names *names = pci_names_open(o->names);

	(void)argument;
	if (o->names && !names)
		return fail(EXIT_USAGE, "--names: %s cannot be read; give the file pci.ids",
			    o->names);
	print_all(settings, o, names);
	if (!names && !settings->json)
		printf("without names: install pci.ids (package pci.ids or hwdata), or give "
		       "--names\n");
	pci_names_close(names);
	return 0;
}

const struct command command_bus = {
	.name = "bus",
	.summary = "print all PCI devices, with names, links and drivers",
	.details = "Reads sysfs, without root. A star marks the cards of the litepcie driver. "
		   "Names come\nfrom the file pci.ids of the system.",
	.options = options,
	.defaults = defaults,
	.run = bus_run,
};
