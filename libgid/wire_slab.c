// SPDX-License-Identifier: MIT
/** Layouts and the memory that slabs lie in, as messages state them. */
#include <errno.h>
#include <string.h>

#include "wire_field.h"

void gid_wire_put_layout(struct gid_wire_layout *wire, const struct gid_layout *layout) {
	memset(wire, 0, sizeof(*wire));
	wire->fourcc = layout->fourcc;
	wire->width = layout->width;
	wire->height = layout->height;
	wire->plane_count = layout->plane_count;
	wire->modifier = layout->modifier;
	for (uint32_t i = 0; i < GID_PLANES_MAX && i < layout->plane_count; i++) {
		wire->planes[i].offset = layout->planes[i].offset;
		wire->planes[i].stride = layout->planes[i].stride;
	}
}

void gid_wire_get_layout(struct gid_layout *layout, const struct gid_wire_layout *wire) {
	memset(layout, 0, sizeof(*layout));
	layout->fourcc = wire->fourcc;
	layout->width = wire->width;
	layout->height = wire->height;
	layout->plane_count = wire->plane_count;
	layout->modifier = wire->modifier;
	for (uint32_t i = 0; i < GID_PLANES_MAX; i++) {
		layout->planes[i].offset = wire->planes[i].offset;
		layout->planes[i].stride = wire->planes[i].stride;
	}
}

static const char *check_layout(const struct gid_wire_layout *wire, uint64_t slot_size) {
	struct gid_layout layout;
	gid_wire_get_layout(&layout, wire);
	for (uint32_t i = wire->plane_count; i < GID_PLANES_MAX; i++) {
		if (wire->planes[i].offset != 0 || wire->planes[i].stride != 0) {
			return "a plane that the layout does not have is not zero";
		}
	}
	switch (gid_layout_check(&layout, slot_size)) {
	case 0:
		return NULL;
	case -ENOTSUP:
		return "the layout's format is unknown";
	case -ERANGE:
		return "a plane of the layout leaves its slot";
	default:
		return "the layout's size, plane count or a stride is out of range";
	}
}

/* That all of it lies in a file whose size is at most 2^63-1, and the table behind the slots. */
static const char *check_extent(const struct gid_slab_fields *slab) {
	uint64_t slots, end, table_end;
	if (__builtin_mul_overflow(slab->slot_size, (uint64_t)slab->slot_count, &slots) ||
		__builtin_add_overflow(slab->offset, slots, &end) || end > INT64_MAX) {
		return "the slab's offset and slots are more than a file can hold";
	}
	if (slab->generations == 0) {
		return NULL;
	}
	if (slab->memory == GID_MEMORY_DMABUF) {
		return "a dma-buf can have no generation table";
	}
	if ((slab->offset == 0) != (slab->memory == GID_MEMORY_MEMFD) ||
		slab->offset % GID_WIRE_PAGE != 0 || slab->slot_size % GID_WIRE_PAGE != 0) {
		return "slots with a generation table must be whole pages, and begin at 0, or in "
		       "a window behind its first page";
	}
	if (slab->generations < end || slab->generations % GID_WIRE_PAGE != 0 ||
		__builtin_add_overflow(slab->generations,
			(uint64_t)slab->slot_count * sizeof(uint32_t), &table_end) ||
		table_end > INT64_MAX) {
		return "the generation table must lie behind the slots, on a page of its own";
	}
	return NULL;
}

const char *gid_wire_check_slab(const struct gid_slab_fields *slab) {
	if (slab->memory != GID_MEMORY_MEMFD && slab->memory != GID_MEMORY_DMABUF &&
		slab->memory != GID_MEMORY_WINDOW) {
		return "the kind of memory is unknown";
	}
	if (slab->memory == GID_MEMORY_WINDOW && slab->generations == 0) {
		return "a slab in a window must have a generation table";
	}
	if (slab->slot_count < 1 || slab->slot_count > GID_SLOTS_MAX) {
		return "the slot count is out of range";
	}
	if (slab->slot_count != 1 && slab->generations == 0) {
		return "a slab of several slots must have a generation table";
	}
	if (slab->slot_size == 0) {
		return "the slot size is 0";
	}
	if (slab->description_size > GID_DESCRIPTION_MAX ||
		strnlen(slab->description, GID_DESCRIPTION_MAX + 1) != slab->description_size ||
		!gid_field_is_text(slab->description, GID_DESCRIPTION_MAX + 1)) {
		return "the description is not a text of the stated size";
	}
	const char *why = check_extent(slab);
	return why != NULL ? why : check_layout(slab->layout, slab->slot_size);
}
