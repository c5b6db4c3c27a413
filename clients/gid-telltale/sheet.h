// SPDX-License-Identifier: MIT
/** Pictures of a PNG, one below the other, that are shown in place of the lights. */
#ifndef TELLTALE_SHEET_H
#define TELLTALE_SHEET_H

#include <stddef.h>
#include <stdint.h>

#define SHEET_PICTURES_MAX 256u

struct sheet {
	uint32_t *pixels;	/* of XRGB8888, rows without gaps; owned */
	uint32_t width, height; /* of one picture */
	unsigned count;
};

/* Reads pictures of this size. Returns 0, or -1 after saying on stderr what is wrong. */
int sheet_read(struct sheet *sheet, const char *path, uint32_t width, uint32_t height);
void sheet_finish(struct sheet *sheet);

/* Draws one of them to `height` rows of `stride` bytes; every visible byte is written. */
void sheet_draw(const struct sheet *sheet, void *data, size_t stride, unsigned number);

#endif
