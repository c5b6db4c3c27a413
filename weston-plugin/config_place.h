// SPDX-License-Identifier: MIT
/** Where in weston.ini something is, which Weston's parser does not say. */
#ifndef GID_CONFIG_PLACE_H
#define GID_CONFIG_PLACE_H

#include <stdbool.h>

#include "weston_config.h"

/* A line that begins a section, or has a key of one. */
struct config_line {
	unsigned number;
	const char *section; /* that begins; NULL: none does */
	const char *key;
};

/* Reads the lines of the file that Weston has read, as its parser does. Returns whether it can. */
bool config_read_lines(struct weston_config *config,
		void (*handle_line)(void *data, const struct config_line *line), void *data);

/* A section. It is valid as long as Weston's configuration. */
struct config_place {
	struct weston_config *config;
	struct weston_config_section *section;
};

/* The value of the key; NULL: it is missing. To be freed. */
char *config_get_text(const struct config_place *place, const char *key);

/* true or false. Returns 0, or -EINVAL as config_mistake(), which it calls. */
int config_get_bool(const struct config_place *place, const char *key, bool *value, bool usual);

/* A whole number within bounds. Returns the same. */
int config_get_number(const struct config_place *place, const char *key, int32_t *value,
		int32_t usual, int32_t least, int32_t most);

/*
 * WIDTHxHEIGHT, each from 1 to GID_SIZE_MAX; 0 and 0 where the key is missing. Returns whether it
 * is right.
 */
bool config_get_size(
		const struct config_place *place, const char *key, int32_t *width, int32_t *height);

/*
 * Says in the log what is wrong, in which section, and in which line, if the file has not changed
 * since Weston read it: that of the key, or of the section, if `key` is NULL or missing. Returns
 * -EINVAL.
 */
int config_mistake(const struct config_place *place, const char *key, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

#endif
