// SPDX-License-Identifier: MIT
#include "output_size.h"

#include <input_format.h>
#include <stdlib.h>

#include "size_wish.h"
#include "virtual_output.h"

struct output_size {
	struct weston_output *output;
	struct output_stream *stream;
	struct size_wish *wish;
	bool scale_follows;
	int32_t scale;		 /* that the output has to get */
	struct weston_mode mode; /* Weston keeps a pointer to it once the output was resized */
};

static bool handle_has_size(void *data, int32_t width, int32_t height) {
	const struct output_size *size = data;
	const struct weston_mode *mode = size->output->current_mode;
	return mode->width == width && mode->height == height &&
			size->output->current_scale == size->scale;
}

static bool handle_is_ready(void *data) {
	const struct output_size *size = data;
	return output_stream_is_idle(size->stream);
}

static void handle_set_size(void *data, int32_t width, int32_t height) {
	struct output_size *size = data;
	size->mode = *size->output->current_mode;
	size->mode.width = width;
	size->mode.height = height;
	virtual_output_resize(size->output, &size->mode, size->scale);
}

static const struct sized sized = {
		.has_size = handle_has_size,
		.is_ready = handle_is_ready,
		.set_size = handle_set_size,
};

/* Outputs of Weston have whole scales: returns the nearest one. */
static int32_t whole_scale(uint32_t scale) {
	int32_t whole = (int32_t)((scale + INPUT_SCALE_ONE / 2) / INPUT_SCALE_ONE);
	return whole < 1 ? 1 : whole > OUTPUT_SCALE_MAX ? OUTPUT_SCALE_MAX : whole;
}

void output_size_wish(struct output_size *size, uint32_t width, uint32_t height, uint32_t scale) {
	if (size->scale_follows) {
		size->scale = whole_scale(scale);
		size_wish_set_step(size->wish, size->scale);
	}
	size_wish_make(size->wish, width, height);
}

struct output_size *output_size_create(struct weston_output *output,
		const struct output_config *config, struct output_stream *stream) {
	struct output_size *size = calloc(1, sizeof(*size));
	if (size == NULL) {
		return NULL;
	}
	size->output = output;
	size->stream = stream;
	size->scale_follows = config->scale_follows;
	size->scale = config->scale;
	size->wish = size_wish_create(wl_display_get_event_loop(output->compositor->wl_display),
			(struct size_limits){config->width_max, config->height_max, config->scale},
			&sized, size);
	if (size->wish == NULL) {
		free(size);
		return NULL;
	}
	return size;
}

void output_size_destroy(struct output_size *size) {
	if (size != NULL) {
		size_wish_destroy(size->wish);
		free(size);
	}
}
