// SPDX-License-Identifier: MIT
/** Finds the line of a section or key in weston.ini, which Weston's parser does not tell. */
#ifndef GID_CONFIG_PLACE_H
#define GID_CONFIG_PLACE_H

#include <stdbool.h>

#include "weston_config.h"

/* A line that begins a section, or has a key of one. */
struct config_line {
	unsigned number;
	const char *section; /* that the line begins; NULL: none */
	const char *key;
};

/*
 * Reads the lines of the file that Weston has read, as its parser does. Returns whether there is
 * one.
 */
bool config_read_lines(struct weston_config *config,
		void (*handle_line)(void *data, const struct config_line *line), void *data);

/* A section. Valid as long as Weston's configuration. */
struct config_place {
	struct weston_config *config;
	struct weston_config_section *section;
};

/* Returns the value of the key, to be freed; NULL: it is missing. */
char *config_get_text(const struct config_place *place, const char *key);

/* Reads true or false. Returns 0, or -EINVAL as config_mistake(), which it calls. */
int config_get_bool(const struct config_place *place, const char *key, bool *value, bool usual);

/* Reads a whole number from `least` to `most`. Returns the same. */
int config_get_number(const struct config_place *place, const char *key, int32_t *value,
		int32_t usual, int32_t least, int32_t most);

/*
 * Reads WIDTHxHEIGHT, each from 1 to GID_SIZE_MAX; 0 and 0 if the key is missing. Returns false if
 * it is malformed.
 */
bool config_get_size(
		const struct config_place *place, const char *key, int32_t *width, int32_t *height);

/*
 * Logs a mistake, with its section and the line of the key; or the line of the section, if `key` is
 * NULL or missing. The line is only right if the file has not changed since Weston read it. Returns
 * -EINVAL.
 */
int config_mistake(const struct config_place *place, const char *key, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

#endif
