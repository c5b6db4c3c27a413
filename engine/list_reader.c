// SPDX-License-Identifier: MIT
#include "list_reader.h"

#include <errno.h>
#include <gid/gid.h>
#include <string.h>

#define BATCH_WORDS ((uint32_t)(sizeof(struct engine_batch) / 4))
#define LIST_WORDS ((uint32_t)(sizeof(struct engine_list) / 4))
#define PIECE_WORDS 4096u /* copied at once: half of a first cache */

static int refuse(struct list_mistake *mistake, uint32_t word, const char *text) {
	*mistake = (struct list_mistake){.word = word, .text = text};
	return -EINVAL;
}

/* --- batches ---------------------------------------------------------------------------------- */

int batch_begin(struct list_batch *batch, const void *shared, size_t bytes,
		struct list_mistake *mistake) {
	struct engine_batch header;
	if (bytes < sizeof(header)) {
		return refuse(mistake, 0, "the slot is smaller than a batch's header");
	}
	/* The words that change are loaded whole, which some processors only do where they lie. */
	if ((uintptr_t)shared % _Alignof(uint64_t) != 0) {
		return refuse(mistake, 0, "the slot does not begin at a multiple of 8 bytes");
	}
	memcpy(&header, shared, sizeof(header));
	/* From here on the compiler may not look at the shared header again. */
	__asm__ volatile("" : : : "memory");
	if (header.magic == 0) {
		return -ESTALE;
	}
	if (header.magic != ENGINE_BATCH_MAGIC) {
		return refuse(mistake, 0, "this is not a batch of lists");
	}
	if (header.version != ENGINE_VERSION) {
		return refuse(mistake, 1, "the batch has a version that this engine does not know");
	}
	if (header.serial == 0) {
		return refuse(mistake, 2, "a batch's serial is not 0");
	}
	static const uint32_t zeroes[sizeof(header.reserved1) / 4];
	if (header.reserved0 != 0 || memcmp(header.reserved1, zeroes, sizeof(zeroes)) != 0) {
		return refuse(mistake, 3, "a reserved field is not 0");
	}
	const uint32_t size = bytes / 4 < ENGINE_CLOSED ? (uint32_t)(bytes / 4) : ENGINE_CLOSED - 1;
	if (batch->serial != header.serial || size < batch->end) {
		batch->serial = header.serial;
		batch->at = batch->end = BATCH_WORDS;
		batch->closed = false;
		batch->first = batch->count = 0;
	}
	batch->shared = shared;
	batch->size = size;
	return 0;
}

/* Reads how far the writer is. Only forward, and within the slot. */
static int read_end(struct list_batch *batch, struct list_mistake *mistake) {
	const uint32_t end = __atomic_load_n(&batch->shared->end, __ATOMIC_ACQUIRE);
	const uint32_t words = end & ~ENGINE_CLOSED;
	if (words < batch->end || words > batch->size || (batch->closed && words != batch->end)) {
		return refuse(mistake, batch->at,
				"a batch's end went back, or beyond the end of its slot");
	}
	batch->end = words;
	batch->closed = (end & ENGINE_CLOSED) != 0;
	return 0;
}

/* Copies until there are `wanted` words, and up to a piece if more are there. */
static void copy(struct list_batch *batch, uint32_t wanted) {
	uint32_t count = batch->end - batch->at;
	uint32_t least = wanted - batch->count;
	count = count > PIECE_WORDS ? PIECE_WORDS : count;
	count = count < least ? least : count;
	memmove(batch->words, batch->words + batch->first, batch->count * 4ul);
	batch->first = 0;
	uint32_t room = ENGINE_LIST_WORDS_MAX - batch->count;
	count = count > room ? room : count;
	memcpy(batch->words + batch->count, (const uint32_t *)batch->shared + batch->at,
			count * 4ul);
	__asm__ volatile("" : : : "memory");
	batch->count += count;
	batch->at += count;
}

/* Has `wanted` words of the next list in the copy. Returns 1; 0: they are not written yet. */
static int have(struct list_batch *batch, uint32_t wanted, struct list_mistake *mistake) {
	if (batch->count >= wanted) {
		return 1;
	}
	if (batch->end - batch->at < wanted - batch->count) {
		int ret = read_end(batch, mistake);
		if (ret < 0) {
			return ret;
		}
	}
	if (batch->end - batch->at < wanted - batch->count) {
		/* `end` is where a list ends: less than a list is none at all. */
		return batch->count == 0 && batch->end == batch->at
				? 0
				: refuse(mistake, batch->at,
						  "a list does not end within its batch");
	}
	copy(batch, wanted);
	return 1;
}

int batch_next(struct list_batch *batch, const uint32_t **list, struct list_mistake *mistake) {
	batch->sure_at = batch->at;
	batch->sure_count = batch->count;
	int ret = have(batch, LIST_WORDS, mistake);
	if (ret <= 0) {
		return ret;
	}
	struct engine_list header;
	memcpy(&header, batch->words + batch->first, sizeof(header));
	if (header.magic != ENGINE_MAGIC) {
		return refuse(mistake, 0, "this is not a list of commands");
	}
	if (header.words < LIST_WORDS || header.words > ENGINE_LIST_WORDS_MAX) {
		return refuse(mistake, 1, "the list's size is out of range");
	}
	ret = have(batch, header.words, mistake);
	if (ret <= 0) {
		return ret;
	}
	*list = batch->words + batch->first;
	batch->first += header.words;
	batch->count -= header.words;
	return (int)header.words;
}

void batch_undo(struct list_batch *batch) {
	if (batch->at != batch->sure_at) {
		batch->at = batch->sure_at;
		batch->first = 0; /* where copy() put what was there before */
		batch->count = batch->sure_count;
	}
}

/* --- commands --------------------------------------------------------------------------------- */

/* What a command's size may be: its own fields, and whole elements. */
static bool has_size(const struct engine_head *head, size_t fields, size_t element) {
	size_t bytes = (size_t)(head->words * 4u);
	return bytes >= fields &&
			(element == 0 ? bytes == fields : (bytes - fields) % element == 0);
}

static const char *check_canvas(const struct engine_canvas *canvas) {
	if (!has_size(&canvas->head, sizeof(*canvas), 0)) {
		return "CANVAS has another size";
	}
	if (canvas->width == 0 || canvas->width > GID_SIZE_MAX || canvas->height == 0 ||
			canvas->height > GID_SIZE_MAX) {
		return "the canvas's width or height is out of range";
	}
	return canvas->reserved != 0 ? "a reserved field is not 0" : NULL;
}

static const char *check_clip(const struct engine_clip *clip) {
	if (!has_size(&clip->head, sizeof(*clip), sizeof(clip->rectangles[0]))) {
		return "CLIP has another size";
	}
	return list_elements(clip, rectangles) > ENGINE_CLIP_MAX
			? "the clip has too many rectangles"
			: NULL;
}

static const char *check_fill(const struct engine_fill *fill) {
	if (!has_size(&fill->head, sizeof(*fill), sizeof(fill->rectangles[0]))) {
		return "FILL has another size";
	}
	return fill->op > ENGINE_ADD ? "there is no such operator" : NULL;
}

static const char *check_lines(const struct engine_lines *lines) {
	if (!has_size(&lines->head, sizeof(*lines), sizeof(lines->points[0]))) {
		return "LINES has another size";
	}
	if (lines->width == 0 || lines->width > ENGINE_LINE_WIDTH_MAX) {
		return "the lines' width is out of range";
	}
	return NULL;
}

static const char *check_triangles(const struct engine_triangles *triangles) {
	return has_size(&triangles->head, sizeof(*triangles), 3 * sizeof(triangles->points[0]))
			? NULL
			: "TRIANGLES has another size";
}

static const char *check_polygon(const struct engine_polygon *polygon) {
	if (!has_size(&polygon->head, sizeof(*polygon), sizeof(polygon->points[0]))) {
		return "POLYGON has another size";
	}
	if (polygon->rule > ENGINE_WINDING) {
		return "there is no such rule";
	}
	return list_elements(polygon, points) > ENGINE_POLYGON_MAX
			? "the polygon has too many points"
			: NULL;
}

static const char *check_layer(const struct engine_layer *layer) {
	if (!has_size(&layer->head, sizeof(*layer), 0)) {
		return "LAYER has another size";
	}
	if (layer->op > ENGINE_ADD || layer->filter > ENGINE_BILINEAR || layer->transform > 7) {
		return "there is no such operator, filter or transform";
	}
	if (layer->matrix > GID_COLOUR_MATRIX_MAX || layer->range > GID_RANGE_LIMITED) {
		return "there is no such matrix or range of colours";
	}
	if ((layer->source_width == 0) != (layer->source_height == 0) ||
			(layer->width == 0) != (layer->height == 0)) {
		return "a box has a width without a height, or the other way round";
	}
	if ((layer->flags & ~ENGINE_LAYER_STRAIGHT) != 0) {
		return "there is no such flag";
	}
	return layer->reserved1 != 0 ? "a reserved field is not 0" : NULL;
}

static const char *check_present(const struct engine_present *present) {
	if (!has_size(&present->head, sizeof(*present), 0)) {
		return "PRESENT has another size";
	}
	return (present->flags & ~ENGINE_PRESENT_DISCARD) != 0 ? "there is no such flag" : NULL;
}

/* Returns what is wrong with it, or NULL. The words that its head names are there. */
static const char *check_command(const struct engine_head *head) {
	switch (head->opcode) {
	case ENGINE_CANVAS:
		return check_canvas((const struct engine_canvas *)head);
	case ENGINE_CLIP:
		return check_clip((const struct engine_clip *)head);
	case ENGINE_FILL:
		return check_fill((const struct engine_fill *)head);
	case ENGINE_POINTS:
		return has_size(head, sizeof(struct engine_points), sizeof(struct engine_point))
				? NULL
				: "POINTS has another size";
	case ENGINE_LINES:
		return check_lines((const struct engine_lines *)head);
	case ENGINE_TRIANGLES:
		return check_triangles((const struct engine_triangles *)head);
	case ENGINE_POLYGON:
		return check_polygon((const struct engine_polygon *)head);
	case ENGINE_LAYER:
		return check_layer((const struct engine_layer *)head);
	case ENGINE_MASKS:
		return has_size(head, sizeof(struct engine_masks), sizeof(struct engine_glyph))
				? NULL
				: "MASKS has another size";
	case ENGINE_PRESENT:
		return check_present((const struct engine_present *)head);
	case ENGINE_EXPECT:
		return has_size(head, sizeof(struct engine_expect), 0) ? NULL
								       : "EXPECT has another size";
	default:
		return (head->opcode & ENGINE_OPTIONAL) != 0
				? NULL
				: "there is a command that this engine does not know";
	}
}

int list_check(const uint32_t *words, uint32_t count, struct list_mistake *mistake) {
	uint32_t sources = 0;
	for (uint32_t at = LIST_WORDS; at < count;) {
		const struct engine_head *head = (const struct engine_head *)&words[at];
		if (head->words == 0 || head->words > count - at) {
			return refuse(mistake, at, "a command does not end within the list");
		}
		const char *text = check_command(head);
		if (text != NULL) {
			return refuse(mistake, at, text);
		}
		sources += head->opcode == ENGINE_LAYER || head->opcode == ENGINE_MASKS ||
				head->opcode == ENGINE_EXPECT;
		if (sources > ENGINE_LAYERS_MAX) {
			return refuse(mistake, at, "the list names too many layers and masks");
		}
		at += head->words;
	}
	return 0;
}

const struct engine_head *list_next(const uint32_t *words, uint32_t count, uint32_t *at) {
	*at = *at == 0 ? LIST_WORDS : *at;
	while (*at < count) {
		const struct engine_head *head = (const struct engine_head *)&words[*at];
		*at += head->words;
		if ((head->opcode & ENGINE_OPTIONAL) == 0 || head->opcode == ENGINE_EXPECT) {
			return head;
		}
	}
	return NULL;
}
