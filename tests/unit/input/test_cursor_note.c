// SPDX-License-Identifier: MIT
/* What a frame says of a cursor: where it points, and whether the pointer is locked. */
#include <cursor_note.h>
#include <string.h>

#include "tap.h"

static uint8_t bytes[GID_NOTE_MAX];
static struct cursor_note note;

static void tell(int32_t x, int32_t y, bool locked) {
	uint32_t size = cursor_note_write(
			&(struct cursor_note){.x = x, .y = y, .locked = locked}, bytes);
	note = (struct cursor_note){-1, -1, !locked};
	tap_ok(size <= GID_NOTE_MAX && cursor_note_read(&note, bytes, size), "a cursor's note");
}

static void expect(int32_t x, int32_t y, bool locked, const char *what) {
	tap_ok(note.x == x && note.y == y && note.locked == locked, "%s", what);
}

static void test_what_is_told(void) {
	tell(5, 7, false);
	expect(5, 7, false, "where it points");
	tell(-3, 300, true);
	expect(-3, 300, true, "also beside the picture, with a pointer that is locked");
	tell(INT32_MAX, INT32_MIN, false);
	expect(INT16_MAX, INT16_MIN, false, "as far as there is room for it");
}

static void refuse(const void *wrong, size_t size, const char *what) {
	tap_ok(!cursor_note_read(&note, wrong, size), "no cursor's note: %s", what);
}

static void test_notes_of_others(void) {
	static const uint8_t window[] = {2, 0, 6, 0, 'x', 'y'};
	uint8_t both[GID_NOTE_MAX];
	uint32_t size = cursor_note_write(&(struct cursor_note){.x = 1, .y = 2}, bytes);
	memcpy(both, window, sizeof(window));
	memcpy(both + sizeof(window), bytes, size);
	tap_ok(cursor_note_read(&note, both, sizeof(window) + size), "other parts are skipped");
	expect(1, 2, false, "wherever it stands");
	refuse("", 0, "an empty one");
	refuse(window, sizeof(window), "a window's");
	refuse(bytes, size - 1, "one that is cut off");
	refuse("\3\0\6\0\0\0", 6, "one that is too short");
}

static void test_pictures_without_one(void) {
	uint32_t size = without_cursor_note_write(bytes);
	tap_ok(without_cursor_note_read(bytes, size), "a picture without a cursor says so");
	refuse(bytes, size, "that of such a picture");
	tap_ok(!without_cursor_note_read(bytes, size - 1) && !without_cursor_note_read("", 0),
			"but not in a note that is cut off, or empty");
	size = cursor_note_write(&(struct cursor_note){.x = 1, .y = 2}, bytes);
	tap_ok(!without_cursor_note_read(bytes, size), "nor in a cursor's");
}

static void test_names(void) {
	char name[GID_NAME_MAX + 1], longest[58];
	memset(longest, 'a', 57);
	longest[57] = '\0';
	tap_ok(cursor_stream_name(name, "desktop") && strcmp(name, "cursor/desktop") == 0,
			"its stream is called after that of the picture");
	tap_ok(!cursor_stream_name(name, longest), "there is no name for one of 57 bytes");
	tap_ok(cursor_stream_name(name, longest + 1), "but for one of 56");
}

int main(void) {
	test_what_is_told();
	test_notes_of_others();
	test_pictures_without_one();
	test_names();
	return tap_finish();
}
