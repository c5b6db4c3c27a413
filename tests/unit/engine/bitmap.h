// SPDX-License-Identifier: MIT
/** Small pictures in memory that nobody may touch beside them, and commands to draw there. */
#ifndef GID_TESTS_BITMAP_H
#define GID_TESTS_BITMAP_H

#include <string.h>

#include "drawing.h"

#define WIDTH 40
#define HEIGHT 24
#define GUARD 64 /* bytes around each picture, which nobody may touch */

struct bitmap {
	struct gid_layout layout;
	uint8_t bytes[GUARD + 32768 + GUARD];
};

static inline void *slot_of(struct bitmap *bitmap) {
	return bitmap->bytes + GUARD;
}

static inline void bitmap_init(
		struct bitmap *bitmap, uint32_t fourcc, uint32_t width, uint32_t height, int fill) {
	memset(bitmap->bytes, 0xa5, sizeof(bitmap->bytes));
	gid_layout_init(&bitmap->layout, fourcc, width, height, 16);
	memset(slot_of(bitmap), fill, gid_layout_size(&bitmap->layout));
}

static inline bool guards_hold(const struct bitmap *bitmap) {
	const uint8_t *end = bitmap->bytes + GUARD + gid_layout_size(&bitmap->layout);
	uint8_t guard[GUARD];
	memset(guard, 0xa5, GUARD);
	return memcmp(bitmap->bytes, guard, GUARD) == 0 && memcmp(end, guard, GUARD) == 0;
}

static inline uint32_t *pixel(struct bitmap *bitmap, uint32_t x, uint32_t y) {
	return (uint32_t *)(void *)((uint8_t *)slot_of(bitmap) +
			y * bitmap->layout.planes[0].stride + 4 * x);
}

static inline struct picture picture_of(struct bitmap *bitmap) {
	return (struct picture){.layout = bitmap->layout, .memory = slot_of(bitmap)};
}

/* A command with its elements, in static memory. */
static inline void *make(uint16_t opcode, size_t fields, const void *elements, size_t size) {
	static uint32_t words[4096];
	memset(words, 0, sizeof(words));
	words[0] = opcode | (uint32_t)((fields + size) / 4) << 16;
	memcpy((uint8_t *)words + fields, elements, size);
	return words;
}

static inline int fill(struct drawing *drawing, uint32_t op, uint32_t colour,
		struct engine_rectangle rectangle) {
	struct engine_fill *command =
			make(ENGINE_FILL, sizeof(*command), &rectangle, sizeof(rectangle));
	command->op = op;
	command->colour = colour;
	return drawing_fill(drawing, command);
}

static inline struct engine_layer layer_at(int16_t x, int16_t y) {
	return (struct engine_layer){.head = {ENGINE_LAYER, sizeof(struct engine_layer) / 4},
			.op = ENGINE_OVER,
			.alpha = 255,
			.x = x,
			.y = y};
}

#endif
