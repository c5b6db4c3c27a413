// SPDX-License-Identifier: MIT
/** Keys of sections of weston.ini whose stream can be used by who looks at it. */
#ifndef GID_WESTON_INPUT_SOURCE_H
#define GID_WESTON_INPUT_SOURCE_H

#include <input_format.h>
#include <stdbool.h>

#include "weston_config.h"

/* Whose input a stream's picture takes. */
struct input_source {
	char *domain;		      /* NULL: nobody's */
	char stream[INPUT_NAME_SIZE]; /* of that domain */
	bool has_clipboard;	      /* in common with that domain, by these streams: */
	char clipboard[INPUT_NAME_SIZE], clipboard_input[INPUT_NAME_SIZE]; /* ours, and theirs */
	bool cursor; /* it is a stream of its own for that domain */
};

/*
 * Reads input=, clipboard= and cursor=, for the stream `shown`. Returns NULL, or what is wrong. To
 * be finished in both cases.
 */
const char *input_source_read(struct input_source *source, struct weston_config_section *section,
		const char *shown);
void input_source_finish(struct input_source *source);

/*
 * Reads resize=, the largest size that the user may choose, in pixels; 0 and 0: none. Returns
 * whether it is right.
 */
bool input_source_read_limit(
		struct weston_config_section *section, int32_t *width, int32_t *height);

#endif
