/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* The actions of stream. */
#ifndef LITEPCIE_UTIL_STREAM_H
#define LITEPCIE_UTIL_STREAM_H

#include <signal.h>

#include "util.h"

struct stream_options {
	uint64_t stream, length, packets, packet_bytes, seed, ring;
	double seconds, timeout; /* 0: not given */
	const char *file;
};

struct stream_run {
	const struct settings *settings;
	const struct stream_options *options;
	const char *action, *path;
	struct litepcie_stream *stream;
	unsigned int width_bits; /* of the card's data path */
	unsigned int link_gen, link_lanes;
	uint64_t bytes, packets; /* so far */
	uint64_t untaken;	 /* bytes of a play that the card did not take */
	double begin;		 /* seconds */
	uint8_t *buffer, *expected;
	size_t buffer_bytes;
	char error[384]; /* one line, empty: none */
};

/* Set by SIGINT and SIGTERM. */
extern volatile sig_atomic_t stream_signal;

/* A line on the terminal: what was moved so far. */
void stream_progress(const struct stream_run *run);

/* 0, or the exit code with run->error filled in. A signal is not an error. */
int stream_record(struct stream_run *run);
int stream_play(struct stream_run *run);
int stream_loopback(struct stream_run *run);
int stream_test(struct stream_run *run);

/* Keeps one line for stderr and JSON, the first one. Returns @code. */
int stream_fail(struct stream_run *run, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same about an error of the library; ENODATA is lost data. */
int stream_failed(struct stream_run *run, const char *what, int error);

#endif /* LITEPCIE_UTIL_STREAM_H */
