// SPDX-License-Identifier: MIT
/* Lists of commands, made right in the memory that the engine reads. */
#include "canvas_request.h"

#include <errno.h>
#include <string.h>

#define FETCH_AHEAD 128u /* words */
#define FETCHED_LINES 7u
#define HEADER_WORDS ((uint32_t)(sizeof(struct engine_list) / 4))

/* What programs pass is what the language has: whole arrays are copied. */
_Static_assert(sizeof(struct gid_point) == sizeof(struct engine_point), "the same");
_Static_assert(sizeof(struct gid_rectangle) == sizeof(struct engine_rectangle), "the same");
_Static_assert(sizeof(struct gid_glyph) == sizeof(struct engine_glyph), "the same");
_Static_assert((int)GID_OPERATOR_ADD == (int)ENGINE_ADD, "the same");

static int fail(struct gid_canvas *canvas, int error, const char *text) {
	if (canvas->error == 0) {
		canvas->error = canvas_fail(canvas, error, "%s", text);
	}
	return canvas->error;
}

uint32_t gid_list_room(const struct gid_canvas *canvas) {
	return canvas->words == NULL || canvas->error != 0
			? 0
			: canvas->options.list_words - canvas->count;
}

/*
 * Takes the list that was begun to a batch with more room. Not to another engine's, who may come
 * while a slot is waited for: what the list builds upon was told to the one before.
 */
static int move(struct gid_canvas *canvas, uint64_t words) {
	const uint32_t *from = canvas->words;
	const uint64_t epoch = canvas->batch_epoch;
	if (epoch == canvas->epoch) {
		canvas->error = canvas_open_batch(canvas, canvas->count + (uint32_t)words);
	}
	if (epoch != canvas->epoch) {
		return fail(canvas, -ENOTCONN, "the engine went while the list was made");
	}
	if (canvas->error == 0) {
		/* The slot may be the same one: an engine that sleeps does not hold it. */
		canvas->words = (uint32_t *)canvas->batch + canvas->end;
		memmove(canvas->words, from, canvas->count * 4ul);
	}
	return canvas->error;
}

/*
 * The next command, with `count` elements of `element` bytes behind its fields; NULL: an error. A
 * part of each of its callers, where sizes are constants: short lists cost little else.
 */
__attribute__((always_inline)) static inline void *add(struct gid_canvas *canvas,
		enum engine_opcode opcode, size_t fields, size_t element, uint32_t count) {
	if (canvas->words == NULL) {
		canvas_fail(canvas, -EINVAL, "no list was begun");
		return NULL;
	}
	if (canvas->error != 0) {
		return NULL;
	}
	uint64_t words = (fields + (uint64_t)element * count) / 4;
	if (words > UINT16_MAX || words > canvas->options.list_words - canvas->count) {
		fail(canvas, -ENOSPC, "the list is full: submit it, or make lists longer");
		return NULL;
	}
	if (canvas->end + canvas->count + words > canvas->slot_words && move(canvas, words) < 0) {
		return NULL;
	}
	struct engine_head *head = (void *)(canvas->words + canvas->count);
	memset(head, 0, fields);
	*head = (struct engine_head){.opcode = (uint16_t)opcode, .words = (uint16_t)words};
	canvas->count += (uint32_t)words;
	return head;
}

static int result(const struct gid_canvas *canvas) {
	return canvas->words == NULL ? -EINVAL : canvas->error;
}

/*
 * The engine's processor has read the lines of memory that come next, as those of an older batch.
 * They are asked for while the list before them is written.
 */
static void fetch_lines(const uint32_t *words) {
	for (size_t i = 0; i < FETCHED_LINES; i++) {
		const uint32_t *line = words + FETCH_AHEAD + i * 16;
#if defined(__x86_64__) || defined(__i386__)
		__asm__ volatile("prefetchw %0" : : "m"(*line));
#else
		__builtin_prefetch(line, 1);
#endif
	}
}

int gid_list_begin(struct gid_canvas *canvas) {
	if (canvas->words != NULL) {
		return canvas_fail(canvas, -EBUSY, "a list was begun already");
	}
	int ret = canvas_has_batch(canvas, LIST_SHORT) ? 0 : canvas_open_batch(canvas, LIST_SHORT);
	if (ret < 0) {
		return ret;
	}
	canvas->words = (uint32_t *)canvas->batch + canvas->end;
	fetch_lines(canvas->words);
	canvas->count = HEADER_WORDS;
	canvas->error = 0;
	canvas->sets_size = !canvas->has_canvas;
	if (canvas->sets_size) {
		struct engine_canvas *command = add(canvas, ENGINE_CANVAS, sizeof(*command), 0, 0);
		if (command == NULL) {
			canvas->words = NULL; // nothing was begun
			return canvas->error;
		}
		command->width = (uint16_t)canvas->options.width;
		command->height = (uint16_t)canvas->options.height;
		command->fourcc = canvas->options.fourcc;
	}
	return 0;
}

int gid_list_clip(
		struct gid_canvas *canvas, const struct gid_rectangle *rectangles, uint32_t count) {
	struct engine_clip *command = count > ENGINE_CLIP_MAX
			? NULL
			: add(canvas, ENGINE_CLIP, sizeof(*command), sizeof(*rectangles), count);
	if (count > ENGINE_CLIP_MAX) {
		return fail(canvas, -EINVAL, "a clip has 1024 rectangles at most");
	}
	if (command != NULL && count > 0) {
		memcpy(command->rectangles, rectangles, count * sizeof(*rectangles));
	}
	return result(canvas);
}

int gid_list_fill(struct gid_canvas *canvas, enum gid_operator op, uint32_t colour,
		const struct gid_rectangle *rectangles, uint32_t count) {
	struct engine_fill *command =
			add(canvas, ENGINE_FILL, sizeof(*command), sizeof(*rectangles), count);
	if (command != NULL) {
		command->op = op;
		command->colour = colour;
		memcpy(command->rectangles, rectangles, count * sizeof(*rectangles));
	}
	return result(canvas);
}

struct gid_point *gid_list_new_points(struct gid_canvas *canvas, uint32_t colour, uint32_t *count) {
	const uint32_t fields = sizeof(struct engine_points) / 4;
	uint32_t room = gid_list_room(canvas);
	room = room > UINT16_MAX ? UINT16_MAX : room;
	if (room > fields && *count > room - fields) {
		*count = room - fields;
	}
	struct engine_points *command = add(
			canvas, ENGINE_POINTS, sizeof(*command), sizeof(struct gid_point), *count);
	if (command == NULL) {
		return NULL;
	}
	command->colour = colour;
	return (struct gid_point *)(void *)command->points;
}

int gid_list_points(struct gid_canvas *canvas, uint32_t colour, const struct gid_point *points,
		uint32_t count) {
	struct engine_points *command =
			add(canvas, ENGINE_POINTS, sizeof(*command), sizeof(*points), count);
	if (command != NULL) {
		command->colour = colour;
		memcpy(command->points, points, count * sizeof(*points));
	}
	return result(canvas);
}

int gid_list_lines(struct gid_canvas *canvas, uint32_t colour, double width,
		const struct gid_point *points, uint32_t count) {
	if (!(width >= 1.0 / 16 && width <= ENGINE_LINE_WIDTH_MAX / 16.0)) {
		return fail(canvas, -EINVAL, "a line is 1/16 to 256 pixels wide");
	}
	struct engine_lines *command =
			add(canvas, ENGINE_LINES, sizeof(*command), sizeof(*points), count);
	if (command != NULL) {
		command->colour = colour;
		command->width = (uint32_t)(width * 16);
		memcpy(command->points, points, count * sizeof(*points));
	}
	return result(canvas);
}

int gid_list_triangles(struct gid_canvas *canvas, uint32_t colour, const struct gid_point *points,
		uint32_t triangles) {
	struct engine_triangles *command = add(
			canvas, ENGINE_TRIANGLES, sizeof(*command), 3 * sizeof(*points), triangles);
	if (command != NULL) {
		command->colour = colour;
		memcpy(command->points, points, triangles * (3 * sizeof(*points)));
	}
	return result(canvas);
}

int gid_list_polygon(struct gid_canvas *canvas, uint32_t colour, bool winding,
		const struct gid_point *points, uint32_t count) {
	if (count > ENGINE_POLYGON_MAX) {
		return fail(canvas, -EINVAL, "a polygon has 4096 points at most");
	}
	struct engine_polygon *command =
			add(canvas, ENGINE_POLYGON, sizeof(*command), sizeof(*points), count);
	if (command != NULL) {
		command->colour = colour;
		command->rule = winding ? ENGINE_WINDING : ENGINE_EVEN_ODD;
		memcpy(command->points, points, count * sizeof(*points));
	}
	return result(canvas);
}

static bool is_source(const struct gid_box *box) {
	return box->x >= 0 && box->y >= 0 && box->x <= UINT16_MAX && box->y <= UINT16_MAX &&
			box->width >= 0 && box->height >= 0 && box->width <= UINT16_MAX &&
			box->height <= UINT16_MAX;
}

int gid_list_layer(struct gid_canvas *canvas, const struct gid_layer *layer) {
	const struct gid_box *source = &layer->source;
	bool whole = source->width == 0 || source->height == 0;
	if (!is_source(source)) {
		return fail(canvas, -EINVAL, "a layer's source is out of range");
	}
	struct engine_layer *command = add(canvas, ENGINE_LAYER, sizeof(*command), 0, 0);
	if (command == NULL) {
		return result(canvas);
	}
	command->op = layer->op == GID_OPERATOR_CLEAR ? ENGINE_OVER : layer->op;
	command->filter = layer->bilinear ? ENGINE_BILINEAR : ENGINE_NEAREST;
	command->transform = layer->transform;
	command->alpha = layer->alpha;
	command->gid_low = (uint32_t)layer->gid;
	command->gid_high = (uint32_t)(layer->gid >> 32);
	command->primaries = layer->colours.primaries;
	command->transfer = layer->colours.transfer;
	command->matrix = layer->colours.matrix;
	command->range = layer->colours.range;
	command->flags = layer->straight ? ENGINE_LAYER_STRAIGHT : 0;
	if (!whole) {
		command->source_x = (uint16_t)source->x;
		command->source_y = (uint16_t)source->y;
		command->source_width = (uint16_t)source->width;
		command->source_height = (uint16_t)source->height;
	}
	command->x = layer->box.x;
	command->y = layer->box.y;
	command->width = layer->box.width;
	command->height = layer->box.height;
	return 0;
}

int gid_list_masks(struct gid_canvas *canvas, uint32_t colour, gid_id gid,
		const struct gid_glyph *glyphs, uint32_t count) {
	struct engine_masks *command =
			add(canvas, ENGINE_MASKS, sizeof(*command), sizeof(*glyphs), count);
	if (command != NULL) {
		command->colour = colour;
		command->gid_low = (uint32_t)gid;
		command->gid_high = (uint32_t)(gid >> 32);
		memcpy(command->glyphs, glyphs, count * sizeof(*glyphs));
	}
	return result(canvas);
}

int gid_list_present(struct gid_canvas *canvas, bool discard, uint64_t pts) {
	struct engine_present *command = add(canvas, ENGINE_PRESENT, sizeof(*command), 0, 0);
	if (command != NULL) {
		command->flags = discard ? ENGINE_PRESENT_DISCARD : 0;
		command->pts_low = (uint32_t)pts;
		command->pts_high = (uint32_t)(pts >> 32);
	}
	return result(canvas);
}

int gid_list_submit(struct gid_canvas *canvas, uint64_t *fence) {
	if (canvas->words == NULL) {
		return canvas_fail(canvas, -EINVAL, "no list was begun");
	}
	int ret = canvas->error;
	if (ret == 0) {
		*(struct engine_list *)(void *)canvas->words = (struct engine_list){
				.magic = ENGINE_MAGIC,
				.words = canvas->count,
				.fence_low = (uint32_t)(canvas->fence + 1),
				.fence_high = (uint32_t)((canvas->fence + 1) >> 32),
		};
		ret = canvas_publish(canvas);
	}
	canvas->words = NULL;
	if (ret == 0 && fence != NULL) {
		*fence = canvas->fence;
	}
	return ret;
}

void canvas_expect(struct gid_canvas *canvas, gid_id gid) {
	if (canvas->words != NULL || !canvas_has_room(canvas) || gid_list_begin(canvas) < 0) {
		return;
	}
	struct engine_expect *command = add(canvas, ENGINE_EXPECT, sizeof(*command), 0, 0);
	if (command != NULL) {
		command->gid_low = (uint32_t)gid;
		command->gid_high = (uint32_t)(gid >> 32);
	}
	gid_list_submit(canvas, NULL);
}

int gid_canvas_compose(struct gid_canvas *canvas, const struct gid_layer *layers, uint32_t count,
		uint64_t *fence) {
	const struct gid_rectangle all = {
			0, 0, (uint16_t)canvas->options.width, (uint16_t)canvas->options.height};
	int ret = gid_list_begin(canvas);
	if (ret < 0) {
		return ret;
	}
	gid_list_fill(canvas, GID_OPERATOR_SRC, 0xff000000, &all, 1);
	for (uint32_t i = 0; i < count; i++) {
		gid_list_layer(canvas, &layers[i]);
	}
	gid_list_present(canvas, true, GID_TIME_NONE);
	return gid_list_submit(canvas, fence);
}
