// SPDX-License-Identifier: MIT
#include "input_source.h"

#include <clipboard_format.h>
#include <cursor_note.h>
#include <gid/gid.h>
#include <stdlib.h>
#include <string.h>

static int read_clipboard(
		struct input_source *source, const struct config_place *place, const char *shown) {
	int result = config_get_bool(place, "clipboard", &source->has_clipboard, false);
	if (result != 0 || !source->has_clipboard) {
		return result;
	}
	if (source->domain == NULL) {
		return config_mistake(place, "clipboard",
				"clipboard=true is for one with input=, whose sender has it in "
				"common");
	}
	return clipboard_stream_name(source->clipboard, shown) &&
					clipboard_stream_name(
							source->clipboard_input, source->stream)
			? 0
			: config_mistake(place, "stream",
					  "stream= is too long for one with clipboard=: 47 bytes "
					  "at most");
}

static int read_cursor(
		struct input_source *source, const struct config_place *place, const char *shown) {
	char name[GID_NAME_MAX + 1];
	int result = config_get_bool(place, "cursor", &source->cursor, false);
	if (result != 0 || !source->cursor) {
		return result;
	}
	if (source->domain == NULL) {
		return config_mistake(place, "cursor",
				"cursor=true is for one with input=, whose user has the cursor "
				"then");
	}
	return cursor_stream_name(name, shown)
			? 0
			: config_mistake(place, "stream",
					  "stream= is too long for one with cursor=true: 56 bytes "
					  "at most");
}

static int read_input(
		struct input_source *source, const struct config_place *place, const char *shown) {
	source->domain = config_get_text(place, "input");
	if (source->domain == NULL) {
		return 0;
	}
	if (!gid_name_is_valid(source->domain) || strchr(source->domain, '/') != NULL) {
		return config_mistake(place, "input",
				"input= must be the domain whose keys and pointer it takes, as "
				"cluster");
	}
	return input_stream_name(source->stream, shown)
			? 0
			: config_mistake(place, "stream",
					  "stream= is too long for one with input=: 57 bytes at "
					  "most");
}

/* The streams are named after that of the pictures: so its consumers know their names. */
int input_source_read(
		struct input_source *source, const struct config_place *place, const char *shown) {
	int result = read_input(source, place, shown);
	if (result == 0) {
		result = read_cursor(source, place, shown);
	}
	return result != 0 ? result : read_clipboard(source, place, shown);
}

void input_source_finish(struct input_source *source) {
	free(source->domain);
	*source = (struct input_source){0};
}
