// SPDX-License-Identifier: MIT
/** Tables for people: columns as wide as what is in them, colours where they help. */
#ifndef GIDCTL_TABLE_H
#define GIDCTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum look { LOOK_PLAIN, LOOK_GOOD, LOOK_WARNING, LOOK_BAD, LOOK_FAINT, LOOK_BOLD };

/* Whether standard output takes colours. --plain, $NO_COLOR or a pipe turn them off. */
void look_init(bool plain);
bool look_is_terminal(void);
/* The sequences around a text of that look; "" without colours. */
const char *look_begin(enum look look);
const char *look_end(enum look look);

struct table;

/* A heading that begins with '>' has its column aligned to the right. NULL: out of memory. */
struct table *table_create(const char *const *headings, size_t columns);
/* The next cell, row by row. */
__attribute__((format(printf, 3, 4))) void table_add(
		struct table *table, enum look look, const char *format, ...);
/* Columns on the right that a terminal has no room for go below the others, behind the first. */
void table_print(const struct table *table);
void table_destroy(struct table *table);

#endif
