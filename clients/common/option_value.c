// SPDX-License-Identifier: MIT
#include "option_value.h"

#include <gid/gid.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void option_size(const char *text, uint32_t *width, uint32_t *height, struct argp_state *state) {
	uint32_t x, y;
	char rest;
	/* sscanf() takes signs and spaces, too */
	bool plain = strspn(text, "0123456789x") == strlen(text) &&
			strlen(text) < sizeof("16384x16384");
	if (plain && sscanf(text, "%" SCNu32 "x%" SCNu32 "%c", &x, &y, &rest) == 2 &&
			x - 1 < GID_SIZE_MAX && y - 1 < GID_SIZE_MAX) {
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
