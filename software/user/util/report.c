// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* report: the host, the path to the card, and what the other commands find, as one document. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "card.h"
#include "output.h"

#define MOST_WORDS 12
#define LINK	   "link" /* fails on a card whose hard block shows nothing of its lanes */

struct report_options {
	double limit; /* seconds for one command */
};

static const struct option options[] = {
	{ .name = "limit",
	  .kind = OPTION_SECONDS,
	  .argument = "SECONDS",
	  .help = "end a command that takes longer (default 120)",
	  .where = offsetof(struct report_options, limit),
	  .min = 1,
	  .max = 3600000 },
	{ 0 },
};

static void *defaults(void)
{
	struct report_options *o = calloc(1, sizeof(*o));

	if (o)
		o->limit = 120;
	return o;
}

/* Each is run by itself: what one of them cannot do, the others still say. */
static const char *const parts[] = {
	"version",
	"info",
	LINK,
	"bus",
	"scratch_test",
	"dma_test --preserve --sequence write",
	"dma_test --preserve --sequence read",
	"dma_test --preserve --sequence read-then-write",
	"dma_test --preserve --sequence write-then-read",
	"dma_test --preserve --sequence read-and-write",
	"dma_test --preserve --depth 8",
	"dma_test --preserve --length 64 --iterations 2000",
	"bench --time-ms 20",
	"info",
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

/* Programs ---------------------------------------------------------------------------------------
 */

struct result {
	FILE *out, *err;
	int code;
	double seconds;
};

/* SIGTERM after @limit seconds, SIGKILL 10 s later: a command in the kernel may need them. */
static int wait_for(pid_t child, double limit)
{
	double end = now() + limit;
	int status, sent = 0;

	while (waitpid(child, &status, WNOHANG) != child) {
		if (now() > end) {
			kill(child, sent++ ? SIGKILL : SIGTERM);
			end = now() + 10;
		}
		usleep(2000);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Runs a program with its output in files. False if there are no files for it. */
static bool run_program(const char *program, char *const words[], double limit, struct result *r)
{
	double begin = now();
	pid_t child;

	r->out = tmpfile();
	r->err = tmpfile();
	if (!r->out || !r->err)
		return false;
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		dup2(fileno(r->out), STDOUT_FILENO);
		dup2(fileno(r->err), STDERR_FILENO);
		execvp(program, words);
		_exit(127);
	}
	if (child < 0)
		return false;
	r->code = wait_for(child, limit);
	r->seconds = now() - begin;
	rewind(r->out);
	rewind(r->err);
	return true;
}

static void close_files(struct result *r)
{
	if (r->out)
		fclose(r->out);
	if (r->err)
		fclose(r->err);
}

/* A line without its end; false at the end of the file. */
static bool next_line(FILE *file, char *text, size_t size)
{
	if (!fgets(text, (int)size, file))
		return false;
	text[strcspn(text, "\n")] = 0;
	return true;
}

/* Parts ------------------------------------------------------------------------------------------
 */

/* Returns the exit code of the command, or EXIT_FAILED if it could not be run. */
static int part(const struct settings *settings, const char *command, double limit)
{
	char copy[128], line[512] = "", *words[MOST_WORDS], *rest = copy;
	struct result r = { .code = EXIT_FAILED };
	unsigned int count = 0;

	fprintf(stderr, "%s ... ", command);
	snprintf(copy, sizeof(copy), "%s", command);
	words[count++] = PROGRAM;
	while ((words[count] = strsep(&rest, " ")))
		count++;
	words[count++] = "--json";
	words[count++] = "--device";
	words[count++] = (char *)settings->device;
	words[count] = NULL;
	fflush(stdout);
	if (!run_program("/proc/self/exe", words, limit, &r))
		snprintf(line, sizeof(line), "cannot run it: %s", litepcie_strerror(-errno));
	while (r.err && next_line(r.err, line, sizeof(line)))
		;
	json_object(NULL);
	json_text("command", command);
	json_number("exit_status", (uint64_t)r.code);
	json_real("seconds", r.seconds, 3);
	json_text("message", line);
	json_array("documents");
	if (r.out && getc(r.out) != EOF) {
		rewind(r.out);
		json_copy(r.out);
	}
	json_end();
	json_end();
	close_files(&r);
	fprintf(stderr, "%.1f s%s%s\n", r.seconds, r.code ? ": " : "", r.code ? line : "");
	return r.code;
}

/* Host -------------------------------------------------------------------------------------------
 */

/* The first value of a key of /proc/cpuinfo or /proc/meminfo; nothing if there is none. */
static void proc_text(const char *path, const char *name, const char *key)
{
	FILE *file = fopen(path, "re");
	char line[256];

	while (file && next_line(file, line, sizeof(line))) {
		char *value = strchr(line, ':');

		if (!value || strncmp(line, name, strlen(name)))
			continue;
		json_text(key, value + 1 + strspn(value + 1, " "));
		break;
	}
	if (file)
		fclose(file);
}

static void line_of(const char *folder, const char *name, const char *key)
{
	char text[SYSFS_TEXT];

	if (sysfs_line(folder, name, text, sizeof(text)))
		json_text(key, text);
}

/* Nothing of it names the machine or its user. */
static void host(const char *folder)
{
	char group[PATH_MAX];
	struct utsname name;

	json_object("host");
	if (!uname(&name)) {
		json_text("kernel", name.release);
		json_text("machine", name.machine);
	}
	proc_text("/proc/cpuinfo", "model name", "processor");
	proc_text("/proc/meminfo", "MemTotal", "memory");
	line_of("/proc/device-tree", "model", "board");
	line_of("/sys/devices/system/cpu/cpu0/cpufreq", "scaling_governor", "governor");
	line_of("/sys/module/pcie_aspm/parameters", "policy", "aspm_policy");
	json_number("processors", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	json_number("page_bytes", (uint64_t)sysconf(_SC_PAGESIZE));
	snprintf(group, sizeof(group), "%s/iommu_group", folder);
	line_of(group, "type", "iommu");
	json_end();
}

/* What lspci says of a function. Serial numbers are left out. */
static void function(char *address, double limit)
{
	char *const words[] = { "lspci", "-vv", "-s", address, NULL };
	struct result r = { 0 };
	char line[512];

	json_object(NULL);
	json_text("address", address);
	json_array("lspci");
	if (run_program(words[0], words, limit, &r))
		while (next_line(r.out, line, sizeof(line)))
			if (!strstr(line, "Serial Number"))
				json_text(NULL, line);
	json_end();
	json_end();
	close_files(&r);
}

/* The card, and all bridges and ports above it, from the root. */
static void path_to_card(const char *folder, double limit)
{
	char link[PATH_MAX], *rest = link, *name, address[24];
	ssize_t length = readlink(folder, link, sizeof(link) - 1);

	link[length > 0 ? length : 0] = 0;
	json_array("path");
	while ((name = strsep(&rest, "/")))
		if (strlen(name) < sizeof(address) && pci_address(name, address, sizeof(address)))
			function(address, limit);
	json_end();
}

static int report(const struct settings *settings, const void *values, const char *argument)
{
	const struct report_options *o = values;
	char folder[SYSFS_TEXT], date[24];
	struct litepcie_info info;
	struct litepcie *card;
	unsigned int failed = 0;
	time_t t = time(NULL);
	int code = 0, one;

	(void)argument;
	card = open_card(settings, &info, &code);
	if (!card)
		return code;
	litepcie_close(card); /* The commands open it themselves. */
	snprintf(folder, sizeof(folder), "%s/%.24s", SYSFS_DEVICES, info.bus_address);
	strftime(date, sizeof(date), "%Y-%m-%d", gmtime(&t));
	json_document("report");
	json_text("date", date);
	host(folder);
	path_to_card(folder, o->limit);
	json_array("parts");
	for (size_t i = 0; i < PARTS; i++) {
		one = part(settings, parts[i], o->limit);
		if (!one || !strcmp(parts[i], LINK))
			continue;
		failed++;
		code = code ? code : one;
	}
	json_end();
	json_end();
	if (failed)
		return fail(code, "report: %u of %zu commands failed; the report says which",
			    failed, PARTS);
	return 0;
}

const struct command command_report = {
	.name = "report",
	.summary = "card, host and tests in one JSON document, to send",
	.details =
		"Redirect the output to a file. Progress goes to standard error. A command that "
		"fails or takes too long is in the report with its message, and the others still "
		"run.\n\n"
		"The document has no name of the machine or a user and no serial number. bench "
		"overwrites the beginning of the card's memory. Root sees more of the path to "
		"the card.",
	.options = options,
	.defaults = defaults,
	.run = report,
};
