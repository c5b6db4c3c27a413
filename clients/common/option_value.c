// SPDX-License-Identifier: MIT
#include "option_value.h"

#include <gid/gid.h>
#include <size_text.h>

void option_size(const char *name, const char *text, uint32_t *width, uint32_t *height,
		struct argp_state *state) {
	uint32_t x, y;
	const char *rest = size_text_read(text, GID_SIZE_MAX, &x, &y);
	if (rest != NULL && *rest == '\0') {
		*width = x;
		*height = y;
	} else {
		argp_error(state, "--%s must be WIDTHxHEIGHT in pixels, as in 1280x720, not %s",
				name, text);
	}
}

void option_stream(const char *name, struct argp_state *state) {
	if (name == NULL) {
		argp_error(state, "which stream? Name it with --stream NAME");
	} else if (!gid_name_is_valid(name)) {
		argp_error(state,
				"--stream: %s cannot be a stream's name: those have up to %u "
				"letters, digits and - _ . with / between them",
				name, GID_NAME_MAX);
	}
}

void option_stray(void *options, char *word, struct argp_state *state) {
	argp_error(state, "unexpected argument %s: name the stream with --stream", word);
}
