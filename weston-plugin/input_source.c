// SPDX-License-Identifier: MIT
#include "input_source.h"

#include <gid/gid.h>
#include <libweston/config-parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The stream has the name of the pictures': who shows one knows the other. */
const char *input_source_read(struct input_source *source, struct weston_config_section *section,
		const char *shown) {
	weston_config_section_get_string(section, "input", &source->domain, NULL);
	if (source->domain == NULL) {
		return NULL;
	}
	if (!gid_name_is_valid(source->domain) || strchr(source->domain, '/') != NULL) {
		return "input= must be the domain whose keys and pointer it takes, as cluster";
	}
	return input_stream_name(source->stream, shown)
			? NULL
			: "stream= is too long for one with input=: 57 bytes at most";
}

void input_source_finish(struct input_source *source) {
	free(source->domain);
	*source = (struct input_source){0};
}

bool input_source_read_limit(
		struct weston_config_section *section, int32_t *width, int32_t *height) {
	char *size, rest;
	weston_config_section_get_string(section, "resize", &size, NULL);
	if (size == NULL) {
		return true;
	}
	bool right = sscanf(size, "%dx%d%c", width, height, &rest) == 2 && *width >= 1 &&
			*height >= 1 && *width <= (int32_t)GID_SIZE_MAX &&
			*height <= (int32_t)GID_SIZE_MAX;
	free(size);
	return right;
}
