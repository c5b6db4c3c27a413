// SPDX-License-Identifier: MIT
#include "readback.h"

bool readback_is_due(const struct readback *readback, bool is_free, uint64_t now) {
	return now >= readback->next && (readback->asked || is_free);
}

bool readback_ask(struct readback *readback, bool is_free, uint64_t now) {
	bool asks = !readback->asked && readback_is_due(readback, is_free, now);
	readback->asked = readback->asked || asks;
	return asks;
}

bool readback_sent(struct readback *readback, uint64_t every, uint64_t now) {
	bool is_written = readback->asked;
	if (is_written) {
		readback->asked = false;
		readback->next = now + every;
	}
	return is_written;
}

bool readback_written(struct readback *readback) {
	bool was_off = readback->off;
	readback->count++;
	readback->failed_in_a_row = 0;
	readback->off = false;
	return was_off;
}

bool readback_failed(struct readback *readback) {
	readback->failed++;
	if (readback->off) {
		return false;
	}
	readback->off = ++readback->failed_in_a_row >= READBACK_FAILED_MAX;
	return readback->off;
}
