// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * A storm on /dev/litepcie0: hands make random calls and are killed; the weather unbinds, resets and removes the card;
 * witnesses check data and memory. Each process makes the same calls again for the same seed; their order among each
 * other is the scheduler's.
 * usage: storm SEED SECONDS [PAUSE_MS [CALLS [LIMIT]]]
 * It ends when SECONDS are over, every kind of call has succeeded and CALLS calls were made; at the latest after LIMIT
 * seconds. A hand is disturbed, mostly killed, about every PAUSE_MS/2 (default 100: a slow kernel needs more to make
 * calls).
 */
#include "storm.h"
#include <sys/prctl.h>

/* A request that the card has takes its time, and the watchdog its own. */
#define END_SECONDS	120
#define HANDS		6
#define NUMBERS		16	/* of devices that exist at once */

struct counters *counters;
struct kind all_kinds[EVENTS_AT];
unsigned int all_kinds_count;
__thread unsigned int current_kind;
volatile sig_atomic_t over;
static __thread uint64_t random_state;

/* SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). */
uint64_t random_bits(void)
{
	uint64_t x = random_state += 0x9e3779b97f4a7c15ull;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

void random_seed(uint64_t seed, uint64_t hand, uint64_t thread)
{
	random_state = seed;
	random_state = random_bits() + hand;
	random_state = random_bits() + thread;
	random_bits();
}

uint64_t pick(uint64_t count)
{
	return random_bits() % count;
}

long counted(long result)
{
	__atomic_add_fetch(&counters->calls[current_kind], 1, __ATOMIC_RELAXED);
	if (result >= 0)
		__atomic_add_fetch(&counters->succeeded[current_kind], 1, __ATOMIC_RELAXED);
	return result;
}

int device_open(const char *node, int flags)
{
	char name[64];
	int file = -1;

	for (unsigned int number = 0; number < NUMBERS && file < 0; number++) {
		snprintf(name, sizeof(name), "/dev/litepcie%u%s", number, node);
		file = open(name, flags | O_CLOEXEC);
	}
	return file;
}

static void on_end(int signal)
{
	(void)signal;
	over = 1;
}

void end_when_told(void)
{
	sigaction(SIGTERM, &(struct sigaction){ .sa_handler = on_end }, NULL);
}

static pid_t start_hand(uint64_t seed, unsigned int number)
{
	pid_t child = fork();

	if (!child) {
		setpgid(0, 0);
		hand(seed, number);
	}
	setpgid(child, child);
	return child;
}

static pid_t start(void (*run)(uint64_t seed), uint64_t seed)
{
	pid_t child = fork();

	if (!child)
		run(seed);
	return child;
}

/* Prints where the kernel holds the threads of a process. */
static void print_stack(pid_t child)
{
	char command[128];

	snprintf(command, sizeof(command), "cat /proc/%d/status /proc/%d/task/*/stack", child, child);
	if (system(command))
		printf("no stack\n");
}

/* Waits for a process that was told to end. Returns its wait status; a process that does not end is a failure. */
static int end(pid_t child, const char *what)
{
	double deadline = now() + END_SECONDS;
	int status;

	while (!waitpid(child, &status, WNOHANG)) {
		if (now() > deadline) {
			printf("%s does not end:\n", what);
			print_stack(child);
			exit(1);
		}
		usleep(10000);
	}
	return status;
}

/* Kills a hand, or stops and continues it, or interrupts its calls. Returns whether it has ended. */
static int disturb(pid_t child)
{
	static const int signals[] = { SIGKILL, SIGKILL, SIGTERM, SIGUSR1, SIGUSR1, SIGSTOP };
	int signal = signals[pick(ARRAY_SIZE(signals))];

	kill(signal == SIGKILL ? -child : child, signal);
	if (signal == SIGSTOP) {
		usleep(pick(20000));
		kill(child, SIGCONT);
	}
	return waitpid(child, NULL, WNOHANG) == child;
}

static void print_counter(const char *name, unsigned int at)
{
	printf("%s: %lu calls, %lu succeeded\n", name, counters->calls[at], counters->succeeded[at]);
}

static void collect_kinds(void)
{
	static const struct kind *const tables[] = { kinds, async_kinds, stream_kinds, user_kinds, buffer_kinds,
						     hostbuf_kinds };

	for (unsigned int i = 0; i < ARRAY_SIZE(tables); i++)
		for (const struct kind *kind = tables[i]; kind->name; kind++)
			all_kinds[all_kinds_count++] = *kind;
}

static void print_counters(void)
{
	for (unsigned int i = 0; i < all_kinds_count; i++)
		print_counter(all_kinds[i].name, i);
	print_counter("data of a witness", DATA_AT);
	print_counter("pages of a witness", PAGES_AT);
	weather_print();
}

static int succeeded(unsigned int at)
{
	return __atomic_load_n(&counters->succeeded[at], __ATOMIC_RELAXED) > 0;
}

/* Whether every kind of call, event of the weather and witness has succeeded. */
static int all_succeeded(void)
{
	for (unsigned int i = 0; i < all_kinds_count; i++)
		if (!succeeded(i))
			return 0;
	for (unsigned int i = 0; i < EVENTS; i++)
		if (!succeeded(EVENTS_AT + i))
			return 0;
	return succeeded(DATA_AT) && succeeded(PAGES_AT);
}

static unsigned long calls(void)
{
	unsigned long sum = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(counters->calls); i++)
		sum += __atomic_load_n(&counters->calls[i], __ATOMIC_RELAXED);
	return sum;
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	double length = argc > 2 ? atof(argv[2]) : 10, began = now();
	unsigned int pause_us = 1000 * (argc > 3 ? atoi(argv[3]) : 100), next = 0;
	unsigned long least = argc > 4 ? strtoul(argv[4], NULL, 0) : 0;
	double limit = argc > 5 ? atof(argv[5]) : 600 + length;
	pid_t children[HANDS], others[3];
	int failed = 0;

	counters = mmap(NULL, sizeof(*counters), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	printf("storm: seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	random_seed(seed, 3000, 0);
	collect_kinds();
	others[0] = start(witness_data, seed);
	others[1] = start(witness_pages, seed);
	others[2] = start(weather, seed);
	for (unsigned int i = 0; i < HANDS; i++)
		children[i] = start_hand(seed, next++);
	while ((now() < began + length || !all_succeeded() || calls() < least) && now() < began + limit) {
		unsigned int which = pick(HANDS);

		usleep(pick(pause_us));
		if (disturb(children[which]))
			children[which] = start_hand(seed, next++);
	}
	for (unsigned int i = 0; i < HANDS; i++)
		kill(-children[i], SIGKILL);
	for (unsigned int i = 0; i < HANDS; i++)
		end(children[i], "a killed hand");
	for (unsigned int i = 0; i < ARRAY_SIZE(others); i++) {
		kill(others[i], SIGTERM);
		failed |= end(others[i], i < 2 ? "a witness" : "the weather");
	}
	print_counters();
	printf("storm: %.0f s, %lu calls, %u hands, %s\n", now() - began, calls(), next,
	       failed ? "a witness failed" : "passed");
	return !!failed;
}
