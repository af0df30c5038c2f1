// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* list: all cards of the driver, from sysfs, without opening one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "json.h"
#include "link.h"
#include "sysfs.h"

#define COLUMN 9 /* of the text beside "link" and "slower" */

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
	print_wrapped(text, COLUMN, COLUMN);
	link_state_degraded(&card->link, degraded, sizeof(degraded));
	if (degraded[0]) {
		printf("  slower ");
		print_wrapped(degraded, COLUMN, COLUMN);
	}
}

static void json_of_width(const char *key, struct width width)
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
	json_of_width("link", card->link.now);
	json_of_width("card_link", card->link.card);
	json_of_width("slot_link", card->link.slot);
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
