// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* config: decodes a configuration space, once or whenever it changes. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "config_space.h"
#include "json.h"
#include "sysfs.h"
#include "terminal.h"
#include "util.h"

/* config --watch: compares two looks at a configuration space, register by register. */

struct comparison {
	const struct settings *settings;
	const char *address;
	const struct config_space *before;
	uint64_t milliseconds;
};

static void ignore_block(void *context, const char *name, unsigned int offset)
{
	(void)context;
	(void)name;
	(void)offset;
}

static void ignore_end(void *context)
{
	(void)context;
}

static void text_change(const struct comparison *c, const struct config_register *which,
			unsigned int offset, uint32_t before, uint32_t now)
{
	printf("%8.3f s  0x%03x  %s: 0x%0*" PRIx32 " -> 0x%0*" PRIx32, c->milliseconds / 1e3,
	       offset, which->name, 2 * which->bytes, before, 2 * which->bytes, now);
	for (const struct config_field *f = which->fields; f && f->name; f++) {
		char old[64], new[64];

		if (config_bits(f, before) == config_bits(f, now))
			continue;
		config_meaning(f, before, old, sizeof(old));
		config_meaning(f, now, new, sizeof(new));
		printf("; %s: %s -> %s", f->name, old, new);
	}
	putchar('\n');
}

static void json_change(const struct comparison *c, const struct config_register *which,
			unsigned int offset, uint32_t before, uint32_t now)
{
	json_line("config");
	json_number("time_milliseconds", c->milliseconds);
	json_text("bus_address", c->address);
	json_text("name", which->name);
	json_number("offset_bytes", offset);
	json_number("before", before);
	json_number("value", now);
	json_end();
}

static void compare(void *context, const struct config_register *which, unsigned int offset,
		    uint32_t value)
{
	const struct comparison *c = context;
	uint32_t before = config_get(c->before, offset, which->bytes);

	if (before == value)
		return;
	if (c->settings->json)
		json_change(c, which, offset, before, value);
	else
		text_change(c, which, offset, before, value);
}

/*
 * Looks at @address every @interval_ms, @count times; 0: until a signal. @space is the first look.
 * Returns the exit code.
 */
static int config_watch(const struct settings *settings, const char *address,
			struct config_space *space, uint64_t interval_ms, uint64_t count)
{
	static const struct config_visitor visitor = { ignore_block, ignore_end, compare,
						       ignore_block };
	struct comparison c = { settings, address, space, 0 };
	struct config_space now;
	int err, signal;

	signals_hold();
	for (uint64_t i = 0; !count || i < count; i++) {
		signal = signals_wait(interval_ms);
		if (signal)
			return 128 + signal;
		c.milliseconds += interval_ms;
		err = config_read(&now, address);
		if (err || config_get(&now, 0, 4) == UINT32_MAX)
			return fail(EXIT_GONE, "%s: the device does not answer any more", address);
		config_walk(&now, &visitor, &c);
		*space = now;
		fflush(stdout);
	}
	return 0;
}

/* config: the configuration space of a card, or of any PCI device, by register and field. */

struct config_options {
	bool watch, bytes;
	uint64_t interval_ms, count;
};

#define WHERE(name) offsetof(struct config_options, name)

static const struct option options[] = {
	{ .name = "bytes",
	  .letter = 'x',
	  .kind = OPTION_FLAG,
	  .help = "also print all bytes, 16 in a line",
	  .where = WHERE(bytes) },
	{ .name = "watch",
	  .letter = 'w',
	  .kind = OPTION_FLAG,
	  .help = "print each register that changes, until Ctrl-C",
	  .where = WHERE(watch) },
	{ .name = "interval-ms",
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "time between two looks of --watch (default 1000)",
	  .where = WHERE(interval_ms),
	  .min = 1,
	  .max = 3600000 },
	{ .name = "count",
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "looks of --watch (default: until Ctrl-C)",
	  .where = WHERE(count),
	  .max = UINT32_MAX },
	{ 0 },
};

static void *defaults(void)
{
	struct config_options *o = calloc(1, sizeof(*o));

	if (o)
		o->interval_ms = 1000;
	return o;
}

static void bits_text(const struct config_field *field, char *text, size_t size)
{
	if (field->high == field->low)
		snprintf(text, size, "%u", field->low);
	else
		snprintf(text, size, "%u:%u", field->high, field->low);
}

static void text_block(void *context, const char *name, unsigned int offset)
{
	(void)context;
	printf("\n%s at 0x%03x\n", name, offset);
}

static void text_end(void *context)
{
	(void)context;
}

static void text_one(void *context, const struct config_register *which, unsigned int offset,
		     uint32_t value)
{
	char digits[12], bits[8], meaning[64];

	(void)context;
	snprintf(digits, sizeof(digits), "0x%0*" PRIx32, 2 * which->bytes, value);
	printf("  0x%03x  %-10s  %s\n", offset, digits, which->name);
	for (const struct config_field *f = which->fields; f && f->name; f++) {
		bits_text(f, bits, sizeof(bits));
		config_meaning(f, value, meaning, sizeof(meaning));
		printf("           %8s     %-34s %s\n", bits, f->name, meaning);
	}
}

static void text_fault(void *context, const char *what, unsigned int offset)
{
	(void)context;
	printf("\n  %s: 0x%03x\n", what, offset);
}

static void json_block(void *context, const char *name, unsigned int offset)
{
	(void)context;
	json_object(NULL);
	json_text("name", name);
	json_number("offset_bytes", offset);
	json_array("registers");
}

static void json_block_end(void *context)
{
	(void)context;
	json_end();
	json_end();
}

static void json_one(void *context, const struct config_register *which, unsigned int offset,
		     uint32_t value)
{
	char bits[8], meaning[64];

	(void)context;
	json_object(NULL);
	json_text("name", which->name);
	json_number("offset_bytes", offset);
	json_number("size_bytes", which->bytes);
	json_number("value", value);
	json_array("fields");
	for (const struct config_field *f = which->fields; f && f->name; f++) {
		bits_text(f, bits, sizeof(bits));
		config_meaning(f, value, meaning, sizeof(meaning));
		json_object(NULL);
		json_text("name", f->name);
		json_text("bits", bits);
		json_number("value", config_bits(f, value));
		json_text("meaning", meaning);
		json_end();
	}
	json_end();
	json_end();
}

static void json_fault(void *context, const char *what, unsigned int offset)
{
	(void)context;
	json_object(NULL);
	json_text("name", what);
	json_number("offset_bytes", offset);
	json_array("registers");
	json_end();
	json_end();
}

static const struct config_visitor as_text = { text_block, text_end, text_one, text_fault };
static const struct config_visitor as_json = { json_block, json_block_end, json_one, json_fault };

static void print_bytes(const struct config_space *space)
{
	for (size_t i = 0; i < space->readable; i++) {
		if (i % 16 == 0)
			printf("\n%03zx:", i);
		printf(" %02x", space->bytes[i]);
	}
	putchar('\n');
}

static void text_space(const struct config_space *space, const char *address, bool bytes)
{
	printf("%s: %zu bytes of configuration space", address, space->readable);
	if (space->readable <= CONFIG_HEADER)
		printf("; run as root to see the capabilities, in the bytes after them");
	putchar('\n');
	config_walk(space, &as_text, NULL);
	if (bytes)
		print_bytes(space);
}

static void json_space(const struct config_space *space, const char *address, bool bytes)
{
	json_document("config");
	json_text("bus_address", address);
	json_number("readable_bytes", space->readable);
	json_array("blocks");
	config_walk(space, &as_json, NULL);
	json_end();
	if (bytes) {
		json_array("bytes");
		for (size_t i = 0; i < space->readable; i++)
			json_number(NULL, space->bytes[i]);
		json_end();
	}
	json_end();
}

/* The address of the card of the settings, from sysfs: the card may not answer. */
static int card_address(const struct settings *settings, char *address, size_t size)
{
	const char *name = strrchr(settings->device, '/');
	char folder[SYSFS_TEXT];

	snprintf(folder, sizeof(folder), "%s/%.64s", SYSFS_CARDS, name ? name + 1 : "");
	if (sysfs_link(folder, "device", address, size))
		return 0;
	return fail(EXIT_GONE,
		    "%s: no card of the driver has this name; give the PCI address of a "
		    "device, such as 0000:01:00.0 (%s bus prints them)",
		    settings->device, PROGRAM);
}

static int config_run(const struct settings *settings, const void *values, const char *argument)
{
	const struct config_options *o = values;
	struct config_space space;
	char address[SYSFS_TEXT];
	int err, code = 0;

	if (argument && !pci_address(argument, address, sizeof(address)))
		return fail(EXIT_USAGE, "'%s' is not a PCI address; give one such as 0000:01:00.0",
			    argument);
	if (!argument)
		code = card_address(settings, address, sizeof(address));
	if (code)
		return code;
	err = config_read(&space, address);
	if (err == -ENOENT)
		return fail(EXIT_GONE, "%s: no device has this PCI address; %s bus prints all",
			    address, PROGRAM);
	if (err)
		return fail(EXIT_FAILED, "%s: configuration space: %s", address,
			    litepcie_strerror(err));
	if (o->watch)
		return config_watch(settings, address, &space, o->interval_ms, o->count);
	if (settings->json)
		json_space(&space, address, o->bytes);
	else
		text_space(&space, address, o->bytes);
	return 0;
}

const struct command command_config = {
	.name = "config",
	.summary = "print the configuration space of a card or of any PCI device",
	.details = "Prints offset, value and meaning of each register: header, power management, "
		   "MSI,\nMSI-X, PCI Express, error reporting and other extended capabilities. "
		   "ADDRESS is that\nof any PCI device, such as 00:1c.0 for the port above the "
		   "card; without it, the card\nof --device is shown. Without root, the kernel "
		   "lets a user read the header only.",
	.argument = "[ADDRESS]",
	.options = options,
	.defaults = defaults,
	.run = config_run,
};
