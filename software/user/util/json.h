/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* JSON on stdout, without a buffer. Keys end in the unit of their value. */
#ifndef LITEPCIE_UTIL_JSON_H
#define LITEPCIE_UTIL_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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

#endif /* LITEPCIE_UTIL_JSON_H */
