// SPDX-License-Identifier: MIT
#include "shape.h"

#include <gid/gid.h>
#include <stdlib.h>
#include <string.h>

/* Parses a positive number. Returns the text after it, or NULL if there is none. */
static const char *read_number(const char *text, uint64_t *number) {
	char *end;
	long value = *text >= '1' && *text <= '9' ? strtol(text, &end, 10) : 0;
	if (value <= 0 || value > INT32_MAX) {
		return NULL;
	}
	*number = (uint64_t)value;
	return end;
}

struct shape shape_of_description(const char *description) {
	static const char ratio[] = ", pixel-aspect-ratio=(fraction)";
	struct shape shape = {1, 1}, said;
	const char *text = strstr(description, ratio);
	if (text != NULL) {
		text = read_number(text + strlen(ratio), &said.width);
	}
	if (text != NULL && *text == '/' && read_number(text + 1, &said.height) != NULL) {
		shape = said;
	}
	if (strstr(description, ", interlace-mode=(string)alternate") != NULL) {
		shape.height *= 2;
	}
	return shape;
}

static int32_t stretch(int32_t length, uint64_t by, uint64_t of) {
	uint64_t longer = ((uint64_t)length * by + of / 2) / of;
	return longer < GID_SIZE_MAX ? (int32_t)longer : (int32_t)GID_SIZE_MAX;
}

void shape_apply(struct shape shape, bool turned, int32_t *width, int32_t *height) {
	uint64_t across = turned ? shape.height : shape.width;
	uint64_t down = turned ? shape.width : shape.height;
	if (across > down) {
		*width = stretch(*width, across, down);
	} else {
		*height = stretch(*height, down, across);
	}
}
