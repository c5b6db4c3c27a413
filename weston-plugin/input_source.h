// SPDX-License-Identifier: MIT
/** Keys of sections of weston.ini whose stream can be used by who looks at it. */
#ifndef GID_WESTON_INPUT_SOURCE_H
#define GID_WESTON_INPUT_SOURCE_H

#include <input_format.h>
#include <stdbool.h>

#include "config_place.h"

/* Whose input a stream's picture takes. */
struct input_source {
	char *domain;		      /* NULL: nobody's */
	char stream[INPUT_NAME_SIZE]; /* of that domain */
	bool has_clipboard;	      /* in common with that domain, by these streams: */
	char clipboard[INPUT_NAME_SIZE], clipboard_input[INPUT_NAME_SIZE]; /* ours, and theirs */
	bool cursor; /* it is a stream of its own for that domain */
};

/*
 * Reads input=, clipboard= and cursor=, for the stream `shown`. Returns 0, or -EINVAL after saying
 * in the log what is wrong. To be finished in both cases.
 */
int input_source_read(
		struct input_source *source, const struct config_place *place, const char *shown);
void input_source_finish(struct input_source *source);

#endif
