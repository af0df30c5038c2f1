// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Lets each allocation of a path of the driver fail in turn, by /proc/thread-self/fail-nth of a kernel with fault
 * injection (Documentation/fault-injection/fault-injection.rst). After each failure the card must work.
 * usage: fail_nth PATH
 */
#include "fail_nth.h"

#define MOST	5000

uint8_t *memory;
int card = -1, helper = -1;

static int nth_file, result_errno;

void set(const char *path, const char *name, const char *value)
{
	char whole[256];
	int file;

	snprintf(whole, sizeof(whole), "%s/%s", path, name);
	file = opened(whole, O_WRONLY);
	check(write(file, value, strlen(value)) > 0, "%s: %s", whole, strerror(errno));
	close(file);
}

void unmap(void *at, size_t bytes)
{
	if (munmap(at, bytes))
		ok(!munmap(at, bytes));
}

void nothing(void)
{ }

/* By default, fault injection spares allocations that may wait, which are nearly all of a driver. */
static void configure(void)
{
	set("/sys/kernel/debug/failslab", "ignore-gfp-wait", "N");
	set("/sys/kernel/debug/failslab", "verbose", "0");
	set("/sys/kernel/debug/fail_page_alloc", "verbose", "0");
	set("/sys/kernel/debug/fail_usercopy", "verbose", "0");
	set("/sys/kernel/debug/fail_page_alloc", "ignore-gfp-wait", "N");
	set("/sys/kernel/debug/fail_page_alloc", "ignore-gfp-highmem", "N");
	nth_file = opened("/proc/thread-self/fail-nth", O_RDWR);
}

/*
 * Lets either objects or pages fail. The kernel takes pages for new objects now and then, and copes if it gets none:
 * among the objects, such a page would shift the count, and an allocation of the driver would be passed over.
 */
static void select_kind(bool pages)
{
	set("/sys/kernel/debug/failslab", "cache-filter", pages ? "Y" : "N");
	set("/sys/kernel/debug/fail_page_alloc", "min-order", pages ? "0" : "20");
}

static void arm(unsigned int nth)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", nth);

	fflush(stdout);
	ok(pwrite(nth_file, text, length, 0) == length);
}

/*
 * Returns whether the allocation failed, and ends the injection. These calls copy to and from the program, and such a
 * copy can be what fails.
 */
static int disarm(void)
{
	char text[16] = "";
	int failed = pread(nth_file, text, sizeof(text) - 1, 0) > 0 && atoi(text) == 0;

	while (pwrite(nth_file, "0", 1, 0) != 1)
		;
	return failed;
}

static void card_works(void)
{
	struct guarded out = guarded_alloc(5000, 3), in = guarded_alloc(5000, 5);
	static uint32_t pass = 1;
	int file = open_device();

	fill(out.bytes, 5000, ++pass);
	ok(pwrite(file, out.bytes, 5000, 4093) == 5000 && pread(file, in.bytes, 5000, 4093) == 5000);
	check_bytes(in.bytes, out.bytes, 5000, "after a failed allocation");
	guarded_check(&in, "after a failed allocation");
	free(out.whole);
	free(in.whole);
	close(file);
}

static const struct path *path_of(const char *name)
{
	static const struct path *const tables[] = { memory_paths, node_paths };

	for (unsigned int i = 0; i < ARRAY_SIZE(tables); i++)
		for (const struct path *path = tables[i]; path->name; path++)
			if (!strcmp(path->name, name))
				return path;
	return NULL;
}

/* Lets one after the other fail, until there is none; returns their number, and adds to that of calls that failed. */
static unsigned int sweep(const struct path *path, unsigned int *errors)
{
	for (unsigned int nth = 1; nth < MOST; nth++) {
		long result;
		int failed;

		path->before();
		arm(nth);
		result = path->run();
		result_errno = errno;
		failed = disarm();
		path->after();
		if (result < 0) {
			check(failed, "%s failed by itself: %s", path->name, strerror(result_errno));
			printf("%u: %s\n", nth, strerror(result_errno));
			(*errors)++;
		}
		card_works();
		if (!failed)
			return nth - 1;
	}
	check(0, "%s does not end", path->name);
	return 0;
}

int main(int argc, char **argv)
{
	const struct path *path;
	unsigned int allocations = 0, errors = 0;

	check(argc == 2, "usage: fail_nth PATH");
	path = path_of(argv[1]);
	check(path, "there is no path %s", argv[1]);
	memory = zeroed(2 * MIB);
	configure();
	for (int pages = 0; pages < 2; pages++) {
		select_kind(pages);
		allocations += sweep(path, &errors);
	}
	printf("%s: %u allocations failed, %u calls with them\n", path->name, allocations, errors);
	finish("fail_nth");
}
