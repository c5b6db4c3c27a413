// SPDX-License-Identifier: MIT
/**
 * Reads a file of [sections] with lines of key=value.
 *
 * inih splits the lines. Added here is what it does not report: the line of each mistake, a section
 * without a key, a key that a section has twice, a line that is too long. Each mistake is written
 * to `errors` as a line "name:line: what is wrong", and reading goes on, so that all are reported.
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
	 * Whether the value of a key is a list. A list goes on in lines that begin with a blank,
	 * and in those that have its key again; each is reported under its key. With this function,
	 * control characters are mistakes. NULL: there are no lists, and blanks at the begin of a
	 * line mean nothing.
	 */
	bool (*is_list)(const void *data, const char *key);
	/*
	 * Gets what follows the [ of each section; keys are then reported without a section. May be
	 * NULL.
	 */
	void (*handle_section)(void *data, char *head);

	/*
	 * The line that is being read, to which mistakes refer; and the first line of its section.
	 */
	unsigned line, section;
	unsigned mistakes; /* that were told */
	int result; /* 0; -EINVAL after a mistake; -ENOMEM, which a handler may set as well */

	/* private */
	bool section_is_empty, is_behind_key, section_is_unknown;
};

/* A key of a section. Before the first section, `section` is "". */
typedef void (*ini_file_key_func)(
		void *data, const char *section, const char *key, const char *value);

/* Opens the file at `path` for an ini_file; or says on `errors` why not, NULL then, with errno. */
FILE *ini_file_open(const char *path, FILE *errors);

/*
 * Reads the whole file. Returns `result`. Afterwards the caller may report more mistakes, of a
 * `line` that it sets.
 */
int ini_file_read(struct ini_file *ini, ini_file_key_func handle_key, void *data);

void ini_file_mistake(struct ini_file *ini, const char *format, ...)
		__attribute__((format(printf, 2, 3)));

/* The same of another line. */
void ini_file_mistake_at(struct ini_file *ini, unsigned line, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

/*
 * The key that is read is of a section that the file cannot have; `known` are those that it can.
 * Told once of each, in its own line.
 */
void ini_file_unknown_section(struct ini_file *ini, const char *section, const char *known);

/* --- values: each reports a mistake where `value` is not valid -------------------------------- */

/* A number from `least` to `most`; `least` after a mistake. */
int64_t ini_file_number(struct ini_file *ini, const char *key, const char *value, int64_t least,
		int64_t most);

/* The same with K, M, G or T (of 1024) behind it, or nothing; `most` INT64_MAX is any. */
int64_t ini_file_size(struct ini_file *ini, const char *key, const char *value, int64_t least,
		int64_t most);

/* The same, but a mistake shows the bounds as plain numbers. */
int64_t ini_file_count(struct ini_file *ini, const char *key, const char *value, int64_t least,
		int64_t most);

/* Whether `value` is a number with K, M, G or T behind it, or nothing. Reports no mistake. */
bool ini_parse_size(const char *value, int64_t *size);

/* on or off. */
bool ini_file_switch(struct ini_file *ini, const char *key, const char *value);

/* Frees `*text`, and sets it to a copy of `value` that the caller owns; NULL without memory. */
void ini_file_text(struct ini_file *ini, char **text, const char *value);

#endif
