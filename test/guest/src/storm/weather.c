// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * What the administrator does at the same time: unbind and bind, resets, removal from the bus, parameters, and the
 * files of sysfs and debugfs.
 */
#include "storm.h"
#include <dirent.h>

#define PCI	"/sys/bus/pci/"

static void tell(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);

	if (file < 0)
		return;
	counted(write(file, text, strlen(text)));
	close(file);
}

static void rebind(void)
{
	tell(DRIVER "unbind", CARD);
	usleep(pick(100000));
	tell(DRIVER "bind", CARD);
}

static void reset(void)
{
	static const char *const methods[] = { "flr", "bus", "default" };

	tell(PCI "devices/" CARD "/reset_method", methods[pick(3)]);
	for (unsigned int times = 1 + pick(3); times; times--)
		tell(PCI "devices/" CARD "/reset", "1");
}

static void leave_the_bus(void)
{
	tell(PCI "devices/" CARD "/remove", "1");
	usleep(pick(20000));
	tell(PCI "rescan", "1");
}

static void parameters(void)
{
	char text[32];

	snprintf(text, sizeof(text), "%u", one_in(4) ? (unsigned int)random_bits() : 2000 + (unsigned int)pick(8000));
	tell("/sys/module/litepcie/parameters/timeout_ms", text);
	snprintf(text, sizeof(text), "%u", (unsigned int)pick(100));
	tell(PCI "devices/" CARD "/litepcie/litepcie0/moderation_count", text);
	tell(PCI "devices/" CARD "/litepcie/litepcie0/moderation_us", text);
}

/* Reads all files of a folder and of those in it. */
static void look(const char *path, int depth)
{
	DIR *folder = opendir(path);
	char name[4096];
	struct dirent *entry;
	int file;

	if (!folder)
		return;
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		if (entry->d_type == DT_DIR && depth)
			look(name, depth - 1);
		file = entry->d_type == DT_REG ? open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
		if (file >= 0) {
			counted(read(file, name, sizeof(name)));
			close(file);
		}
	}
	closedir(folder);
}

static void look_round(void)
{
	look(PCI "devices/" CARD "/litepcie", 4);
	look("/sys/kernel/debug/litepcie", 1);
	look("/sys/module/litepcie/parameters", 0);
}

static const struct kind events[EVENTS] = {
	{ "unbind and bind", rebind }, { "reset", reset }, { "remove and rescan", leave_the_bus },
	{ "parameters", parameters }, { "sysfs, debugfs", look_round },
};

void weather_print(void)
{
	for (unsigned int i = 0; i < EVENTS; i++)
		printf("%s: %lu calls, %lu succeeded\n    longest %.1f s\n", events[i].name,
		       counters->calls[EVENTS_AT + i], counters->succeeded[EVENTS_AT + i], counters->longest[i]);
}

/* Shuffles the events, so that each occurs as soon as in a few turns. */
static void shuffle(unsigned int *order)
{
	for (unsigned int i = 0; i < EVENTS; i++) {
		unsigned int other = pick(i + 1);

		order[i] = order[other];
		order[other] = i;
	}
}

void weather(uint64_t seed)
{
	unsigned int order[EVENTS] = { 0 };

	random_seed(seed, 2000, 0);
	end_when_told();
	for (unsigned int turn = 0; !over; turn++) {
		double began = now();
		unsigned int event;

		if (turn % EVENTS == 0)
			shuffle(order);
		event = order[turn % EVENTS];
		current_kind = EVENTS_AT + event;
		events[event].act();
		if (now() - began > counters->longest[event])
			counters->longest[event] = now() - began;
		usleep(pick(500000));
	}
	_exit(0);
}
