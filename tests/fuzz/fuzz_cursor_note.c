// SPDX-License-Identifier: MIT
/* Any bytes as a frame's note: what is understood of a cursor says the same when it is written. */
#include "../../common/input/cursor_note.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

/* In memory of its own size: what is read beyond is found. */
static bool read_note(struct cursor_note *note, const uint8_t *data, size_t size) {
	uint8_t *bytes = malloc(size > 0 ? size : 1);
	demand(bytes != NULL);
	memcpy(bytes, data, size);
	bool right = cursor_note_read(note, bytes, size);
	free(bytes);
	return right;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct cursor_note note, again;
	if (read_note(&note, data, size < GID_NOTE_MAX ? size : GID_NOTE_MAX)) {
		uint8_t bytes[GID_NOTE_MAX];
		uint32_t written = cursor_note_write(&note, bytes);
		demand(written <= GID_NOTE_MAX && read_note(&again, bytes, written));
		demand(again.x == note.x && again.y == note.y && again.locked == note.locked);
	}
	return 0;
}
