// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* stream: the command line, the result, and what was lost. */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "util.h"

#define LEAST_BUFFER (1 << 20)

/* Of a buffer of --ring: a packet takes at least one. */
#define LEAST_RING_BUFFER 65536

#define WHERE(name)	  offsetof(struct stream_options, name)

static const struct option options[] = {
	{ .name = "stream",
	  .letter = 's',
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "number of the stream (default 0)",
	  .where = WHERE(stream),
	  .max = 255 },
	{ .name = "file",
	  .letter = 'f',
	  .kind = OPTION_TEXT,
	  .argument = "FILE",
	  .help = "of record and play; - is the standard output or input",
	  .where = WHERE(file) },
	{ .name = "length",
	  .letter = 'l',
	  .kind = OPTION_SIZE,
	  .argument = "BYTES",
	  .help = "end after so many bytes (default: no limit; of play: the file)",
	  .where = WHERE(length),
	  .min = 1,
	  .max = INT64_MAX },
	{ .name = "packets",
	  .letter = 'n',
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "end after so many packets (default of loopback and test: 1000)",
	  .where = WHERE(packets),
	  .min = 1,
	  .max = UINT32_MAX },
	{ .name = "packet-bytes",
	  .kind = OPTION_SIZE,
	  .argument = "BYTES",
	  .help = "play: of each packet; loopback: of the longest one (default 64K)",
	  .where = WHERE(packet_bytes),
	  .min = 1,
	  .max = 1 << 24 },
	{ .name = "time",
	  .letter = 't',
	  .kind = OPTION_SECONDS,
	  .argument = "SECONDS",
	  .help = "end after this time",
	  .where = WHERE(seconds),
	  .min = 1,
	  .max = 31536000000 },
	{ .name = "timeout",
	  .kind = OPTION_SECONDS,
	  .argument = "SECONDS",
	  .help = "fail if nothing moves for so long (default: loopback and test 5, others never)",
	  .where = WHERE(timeout),
	  .min = 1,
	  .max = 86400000 },
	{ .name = "ring",
	  .kind = OPTION_SIZE,
	  .argument = "BYTES",
	  .help = "of the driver's ring, up to 1G: how late this program may be (default 4M)",
	  .where = WHERE(ring),
	  .min = LEAST_RING_BUFFER,
	  .max = LITEPCIE_STREAM_MAX_RING },
	{ .name = "seed",
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "seed of the data and lengths of loopback (default 1)",
	  .where = WHERE(seed),
	  .max = UINT64_MAX },
	{ 0 },
};

static void *defaults(void)
{
	struct stream_options *o = calloc(1, sizeof(*o));

	if (o)
		*o = (struct stream_options){ .packet_bytes = 65536, .seed = 1 };
	return o;
}

static const struct action {
	const char *name;
	int (*run)(struct stream_run *run);
	int flags; /* of open() */
	bool file;
} actions[] = {
	{ "record", stream_record, O_RDONLY, true },
	{ "play", stream_play, O_WRONLY, true },
	{ "loopback", stream_loopback, O_RDWR, false },
	{ "test", stream_test, O_RDONLY, false },
};

volatile sig_atomic_t stream_signal;

static void on_signal(int number)
{
	stream_signal = number;
	alarm(1);
}

/* Ends a wait that began after a signal had come, but stream_signal had been tested before it. */
static void on_alarm(int number)
{
	(void)number;
	alarm(1);
}

void stream_progress(const struct stream_run *run)
{
	double seconds = now() - run->begin;

	progress("%s: %.1f s, %.1f MB in %" PRIu64 " packets, %.1f MB/s on average", run->action,
		 seconds, (double)run->bytes / 1e6, run->packets,
		 seconds > 0 ? (double)run->bytes / seconds / 1e6 : 0);
}

int stream_fail(struct stream_run *run, int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (!run->error[0])
		vsnprintf(run->error, sizeof(run->error), format, arguments);
	va_end(arguments);
	return code;
}

int stream_failed(struct stream_run *run, const char *what, int error)
{
	if (error == -ENODATA)
		return stream_fail(run, EXIT_MISMATCH,
				   "%s: %s after %" PRIu64
				   " bytes: data was lost, because the card was reset or suspended"
				   ", or its logic cut a packet",
				   run->path, what, run->bytes);
	return stream_fail(run, exit_code_of(error), "%s: %s after %" PRIu64 " bytes: %s",
			   run->path, what, run->bytes, litepcie_strerror(error));
}

/* What both directions of the stream have counted. */
struct losses {
	uint64_t lost_bytes, cuts, overruns, underruns;
};

static void count_losses(const struct stream_run *run, int flags, struct losses *losses)
{
	struct litepcie_stream_info info;

	*losses = (struct losses){ 0 };
	for (unsigned int d = 0; d < 2; d++) {
		if (flags != O_RDWR && (flags == O_RDONLY) != (d == LITEPCIE_FROM_CARD))
			continue;
		if (litepcie_stream_get_info(run->stream, d, &info) < 0)
			continue;
		losses->lost_bytes += info.lost_bytes;
		losses->cuts += info.cuts;
		losses->overruns += info.overruns;
		losses->underruns += info.underruns;
	}
}

static void report(const struct stream_run *run, const struct losses *lost, int code)
{
	double seconds = now() - run->begin;
	bool piped = run->options->file && !strcmp(run->options->file, "-") &&
		     !strcmp(run->action, "record");
	/* A pipe has the data on its standard output. */
	FILE *out = piped ? stderr : stdout;

	if (!run->settings->json) {
		fprintf(out, "%s: %" PRIu64 " bytes in %" PRIu64 " packets, %.3f s, %.1f MB/s\n",
			run->action, run->bytes, run->packets, seconds,
			(double)run->bytes / seconds / 1e6);
		if (lost->overruns || lost->underruns)
			fprintf(out,
				"  the card's logic waited for this program %" PRIu64
				" times, and for data within a packet %" PRIu64 " times\n",
				lost->overruns, lost->underruns);
		if (run->untaken)
			fprintf(out,
				"  %" PRIu64 " bytes more did not reach the card's logic, and are "
				"lost\n",
				run->untaken);
		return;
	}
	if (piped)
		return;
	json_document("stream");
	json_bool("ok", !code);
	json_text("device", run->path);
	json_text("action", run->action);
	json_number("bytes", run->bytes);
	json_number("packets", run->packets);
	json_real("elapsed_seconds", seconds, 6);
	json_real("bytes_per_second", (double)run->bytes / seconds, 0);
	json_number("overruns", lost->overruns);
	json_number("underruns", lost->underruns);
	json_number("lost_bytes", lost->lost_bytes);
	json_number("cuts", lost->cuts);
	json_number("untaken_bytes", run->untaken);
	if (code)
		json_text("error", run->error);
	json_end();
}

static int act(struct stream_run *run, const struct action *action)
{
	struct losses before, lost;
	int code;

	count_losses(run, action->flags, &before);
	run->begin = now();
	code = action->run(run);
	alarm(0);
	progress_clear();
	count_losses(run, action->flags, &lost);
	lost.lost_bytes -= before.lost_bytes;
	lost.cuts -= before.cuts;
	lost.overruns -= before.overruns;
	lost.underruns -= before.underruns;
	if (!code && (lost.lost_bytes || lost.cuts))
		code = stream_fail(run, EXIT_MISMATCH,
				   "%s: the driver counted %" PRIu64 " lost bytes and %" PRIu64
				   " cuts",
				   run->path, lost.lost_bytes, lost.cuts);
	report(run, &lost, code);
	if (code)
		fail(code, "%s", run->error);
	if (!code && stream_signal)
		return 128 + stream_signal;
	return code;
}

/* The least ring of buffers of a power of two that has --ring, of each direction of the action. */
static int set_ring(const struct stream_run *run, int flags)
{
	struct litepcie_stream_setup setup = { .depth = 2, .buffer_bytes = LEAST_RING_BUFFER };
	uint64_t bytes = run->options->ring;
	double rate = 0;
	int err = 0;

	while ((uint64_t)setup.buffer_bytes * LITEPCIE_STREAM_MAX_DEPTH < bytes)
		setup.buffer_bytes *= 2;
	while ((uint64_t)setup.buffer_bytes * setup.depth < bytes)
		setup.depth *= 2;
	bytes = (uint64_t)setup.buffer_bytes * setup.depth;
	for (unsigned int d = 0; !err && d < 2; d++) {
		struct litepcie_stream_setup s = setup;

		s.direction = d;
		if (flags == O_RDWR || (flags == O_RDONLY) == (d == LITEPCIE_FROM_CARD))
			err = litepcie_stream_setup(run->stream, &s);
	}
	if (err == -EPERM)
		return fail(EXIT_FAILED,
			    "%s: a ring of %" PRIu64
			    " bytes is more than root allows: echo %" PRIu64
			    " > /sys/module/litepcie/parameters/stream_bytes",
			    run->path, bytes, bytes);
	if (err)
		return fail(exit_code_of(err), "%s: a ring of %" PRIu64 " bytes: %s", run->path,
			    bytes, litepcie_strerror(err));
	if (!run->settings->json && !litepcie_theory_raw(run->link_gen, run->link_lanes, &rate))
		fprintf(stderr, "ring: %" PRIu64 " bytes, %.1f ms of a full link (Gen%u x%u)\n",
			bytes, (double)bytes / rate * 1e3, run->link_gen, run->link_lanes);
	return 0;
}

static int open_and_act(struct stream_run *run, const struct action *action)
{
	struct sigaction handler = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND };
	struct sigaction repeat = { .sa_handler = on_alarm };
	int err = litepcie_stream_open(&run->stream, run->path, action->flags);
	int code;

	if (err == -EBUSY)
		return fail(EXIT_FAILED,
			    "%s: another program uses this direction of the stream: end it, or "
			    "give another --stream",
			    run->path);
	if (err == -EOPNOTSUPP)
		return fail(EXIT_FAILED,
			    "%s: the stream lacks a direction that %s needs; %s info shows which "
			    "directions it has",
			    run->path, action->name, PROGRAM);
	if (err == -ENOENT)
		return fail(EXIT_GONE, "%s: no such stream; %s info shows how many the card has",
			    run->path, PROGRAM);
	if (err)
		return fail(exit_code_of(err), "%s: %s", run->path, litepcie_strerror(err));
	code = run->options->ring ? set_ring(run, action->flags) : 0;
	if (code) {
		litepcie_stream_close(run->stream);
		return code;
	}
	sigaction(SIGALRM, &repeat, NULL);
	sigaction(SIGINT, &handler, NULL);
	sigaction(SIGTERM, &handler, NULL);
	run->buffer = malloc(run->buffer_bytes);
	run->expected = malloc(run->buffer_bytes);
	code = run->buffer && run->expected ? act(run, action)
					    : fail(EXIT_FAILED, "%s", litepcie_strerror(-ENOMEM));
	err = litepcie_stream_close(run->stream);
	free(run->buffer);
	free(run->expected);
	if (code || !err)
		return code;
	return fail(exit_code_of(err), "%s: closing: %s", run->path, litepcie_strerror(err));
}

static int stream_command(const struct settings *settings, const void *values, const char *argument)
{
	const struct stream_options *o = values;
	struct stream_run run = { .settings = settings, .options = o };
	const struct action *action = NULL;
	struct litepcie_info info;
	struct litepcie *card;
	char path[256];
	int code = 0;

	for (size_t i = 0; argument && i < sizeof(actions) / sizeof(actions[0]); i++)
		if (!strcmp(actions[i].name, argument))
			action = &actions[i];
	if (!action)
		return fail(EXIT_USAGE,
			    "stream: %s%s%s; choose one of record, play, loopback, test",
			    argument ? "'" : "no action is given", argument ? argument : "",
			    argument ? "' is not an action" : "");
	if (action->file != !!o->file)
		return fail(EXIT_USAGE, "stream %s: %s", action->name,
			    o->file ? "takes no --file" : "give --file");
	card = open_card(settings, &info, &code);
	if (!card)
		return code;
	litepcie_close(card);
	snprintf(path, sizeof(path), "%.200s_stream%" PRIu64, settings->device, o->stream);
	run.action = action->name;
	run.path = path;
	run.width_bits = info.data_width_bits;
	run.link_gen = info.link_gen;
	run.link_lanes = info.link_lanes;
	run.buffer_bytes = o->packet_bytes + 1 > LEAST_BUFFER ? o->packet_bytes + 1 : LEAST_BUFFER;
	return open_and_act(&run, action);
}

const struct command command_stream = {
	.name = "stream",
	.summary = "record, play or verify a stream of the card",
	.details = "ACTION is one of:\n\n"
		   "record: write what the card sends into a file. play: send a file to the card. "
		   "loopback:\nsend random packets to a card that sends them back, and compare "
		   "each. test: compare\nwhat the card sends with the pattern of a board that "
		   "was built with --patterns.\n\n"
		   "Lost or wrong data is exit status 3. Ctrl-C ends it, and what was moved is "
		   "printed.",
	.argument = "ACTION",
	.options = options,
	.defaults = defaults,
	.run = stream_command,
};
