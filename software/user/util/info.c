// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* info: identity of the card, state of its link, counters of its engines, errors. */
#include <inttypes.h>
#include <stdio.h>

#include "card_errors.h"
#include "commands.h"
#include "info.h"
#include "json.h"
#include "link_state.h"
#include "litepcie_regs.h"

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
	return info->capabilities & (direction == LITEPCIE_READER ? LITEPCIE_CAPABILITY_READER
								  : LITEPCIE_CAPABILITY_WRITER);
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
