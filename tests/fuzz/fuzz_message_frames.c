// SPDX-License-Identifier: MIT
/*
 * What a Wayland client sends, in pieces of any sizes: as if it had come at once, a message that is
 * too long is found, and with its head.
 */
#include "message_frames.h"

#include <string.h>

#include "fuzz.h"

/* Where the head of the first that is too long ends; 0: there is none. */
static size_t find_too_long(const uint8_t *data, size_t size) {
	size_t at = 0;
	while (size - at >= MESSAGE_HEAD) {
		uint32_t word;
		memcpy(&word, data + at + 4, sizeof(word));
		size_t length = word >> 16;
		if (length > MESSAGE_MAX) {
			return at + MESSAGE_HEAD;
		}
		length = length < MESSAGE_HEAD ? MESSAGE_HEAD : length;
		if (length > size - at) {
			return 0;
		}
		at += length;
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct message_frames frames = {0};
	size_t piece = size > 0 ? 1u + data[0] : 1, found = find_too_long(data, size);
	for (size_t at = 0; at < size; at += piece) {
		size_t end = size - at < piece ? size : at + piece;
		bool good = message_frames_take(&frames, data + at, end - at);
		demand(good == (found == 0 || found > end));
		if (!good) {
			break;
		}
	}
	return 0;
}
