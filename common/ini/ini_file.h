// SPDX-License-Identifier: MIT
/**
 * A file of [sections] with a key=value in each line, while it is read.
 *
 * inih splits the lines. What it does not tell is added here: the line of each mistake, a section
 * without a key, a key that a section has twice, a line that is too long. Each mistake is written
 * to `errors` as a line "name:line: what is wrong", and reading goes on, so that all are told.
 *
 * Used by one thread. Pure, but for ini_file_open(): reads `file`, writes `errors`.
 */
#ifndef GID_INI_FILE_H
#define GID_INI_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct ini_file {
	/* To be set before it is read. */
	FILE *file, *errors;
	const char *name; /* of the file, as messages have it */
	/*
	 * Whether the value of a key is a list. One goes on in lines that begin with a blank, and
	 * in those that have its key again: each comes under its key. No line has control
	 * characters then. NULL: no value is one, and blanks at the begin of a line mean nothing.
	 */
	bool (*is_list)(const void *data, const char *key);
	/* Gets what stands behind the [ of each section; keys have no section then. Or NULL. */
	void (*handle_section)(void *data, char *head);

	/* The line that is read, which is that of a mistake, and where its section begins. */
	unsigned line, section;
	unsigned mistakes; /* that were told */
	int result; /* 0; -EINVAL after a mistake; -ENOMEM, which a handler may set as well */

	/* private */
	bool section_is_empty, is_behind_key;
};

/* A key of a section. Before the first section, `section` is "". */
typedef void (*ini_file_key_func)(
		void *data, const char *section, const char *key, const char *value);

/* Opens the file at `path` for an ini_file; or says on `errors` why not, NULL then, with errno. */
FILE *ini_file_open(const char *path, FILE *errors);

/*
 * Reads all of it. Returns `result`. What can only be said at the end may then still be told as a
 * mistake, of a `line` that the caller sets.
 */
int ini_file_read(struct ini_file *ini, ini_file_key_func handle_key, void *data);

void ini_file_mistake(struct ini_file *ini, const char *format, ...)
		__attribute__((format(printf, 2, 3)));

/* The same of another line. */
void ini_file_mistake_at(struct ini_file *ini, unsigned line, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

/* --- values: each of these tells a mistake where `value` is none of them ------------------------
 */

/* A number; `least` after a mistake. */
int64_t ini_file_number(struct ini_file *ini, const char *key, const char *value, int64_t least,
		int64_t most);

/* The same with K, M, G or T (of 1024) behind it, or nothing; `most` INT64_MAX is any. */
int64_t ini_file_size(struct ini_file *ini, const char *key, const char *value, int64_t least,
		int64_t most);

/* A number that may have one of these behind it, too, and is told as a number. */
int64_t ini_file_count(struct ini_file *ini, const char *key, const char *value, int64_t least,
		int64_t most);

/* Whether that is a number with K, M, G or T behind it or nothing: tells nothing. */
bool ini_parse_size(const char *value, int64_t *size);

/* on or off. */
bool ini_file_switch(struct ini_file *ini, const char *key, const char *value);

/* Frees `*text` and has a copy of `value` there, which is the caller's; NULL without memory. */
void ini_file_text(struct ini_file *ini, char **text, const char *value);

#endif
