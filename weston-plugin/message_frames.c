// SPDX-License-Identifier: MIT
#include "message_frames.h"

#include <string.h>

static size_t smaller(size_t a, size_t b) {
	return a < b ? a : b;
}

/* libwayland disconnects the client for a message that is shorter than its header. */
static bool begin_message(struct message_frames *frames) {
	uint32_t length_and_opcode;
	memcpy(&length_and_opcode, frames->head + sizeof(length_and_opcode),
			sizeof(length_and_opcode));
	uint32_t length = length_and_opcode >> 16;
	frames->have = 0;
	frames->left = length > MESSAGE_HEAD ? length - MESSAGE_HEAD : 0;
	return length <= MESSAGE_MAX;
}

/* Returns how many bytes were taken. */
static size_t take_head(struct message_frames *frames, const uint8_t *bytes, size_t size) {
	size_t step = smaller(size, MESSAGE_HEAD - frames->have);
	memcpy(frames->head + frames->have, bytes, step);
	frames->have += (uint32_t)step;
	return step;
}

bool message_frames_take(struct message_frames *frames, const void *data, size_t size) {
	const uint8_t *bytes = data, *end = bytes + size;
	while (bytes < end) {
		size_t rest = smaller((size_t)(end - bytes), frames->left);
		frames->left -= (uint32_t)rest;
		bytes += rest;
		if (frames->left == 0) {
			bytes += take_head(frames, bytes, (size_t)(end - bytes));
		}
		if (frames->have == MESSAGE_HEAD && !begin_message(frames)) {
			return false;
		}
	}
	return true;
}
