// SPDX-License-Identifier: MIT
#include "key_table.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void *ini_key_member(const struct ini_key *key, void *section) {
	return (char *)section + key->offset;
}

/* Negative numbers, too: two's complement. */
static void store(const struct ini_key *key, void *section, int64_t number) {
	void *member = ini_key_member(key, section);
	switch (key->size) {
	case sizeof(uint8_t):
		*(uint8_t *)member = (uint8_t)number;
		break;
	case sizeof(uint16_t):
		*(uint16_t *)member = (uint16_t)number;
		break;
	case sizeof(uint32_t):
		*(uint32_t *)member = (uint32_t)number;
		break;
	default:
		assert(key->size == sizeof(uint64_t));
		*(uint64_t *)member = (uint64_t)number;
		break;
	}
}

#define FEW_WORDS 4
#define MANY_KEYS 8

/* Reports an unknown word, and lists the known ones. */
static void report_words(struct ini_file *ini, const struct ini_key *key, const char *value) {
	const struct ini_word *last = key->words;
	char *list = NULL;
	size_t size;
	FILE *out = open_memstream(&list, &size);
	if (out == NULL) {
		ini->result = -ENOMEM;
		return;
	}
	while (last[1].name != NULL) {
		last++;
	}
	bool few = last - key->words < FEW_WORDS;
	for (const struct ini_word *word = key->words; word <= last; word++) {
		const char *between = few && word == last ? " or " : ", ";
		fprintf(out, "%s%s", word == key->words ? "" : between, word->name);
	}
	if (fclose(out) != 0) {
		ini->result = -ENOMEM;
	} else {
		ini_file_mistake(ini, "%s=%s %s %s", key->name, value,
				few ? "must be" : "is not known; there are", list);
	}
	free(list);
}

static void set_word(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	const struct ini_word *word = key->words;
	while (word->name != NULL && strcmp(word->name, value) != 0) {
		word++;
	}
	if (word->name == NULL) {
		report_words(ini, key, value);
	} else {
		store(key, section, word->value);
	}
}

/*
 * Whether they differ by one letter (added, missing or replaced), or by two that are swapped. Not
 * for short words.
 */
static bool is_near(const char *one, const char *other) {
	size_t length = strlen(one), others = strlen(other);
	size_t least = length < others ? length : others, most = length < others ? others : length;
	size_t begin = 0, end = 0;
	while (begin < least && one[begin] == other[begin]) {
		begin++;
	}
	while (end < least - begin && one[length - 1 - end] == other[others - 1 - end]) {
		end++;
	}
	size_t differ = most - begin - end;
	bool swapped = differ == 2 && length == others && one[begin] == other[begin + 1] &&
			one[begin + 1] == other[begin];
	return least > 2 && (differ <= 1 || swapped);
}

/* A key that may be meant. NULL: none; or there are so few that the list is enough. */
static const char *find_near(const struct ini_key_table *table, const char *key) {
	for (size_t i = 0; table->count >= MANY_KEYS && i < table->count; i++) {
		if (is_near(table->keys[i].name, key)) {
			return table->keys[i].name;
		}
	}
	return NULL;
}

/* Reports an unknown key, and lists those of the section. */
static void report_keys(const struct ini_key_table *table, struct ini_file *ini, const char *key) {
	char *list = NULL;
	size_t size;
	FILE *out = open_memstream(&list, &size);
	if (out == NULL) {
		ini->result = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < table->count; i++) {
		fprintf(out, "%s%s", i == 0 ? "" : ", ", table->keys[i].name);
	}
	if (fclose(out) != 0) {
		ini->result = -ENOMEM;
	} else {
		const char *near = find_near(table, key);
		ini_file_mistake(ini, "%s has no \"%s\"%s%s%s; it has: %s", table->section, key,
				near != NULL ? ", but " : "", near != NULL ? near : "",
				near != NULL ? "=" : "", list);
	}
	free(list);
}

const struct ini_key *ini_key_table_find(const struct ini_key_table *table, const char *key) {
	for (size_t i = 0; i < table->count; i++) {
		if (strcmp(table->keys[i].name, key) == 0) {
			return &table->keys[i];
		}
	}
	return NULL;
}

void ini_key_table_set(const struct ini_key_table *table, struct ini_file *ini, void *section,
		const char *name, const char *value) {
	const struct ini_key *key = ini_key_table_find(table, name);
	if (key == NULL) {
		report_keys(table, ini, name);
		return;
	}
	int64_t unit = key->unit == 0 ? 1 : key->unit;
	switch (key->kind) {
	case INI_OWN:
		key->set(ini, key, section, value);
		break;
	case INI_NUMBER:
		store(key, section,
				unit * ini_file_number(ini, name, value, key->least, key->most));
		break;
	case INI_COUNT:
		store(key, section, unit * ini_file_count(ini, name, value, key->least, key->most));
		break;
	case INI_SIZE:
		store(key, section, unit * ini_file_size(ini, name, value, key->least, key->most));
		break;
	case INI_SWITCH:
		*(bool *)ini_key_member(key, section) = ini_file_switch(ini, name, value);
		break;
	case INI_WORD:
		set_word(ini, key, section, value);
		break;
	case INI_TEXT:
		ini_file_text(ini, ini_key_member(key, section), value);
		break;
	}
}
