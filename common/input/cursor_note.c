// SPDX-License-Identifier: MIT
#include "cursor_note.h"

#include <stdio.h>

#include "note_part.h"

#define SIZE (NOTE_PART_HEADER + 6)
#define LOCKED 1u /* in the flags */

static int16_t bounded(int32_t place) {
	return (int16_t)(place < INT16_MIN ? INT16_MIN : place > INT16_MAX ? INT16_MAX : place);
}

uint32_t cursor_note_write(const struct cursor_note *note, uint8_t bytes[GID_NOTE_MAX]) {
	note_part_begin(bytes, NOTE_CURSOR, SIZE);
	note_put16(bytes + NOTE_PART_HEADER, (uint16_t)bounded(note->x));
	note_put16(bytes + NOTE_PART_HEADER + 2, (uint16_t)bounded(note->y));
	note_put16(bytes + NOTE_PART_HEADER + 4, note->locked ? LOCKED : 0);
	return SIZE;
}

bool cursor_note_read(struct cursor_note *note, const void *bytes, size_t size) {
	size_t part_size;
	const uint8_t *part = note_part_find(bytes, size, NOTE_CURSOR, &part_size);
	if (part == NULL || part_size < SIZE) {
		return false;
	}
	*note = (struct cursor_note){
			.x = (int16_t)note_get16(part + NOTE_PART_HEADER),
			.y = (int16_t)note_get16(part + NOTE_PART_HEADER + 2),
			.locked = note_get16(part + NOTE_PART_HEADER + 4) & LOCKED,
	};
	return true;
}

uint32_t without_cursor_note_write(uint8_t bytes[GID_NOTE_MAX]) {
	note_part_begin(bytes, NOTE_WITHOUT_CURSOR, NOTE_PART_HEADER);
	return NOTE_PART_HEADER;
}

bool without_cursor_note_read(const void *bytes, size_t size) {
	size_t part_size;
	return note_part_find(bytes, size, NOTE_WITHOUT_CURSOR, &part_size) != NULL;
}

bool cursor_stream_name(char name[GID_NAME_MAX + 1], const char *shown) {
	int length = snprintf(name, GID_NAME_MAX + 1, "cursor/%s", shown);
	return length > 0 && length <= (int)GID_NAME_MAX && gid_name_is_valid(name);
}
