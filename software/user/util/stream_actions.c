// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The actions of stream, and the check of what comes back. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dma_test.h"
#include "output.h"
#include "stream.h"

/* stream record and stream play: between a stream and a file. */

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
	       (o->seconds && now() - run->begin >= o->seconds);
}

/* Milliseconds to wait for data: until --timeout or the end of --time; -1: for ever. */
static int patience(const struct stream_run *run, double limit)
{
	double seconds = limit;

	if (run->options->seconds) {
		double left = run->begin + run->options->seconds - now();

		if (left < 0)
			left = 0;
		if (!seconds || left < seconds)
			seconds = left;
	} else if (!seconds) {
		return -1;
	}
	return (int)(seconds * 1000) + 1;
}

/*
 * Waits for data, at most --timeout, and reads up to @bytes bytes of a packet. Returns their
 * number; 0 after a signal; or -1 with *@code set.
 */
static ssize_t stream_receive(struct stream_run *run, uint8_t *data, size_t bytes, int *more,
			      int *code)
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

	return litepcie_stream_get_info(run->stream, LITEPCIE_TO_CARD, &info) < 0 ? 0 : info.bytes;
}

/* Once per second of a wait: says once that nothing is taken, and ends the wait after --timeout. */
static int check_taken(struct stream_run *run, struct taken *taken)
{
	double limit = run->options->timeout, waited;
	uint64_t bytes = count_taken(run);

	if (bytes != taken->bytes) {
		taken->bytes = bytes;
		taken->since = now();
		return 0;
	}
	waited = now() - taken->since;
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

	taken->since = now();
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

/* stream loopback and stream test: compare what the card sends with what must come. */

#define PACKETS 1000

/* Reads a packet to its end. Its bytes; 0 after a signal; -1 with *@code set. */
static ssize_t receive_packet(struct stream_run *run, int *code)
{
	size_t have = 0;
	int more = 1;

	while (more) {
		ssize_t got;

		if (have == run->buffer_bytes) {
			*code = stream_fail(run, EXIT_MISMATCH,
					    "%s: packet %" PRIu64 " is longer than %zu bytes",
					    run->path, run->packets, have);
			return -1;
		}
		got = stream_receive(run, run->buffer + have, run->buffer_bytes - have, &more,
				     code);
		if (got <= 0)
			return got;
		have += (size_t)got;
	}
	return (ssize_t)have;
}

/* Compares a packet with @bytes bytes of run->expected. 0 or the exit code. */
static int compare(struct stream_run *run, size_t got, size_t bytes)
{
	size_t i = 0;

	if (got != bytes)
		return stream_fail(run, EXIT_MISMATCH,
				   "%s: packet %" PRIu64
				   " has %zu bytes, expected %zu: a packet or a part "
				   "of it was lost",
				   run->path, run->packets, got, bytes);
	if (!memcmp(run->buffer, run->expected, bytes))
		return 0;
	while (run->buffer[i] == run->expected[i])
		i++;
	return stream_fail(run, EXIT_MISMATCH,
			   "%s: packet %" PRIu64 ", byte %zu of %zu: expected 0x%02x, got 0x%02x",
			   run->path, run->packets, i, bytes, run->expected[i], run->buffer[i]);
}

/* ---- loopback -------------------------------------------------------------------------------- */

struct sender {
	const struct stream_run *run;
	uint8_t *data;
	_Atomic uint64_t total; /* packets, UINT64_MAX: not known yet */
	_Atomic int error;	/* of the library */
};

/* Fills in packet @n of the sequence; returns its bytes. */
static size_t make_packet(const struct stream_options *o, uint64_t n, uint8_t *data)
{
	uint8_t random[8];
	uint64_t number;
	size_t bytes;

	fill_pattern(random, sizeof(random), o->seed, n);
	memcpy(&number, random, sizeof(number));
	number = (number ^ number >> 29) * 0x9e3779b97f4a7c15 >> 20;
	bytes = 1 + number % o->packet_bytes;
	fill_pattern(data, bytes, o->seed + n, 1);
	return bytes;
}

static void *send_packets(void *argument)
{
	struct sender *sender = argument;
	const struct stream_run *run = sender->run;
	const struct stream_options *o = run->options;

	for (uint64_t n = 0; n < atomic_load(&sender->total); n++) {
		size_t bytes = make_packet(o, n, sender->data), moved = 0;

		/* Decided before the packet is sent: the receiver may be waiting for it already. */
		if (o->seconds && now() - run->begin >= o->seconds)
			atomic_store(&sender->total, n + 1);
		while (moved < bytes) {
			ssize_t sent = litepcie_stream_write(run->stream, sender->data + moved,
							     bytes - moved, 0);

			if (sent < 0) {
				atomic_store(&sender->error, (int)sent);
				return NULL;
			}
			moved += (size_t)sent;
		}
	}
	return NULL;
}

static int receive_all(struct stream_run *run, struct sender *sender)
{
	int code = 0;

	while (!code && run->packets < atomic_load(&sender->total)) {
		ssize_t got = receive_packet(run, &code);

		/* The reason why nothing comes. */
		if (got < 0 && atomic_load(&sender->error)) {
			run->error[0] = 0;
			code = stream_failed(run, "writing", atomic_load(&sender->error));
		}
		if (got <= 0)
			break;
		code = compare(run, (size_t)got,
			       make_packet(run->options, run->packets, run->expected));
		if (code)
			break;
		run->bytes += (uint64_t)got;
		run->packets++;
		stream_progress(run);
	}
	return code;
}

int stream_loopback(struct stream_run *run)
{
	const struct stream_options *o = run->options;
	struct sender sender = { .run = run, .data = malloc(o->packet_bytes) };
	uint64_t most = o->packets ? o->packets : o->seconds ? UINT64_MAX : PACKETS;
	sigset_t signals, old;
	pthread_t thread;
	int code;

	if (!sender.data)
		return stream_fail(run, EXIT_FAILED, "%s", litepcie_strerror(-ENOMEM));
	atomic_store(&sender.total, most);
	/* Signals end the wait of this thread, not that of the sender. */
	sigfillset(&signals);
	pthread_sigmask(SIG_BLOCK, &signals, &old);
	code = -pthread_create(&thread, NULL, send_packets, &sender);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (code) {
		free(sender.data);
		return stream_fail(run, EXIT_FAILED, "%s", litepcie_strerror(code));
	}
	code = receive_all(run, &sender);
	/* The sender may wait for a card that takes nothing more. */
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	free(sender.data);
	return code;
}

/* ---- test ------------------------------------------------------------------------------------ */

/*
 * The pattern of gateware/stream_dma/pattern.py: words of 64 bits with their number in the lower
 * half and its complement in the upper one. Packets end after certain beats, the last of which is
 * not full.
 */
static bool beat_ends(uint32_t beat)
{
	uint32_t low = beat & 0x3fff;

	return (beat & 0xfff) == 0xfff || low == 0x100 || low == 0x101 || low == 0x117;
}

/* Makes the packet that begins with *@beat in run->expected, and goes on to the beat after it. */
static size_t make_pattern(const struct stream_run *run, uint32_t *beat)
{
	unsigned int lanes = run->width_bits / 8, words = run->width_bits / 64;
	size_t bytes = 0;

	for (bool last = false; !last; (*beat)++) {
		last = beat_ends(*beat);
		for (unsigned int i = 0; i < words; i++) {
			uint32_t number = *beat * words + i;
			uint64_t word = number | (uint64_t)~number << 32;

			memcpy(run->expected + bytes + 8 * (size_t)i, &word, 8);
		}
		bytes += last ? (*beat >> 14) % lanes + 1 : lanes;
	}
	return bytes;
}

/* The beat with which a packet begins; false if it is too short to tell. */
static bool first_beat(const struct stream_run *run, size_t bytes, uint32_t *beat)
{
	uint32_t number;

	if (bytes < 8)
		return false;
	memcpy(&number, run->buffer, 4);
	*beat = number / (run->width_bits / 64);
	return true;
}

int stream_test(struct stream_run *run)
{
	const struct stream_options *o = run->options;
	uint64_t most = o->packets ? o->packets : o->seconds || o->length ? UINT64_MAX : PACKETS;
	bool known = false;
	uint32_t beat = 0;
	int code = 0;

	while (!code && run->packets < most && (!o->length || run->bytes < o->length) &&
	       (!o->seconds || now() - run->begin < o->seconds)) {
		ssize_t got = receive_packet(run, &code);

		if (got <= 0)
			break;
		/* The first packet can begin anywhere: another program may have read before. */
		if (!known)
			known = first_beat(run, (size_t)got, &beat);
		if (known)
			code = compare(run, (size_t)got, make_pattern(run, &beat));
		if (code)
			break;
		run->bytes += (uint64_t)got;
		run->packets++;
		stream_progress(run);
	}
	return code;
}
