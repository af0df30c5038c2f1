// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Reads a configuration space and walks its header and its two chains of capabilities. */
#include "config_space.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sysfs.h"

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
