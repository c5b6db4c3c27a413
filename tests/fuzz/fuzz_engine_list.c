// SPDX-License-Identifier: MIT
/*
 * Any bytes as a list of commands: what is taken is drawn, within its canvas, from its sources.
 * What is put off and drawn together is, bit by bit, what is drawn at once.
 */
#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "drawing.h"
#include "fused_row.h"
#include "fuzz.h"
#include "list_reader.h"

#define WIDTH 72 /* enough for commands to be drawn together */
#define HEIGHT 16

/* Memory of its exact size: the sanitizer sees each byte beside it. */
static uint8_t *make(struct gid_layout *layout, uint32_t fourcc) {
	gid_layout_init(layout, fourcc, WIDTH, HEIGHT, 16);
	uint8_t *memory = aligned_alloc(16, gid_layout_size(layout));
	memset(memory, 0x5a, gid_layout_size(layout));
	return memory;
}

/* Ends what would only take long: then the two need not be the same. */
static bool go_on(void *data) {
	*(bool *)data = true;
	return false;
}

static void draw(struct drawing *drawing, const struct engine_head *head,
		const struct picture *pictures) {
	const struct engine_clip *clip = (const struct engine_clip *)head;
	const struct engine_layer *layer = (const struct engine_layer *)head;
	const struct engine_masks *masks = (const struct engine_masks *)head;
	switch (head->opcode) {
	case ENGINE_CLIP:
		demand(drawing_set_clip(drawing, clip->rectangles,
				       list_elements(clip, rectangles)) == 0);
		break;
	case ENGINE_FILL:
		drawing_fill(drawing, (const struct engine_fill *)head);
		break;
	case ENGINE_POINTS:
		drawing_points(drawing, (const struct engine_points *)head);
		break;
	case ENGINE_LINES:
		drawing_lines(drawing, (const struct engine_lines *)head);
		break;
	case ENGINE_TRIANGLES:
		drawing_triangles(drawing, (const struct engine_triangles *)head);
		break;
	case ENGINE_POLYGON:
		drawing_polygon(drawing, (const struct engine_polygon *)head);
		break;
	case ENGINE_LAYER:
		drawing_layer(drawing, layer, &pictures[layer->gid_low % 6]);
		break;
	case ENGINE_MASKS:
		drawing_masks(drawing, masks, &pictures[masks->gid_low % 6]);
		break;
	default:
		break;
	}
}

/* Returns whether it was ended. */
static bool draw_all(const struct gid_layout *layout, uint8_t *target, const uint32_t *words,
		uint32_t count, const struct picture *pictures, bool fuses) {
	struct drawing drawing;
	const struct engine_head *head;
	bool is_ended = false;
	drawing_init(&drawing);
	drawing.fuses = fuses;
	drawing.go_on = go_on;
	drawing.data = &is_ended;
	demand(drawing_begin(&drawing, layout, target) == 0);
	for (uint32_t at = 0; (head = list_next(words, count, &at)) != NULL;) {
		demand(at <= count);
		draw(&drawing, head, pictures);
	}
	demand(drawing_flush(&drawing) == 0 || is_ended);
	drawing_finish(&drawing);
	return is_ended;
}

static void draw_list(const struct gid_layout *layout, uint8_t *target, const uint32_t *words,
		uint32_t count, const struct picture *pictures) {
	struct list_mistake mistake = {0};
	int ret = list_check(words, count, &mistake);
	if (ret < 0) {
		demand(ret == -EINVAL && mistake.text != NULL);
		return;
	}
	const size_t size = gid_layout_size(layout);
	uint8_t *copy = malloc(size);
	memcpy(copy, target, size);
	const bool is_ended = draw_all(layout, copy, words, count, pictures, false);
	demand(draw_all(layout, target, words, count, pictures, fused_row_can()) || is_ended ||
			memcmp(copy, target, size) == 0);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static const uint32_t formats[] = {DRM_FORMAT_XRGB8888, DRM_FORMAT_RGB565, DRM_FORMAT_NV12,
			DRM_FORMAT_YUV420, DRM_FORMAT_YUYV, DRM_FORMAT_R8};
	static struct picture pictures[6];
	static uint8_t *targets[2];
	static struct gid_layout layouts[2];
	if (targets[0] == NULL) {
		for (int i = 0; i < 6; i++) {
			pictures[i].memory = make(&pictures[i].layout, formats[i]);
		}
		targets[0] = make(&layouts[0], DRM_FORMAT_ARGB8888);
		targets[1] = make(&layouts[1], DRM_FORMAT_RGB565);
	}
	static struct list_batch batch;
	const uint32_t header = sizeof(struct engine_batch) / 4;
	if (size < sizeof(struct engine_batch) + sizeof(struct engine_list) + 1) {
		return 0;
	}
	/* Chance hardly ever finds a header: most inputs get one of each. */
	size_t bytes = (size - 1) / 4 * 4;
	uint32_t *input = malloc(bytes);
	memcpy(input, data + 1, bytes);
	if (data[0] % 8 != 0) {
		struct engine_batch *shared = (void *)input;
		shared->magic = ENGINE_BATCH_MAGIC;
		shared->version = ENGINE_VERSION;
		shared->serial |= 1;
		shared->end = (uint32_t)(bytes / 4);
		((struct engine_list *)(void *)(input + header))->magic = ENGINE_MAGIC;
	}
	if (data[0] % 8 > 2) { /* one list */
		((struct engine_list *)(void *)(input + header))->words =
				(uint32_t)(bytes / 4) - header;
	}
	batch.serial = 0;
	struct list_mistake mistake = {0};
	const uint32_t *words = NULL;
	int ret = batch_begin(&batch, input, bytes, &mistake);
	for (int lists = 0; ret >= 0 && lists < 64; lists++) {
		ret = batch_next(&batch, &words, &mistake);
		if (ret <= 0) {
			break;
		}
		demand(ret <= (int)(bytes / 4 - header));
		draw_list(&layouts[data[0] >> 3 & 1], targets[data[0] >> 3 & 1], words,
				(uint32_t)ret, pictures);
		if (data[0] >> 4 & 1) { /* a writer that goes on, or does what it likes */
			struct engine_batch *shared = (void *)input;
			shared->end = data[1 + lists % (int)(size - 1)] * 4u % (bytes / 4 + 2);
		}
	}
	demand(ret != -EINVAL || mistake.text != NULL);
	free(input);
	return 0;
}
