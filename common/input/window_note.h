// SPDX-License-Identifier: MIT
/**
 * The published form of a window's note (gid/stream.h), in frames that are pictures of a window:
 * the app-id and the title that its program gives it, and the scale that it is drawn with.
 * docs/wire-ring.md has the same in words.
 *
 * Pure: any bytes are fine, on both sides. What comes out is UTF-8 without control characters.
 */
#ifndef GID_WINDOW_NOTE_H
#define GID_WINDOW_NOTE_H

#include <gid/stream.h>

#define WINDOW_APP_ID_MAX 80u /* bytes */
#define WINDOW_TITLE_MAX 165u

struct window_note {
	char app_id[WINDOW_APP_ID_MAX + 1]; /* "": it has none, or one that is longer */
	char title[WINDOW_TITLE_MAX + 1];   /* what is too long is cut */
	uint32_t scale; /* pixels in each unit of its size, in 120ths; 0: it is not known */
};

/* Makes a note of a program's texts; NULL: it gave none. The scale is not known. */
void window_note_set(struct window_note *note, const char *app_id, const char *title);

/* Returns how many bytes there are. */
uint32_t window_note_write(const struct window_note *note, uint8_t bytes[GID_NOTE_MAX]);

/* Returns whether the note is of a window. Parts of other kinds are skipped. */
bool window_note_read(struct window_note *note, const void *bytes, size_t size);

#endif
