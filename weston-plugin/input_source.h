// SPDX-License-Identifier: MIT
/** The keys input=, clipboard= and cursor= of sections in weston.ini. */
#ifndef GID_WESTON_INPUT_SOURCE_H
#define GID_WESTON_INPUT_SOURCE_H

#include <input_format.h>
#include <stdbool.h>

#include "config_place.h"

/* The domain whose input a stream's picture takes. */
struct input_source {
	char *domain;		      /* NULL: none */
	char stream[INPUT_NAME_SIZE]; /* of that domain: its input */
	bool has_clipboard;	      /* shared with that domain, by these streams: */
	char clipboard[INPUT_NAME_SIZE],
			clipboard_input[INPUT_NAME_SIZE]; /* ours, and that domain's */
	bool cursor; /* the cursor is a stream of its own, for that domain */
};

/*
 * Reads the keys, for the stream `shown`. Returns 0, or -EINVAL after logging the mistake. Call
 * input_source_finish() in both cases.
 */
int input_source_read(
		struct input_source *source, const struct config_place *place, const char *shown);
void input_source_finish(struct input_source *source);

#endif
