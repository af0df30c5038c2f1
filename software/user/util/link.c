// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The link of a card, and the command that prints it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "card.h"
#include "config_space.h"
#include "link.h"
#include "output.h"

/* Compares the link of a card with what the card and its slot can do. */

/* sysfs has the rate of a lane, such as "5.0 GT/s PCIe". */
static unsigned int gen_of(const char *speed)
{
	static const double rates[] = { 2.5, 5, 8, 16, 32, 64 };
	double rate = strtod(speed, NULL);

	for (unsigned int i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		if (rate == rates[i])
			return i + 1;
	return 0;
}

static struct width read_width(const char *folder, const char *which)
{
	char name[40], speed[SYSFS_TEXT], lanes[SYSFS_TEXT];
	struct width width;

	snprintf(name, sizeof(name), "%s_link_speed", which);
	sysfs_line(folder, name, speed, sizeof(speed));
	snprintf(name, sizeof(name), "%s_link_width", which);
	sysfs_line(folder, name, lanes, sizeof(lanes));
	width.gen = gen_of(speed);
	width.lanes = (unsigned int)strtoul(lanes, NULL, 10);
	/* The kernel says 255 if it does not know the width. */
	if (!width.gen || width.lanes > 32)
		width = (struct width){ 0 };
	return width;
}

#define EXPRESS		  0x10
#define DEVICE_CAPABILITY 4
#define DEVICE_CONTROL	  8
#define DEFAULT_MRRS	  512 /* that of a reset: PCIe 4.0 7.5.3.4 */
#define SHORT_TAGS	  32  /* without extended tags */

static unsigned int size_of(uint32_t code)
{
	return code < 6 ? 128U << code : 0;
}

/* The offset of the PCI Express capability; 0 if only the header can be read. */
static unsigned int find_express(const struct config_space *space)
{
	unsigned int at = config_get(space, 0x34, 1) & ~3U;

	for (unsigned int tries = 0; at && tries < CONFIG_ORDINARY / 4; tries++) {
		if (config_get(space, at, 1) == EXPRESS)
			return at;
		at = config_get(space, at + 1, 1) & ~3U;
	}
	return 0;
}

/* @sizes gets what the host has set, and may be NULL. */
static void read_sizes(const char *address, struct sizes *possible, struct sizes *sizes)
{
	struct config_space space;
	unsigned int at;
	uint32_t control;

	if (config_read(&space, address) < 0)
		return;
	at = find_express(&space);
	if (!at || at + DEVICE_CONTROL + 2 > space.readable)
		return;
	possible->mps_bytes = size_of(config_get(&space, at + DEVICE_CAPABILITY, 4) & 7);
	control = config_get(&space, at + DEVICE_CONTROL, 2);
	if (sizes)
		*sizes = (struct sizes){ size_of(control >> 5 & 7), size_of(control >> 12 & 7) };
}

void link_state_read(struct link_state *link, const char *address)
{
	char folder[SYSFS_TEXT], above[SYSFS_TEXT], port[24];

	memset(link, 0, sizeof(*link));
	snprintf(folder, sizeof(folder), "%s/%.24s", SYSFS_DEVICES, address);
	snprintf(above, sizeof(above), "%s/%.24s/..", SYSFS_DEVICES, address);
	link->now = read_width(folder, "current");
	link->card = read_width(folder, "max");
	link->slot = read_width(above, "max");
	snprintf(port, sizeof(port), "%.20s/..", address);
	read_sizes(address, &link->card_sizes, &link->sizes);
	read_sizes(port, &link->slot_sizes, NULL);
}

void link_state_of(struct link_state *link, const struct litepcie_info *info)
{
	link_state_read(link, info->bus_address);
	link->now = (struct width){ info->link_gen, info->link_lanes };
	link->card = (struct width){ info->built_gen, info->built_lanes };
	link->sizes = (struct sizes){ info->max_payload_bytes, info->max_read_request_bytes };
	link->tags = info->tags;
	/* An older driver reports 0: unknown. */
	link->extended_tags_off =
		info->link_status && !(info->link_status & LITEPCIE_LINK_STATUS_EXTENDED_TAG);
}

void width_text(struct width width, char *text, size_t size)
{
	snprintf(text, size, width.gen ? "Gen%u x%u" : "?", width.gen, width.lanes);
}

static unsigned int lesser(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static bool below(struct width a, struct width b)
{
	return a.gen < b.gen || a.lanes < b.lanes;
}

static void degraded_width(const struct link_state *link, char *text, size_t size)
{
	struct width both = link->card;
	char now[24], card[24], slot[24], possible[24];

	if (!link->now.gen || !link->card.gen || !below(link->now, link->card))
		return;
	if (link->slot.gen) {
		both.gen = lesser(link->card.gen, link->slot.gen);
		both.lanes = lesser(link->card.lanes, link->slot.lanes);
	}
	width_text(link->now, now, sizeof(now));
	width_text(link->card, card, sizeof(card));
	width_text(link->slot, slot, sizeof(slot));
	width_text(both, possible, sizeof(possible));
	if (!link->slot.gen)
		snprintf(text, size,
			 "%s, but the card can do %s; what the slot can do is not known: compare "
			 "LnkCap "
			 "of the port (lspci -vv)",
			 now, card);
	else if (below(link->now, both))
		snprintf(text, size,
			 "%s, but the card can do %s and the slot %s: reseat the card, and check "
			 "the clock and the bitstream",
			 now, card, slot);
	else
		snprintf(text, size,
			 "%s, because the slot can do %s; the card can do %s: use a faster slot",
			 now, slot, card);
}

/* The host has set less than card and slot can do. */
static void degraded_mps(const struct link_state *link, char *text, size_t size)
{
	unsigned int card = link->card_sizes.mps_bytes, slot = link->slot_sizes.mps_bytes;

	if (!card || !slot || !link->sizes.mps_bytes || link->sizes.mps_bytes >= lesser(card, slot))
		return;
	snprintf(text, size,
		 "MPS %u, but the card can do %u and the slot %u bytes: boot with "
		 "pci=pcie_bus_perf",
		 link->sizes.mps_bytes, card, slot);
}

static void degraded_mrrs(const struct link_state *link, char *text, size_t size)
{
	if (!link->sizes.mrrs_bytes || link->sizes.mrrs_bytes >= DEFAULT_MRRS)
		return;
	snprintf(text, size,
		 "MRRS %u, but the card can do 4096 bytes and no slot limits it: the host has set "
		 "less than the %u of a reset",
		 link->sizes.mrrs_bytes, DEFAULT_MRRS);
}

unsigned int link_state_tags(const struct litepcie_info *info)
{
	bool off = info->link_status && !(info->link_status & LITEPCIE_LINK_STATUS_EXTENDED_TAG);

	return off ? lesser(info->tags, SHORT_TAGS) : info->tags;
}

static void degraded_tags(const struct link_state *link, char *text, size_t size)
{
	if (!link->extended_tags_off || link->tags <= SHORT_TAGS)
		return;
	snprintf(text, size,
		 "%u tags, but the card can do %u and every slot can: the host has disabled "
		 "extended tags",
		 SHORT_TAGS, link->tags);
}

void link_state_degraded(const struct link_state *link, char *text, size_t size)
{
	static void (*const parts[])(const struct link_state *link, char *text,
				     size_t size) = { degraded_width, degraded_mps, degraded_mrrs,
						      degraded_tags };
	size_t used = 0;

	text[0] = 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		char part[LINK_TEXT / 3] = "";

		parts[i](link, part, sizeof(part));
		if (part[0] && used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "; " : "",
						 part);
	}
}

/* link: what the endpoint in gateware knows of its lane, through the driver or a serial port. */

struct link_options {
	const char *serial;
	uint64_t baud, address;
	bool clear;
	struct bringup_options bringup;
};

#define WHERE(name)  offsetof(struct link_options, name)

#define DEFAULT_BAUD 115200
#define SECONDS_MAX  10 /* then the counters wrap */
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
	{ .name = "seconds",
	  .kind = OPTION_SECONDS,
	  .argument = "S",
	  .help = "bring-up: count, and wait for the trigger, for S seconds (default 1)",
	  .where = WHERE(bringup.seconds),
	  .min = 1,
	  .max = 1000 * SECONDS_MAX },
	{ .name = "capture",
	  .kind = OPTION_TEXT,
	  .argument = "TRIGGER",
	  .help = "bring-up: print symbols from now, comma, status:N or state:NAME on",
	  .where = WHERE(bringup.capture) },
	{ .name = "test",
	  .kind = OPTION_TEXT,
	  .argument = "MODE",
	  .help = "bring-up: from now on train, hold Polling.Active, or send d10.2 or compliance",
	  .where = WHERE(bringup.test) },
	{ .name = "registers",
	  .kind = OPTION_TEXT,
	  .argument = "LIST",
	  .help = "bring-up: read and write registers of the SerDes, such as "
		  "0x15,common:0x0a,0x16=0x3f",
	  .where = WHERE(bringup.registers) },
	{ .name = "save",
	  .kind = OPTION_TEXT,
	  .argument = "FILE",
	  .help = "bring-up: write all of it to FILE as JSON, with the recording and the "
		  "registers",
	  .where = WHERE(bringup.save) },
	{ 0 },
};

static void *defaults(void)
{
	struct link_options *o = calloc(1, sizeof(*o));

	if (o)
		*o = (struct link_options){ .baud = DEFAULT_BAUD };
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

/* Measures if the image can. */
static int bring_up(struct lane_port *port, const struct bringup_options *o,
		    struct lane_state *state)
{
	const char *name;

	if (lane_bringup(state)) {
		struct bringup_options given = *o;

		if (!given.seconds)
			given.seconds = 1;
		return bringup_measure(port, &given, state->clock_hz, &state->measured);
	}
	if (!bringup_asked(o, &name))
		return 0;
	return fail(EXIT_USAGE,
		    "%s: the bitstream at %s is a card; build and load the image for bring-up: "
		    "targets/BOARD.py --build --bringup --load",
		    name, port->name);
}

/* Lets standard output be a file while the document is printed. */
static int save(const struct lane_state *state, const struct lane_port *port, const char *path)
{
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), out, bad;

	fflush(stdout);
	out = file < 0 ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (file < 0 || out < 0 || dup2(file, STDOUT_FILENO) < 0)
		return fail(EXIT_FAILED, "--save: %s: %s", path, strerror(errno));
	lane_json(state, port->name);
	bad = fflush(stdout) || ferror(stdout) ? errno : 0;
	clearerr(stdout);
	if (dup2(out, STDOUT_FILENO) < 0)
		bad = errno;
	close(out);
	if (close(file) && !bad)
		bad = errno;
	return bad ? fail(EXIT_FAILED, "--save: %s: %s", path, strerror(bad)) : 0;
}

static int link_run(const struct settings *settings, const void *values, const char *argument)
{
	const struct link_options *o = values;
	struct lane_state state;
	struct lane_port port;
	int code = bringup_check(&o->bringup);

	(void)argument;
	if (!code)
		code = open_port(&port, settings, o);
	if (code)
		return code;
	if (*port.ltssm)
		return print_hard_block(&port, settings->json, o->clear);
	code = lane_check(&port, &state);
	if (!code)
		code = bring_up(&port, &o->bringup, &state);
	if (!code)
		code = lane_read(&port, &state);
	if (!code && o->bringup.save)
		code = save(&state, &port, o->bringup.save);
	if (!code && settings->json)
		lane_json(&state, port.name);
	else if (!code)
		lane_text(&state, o->bringup.capture);
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
