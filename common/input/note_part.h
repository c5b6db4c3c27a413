// SPDX-License-Identifier: MIT
/**
 * The parts of a frame's note (gid/stream.h): each has u16 kind and u16 size in front,
 * little-endian, the size being that of the whole part. docs/wire-ring.md says which kinds there
 * are.
 *
 * Pure: any bytes are fine.
 */
#ifndef GID_NOTE_PART_H
#define GID_NOTE_PART_H

#include <stddef.h>
#include <stdint.h>

#define NOTE_PART_HEADER 4u

enum note_kind {
	NOTE_WINDOW = 2,
	NOTE_CURSOR = 3,
	NOTE_WITHOUT_CURSOR = 4,
	NOTE_WINDOW_SCALE = 5,
};

static inline uint16_t note_get16(const uint8_t *bytes) {
	return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline void note_put16(uint8_t *bytes, uint32_t number) {
	bytes[0] = (uint8_t)number;
	bytes[1] = (uint8_t)(number >> 8);
}

/* Writes what is in front of a part of `size` bytes. */
static inline void note_part_begin(uint8_t *bytes, enum note_kind kind, uint32_t size) {
	note_put16(bytes, kind);
	note_put16(bytes + 2, size);
}

/*
 * Finds the first part of the kind, and its size. NULL: there is none, or a part before it is
 * malformed.
 */
const uint8_t *note_part_find(
		const void *bytes, size_t size, enum note_kind kind, size_t *part_size);

#endif
