// SPDX-License-Identifier: MIT
/** JSON objects, a line each: begun as a string with "{", filled key by key, ended by print(). */
#ifndef GID_TESTS_LINES_H
#define GID_TESTS_LINES_H

#include <gst/gst.h>

/* A key, whose value is to follow. */
void put_key(GString *out, const char *key);
void put_text(GString *out, const char *key, const char *text);
/* null for GST_CLOCK_TIME_NONE. */
void put_number(GString *out, const char *key, guint64 number);
/* The structure as a value: an object of its fields. */
void put_structure(GString *out, const GstStructure *structure);

/* Ends the object, writes it to stdout at once and whole, for several threads write, and frees it.
 */
void print(GString *out);

#endif
