// SPDX-License-Identifier: MIT
/*
 * Any bytes as a frame's note, and any texts as a program's: what is understood can be shown, and
 * says the same again when it is written and read.
 */
#include "../../common/input/window_note.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "text.h"

static void demand_text(const char *text, size_t most) {
	size_t length = strlen(text), used = 0;
	demand(length <= most);
	while (used < length) {
		size_t step = character_length(text + used, length - used);
		demand(step > 0);
		used += step;
	}
}

/* In memory of its own size: what is read beyond is found. */
static bool read_note(struct window_note *note, const uint8_t *data, size_t size) {
	uint8_t *bytes = malloc(size > 0 ? size : 1);
	demand(bytes != NULL);
	memcpy(bytes, data, size);
	bool right = window_note_read(note, bytes, size);
	free(bytes);
	return right;
}

static void try_again(const struct window_note *note) {
	uint8_t bytes[GID_NOTE_MAX];
	struct window_note again;
	demand_text(note->app_id, WINDOW_APP_ID_MAX);
	demand_text(note->title, WINDOW_TITLE_MAX);
	uint32_t size = window_note_write(note, bytes);
	demand(size <= GID_NOTE_MAX && read_note(&again, bytes, size));
	demand(strcmp(again.app_id, note->app_id) == 0 && strcmp(again.title, note->title) == 0);
	demand(again.scale == note->scale);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct window_note note;
	if (read_note(&note, data, size < GID_NOTE_MAX ? size : GID_NOTE_MAX)) {
		try_again(&note);
	}
	char *text = malloc(size + 1);
	demand(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	window_note_set(&note, text, text);
	try_again(&note);
	free(text);
	return 0;
}
