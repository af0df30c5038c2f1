// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* stream record and stream play: between a stream and a file. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"
#include "stream.h"

#define PATIENCE 5 /* seconds after which a play says that it waits */

static FILE *open_file(struct stream_run *run, const char *mode)
{
	const char *path = run->options->file;
	FILE *file = strcmp(path, "-") ? fopen(path, mode) : mode[0] == 'r' ? stdin : stdout;

	if (!file)
		stream_fail(run, EXIT_FAILED, "%s: cannot open the file: %s", path,
			    strerror(errno));
	return file;
}

/* Whether --length, --packets, --time or a signal ends the action. */
static bool ended(const struct stream_run *run)
{
	const struct stream_options *o = run->options;

	return stream_signal || (o->length && run->bytes >= o->length) ||
	       (o->packets && run->packets >= o->packets) ||
	       (o->seconds && stream_now() - run->begin >= o->seconds);
}

/* Milliseconds to wait for data: until --timeout or the end of --time; -1: for ever. */
static int patience(const struct stream_run *run, double limit)
{
	double seconds = limit;

	if (run->options->seconds) {
		double left = run->begin + run->options->seconds - stream_now();

		if (left < 0)
			left = 0;
		if (!seconds || left < seconds)
			seconds = left;
	} else if (!seconds) {
		return -1;
	}
	return (int)(seconds * 1000) + 1;
}

ssize_t stream_receive(struct stream_run *run, uint8_t *data, size_t bytes, int *more, int *code)
{
	bool checks = strcmp(run->action, "record");
	double limit = run->options->timeout ? run->options->timeout : checks ? 5 : 0;
	struct pollfd ready = { .fd = litepcie_stream_fd(run->stream), .events = POLLIN };
	ssize_t got;
	int n;

	if (stream_signal)
		return 0;
	n = poll(&ready, 1, patience(run, limit));
	if (n < 0 && errno == EINTR)
		return 0;
	if (!n && !checks && run->options->seconds && ended(run))
		return 0;
	if (!n) {
		*code = stream_fail(run, EXIT_MISMATCH,
				    "%s: nothing came for %g s; %" PRIu64 " packets came",
				    run->path, limit, run->packets);
		return -1;
	}
	got = litepcie_stream_read(run->stream, data, bytes, more);
	if (got == -EINTR)
		return 0;
	if (got < 0) {
		*code = stream_failed(run, "reading", (int)got);
		return -1;
	}
	return got;
}

int stream_record(struct stream_run *run)
{
	FILE *file = open_file(run, "we");
	int code = file ? 0 : EXIT_FAILED, more = 0;

	while (!code && !ended(run)) {
		uint64_t left = run->options->length - run->bytes;
		size_t most = run->buffer_bytes;
		ssize_t got;

		if (run->options->length && left < most)
			most = left;
		got = stream_receive(run, run->buffer, most, &more, &code);
		if (got <= 0)
			continue;
		if (fwrite(run->buffer, 1, (size_t)got, file) != (size_t)got)
			break;
		run->bytes += (uint64_t)got;
		run->packets += !more;
		stream_progress(run);
	}
	alarm(0); /* It must not interrupt the end of the file. */
	if (file && (ferror(file) | (file == stdout ? fflush(file) : fclose(file))))
		return stream_fail(run, EXIT_FAILED, "%s: cannot write the file: %s",
				   run->options->file, strerror(errno));
	return code;
}

/* What the card took of a play, and since when that has not changed. */
struct taken {
	uint64_t before, bytes;
	double since;
	bool said;
};

static uint64_t count_taken(const struct stream_run *run)
{
	struct litepcie_stream_info info;

	return litepcie_stream_get_info(run->stream, LITEPCIE_READER, &info) < 0 ? 0 : info.bytes;
}

/* Once per second of a wait: says once that nothing is taken, and ends the wait after --timeout. */
static int check_taken(struct stream_run *run, struct taken *taken)
{
	double limit = run->options->timeout, waited;
	uint64_t bytes = count_taken(run);

	if (bytes != taken->bytes) {
		taken->bytes = bytes;
		taken->since = stream_now();
		return 0;
	}
	waited = stream_now() - taken->since;
	if (limit && waited >= limit)
		return stream_fail(run, EXIT_MISMATCH, "%s: the card's logic took nothing for %g s",
				   run->path, limit);
	if (!taken->said && waited >= PATIENCE) {
		taken->said = true;
		progress_clear();
		fprintf(stderr,
			"%s: %s: the card's logic takes nothing; waiting, until Ctrl-C or for "
			"--timeout\n",
			PROGRAM, run->path);
	}
	return 0;
}

/*
 * Writes one packet; waits for the card if @bytes is 0. The alarm interrupts the wait once per
 * second.
 */
static int send(struct stream_run *run, size_t bytes, struct taken *taken)
{
	int fd = litepcie_stream_fd(run->stream), code = 0;
	size_t at = 0;

	taken->since = stream_now();
	while (!code && !stream_signal) {
		ssize_t moved;

		alarm(1);
		if (bytes)
			moved = litepcie_stream_write(run->stream, run->buffer + at, bytes - at, 0);
		else
			moved = fsync(fd) < 0 ? -errno : 0;
		if (moved < 0 && moved != -EINTR)
			code = stream_failed(run, bytes ? "writing" : "waiting for the card",
					     (int)moved);
		else if (moved < 0)
			code = check_taken(run, taken);
		else if (run->bytes += (uint64_t)moved, (at += (size_t)moved) >= bytes)
			break;
		if (bytes && ended(run))
			break;
	}
	if (!stream_signal)
		alarm(0);
	return code;
}

int stream_play(struct stream_run *run)
{
	FILE *file = open_file(run, "re");
	struct taken taken = { .before = count_taken(run) };
	int code = file ? 0 : EXIT_FAILED;

	while (!code && !ended(run)) {
		uint64_t left = run->options->length - run->bytes,
			 bytes = run->options->packet_bytes;

		if (run->options->length && left < bytes)
			bytes = left;
		bytes = fread(run->buffer, 1, bytes, file);
		if (!bytes)
			break;
		code = send(run, bytes, &taken);
		run->packets += !code;
		stream_progress(run);
	}
	if (file && run->options->length && run->bytes < run->options->length && !code &&
	    !stream_signal && !run->options->seconds && !run->options->packets)
		code = stream_fail(run, EXIT_FAILED, "%s: the file ended after %" PRIu64 " bytes",
				   run->options->file, run->bytes);
	if (file && file != stdin)
		fclose(file);
	/* write() returns when the driver has the bytes, fsync() when the card has them. */
	if (!code)
		code = send(run, 0, &taken);
	if (code || stream_signal) {
		uint64_t bytes = count_taken(run) - taken.before;

		run->untaken = run->bytes > bytes ? run->bytes - bytes : 0;
		run->bytes -= run->untaken;
	}
	return code;
}
