// SPDX-License-Identifier: MIT
#include "note_part.h"

const uint8_t *note_part_find(
		const void *bytes, size_t size, enum note_kind kind, size_t *part_size) {
	const uint8_t *part = bytes;
	while (size >= NOTE_PART_HEADER) {
		size_t length = note_get16(part + 2);
		if (length < NOTE_PART_HEADER || length > size) {
			return NULL;
		}
		if (note_get16(part) == kind) {
			*part_size = length;
			return part;
		}
		part += length;
		size -= length;
	}
	return NULL;
}
