// SPDX-License-Identifier: MIT
/**
 * The keys of a section: a row says what a key is called, which values it takes and which member it
 * sets. Messages that list the known keys or words are made from these rows.
 *
 * Pure. An invalid value is reported as a mistake of the file.
 */
#ifndef GID_KEY_TABLE_H
#define GID_KEY_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "ini_file.h"

enum ini_kind {
	INI_OWN,    /* `set` reads it */
	INI_NUMBER, /* from `least` to `most`; the member gets `unit` times that */
	INI_COUNT,  /* the same by ini_file_count() */
	INI_SIZE,   /* the same with K, M, G or T behind it, or nothing */
	INI_SWITCH, /* on or off: the member is a bool */
	INI_WORD,   /* one of `words` */
	INI_TEXT,   /* the member is a char *, which has a copy */
};

struct ini_word {
	const char *name;
	int64_t value;
};

struct ini_key {
	const char *name;
	enum ini_kind kind;
	size_t offset, size; /* of the member: INI_MEMBER() */
	int64_t least, most;
	int64_t unit;		      /* 0 is 1 */
	const struct ini_word *words; /* the last has no name */
	void (*set)(struct ini_file *ini, const struct ini_key *key, void *section,
			const char *value);
};

#define INI_MEMBER(type, member)                                                                   \
	.offset = offsetof(type, member), .size = sizeof(((type *)0)->member)

struct ini_key_table {
	const char *section; /* as messages call it: "a role" */
	const struct ini_key *keys;
	size_t count;
};

#define INI_KEY_TABLE(section, keys) {section, keys, sizeof(keys) / sizeof((keys)[0])}

/* The row of a key, NULL: there is none. */
const struct ini_key *ini_key_table_find(const struct ini_key_table *table, const char *key);

/*
 * Stores the value in the member of the structure `section` that the key's row names. After a
 * mistake the member is unchanged, or has the least value.
 */
void ini_key_table_set(const struct ini_key_table *table, struct ini_file *ini, void *section,
		const char *key, const char *value);

/* The member that a row names, for its `set`. */
void *ini_key_member(const struct ini_key *key, void *section);

#endif
