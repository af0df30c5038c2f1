// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* config: decodes a configuration space, once or whenever it changes. */
#include "config_space.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "card.h"
#include "output.h"

/* Reads a configuration space and walks its header and its two chains of capabilities. */

const char config_hex[] = "", config_plus_one[] = "", config_times_8[] = "";
const char config_speeds[] = "?|2.5 GT/s|5 GT/s|8 GT/s|16 GT/s|32 GT/s|64 GT/s";

int config_read(struct config_space *space, const char *address)
{
	char path[SYSFS_TEXT];
	ssize_t got;
	int fd, err = 0;

	memset(space, 0, sizeof(*space));
	snprintf(path, sizeof(path), "%s/%.24s/config", SYSFS_DEVICES, address);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (space->readable < CONFIG_BYTES) {
		got = read(fd, space->bytes + space->readable, CONFIG_BYTES - space->readable);
		if (got < 0 && errno != EINTR)
			err = -errno;
		if (err || !got)
			break;
		if (got > 0)
			space->readable += (size_t)got;
	}
	close(fd);
	return err;
}

uint32_t config_get(const struct config_space *space, unsigned int offset, unsigned int bytes)
{
	uint32_t value = 0;

	if (offset + bytes > space->readable)
		return 0;
	for (unsigned int i = 0; i < bytes; i++)
		value |= (uint32_t)space->bytes[offset + i] << 8 * i;
	return value;
}

uint32_t config_bits(const struct config_field *field, uint32_t value)
{
	return value >> field->low & (uint32_t)((UINT64_C(2) << (field->high - field->low)) - 1);
}

/* Entry @index of "a|b|c"; "reserved" past the end. */
static void entry(const char *values, uint32_t index, char *text, size_t size)
{
	const char *at = values;

	for (; index && at; index--) {
		at = strchr(at, '|');
		at += at ? 1 : 0;
	}
	if (at)
		snprintf(text, size, "%.*s", (int)strcspn(at, "|"), at);
	else
		snprintf(text, size, "reserved");
}

void config_meaning(const struct config_field *field, uint32_t value, char *text, size_t size)
{
	uint32_t bits = config_bits(field, value);

	if (field->values == config_hex)
		snprintf(text, size, "0x%" PRIx32, bits);
	else if (field->values == config_plus_one)
		snprintf(text, size, "%" PRIu32, bits + 1);
	else if (field->values == config_times_8)
		snprintf(text, size, "0x%" PRIx32, bits * 8);
	else if (field->values)
		entry(field->values, bits, text, size);
	else if (field->high == field->low)
		snprintf(text, size, "%s", bits ? "yes" : "no");
	else
		snprintf(text, size, "%" PRIu32, bits);
}

static void walk_block(const struct config_space *space, const struct config_visitor *visitor,
		       void *context, const char *name, unsigned int base,
		       const struct config_register *registers)
{
	visitor->block(context, name, base);
	for (const struct config_register *r = registers; r && r->bytes; r++) {
		unsigned int offset = base + r->offset;

		if (offset + r->bytes > space->readable ||
		    (r->present && !r->present(space, base, r)))
			continue;
		visitor->one(context, r, offset, config_get(space, offset, r->bytes));
	}
	visitor->end(context);
}

static const struct config_block *find(const struct config_block *blocks, unsigned int id)
{
	for (; blocks->name; blocks++)
		if (blocks->id == id)
			return blocks;
	return NULL;
}

static void walk_capability(const struct config_space *space, const struct config_visitor *visitor,
			    void *context, const struct config_block *blocks, unsigned int base,
			    unsigned int id)
{
	const struct config_block *block = find(blocks, id);
	char name[80];

	snprintf(name, sizeof(name), "%s %s 0x%02x", block ? block->name : "unknown",
		 blocks == config_extended ? "extended capability" : "capability", id);
	walk_block(space, visitor, context, name, base, block ? block->registers : NULL);
}

/*
 * The offset of the next capability, 0 at the end. A pointer that leads to a place where one cannot
 * be, or to one that was there before (@seen has a bit for every 4 bytes), is a fault.
 */
static unsigned int follow(const struct config_visitor *visitor, void *context, uint8_t *seen,
			   unsigned int next, unsigned int least, size_t most)
{
	if (!next)
		return 0;
	if (next < least || next + 4 > most || seen[next / 32] >> next / 4 % 8 & 1) {
		visitor->fault(context, "pointer to a wrong place, or to a capability before",
			       next);
		return 0;
	}
	seen[next / 32] |= 1 << next / 4 % 8;
	return next;
}

static void walk_ordinary(const struct config_space *space, const struct config_visitor *visitor,
			  void *context)
{
	size_t most = space->readable < CONFIG_ORDINARY ? space->readable : CONFIG_ORDINARY;
	unsigned int at = config_get(space, 0x34, 1) & ~3U;
	uint8_t seen[CONFIG_BYTES / 32] = { 0 };

	/* Without the right to read it, the chain is not a fault. */
	if (!(config_get(space, 0x06, 2) & 0x10) || space->readable <= CONFIG_HEADER)
		return;
	while ((at = follow(visitor, context, seen, at, CONFIG_HEADER, most))) {
		walk_capability(space, visitor, context, config_capabilities, at,
				config_get(space, at, 1));
		at = config_get(space, at + 1, 1) & ~3U;
	}
}

static void walk_extended(const struct config_space *space, const struct config_visitor *visitor,
			  void *context)
{
	uint8_t seen[CONFIG_BYTES / 32] = { 0 };
	unsigned int at = CONFIG_ORDINARY;

	while ((at = follow(visitor, context, seen, at, CONFIG_ORDINARY, space->readable))) {
		uint32_t head = config_get(space, at, 4);

		/* All zeros: there is none. All ones: the device does not answer. */
		if (!head || head == UINT32_MAX)
			return;
		walk_capability(space, visitor, context, config_extended, at, head & 0xffff);
		at = head >> 20 & ~3U;
	}
}

void config_walk(const struct config_space *space, const struct config_visitor *visitor,
		 void *context)
{
	unsigned int layout = config_get(space, 0x0e, 1) & 0x7f;
	const struct config_block *header = layout == 1 ? &config_type1 : &config_type0;

	walk_block(space, visitor, context, header->name, 0, header->registers);
	walk_ordinary(space, visitor, context);
	if (space->readable > CONFIG_ORDINARY)
		walk_extended(space, visitor, context);
}

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
