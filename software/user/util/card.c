// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The card of the command line: its device file, errors, users, interrupts, and its memory. */
#include "card.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The device file that the command line names: by number, path or PCI address. */

static bool is_number(const char *text)
{
	return *text && strlen(text) <= 4 && text[strspn(text, "0123456789")] == 0;
}

bool pci_address(const char *text, char *address, size_t size)
{
	unsigned int domain = 0, bus, slot, function;
	int end = 0;

	if (sscanf(text, "%4x:%2x:%2x.%1x%n", &domain, &bus, &slot, &function, &end) != 4 ||
	    text[end]) {
		domain = 0;
		end = 0;
		if (sscanf(text, "%2x:%2x.%1x%n", &bus, &slot, &function, &end) != 3 || text[end])
			return false;
	}
	if (slot > 31 || function > 7)
		return false;
	snprintf(address, size, "%04x:%02x:%02x.%x", domain, bus, slot, function);
	return true;
}

static bool find_address(const char *address, char *path, size_t size)
{
	size_t count;
	char **names = sysfs_names(SYSFS_CARDS, &count);
	bool found = false;

	for (size_t i = 0; i < count && !found; i++) {
		char folder[SYSFS_TEXT], at[SYSFS_TEXT];

		snprintf(folder, sizeof(folder), "%s/%.64s", SYSFS_CARDS, names[i]);
		sysfs_link(folder, "device", at, sizeof(at));
		found = !strcmp(at, address);
		if (found)
			snprintf(path, size, "/dev/%s", names[i]);
	}
	sysfs_free(names, count);
	return found;
}

int settle_device(struct settings *settings, char *path, size_t size)
{
	const char *given = settings->device;
	char address[16], file[PATH_MAX];

	settings->chosen = given || settings->card != NO_CARD;
	if (given && settings->card != NO_CARD)
		return fail(EXIT_USAGE, "give --device or --card, not both");
	if (!given) {
		snprintf(path, size, "/dev/litepcie%u",
			 settings->card == NO_CARD ? 0 : (unsigned int)settings->card);
	} else if (is_number(given)) {
		snprintf(path, size, "/dev/litepcie%s", given);
	} else if (pci_address(given, address, sizeof(address))) {
		if (!find_address(address, path, size))
			return fail(EXIT_GONE,
				    "%s: no card of the driver has this PCI address; give "
				    "that of a card in /sys/class/litepcie",
				    address);
	} else if (strchr(given, '/')) {
		/* sysfs and /proc have no name of a link, such as that of the udev rule. */
		if (!realpath(given, file) || strlen(file) >= size)
			return 0;
		memcpy(path, file, strlen(file) + 1);
	} else {
		return fail(EXIT_USAGE,
			    "--device: '%s' is not a device; give a number, a path such as "
			    "/dev/litepcie0, or a PCI address such as 0000:01:00.0",
			    given);
	}
	settings->device = path;
	return 0;
}

/* Opens the card, and says what to do if that fails. */

static const char *advice(int error)
{
	switch (error) {
	case -ENOENT:
		return "check that the module is loaded (lsmod | grep litepcie) and the card is "
		       "there (lspci)";
	case -EACCES:
	case -EPERM:
		return "run as root, or give your user permission for the device file";
	case -ENXIO:
	case -ENODEV:
		return "check that the card is there (lspci) and read the kernel log (dmesg)";
	case -ENOTTY:
		return "give the device file of a card, /dev/litepcieN";
	default:
		return "read the kernel log (dmesg)";
	}
}

int exit_code_of(int error)
{
	switch (error) {
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
		return EXIT_GONE;
	default:
		return EXIT_FAILED;
	}
}

/* Without NSS, which a program that is linked statically does not have. */
static void group_name(gid_t number, char *name, size_t size)
{
	FILE *file = fopen("/etc/group", "re");
	const struct group *group;

	snprintf(name, size, "%u", (unsigned int)number);
	while (file && (group = fgetgrent(file)))
		if (group->gr_gid == number)
			snprintf(name, size, "%s", group->gr_name);
	if (file)
		fclose(file);
}

/* Names the group that may open the device file. */
static int explain_permission(const char *device, int error)
{
	struct stat status;
	char name[64];

	if (stat(device, &status))
		return fail(EXIT_FAILED, "%s: %s: %s", device, litepcie_strerror(error),
			    advice(error));
	if (!(status.st_mode & S_IWGRP) || !status.st_gid)
		return fail(EXIT_FAILED,
			    "%s: %s: only root may open it: run as root, or install the udev rule "
			    "60-litepcie.rules, which gives it to the group litepcie",
			    device, litepcie_strerror(error));
	group_name(status.st_gid, name, sizeof(name));
	return fail(EXIT_FAILED,
		    "%s: %s: the group %s may open it: run 'sudo usermod -aG %s USER' and log in "
		    "again, or run as root",
		    device, litepcie_strerror(error), name, name);
}

static void explain(const char *device, int error)
{
	int version;

	if (error == -EACCES) {
		explain_permission(device, error);
		return;
	}
	if (error != -EPROTONOSUPPORT) {
		fail(exit_code_of(error), "%s: %s: %s", device, litepcie_strerror(error),
		     advice(error));
		return;
	}
	version = litepcie_driver_version(device);
	fail(EXIT_FAILED,
	     "%s: the driver has interface version %d, this program has version %d: use module and "
	     "program of the same release",
	     device, version, LITEPCIE_UAPI_VERSION);
}

struct litepcie *open_card(const struct settings *settings, struct litepcie_info *info, int *code)
{
	struct litepcie *card;
	int err = litepcie_open(&card, settings->device);

	if (err >= 0) {
		err = litepcie_get_info(card, info);
		if (err >= 0)
			return card;
		litepcie_close(card);
	}
	explain(settings->device, err);
	*code = exit_code_of(err);
	return NULL;
}

int need_channels(const struct settings *settings, const struct litepcie_info *info)
{
	if (info->channels)
		return 0;
	return fail(EXIT_FAILED,
		    "%s: the card has no memory channels; its streams are for the command stream",
		    settings->device);
}

void capability_names(uint32_t capabilities, char *text, size_t size)
{
	size_t used = 0;

	text[0] = 0;
	for (unsigned int bit = 0; bit < 32 && used < size; bit++) {
		const char *name = litepcie_capability_name(bit);

		if (!(capabilities >> bit & 1))
			continue;
		used += snprintf(text + used, size - used, "%s", used ? ", " : "");
		if (used < size && name)
			used += snprintf(text + used, size - used, "%s", name);
		else if (used < size)
			used += snprintf(text + used, size - used, "bit %u", bit);
	}
}

/* The error counters of a card by name. */

#define WHERE(name) offsetof(struct litepcie_errors, name)

/* clang-format off */
const struct card_error card_errors[] = {
	{ "unsupported_request", "unsupported request", WHERE(unsupported_request) },
	{ "completer_abort", "completer abort", WHERE(completer_abort) },
	{ "poisoned", "poisoned", WHERE(poisoned) },
	{ "unexpected", "unexpected", WHERE(unexpected) },
	{ "timeout", "timeout", WHERE(timeout) },
	{ "bad_length", "bad length", WHERE(bad_length) },
	{ "refused", "refused", WHERE(refused) },
	{ 0 },
};
/* clang-format on */

uint32_t card_error_count(const struct litepcie_errors *errors, const struct card_error *which)
{
	return *(const uint32_t *)((const char *)errors + which->where);
}

void card_errors_since(const struct litepcie_errors *before, const struct litepcie_errors *now,
		       char *text, size_t size)
{
	size_t used = 0;

	text[0] = 0;
	for (const struct card_error *e = card_errors; e->key && used < size; e++) {
		uint32_t more = card_error_count(now, e) - card_error_count(before, e);

		if (more)
			used += snprintf(text + used, size - used, "%s%s %" PRIu32,
					 used ? ", " : "", e->text, more);
	}
}

/* The processes that have a card open, from /proc. */

/* /dev/litepcie1_stream0 is of /dev/litepcie1, /dev/litepcie10 is not. */
static bool is_of(const char *path, const char *device)
{
	size_t length = strlen(device);

	return !strncmp(path, device, length) && (!path[length] || path[length] == '_');
}

static bool uses(const char *pid, const char *device)
{
	char folder[64], path[PATH_MAX], target[PATH_MAX];
	struct dirent *entry;
	bool found = false;
	DIR *files;

	snprintf(folder, sizeof(folder), "/proc/%.16s/fd", pid);
	files = opendir(folder);
	while (files && !found && (entry = readdir(files))) {
		ssize_t got;

		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		got = readlink(path, target, sizeof(target) - 1);
		if (got <= 0)
			continue;
		target[got] = 0;
		found = is_of(target, device);
	}
	if (files)
		closedir(files);
	return found;
}

size_t card_users(const char *device, struct card_user *users, size_t most)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	size_t count = 0;

	while (processes && count < most && (entry = readdir(processes))) {
		char folder[64], name[SYSFS_TEXT];
		int pid = atoi(entry->d_name);

		if (!isdigit((unsigned char)entry->d_name[0]) || pid == getpid() ||
		    !uses(entry->d_name, device))
			continue;
		snprintf(folder, sizeof(folder), "/proc/%.16s", entry->d_name);
		if (!sysfs_line(folder, "comm", name, sizeof(name)))
			snprintf(name, sizeof(name), "?");
		/* A process chooses its name, which must not control the terminal. */
		for (char *c = name; *c; c++)
			*c = isprint((unsigned char)*c) ? *c : '?';
		users[count].pid = pid;
		snprintf(users[count++].name, sizeof(users->name), "%.20s", name);
	}
	if (processes)
		closedir(processes);
	return count;
}

/* Reads /proc/interrupts: a number, a count for each processor, and words that end with a name. */

int interrupts_open(void)
{
	return open("/proc/interrupts", O_RDONLY | O_CLOEXEC);
}

static bool has_name(const char *line, const char *name)
{
	size_t length = strlen(name);
	const char *word = strrchr(line, ' ');

	return word && !strncmp(word + 1, name, length) &&
	       (word[1 + length] == '-' || !word[1 + length]);
}

static uint64_t sum_of(const char *line)
{
	const char *at = strchr(line, ':');
	uint64_t total = 0;
	char *end;

	for (at = at ? at + 1 : ""; *at; at = end) {
		uint64_t count;

		while (*at == ' ')
			at++;
		if (!isdigit((unsigned char)*at))
			break;
		count = strtoull(at, &end, 10);
		/* "32-edge" is not a count. */
		if (*end && *end != ' ')
			break;
		total += count;
	}
	return total;
}

/* The file is larger than a page: it is read in pieces, and the rest of a line is kept. */
uint64_t interrupts_count(int fd, const char *name)
{
	char text[8192];
	size_t kept = 0;
	off_t offset = 0;
	uint64_t total = 0;
	ssize_t got;

	while ((got = pread(fd, text + kept, sizeof(text) - 1 - kept, offset)) > 0) {
		char *line = text, *end;

		offset += got;
		text[kept + (size_t)got] = 0;
		while ((end = strchr(line, '\n'))) {
			*end = 0;
			total += has_name(line, name) ? sum_of(line) : 0;
			line = end + 1;
		}
		kept = strlen(line);
		/* A line that fills the buffer has too many processors to be added up. */
		if (kept == sizeof(text) - 1)
			kept = 0;
		memmove(text, line, kept);
	}
	return total;
}

/*
 * Locks the part of the card's memory that a command overwrites, so that two commands do not find
 * each other's bytes. The locks are advisory record locks on the device file, and end with the
 * process.
 */

static void name_of(pid_t pid, char *name, size_t size)
{
	char folder[32];

	snprintf(folder, sizeof(folder), "/proc/%d", (int)pid);
	if (!sysfs_line(folder, "comm", name, size))
		snprintf(name, size, "name not known");
}

int memory_lock(const struct settings *settings, const struct litepcie *card, uint64_t start,
		uint64_t bytes)
{
	struct flock lock = { .l_type = F_WRLCK,
			      .l_whence = SEEK_SET,
			      .l_start = (off_t)start,
			      .l_len = (off_t)bytes };
	char name[SYSFS_TEXT];

	/* Where a file system has no locks, the command runs without. */
	if (!fcntl(litepcie_fd(card), F_SETLK, &lock) || (errno != EACCES && errno != EAGAIN))
		return 0;
	if (fcntl(litepcie_fd(card), F_GETLK, &lock) || lock.l_type == F_UNLCK)
		lock.l_pid = 0;
	name_of(lock.l_pid, name, sizeof(name));
	return fail(EXIT_FAILED,
		    "%s: process %d (%s) uses bytes %" PRId64 " to %" PRId64
		    " of the card's memory: wait for its end, or give another --offset",
		    settings->device, (int)lock.l_pid, name, (int64_t)lock.l_start,
		    (int64_t)(lock.l_start + lock.l_len - 1));
}

/* Reads and writes the card's memory, by DMA or by accesses of the CPU to the mapped window. */

/* An access to the window of a card that is gone: there is nothing to return to. */
static void on_bus_error(int number)
{
	static const char text[] = PROGRAM ": the card is gone, or was reset, during an access\n";

	(void)number;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_FAILED);
	_exit(EXIT_GONE);
}

int memory_map(struct memory *memory)
{
	void *window = mmap(NULL, memory->info.window_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			    litepcie_fd(memory->card), 0);

	if (window == MAP_FAILED)
		return fail(exit_code_of(-errno), "%s: mapping the window: %s",
			    memory->settings->device, litepcie_strerror(-errno));
	memory->window = window;
	signal(SIGBUS, on_bus_error);
	return 0;
}

/* memcpy() may access a byte twice, or 64 at once: the window gets words, and bytes at the ends. */
static bool word_fits(uint64_t offset, uint64_t left)
{
	return !(offset & 3) && left >= 4;
}

static void window_read(const struct memory *memory, uint8_t *data, uint64_t bytes, uint64_t offset)
{
	for (uint64_t i = 0; i < bytes;) {
		const volatile uint8_t *at = memory->window + offset + i;
		uint32_t word;

		if (word_fits(offset + i, bytes - i)) {
			word = *(const volatile uint32_t *)at;
			memcpy(data + i, &word, 4);
			i += 4;
		} else {
			data[i++] = *at;
		}
	}
}

static void window_write(const struct memory *memory, const uint8_t *data, uint64_t bytes,
			 uint64_t offset)
{
	for (uint64_t i = 0; i < bytes;) {
		volatile uint8_t *at = memory->window + offset + i;
		uint32_t word;

		if (word_fits(offset + i, bytes - i)) {
			memcpy(&word, data + i, 4);
			*(volatile uint32_t *)at = word;
			i += 4;
		} else {
			*at = data[i++];
		}
	}
}

static int moved_all(const struct memory *memory, ssize_t moved, uint64_t bytes, uint64_t offset)
{
	if (moved >= 0 && (uint64_t)moved == bytes)
		return 0;
	if (moved >= 0)
		moved = -ENOSPC;
	return fail(exit_code_of((int)moved),
		    "%s: %" PRIu64 " bytes at offset 0x%" PRIx64 " of the card's memory: %s",
		    memory->settings->device, bytes, offset, litepcie_strerror((int)moved));
}

int memory_read(const struct memory *memory, void *data, uint64_t bytes, uint64_t offset)
{
	if (!memory->window)
		return moved_all(memory, litepcie_pread(memory->card, data, bytes, offset), bytes,
				 offset);
	window_read(memory, data, bytes, offset);
	return 0;
}

int memory_write(const struct memory *memory, const void *data, uint64_t bytes, uint64_t offset)
{
	if (!memory->window)
		return moved_all(memory, litepcie_pwrite(memory->card, data, bytes, offset), bytes,
				 offset);
	window_write(memory, data, bytes, offset);
	return 0;
}
