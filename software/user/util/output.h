/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* JSON, a line on the terminal that shows progress, the clock, and Ctrl-C. */
#ifndef LITEPCIE_UTIL_OUTPUT_H
#define LITEPCIE_UTIL_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* JSON on stdout, without a buffer. Keys end in the unit of their value. */

/* Opens a document with format_version and the name of the command. */
void json_document(const char *command);

/* The same in one line, which ends with the document: for several documents, one after the other.
 */
void json_line(const char *command);

/* @key is NULL in an array. json_end() closes the innermost object or array. */
void json_object(const char *key);
void json_array(const char *key);
void json_end(void);

/*
 * Prints an error as a document. Nothing if a document was begun: then that is the one document of
 * the program. @command is NULL if it is not known.
 */
void json_error(const char *command, int code, const char *message);

void json_text(const char *key, const char *value);
void json_number(const char *key, uint64_t value);
void json_real(const char *key, double value, int decimals);
void json_bool(const char *key, bool value);

/* An element of an array: the document in @file, or null if there is none. */
void json_copy(FILE *file);

/* The clock. */

/* Seconds since some moment. */
double now(void);

/* A line on the terminal that shows how far a command is. */

/* Replaces the line, at most twice per second, if standard error is a terminal. */
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* No line from here on: the terminal gets JSON that a program may read. */
void progress_hide(void);

/* The same with bytes so far, and of how many: 0 if that is not known. */
void progress_bytes(unsigned long long bytes, unsigned long long all);

/* Removes the line, before other output. */
void progress_clear(void);

/* Ctrl-C for commands that look at something again and again. */

/* From now on, SIGINT and SIGTERM are only seen by signals_wait(). */
void signals_hold(void);

/* Waits @milliseconds. Returns the signal that ended the wait, or 0. */
int signals_wait(uint64_t milliseconds);

#endif /* LITEPCIE_UTIL_OUTPUT_H */
