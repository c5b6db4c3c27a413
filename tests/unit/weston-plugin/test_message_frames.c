// SPDX-License-Identifier: MIT
/* Messages of a Wayland client are told apart, however they come, and the first that is too long is
 * found. */
#include "weston-plugin/message_frames.h"

#include <string.h>

#include "tap.h"

#define LONGEST 65535u

static uint8_t stream[4 * LONGEST];
static size_t used;

/* As the next of the stream; what is in it looks like heads of messages that are too long. */
static void add(uint32_t length, uint32_t whole) {
	const uint32_t head[2] = {7, length << 16 | 3};
	memset(stream + used, 0xff, whole);
	memcpy(stream + used, head, whole < sizeof(head) ? whole : sizeof(head));
	used += whole;
}

/* How many bytes are taken, in pieces of this size; all of them where nothing is too long. */
static size_t take_in_pieces(size_t piece) {
	struct message_frames frames = {0};
	for (size_t at = 0; at < used; at += piece) {
		size_t size = used - at < piece ? used - at : piece;
		if (!message_frames_take(&frames, stream + at, size)) {
			return at;
		}
	}
	return used;
}

static bool is_taken_in_any_pieces(void) {
	const size_t pieces[] = {1, 2, 3, 7, 8, 9, 4095, 4096, sizeof(stream)};
	bool taken = true;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		taken = taken && take_in_pieces(pieces[i]) == used;
	}
	return taken;
}

static void test_usual(void) {
	used = 0;
	for (uint32_t length = 8; length < 40; length++) {
		add(length, length);
	}
	add(MESSAGE_MAX, MESSAGE_MAX);
	add(8, 8);
	add(MESSAGE_MAX, 100);
	tap_ok(is_taken_in_any_pieces(), "messages of up to %u bytes, in any pieces", MESSAGE_MAX);
}

static void test_too_long(void) {
	const uint32_t lengths[] = {MESSAGE_MAX + 1, 20000, LONGEST};
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		used = 0;
		add(MESSAGE_MAX, MESSAGE_MAX);
		add(12, 12);
		add(lengths[i], 8);
		tap_ok(take_in_pieces(1) == used - 1,
				"one of %u bytes is found as soon as its head is there",
				lengths[i]);
		tap_ok(take_in_pieces(sizeof(stream)) == 0, "and among others that came with it");
	}
}

/* libwayland ends the client: what follows matters to nobody, but has an end. */
static void test_too_short(void) {
	used = 0;
	for (uint32_t length = 0; length < 8; length++) {
		add(length, 8);
	}
	tap_ok(is_taken_in_any_pieces(), "a message that is shorter than its head");
}

int main(void) {
	test_usual();
	test_too_long();
	test_too_short();
	return tap_finish();
}
