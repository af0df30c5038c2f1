// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* dma_test --cards: a process for each card, which measure at the same time. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dma_test.h"
#include "output.h"

#define MOST_CARDS 16

/* What a process tells the others. */
struct outcome {
	_Atomic bool met;
	double rates[2], wall_rates[2]; /* bytes per second, by direction */
};

static struct {
	unsigned int count, self;
	uint64_t numbers[MOST_CARDS];
	pid_t children[MOST_CARDS];
	struct outcome *outcomes; /* NULL: one card only */
	int lock;
	bool json;
} cards;

static int not_a_list(const char *text)
{
	return fail(EXIT_USAGE,
		    "--cards: '%s' is not a list of cards; give up to %u different numbers, such "
		    "as 0,1",
		    text, MOST_CARDS);
}

static int parse(const char *text)
{
	const char *at = text;

	for (;;) {
		char *end;
		uint64_t number;

		if (!isdigit((unsigned char)*at) || cards.count == MOST_CARDS)
			return not_a_list(text);
		number = strtoul(at, &end, 10);
		for (unsigned int i = 0; i < cards.count; i++)
			if (cards.numbers[i] == number)
				return not_a_list(text);
		if (number > 4095 || (*end && *end != ','))
			return not_a_list(text);
		cards.numbers[cards.count++] = number;
		if (!*end)
			return 0;
		at = end + 1;
	}
}

void dma_cards_meet(void)
{
	unsigned int waiting = 1;

	if (!cards.outcomes)
		return;
	atomic_store(&cards.outcomes[cards.self].met, true);
	while (waiting && !dma_caught()) {
		waiting = 0;
		for (unsigned int i = 0; i < cards.count; i++)
			waiting += !atomic_load(&cards.outcomes[i].met);
		if (waiting)
			usleep(100);
	}
}

static void set_lock(short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET };

	while (fcntl(cards.lock, F_SETLKW, &lock) && errno == EINTR)
		;
}

void dma_cards_report_begin(void)
{
	if (cards.outcomes)
		set_lock(F_WRLCK);
}

void dma_cards_report_end(const struct dma_test *test)
{
	struct outcome *outcome = cards.outcomes ? &cards.outcomes[cards.self] : NULL;

	if (!outcome)
		return;
	for (unsigned int i = 0; i < 2; i++) {
		const struct measure *m = &test->sides[i].measure;

		if (!m->transfers)
			continue;
		outcome->rates[i] = counter_rate(test, m->counter_bytes, m->counter_cycles);
		outcome->wall_rates[i] = (double)m->bytes / m->wall_seconds;
	}
	fflush(stdout);
	set_lock(F_UNLCK);
}

static int run_one(const struct settings *settings, const struct dma_options *options, FILE *file)
{
	struct settings own = *settings;
	char path[32];
	int code;

	/* A Ctrl-C of the terminal reaches the first process, which passes it on. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	snprintf(path, sizeof(path), "/dev/litepcie%" PRIu64, cards.numbers[cards.self]);
	own.device = path;
	own.card = cards.numbers[cards.self];
	if (cards.json)
		dup2(fileno(file), STDOUT_FILENO);
	code = dma_test_card(&own, options, true);
	atomic_store(&cards.outcomes[cards.self].met, true);
	return fflush(stdout) ? EXIT_FAILED : code;
}

static void pass_on(int number)
{
	for (unsigned int i = 0; i < cards.count; i++)
		if (cards.children[i] > 0)
			kill(cards.children[i], number);
}

/* Waits for all processes; the exit code is that of the first one that failed. */
static int wait_for_all(void)
{
	int status, code = 0, ended;
	pid_t pid;

	while ((pid = wait(&status)) > 0 || errno == EINTR) {
		for (unsigned int i = 0; pid > 0 && i < cards.count; i++) {
			if (cards.children[i] != pid)
				continue;
			cards.children[i] = 0;
			/* A process that was killed must not keep the others waiting. */
			atomic_store(&cards.outcomes[i].met, true);
			ended = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
			code = code ? code : ended;
		}
	}
	return code;
}

static double sum(unsigned int direction, bool wall)
{
	double rate = 0;

	for (unsigned int i = 0; i < cards.count; i++)
		rate += wall ? cards.outcomes[i].wall_rates[direction]
			     : cards.outcomes[i].rates[direction];
	return rate;
}

static void text_of_sum(void)
{
	printf("\n%u cards, added up:", cards.count);
	for (unsigned int i = 0; i < 2; i++)
		if (sum(i, false) > 0)
			printf(" %s %.1f MB/s by counter, %.1f by wall clock;", direction_word(i),
			       sum(i, false) / 1e6, sum(i, true) / 1e6);
	printf(" measured at the same time\n");
}

static void json_of_rates(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		if (sum(i, false) <= 0)
			continue;
		json_object(direction_word(i));
		json_real("counter_bytes_per_second", sum(i, false), 0);
		json_real("host_wall_clock_bytes_per_second", sum(i, true), 0);
		json_end();
	}
}

static void json_of_sum(bool ok, FILE *const *files)
{
	json_document("dma_test");
	json_bool("ok", ok);
	json_array("cards");
	for (unsigned int i = 0; i < cards.count; i++) {
		rewind(files[i]);
		json_copy(files[i]);
	}
	json_end();
	json_object("total");
	json_of_rates();
	json_end();
	json_end();
}

/* The last line, also if a card failed: its rates are not in it. */
static void json_line_of_sum(bool ok)
{
	json_line("dma_test");
	json_text("event", "total");
	json_bool("ok", ok);
	json_number("cards", cards.count);
	json_of_rates();
	json_end();
}

int dma_cards(const struct settings *settings, const struct dma_options *options)
{
	struct sigaction action = { .sa_handler = pass_on };
	FILE *files[MOST_CARDS] = { NULL }, *lock = tmpfile();
	int code;

	if (settings->chosen)
		return fail(EXIT_USAGE, "give --cards, or --device or --card, not both");
	if (parse(options->cards))
		return EXIT_USAGE;
	cards.json = settings->json && !options->json_lines;
	cards.outcomes = mmap(NULL, MOST_CARDS * sizeof(*cards.outcomes), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (cards.outcomes == MAP_FAILED || !lock)
		return fail(EXIT_FAILED, "--cards: %s", litepcie_strerror(-errno));
	cards.lock = fileno(lock);
	fflush(stdout);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	for (cards.self = 0; cards.self < cards.count; cards.self++) {
		files[cards.self] = cards.json ? tmpfile() : NULL;
		cards.children[cards.self] = fork();
		if (!cards.children[cards.self])
			_exit(run_one(settings, options, files[cards.self]));
		if (cards.children[cards.self] < 0) {
			int err = -errno;

			pass_on(SIGKILL);
			return fail(EXIT_FAILED, "--cards: %s", litepcie_strerror(err));
		}
	}
	code = wait_for_all();
	if (cards.json)
		json_of_sum(!code, files);
	else if (options->json_lines)
		json_line_of_sum(!code);
	else if (!code)
		text_of_sum();
	return code;
}
