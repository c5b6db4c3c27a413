// SPDX-License-Identifier: MIT
#include "input_source.h"

#include <clipboard_format.h>
#include <cursor_note.h>
#include <errno.h>
#include <gid/gid.h>
#include <libweston/config-parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *read_clipboard(struct input_source *source,
		struct weston_config_section *section, const char *shown) {
	if (weston_config_section_get_bool(section, "clipboard", &source->has_clipboard, false) !=
					0 &&
			errno == EINVAL) {
		return "clipboard= must be true or false";
	}
	if (!source->has_clipboard) {
		return NULL;
	}
	if (source->domain == NULL) {
		return "clipboard=true is for one with input=, whose sender has it in common";
	}
	return clipboard_stream_name(source->clipboard, shown) &&
					clipboard_stream_name(
							source->clipboard_input, source->stream)
			? NULL
			: "stream= is too long for one with clipboard=: 47 bytes at most";
}

static const char *read_cursor(struct input_source *source, struct weston_config_section *section,
		const char *shown) {
	char name[GID_NAME_MAX + 1];
	if (weston_config_section_get_bool(section, "cursor", &source->cursor, false) != 0 &&
			errno == EINVAL) {
		return "cursor= must be true or false";
	}
	if (source->cursor && source->domain == NULL) {
		return "cursor=true is for one with input=, whose user has the cursor then";
	}
	return source->cursor && !cursor_stream_name(name, shown)
			? "stream= is too long for one with cursor=true: 56 bytes at most"
			: NULL;
}

/* The streams have the name of the pictures': who shows one knows the others. */
const char *input_source_read(struct input_source *source, struct weston_config_section *section,
		const char *shown) {
	weston_config_section_get_string(section, "input", &source->domain, NULL);
	const char *wrong = read_cursor(source, section, shown);
	if (wrong != NULL) {
		return wrong;
	}
	if (source->domain == NULL) {
		return read_clipboard(source, section, shown);
	}
	if (!gid_name_is_valid(source->domain) || strchr(source->domain, '/') != NULL) {
		return "input= must be the domain whose keys and pointer it takes, as cluster";
	}
	return input_stream_name(source->stream, shown)
			? read_clipboard(source, section, shown)
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
