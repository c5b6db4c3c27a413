// SPDX-License-Identifier: MIT
/* What a frame says of its window: bounded, and nothing that could not be shown. */
#include <string.h>
#include <window_note.h>

#include "tap.h"

static uint8_t bytes[GID_NOTE_MAX];
static struct window_note note, said;

/* What is read of what a program's texts become. */
static uint32_t tell(const char *app_id, const char *title) {
	window_note_set(&said, app_id, title);
	said.scale = 180;
	uint32_t size = window_note_write(&said, bytes);
	memset(&note, '?', sizeof(note));
	tap_ok(size <= GID_NOTE_MAX && window_note_read(&note, bytes, size) && note.scale == 180,
			"a window's note");
	return size;
}

static void expect(const char *app_id, const char *title, const char *what) {
	tap_ok(strcmp(note.app_id, app_id) == 0 && strcmp(note.title, title) == 0, "%s", what);
}

static void test_names(void) {
	tell("org.example.map", "Lisboa — Алфама 地図");
	expect("org.example.map", "Lisboa — Алфама 地図", "both names are told");
	tell(NULL, NULL);
	expect("", "", "a window without names is one");
	tell("", "map");
	expect("", "map", "one of them is enough");
}

static void test_what_cannot_be_shown(void) {
	tell("a\x01.b\x7f",
			"red\x1b[31m \xe2\x80\xae"
			"evil\xc2\x85\xe2\x80\xa8!");
	expect("a.b", "red[31m evil!", "control characters and changes of direction are left out");
	tell("a\xff\xc0\xaf", "ok\xed\xa0\x80\xf4\x90\x80\x80\xe2\x82");
	expect("a", "ok", "so is what is no UTF-8");
}

static void test_long_names(void) {
	static char title[100000], id[WINDOW_APP_ID_MAX + 2];
	for (size_t i = 0; i + 2 < sizeof(title); i += 2) {
		memcpy(title + i, "\xc3\xa9", 2);
	}
	memset(id, 'a', WINDOW_APP_ID_MAX + 1);
	tap_ok(tell(id, title) <= GID_NOTE_MAX, "names of any length have room");
	tap_ok(note.app_id[0] == '\0', "an app-id that is too long is not cut, but left out");
	tap_ok(strlen(note.title) == WINDOW_TITLE_MAX - 1 &&
					memcmp(note.title, title, WINDOW_TITLE_MAX - 1) == 0,
			"a title is cut between characters");
	id[WINDOW_APP_ID_MAX] = '\0';
	tap_ok(tell(id, title + 1) == GID_NOTE_MAX - 1 && strcmp(note.app_id, id) == 0,
			"the longest that there can be");
	memset(title, '\xff', sizeof(title) - 1);
	memcpy(title + sizeof(title) - 4, "end", 4);
	tell("a", title);
	expect("a", "", "of a very long text only the beginning is looked at");
}

static void test_scales(void) {
	static const uint8_t wrong[][6] = {{5, 0, 6, 0, 0x81, 7}, {5, 0, 6, 0, 0xff, 0xff},
			{5, 0, 7, 0, 120, 0}, {5, 0, 4, 0, 120, 0}};
	window_note_set(&said, "a", "b");
	uint32_t size = window_note_write(&said, bytes);
	tap_ok(window_note_read(&note, bytes, size) && note.scale == 0,
			"a window need not say its scale");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		memcpy(bytes + size, wrong[i], sizeof(wrong[i]));
		tap_ok(window_note_read(&note, bytes, size + sizeof(wrong[i])) && note.scale == 0,
				"nor does one that is none count");
	}
	said.scale = 1920;
	size = window_note_write(&said, bytes);
	tap_ok(window_note_read(&note, bytes, size) && note.scale == 1920, "16 is the largest");
}

static void refuse(const void *wrong, size_t size, const char *what) {
	tap_ok(!window_note_read(&note, wrong, size), "no window's note: %s", what);
}

static void test_notes_of_others(void) {
	static const uint8_t reference[] = {1, 0, 6, 0, 'x', 'y'};
	uint8_t both[GID_NOTE_MAX];
	window_note_set(&said, "a", "b");
	uint32_t size = window_note_write(&said, bytes);
	memcpy(both, reference, sizeof(reference));
	memcpy(both + sizeof(reference), bytes, size);
	tap_ok(window_note_read(&note, both, sizeof(reference) + size), "other parts are skipped");
	expect("a", "b", "wherever it stands");
	refuse("", 0, "an empty one");
	refuse(reference, sizeof(reference), "a timestamp");
	refuse(bytes, size - 1, "one that is cut off");
	refuse("\2\0\4\0", 4, "one without a length");
	refuse("\2\0\6\0\2a", 6, "an app-id that is longer than it");
	refuse("\1\0\3\0\2\0\6\0\1ab", 11, "a part that is too short");
	bytes[2] = 0xff;
	refuse(bytes, size, "a part that is too long");
}

int main(void) {
	test_names();
	test_what_cannot_be_shown();
	test_long_names();
	test_scales();
	test_notes_of_others();
	return tap_finish();
}
