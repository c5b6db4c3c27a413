// SPDX-License-Identifier: MIT
#include "list_reader.h"

#include <errno.h>
#include <gid/gid.h>
#include <string.h>

#define HEADER_WORDS ((uint32_t)(sizeof(struct engine_list) / 4))

static int refuse(struct list_mistake *mistake, uint32_t word, const char *text) {
	*mistake = (struct list_mistake){.word = word, .text = text};
	return -EINVAL;
}

static int check_header(const struct engine_list *list, size_t size, struct list_mistake *mistake) {
	if (list->magic != ENGINE_MAGIC) {
		return refuse(mistake, 0, "this is not a list of commands");
	}
	if (list->version != ENGINE_VERSION) {
		return refuse(mistake, 1, "the list has a version that this engine does not know");
	}
	if (list->words < HEADER_WORDS || list->words > ENGINE_LIST_WORDS_MAX ||
			list->words > size / 4) {
		return refuse(mistake, 2, "the list's size is out of range, or above its slot's");
	}
	if (list->reserved0 != 0 || list->reserved1[0] != 0 || list->reserved1[1] != 0) {
		return refuse(mistake, 3, "a reserved field is not 0");
	}
	return 0;
}

int list_copy(uint32_t *buffer, const void *shared, size_t size, struct list_mistake *mistake) {
	struct engine_list header;
	if (size < sizeof(header)) {
		return refuse(mistake, 0, "the slot is smaller than a list's header");
	}
	memcpy(&header, shared, sizeof(header));
	/* From here on the compiler may not look at the shared header again. */
	__asm__ volatile("" : : : "memory");
	int ret = check_header(&header, size, mistake);
	if (ret < 0) {
		return ret;
	}
	memcpy(buffer, &header, sizeof(header));
	memcpy(buffer + HEADER_WORDS, (const char *)shared + sizeof(header),
			header.words * 4 - sizeof(header));
	__asm__ volatile("" : : : "memory");
	return (int)header.words;
}

/* --- commands --------------------------------------------------------------------------------- */

/* What a command's size may be: its own fields, and whole elements. */
static bool has_size(const struct engine_head *head, size_t fields, size_t element) {
	size_t bytes = head->words * 4u;
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

static const char *check_layer(const struct engine_layer *layer) {
	if (!has_size(&layer->head, sizeof(*layer), 0)) {
		return "LAYER has another size";
	}
	if (layer->op > ENGINE_ADD || layer->filter > ENGINE_BILINEAR || layer->transform > 7) {
		return "there is no such operator, filter or transform";
	}
	if (layer->encoding > ENGINE_BT709 || layer->range > ENGINE_FULL) {
		return "there is no such encoding or range of colours";
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
	case ENGINE_LAYER:
		return check_layer((const struct engine_layer *)head);
	case ENGINE_MASKS:
		return has_size(head, sizeof(struct engine_masks), sizeof(struct engine_glyph))
				? NULL
				: "MASKS has another size";
	case ENGINE_PRESENT:
		return check_present((const struct engine_present *)head);
	default:
		return (head->opcode & ENGINE_OPTIONAL) != 0
				? NULL
				: "there is a command that this engine does not know";
	}
}

int list_check(const uint32_t *words, uint32_t count, struct list_mistake *mistake) {
	uint32_t sources = 0;
	for (uint32_t at = HEADER_WORDS; at < count;) {
		const struct engine_head *head = (const struct engine_head *)&words[at];
		if (head->words == 0 || head->words > count - at) {
			return refuse(mistake, at, "a command does not end within the list");
		}
		const char *text = check_command(head);
		if (text != NULL) {
			return refuse(mistake, at, text);
		}
		sources += head->opcode == ENGINE_LAYER || head->opcode == ENGINE_MASKS;
		if (sources > ENGINE_LAYERS_MAX) {
			return refuse(mistake, at, "the list has too many layers and masks");
		}
		at += head->words;
	}
	return 0;
}

const struct engine_head *list_next(const uint32_t *words, uint32_t count, uint32_t *at) {
	*at = *at == 0 ? HEADER_WORDS : *at;
	while (*at < count) {
		const struct engine_head *head = (const struct engine_head *)&words[*at];
		*at += head->words;
		if ((head->opcode & ENGINE_OPTIONAL) == 0) {
			return head;
		}
	}
	return NULL;
}
