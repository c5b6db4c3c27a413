// SPDX-License-Identifier: MIT
#include "option_value.h"

#include <gid/gid.h>
#include <size_text.h>

void option_size(const char *text, uint32_t *width, uint32_t *height, struct argp_state *state) {
	uint32_t x, y;
	const char *rest = size_text_read(text, GID_SIZE_MAX, &x, &y);
	if (rest != NULL && *rest == '\0') {
		*width = x;
		*height = y;
	} else {
		argp_error(state, "--size must be WIDTHxHEIGHT in pixels, as in 1280x720, not %s",
				text);
	}
}

void option_stray(const char *word, struct argp_state *state) {
	argp_error(state, "unexpected argument %s: name the stream with --stream", word);
}
