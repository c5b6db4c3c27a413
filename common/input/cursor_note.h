// SPDX-License-Identifier: MIT
/**
 * The published form of a cursor's stream, cursor/SHOWN, which goes beside the pictures of the
 * stream SHOWN. Each frame is the cursor's picture, or says that there is none; its note says where
 * in the picture the pointer points. docs/wire-ring.md has the same in words.
 *
 * Pure: any bytes are fine.
 */
#ifndef GID_CURSOR_NOTE_H
#define GID_CURSOR_NOTE_H

#include <gid/stream.h>

/* Larger pictures are not sent, and not shown. */
#define CURSOR_SIDE_MAX 256u

struct cursor_note {
	int32_t x, y; /* the hot spot, in pixels of the picture: 16 bits */
	bool locked;  /* a program has locked the pointer: it reports motion, but no place */
};

/* Returns how many bytes there are. */
uint32_t cursor_note_write(const struct cursor_note *note, uint8_t bytes[GID_NOTE_MAX]);

/* Returns whether the note is of a cursor. Parts of other kinds are skipped. */
bool cursor_note_read(struct cursor_note *note, const void *bytes, size_t size);

/*
 * The note of a picture of a desktop that has no cursor in it, where no stream has one either: who
 * uses it shows one. Returns how many bytes there are.
 */
uint32_t without_cursor_note_write(uint8_t bytes[GID_NOTE_MAX]);

/* Returns whether the note says so. Parts of other kinds are skipped. */
bool without_cursor_note_read(const void *bytes, size_t size);

/* Writes the name cursor/SHOWN. Returns whether it is a valid one. */
bool cursor_stream_name(char name[GID_NAME_MAX + 1], const char *shown);

#endif
