// SPDX-License-Identifier: MIT
/** Tables for people: columns as wide as what is in them, colours where they help. */
#ifndef GIDCTL_TABLE_H
#define GIDCTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum style { STYLE_PLAIN, STYLE_GOOD, STYLE_WARNING, STYLE_BAD, STYLE_FAINT, STYLE_BOLD };

/* Whether standard output takes colours. --plain, $NO_COLOR or a pipe turn them off. */
void style_init(bool plain);
bool style_is_terminal(void);
/* The sequences around a text of that style; "" without colours. */
const char *style_begin(enum style style);
const char *style_end(enum style style);

struct table;

/* A heading that begins with '>' has its column aligned to the right. NULL: out of memory. */
struct table *table_create(const char *const *headings, size_t columns);
/* The next cell, row by row. */
__attribute__((format(printf, 3, 4))) void table_add(
		struct table *table, enum style style, const char *format, ...);
/*
 * Columns on the right that a terminal has no room for go below the others, behind the first. What
 * has no room there either is cut, and ends with "…".
 */
void table_print(const struct table *table);
void table_destroy(struct table *table);

#endif
