// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* link: what the endpoint in gateware knows of its lane, through the driver or a serial port. */
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "json.h"
#include "lane.h"

struct link_options {
	const char *serial;
	uint64_t baud, address;
	bool clear;
};

#define WHERE(name)  offsetof(struct link_options, name)

#define DEFAULT_BAUD 115200
#define ADDRESS_MAX  0xffff0000

static const struct option options[] = {
	{ .name = "serial",
	  .kind = OPTION_TEXT,
	  .argument = "PORT",
	  .help = "ask the board's serial port instead of the driver",
	  .where = WHERE(serial) },
	{ .name = "baud",
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "bits per second of the serial port (default 115200)",
	  .where = WHERE(baud),
	  .max = 1000000 },
	{ .name = "address",
	  .kind = OPTION_COUNT,
	  .argument = "A",
	  .help = "address of the SoC's registers on its bus, for the serial port (default 0)",
	  .where = WHERE(address),
	  .max = ADDRESS_MAX },
	{ .name = "clear",
	  .kind = OPTION_FLAG,
	  .help = "clear the counters and the fewest credits after they are printed",
	  .where = WHERE(clear) },
	{ 0 },
};

static void *defaults(void)
{
	struct link_options *o = calloc(1, sizeof(*o));

	if (o)
		o->baud = DEFAULT_BAUD;
	return o;
}

static int open_port(struct lane_port *port, const struct settings *settings,
		     const struct link_options *o)
{
	if (!o->serial && (o->address || o->baud != DEFAULT_BAUD))
		return fail(EXIT_USAGE,
			    "--baud and --address are of a serial port; give --serial PORT too");
	if (o->serial && settings->chosen)
		return fail(EXIT_USAGE, "give --serial or a card (--device, --card), not both");
	if (o->address % 0x10000)
		return fail(EXIT_USAGE,
			    "--address: 0x%llx is not a multiple of 0x10000, as the address of the "
			    "registers is",
			    (unsigned long long)o->address);
	if (o->serial)
		return lane_serial_open(port, o->serial, o->baud, o->address);
	return lane_card_open(port, settings);
}

/* What a hard block says. Its guide numbers the states: PG054, PG156, PG213. */
static int print_hard_block(const struct lane_port *port, bool json, bool clear)
{
	if (clear)
		return fail(EXIT_USAGE, "--clear is for cards with the endpoint in gateware");
	if (json) {
		json_document("link");
		json_bool("ok", true);
		json_text("port", port->name);
		json_bool("link_clock_runs", true); /* The driver reads through the link. */
		json_number("hard_block_ltssm", strtoul(port->ltssm, NULL, 16));
		json_end();
	} else {
		printf("state of the hard block  %s; L0 is 0x16 on 7-series, 0x10 on "
		       "UltraScale(+)\n",
		       port->ltssm);
	}
	return 0;
}

static int link_run(const struct settings *settings, const void *values, const char *argument)
{
	const struct link_options *o = values;
	struct lane_state state;
	struct lane_port port;
	int code = open_port(&port, settings, o);

	(void)argument;
	if (code)
		return code;
	if (*port.ltssm)
		return print_hard_block(&port, settings->json, o->clear);
	code = lane_read(&port, &state);
	if (!code && settings->json)
		lane_json(&state, port.name);
	else if (!code)
		lane_text(&state);
	if (!code && o->clear)
		code = lane_clear(&port);
	port.close(&port);
	return code;
}

const struct command command_link = {
	.name = "link",
	.summary = "print the state of the lane of a card with the endpoint in gateware",
	.details =
		"State and transitions of link training, clocks, errors, replays and credits, and "
		"what to\nlook at next if the link is down. A board whose link does not come up "
		"answers at its\nserial port.",
	.options = options,
	.defaults = defaults,
	.run = link_run,
};
