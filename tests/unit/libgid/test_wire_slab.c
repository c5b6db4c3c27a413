// SPDX-License-Identifier: MIT
/* Slabs in messages: their memory, and their layouts, at their limits and just past them. */
#include <string.h>

#include "messages.h"

static void test_slabs(void) {
	union gid_wire_message m;
	struct gid_wire_export *e = &m.export;

	fill(&m, GID_WIRE_EXPORT);
	EXPECT_RANGE(&m, e->memory, GID_MEMORY_MEMFD, GID_MEMORY_MEMFD);
	e->slab = GID_SLAB_MAX;
	expect(&m, 0, "the last slab");
	e->slab++;
	expect(&m, -EPROTO, "a slab past the last");

	fill(&m, GID_WIRE_EXPORT);
	e->generations = UINT64_C(4096) * GID_SLOTS_MAX;
	EXPECT_RANGE(&m, e->slot_count, 1, GID_SLOTS_MAX);
	e->slot_count = GID_SLOTS_MAX;
	e->generations -= 4096;
	expect(&m, -EPROTO, "a generation table inside the last slot");
	e->generations += 4097;
	expect(&m, -EPROTO, "a generation table that is not on a page");
	e->generations = INT64_MAX / 4096 * 4096;
	expect(&m, -EPROTO, "a generation table that leaves the file");
	e->generations = UINT64_MAX / 4096 * 4096;
	expect(&m, -EPROTO, "a generation table that wraps around");

	fill(&m, GID_WIRE_EXPORT);
	e->generations = 0;
	expect(&m, -EPROTO, "several slots without a generation table");
	e->slot_count = 1;
	expect(&m, 0, "one slot without a generation table");
	e->offset = 1;
	expect(&m, 0, "one slot with an offset");
	e->generations = 8192;
	expect(&m, -EPROTO, "a generation table and an offset");
	e->generations = 0;
	e->offset = INT64_MAX - 4096;
	expect(&m, 0, "a slot at the end of the largest file");
	e->offset++;
	expect(&m, -EPROTO, "a slot past the end of the largest file");
	e->offset = UINT64_MAX;
	expect(&m, -EPROTO, "an offset that wraps around");
	e->offset = 0;
	e->slot_size = 4095;
	expect(&m, -EPROTO, "a slot one byte too small for its picture");
	e->slot_size = 0;
	expect(&m, -EPROTO, "a slot of no size");
	fill(&m, GID_WIRE_EXPORT);
	e->slot_size = UINT64_MAX / 4 + 1;
	expect(&m, -EPROTO, "slots whose sum wraps to 0");
	e->slot_size = 4097;
	e->generations = 40960;
	expect(&m, -EPROTO, "slots with a table that are not whole pages");

	fill(&m, GID_WIRE_EXPORT);
	e->description_size++;
	expect(&m, -EPROTO, "a description shorter than it says");
	e->description_size -= 2;
	expect(&m, -EPROTO, "a description longer than it says");
	memset(e->description, 'a', GID_DESCRIPTION_MAX);
	e->description_size = GID_DESCRIPTION_MAX;
	expect(&m, 0, "the longest description");
	e->description[GID_DESCRIPTION_MAX] = 'a';
	e->description_size++;
	expect(&m, -EPROTO, "a description past the longest");

	fill(&m, GID_WIRE_IMPORTED);
	m.imported.generations = 8192;
	expect(&m, -EPROTO, "a dma-buf with a generation table");
}

/* Where the rows of other modifiers end nobody could check. */
static void test_modifiers(void) {
	union gid_wire_message m;
	fill(&m, GID_WIRE_EXPORT);
	m.export.layout.modifier = 1;
	expect(&m, -EPROTO, "a memfd with a modifier");
	m.export.memory = GID_MEMORY_WINDOW;
	m.export.offset = 4096;
	m.export.generations += 4096;
	expect(&m, -EPROTO, "a slab in a window with a modifier");
	m.export.memory = GID_MEMORY_DMABUF;
	m.export.generations = 0;
	m.export.slot_count = 1;
	expect(&m, 0, "a dma-buf with a modifier");
}

/* A slab in a window has its table there, too, and neither is on the first page. */
static void test_window_slabs(void) {
	union gid_wire_message m;
	fill(&m, GID_WIRE_EXPORT);
	m.export.memory = GID_MEMORY_WINDOW;
	expect(&m, -EPROTO, "a slab on a window's first page");
	m.export.offset = 4096;
	expect(&m, -EPROTO, "a table among the slots");
	m.export.generations += 4096;
	expect(&m, 0, "a slab in a window");
	m.export.offset = 4097;
	expect(&m, -EPROTO, "a slab that begins within a page");
	m.export.offset = 4096;
	m.export.generations = 0;
	m.export.slot_count = 1;
	expect(&m, -EPROTO, "a slab in a window without a table");
}

static void test_layouts(void) {
	union gid_wire_message m;
	struct gid_wire_layout *l = &m.export.layout;
	fill(&m, GID_WIRE_EXPORT);
	m.export.slot_size = UINT64_C(1) << 31;
	m.export.slot_count = 1;
	m.export.generations = UINT64_C(1) << 31;
	EXPECT_RANGE(&m, l->plane_count, 1, 1);
	EXPECT_RANGE(&m, l->matrix_range, 0, 0xbf);
	EXPECT_RANGE(&m, l->height, 1, GID_SIZE_MAX);
	l->planes[0].stride = GID_SIZE_MAX * 4 + 4;
	EXPECT_RANGE(&m, l->width, 1, GID_SIZE_MAX);
	l->fourcc = 0x20202020;
	expect(&m, -EPROTO, "an unknown format");
	l->fourcc = 0;
	expect(&m, -EPROTO, "no format");
	fill(&m, GID_WIRE_EXPORT);
	l->planes[0].stride = 255;
	expect(&m, -EPROTO, "a stride shorter than a row");
	l->planes[0].stride = UINT32_MAX;
	expect(&m, -EPROTO, "a stride that leaves the slot");
	l->planes[0].stride = 256;
	l->planes[0].offset = 1;
	expect(&m, -EPROTO, "a plane that ends one byte behind its slot");
	l->planes[0].offset = UINT32_MAX;
	expect(&m, -EPROTO, "a plane that begins behind its slot");
	fill(&m, GID_WIRE_EXPORT);
	for (uint32_t plane = 1; plane < GID_PLANES_MAX; plane++) {
		EXPECT_ZERO(&m, l->planes[plane].offset);
		EXPECT_ZERO(&m, l->planes[plane].stride);
	}
	struct gid_layout layout = {.fourcc = XRGB8888,
					  .width = 3,
					  .height = 2,
					  .plane_count = 2,
					  .modifier = 5,
					  .colours = {9, 16, GID_COLOUR_RGB, GID_RANGE_LIMITED},
					  .planes = {{1, 2}, {3, 4}, {5, 6}}},
			  back;
	struct gid_wire_layout wire;
	gid_wire_put_layout(&wire, &layout);
	gid_wire_get_layout(&back, &wire);
	tap_ok(back.planes[1].stride == 4 && back.planes[2].offset == 0 && back.modifier == 5 &&
					back.width == 3 && back.height == 2 &&
					back.fourcc == XRGB8888,
			"a layout comes back without the planes that it does not have");
	tap_ok(memcmp(&back.colours, &layout.colours, sizeof(back.colours)) == 0,
			"and with its colours");
	layout.plane_count = GID_PLANES_MAX + 1;
	gid_wire_put_layout(&wire, &layout);
	tap_ok(wire.plane_count == GID_PLANES_MAX + 1 && wire.planes[2].offset == 5,
			"no plane behind the last one is written down");
	layout.plane_count = UINT8_MAX + 1;
	gid_wire_put_layout(&wire, &layout);
	tap_ok(wire.plane_count == 0, "nor a number that is none");
}

int main(void) {
	test_slabs();
	test_window_slabs();
	test_modifiers();
	test_layouts();
	return tap_finish();
}
