// SPDX-License-Identifier: MIT
#include "window_note.h"

#include <string.h>

#include "input_format.h"
#include "note_part.h"
#include "text.h"

#define TEXTS (NOTE_PART_HEADER + 1) /* after the length of the app-id */
#define SCALE_SIZE (NOTE_PART_HEADER + 2)
/* More bytes of a program's text are not looked at. */
#define LOOKED_AT 1024u

_Static_assert(TEXTS + WINDOW_APP_ID_MAX + WINDOW_TITLE_MAX + SCALE_SIZE == GID_NOTE_MAX,
		"window note");

/*
 * Copies the printable characters of a text, up to a NUL, as long as whole characters fit. Returns
 * whether all of it fitted.
 */
static bool take_text(char *to, size_t room, const char *from, size_t size) {
	size_t used = 0, length;
	for (size_t at = 0; at < size && from[at] != '\0'; at += length > 0 ? length : 1) {
		length = character_length(from + at, size - at);
		if (length > room - used) {
			to[used] = '\0';
			return false;
		}
		memcpy(to + used, from + at, length);
		used += length;
	}
	to[used] = '\0';
	return true;
}

static void set_texts(struct window_note *note, const char *app_id, size_t app_id_size,
		const char *title, size_t title_size) {
	if (!take_text(note->app_id, WINDOW_APP_ID_MAX, app_id, app_id_size)) {
		note->app_id[0] = '\0'; /* a shortened app-id would be another one */
	}
	take_text(note->title, WINDOW_TITLE_MAX, title, title_size);
}

void window_note_set(struct window_note *note, const char *app_id, const char *title) {
	app_id = app_id != NULL ? app_id : "";
	title = title != NULL ? title : "";
	note->scale = 0;
	set_texts(note, app_id, strnlen(app_id, LOOKED_AT), title, strnlen(title, LOOKED_AT));
}

uint32_t window_note_write(const struct window_note *note, uint8_t bytes[GID_NOTE_MAX]) {
	size_t app_id = strlen(note->app_id), title = strlen(note->title);
	uint32_t size = (uint32_t)(TEXTS + app_id + title);
	note_part_begin(bytes, NOTE_WINDOW, size);
	bytes[NOTE_PART_HEADER] = (uint8_t)app_id;
	memcpy(bytes + TEXTS, note->app_id, app_id);
	memcpy(bytes + TEXTS + app_id, note->title, title);
	if (note->scale != 0) {
		note_part_begin(bytes + size, NOTE_WINDOW_SCALE, SCALE_SIZE);
		note_put16(bytes + size + NOTE_PART_HEADER, note->scale);
		size += SCALE_SIZE;
	}
	return size;
}

/* 0: it is not said, or is none. */
static uint32_t read_scale(const void *bytes, size_t size) {
	size_t part_size;
	const uint8_t *part = note_part_find(bytes, size, NOTE_WINDOW_SCALE, &part_size);
	uint32_t scale = part != NULL && part_size >= SCALE_SIZE
			? note_get16(part + NOTE_PART_HEADER)
			: 0;
	return scale <= INPUT_SCALE_MAX ? scale : 0;
}

bool window_note_read(struct window_note *note, const void *bytes, size_t size) {
	size_t part_size;
	const uint8_t *part = note_part_find(bytes, size, NOTE_WINDOW, &part_size);
	size_t app_id = part != NULL && part_size >= TEXTS ? part[NOTE_PART_HEADER] : 0;
	if (part == NULL || part_size < TEXTS || app_id > part_size - TEXTS) {
		return false;
	}
	const char *text = (const char *)part + TEXTS;
	set_texts(note, text, app_id, text + app_id, part_size - TEXTS - app_id);
	note->scale = read_scale(bytes, size);
	return true;
}
