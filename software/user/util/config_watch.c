// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* config --watch: compares two looks at a configuration space, register by register. */
#include "config_watch.h"

#include <inttypes.h>
#include <stdio.h>

#include "json.h"
#include "signals.h"

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

int config_watch(const struct settings *settings, const char *address, struct config_space *space,
		 uint64_t interval_ms, uint64_t count)
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
