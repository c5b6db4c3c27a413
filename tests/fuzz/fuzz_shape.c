// SPDX-License-Identifier: MIT
/* Any text as a slab's description: a picture is stretched, and no further than a size can be. */
#include "../../clients/gid-view/shape.h"

#include <gid/gid.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static void try_size(struct shape shape, bool turned, int32_t length) {
	int32_t width = length, height = length;
	shape_apply(shape, turned, &width, &height);
	demand(width >= length && height >= length);
	demand(width == length || height == length);
	demand(width <= (int32_t)GID_SIZE_MAX && height <= (int32_t)GID_SIZE_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	char *text = malloc(size + 1);
	demand(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	struct shape shape = shape_of_description(text);
	free(text);
	for (int turned = 0; turned < 2; turned++) {
		try_size(shape, turned, 1);
		try_size(shape, turned, (int32_t)GID_SIZE_MAX);
	}
	return 0;
}
