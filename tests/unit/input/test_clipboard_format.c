// SPDX-License-Identifier: MIT
/* What a frame of a clipboard is, and what of it is a text. */
#include <clipboard_format.h>
#include <errno.h>
#include <string.h>

#include "tap.h"

static char slot[sizeof(struct clipboard_head) + CLIPBOARD_TEXT_MAX + 1];
static char text[CLIPBOARD_TEXT_MAX];

static bool is_text(const char *bytes) {
	return clipboard_text_is_valid(bytes, strlen(bytes));
}

static void test_texts(void) {
	tap_ok(is_text("a"), "one character is a text");
	tap_ok(is_text("two\r\n\tlines\n"), "ends of lines and tabs are of texts");
	tap_ok(is_text("Grüße, Алфама, 地図, 🗺"), "characters of all sizes");
	tap_ok(is_text("soft\u00adhyphen \u200b \u202eevil"), "so is what is not seen itself");
}

static void test_what_is_no_text(void) {
	tap_ok(!clipboard_text_is_valid("", 0), "nothing is none");
	tap_ok(!clipboard_text_is_valid("a\0b", 3), "a NUL is of none");
	tap_ok(!is_text("\x1b[201~rm -rf ~\n"), "nor is what terminals obey");
	tap_ok(!is_text("\x7f") &&
					!is_text("a\xc2\x9b"
						 "31m"),
			"of either kind");
	tap_ok(!is_text("a\xff") && !is_text("\xc0\xaf") && !is_text("\xed\xa0\x80") &&
					!is_text("\xf4\x90\x80\x80"),
			"what is no UTF-8 is none");
	tap_ok(!is_text("cut \xe5\x9c"), "nor is a character that is cut");
}

static void test_frames(void) {
	clipboard_frame_write(slot, "Grüße", 7);
	tap_ok(clipboard_frame_read(text, slot) == 7 && memcmp(text, "Grüße", 7) == 0,
			"what is written is read");
	memset(text, 'x', sizeof(text));
	clipboard_frame_write(slot, text, CLIPBOARD_TEXT_MAX);
	memset(text, 0, sizeof(text));
	tap_ok(clipboard_frame_read(text, slot) == (int)CLIPBOARD_TEXT_MAX &&
					text[CLIPBOARD_TEXT_MAX - 1] == 'x',
			"also the longest text");
	tap_ok(sizeof(struct clipboard_head) + CLIPBOARD_TEXT_MAX <= clipboard_form.slot_size,
			"which has room in a slot");
}

static bool is_refused(size_t at, uint8_t byte) {
	clipboard_frame_write(slot, "text", 4);
	slot[at] = (char)byte;
	return clipboard_frame_read(text, slot) == -EPROTO;
}

static void test_frames_of_strangers(void) {
	tap_ok(!is_refused(64, 'T'), "another text is a text");
	tap_ok(is_refused(0, 'G'), "another magic is none of ours");
	tap_ok(is_refused(8, 0), "an empty text is none");
	tap_ok(is_refused(11, 0x80), "a size beyond all");
	slot[8] = 1;
	slot[9] = 0;
	slot[10] = 1;
	slot[11] = 0;
	tap_ok(clipboard_frame_read(text, slot) == -EPROTO, "one that is a byte too large");
	tap_ok(is_refused(12, 1) && is_refused(63, 1), "what is to be 0 is not");
	tap_ok(is_refused(65, 0) && is_refused(67, 0xff), "what is no text");
}

static void test_names(void) {
	char name[INPUT_NAME_SIZE];
	tap_ok(clipboard_stream_name(name, "desktop") && strcmp(name, "clipboard/desktop") == 0,
			"the name beside a stream");
	tap_ok(!clipboard_stream_name(
			       name, "a2345678901234567890123456789012345678901234567890123456789"),
			"one that is too long");
}

int main(void) {
	test_texts();
	test_what_is_no_text();
	test_frames();
	test_frames_of_strangers();
	test_names();
	return tap_finish();
}
