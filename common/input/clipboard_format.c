// SPDX-License-Identifier: MIT
#include "clipboard_format.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

#define WIDTH 4096u
#define HEIGHT 17u

_Static_assert(sizeof(struct clipboard_head) + CLIPBOARD_TEXT_MAX <= WIDTH * HEIGHT,
		"clipboard slot");

const struct frame_form clipboard_form = {
		.what = "text",
		.caps = "application/x-gid-clipboard",
		.width = WIDTH,
		.height = HEIGHT,
		.slot_size = WIDTH * HEIGHT,
		.slots = 6,
		.forgets = true,
};

bool clipboard_stream_name(char name[INPUT_NAME_SIZE], const char *stream) {
	return snprintf(name, INPUT_NAME_SIZE, "clipboard/%s", stream) < (int)INPUT_NAME_SIZE;
}

static bool is_layout(uint32_t code) {
	return code == '\t' || code == '\n' || code == '\r';
}

bool clipboard_text_is_valid(const char *text, size_t size) {
	size_t at = 0, length = size;
	while (at < size && length > 0) {
		uint32_t code;
		length = utf8_read(text + at, size - at, &code);
		if (is_control(code) && !is_layout(code)) {
			return false;
		}
		at += length;
	}
	return size > 0 && size <= CLIPBOARD_TEXT_MAX && at == size;
}

int clipboard_frame_read(char *text, const void *slot) {
	static const uint32_t zeroes[13];
	struct clipboard_head head;
	memcpy(&head, slot, sizeof(head));
	/* The compiler must use the copy, not load the slot again. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	_Static_assert(sizeof(zeroes) == sizeof(head.reserved), "zeroes");
	if (head.magic != CLIPBOARD_MAGIC || head.size > CLIPBOARD_TEXT_MAX ||
			memcmp(head.reserved, zeroes, sizeof(zeroes)) != 0) {
		return -EPROTO;
	}
	memcpy(text, (const char *)slot + sizeof(head), head.size);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return clipboard_text_is_valid(text, head.size) ? (int)head.size : -EPROTO;
}

void clipboard_frame_write(void *slot, const char *text, size_t size) {
	const struct clipboard_head head = {.magic = CLIPBOARD_MAGIC, .size = (uint32_t)size};
	memcpy(slot, &head, sizeof(head));
	memcpy((char *)slot + sizeof(head), text, size);
}
