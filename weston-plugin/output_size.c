// SPDX-License-Identifier: MIT
#include "output_size.h"

#include <gid/gid.h>
#include <stdlib.h>

#include "virtual_output.h"

/* Shells lay out nothing useful below. */
#define SIDE_MIN 64u
#define INTERVAL_NS 200000000ull
/* How long until readers are asked again for the pictures of before. */
#define AGAIN_MS 20
#define MS_NS 1000000ull

struct output_size {
	struct weston_output *output;
	const struct output_config *config;
	struct output_stream *stream;
	struct wl_event_source *timer;
	struct weston_mode mode; /* Weston refers to it, once the output had another size */
	int32_t width, height;	 /* as wished, within bounds */
	uint64_t granted;	 /* when the output got its size; 0: at its start */
	bool waits;		 /* for the timer */
};

/* The side of a picture that is granted: within bounds, and a multiple of the scale. */
static int32_t bound_side(uint32_t wish, int32_t max, int32_t scale) {
	int32_t side = wish < (uint32_t)max ? (int32_t)wish : max;
	if (side < (int32_t)SIDE_MIN) {
		side = max < (int32_t)SIDE_MIN ? max : (int32_t)SIDE_MIN;
	}
	return side - side % scale;
}

static bool size_is_right(const struct output_size *size) {
	const struct weston_mode *mode = size->output->current_mode;
	return mode->width == size->width && mode->height == size->height;
}

static void size_wait(struct output_size *size, int ms) {
	size->waits = true;
	wl_event_source_timer_update(size->timer, ms);
}

static void size_grant(struct output_size *size) {
	size->granted = gid_clock_now();
	size->mode = *size->output->current_mode;
	size->mode.width = size->width;
	size->mode.height = size->height;
	virtual_output_resize(size->output, &size->mode);
}

static int handle_timer(void *data) {
	struct output_size *size = data;
	size->waits = false;
	if (size_is_right(size)) {
		return 0;
	}
	if (output_stream_is_idle(size->stream)) {
		size_grant(size);
	} else {
		size_wait(size, AGAIN_MS);
	}
	return 0;
}

void output_size_wish(struct output_size *size, uint32_t width, uint32_t height) {
	const struct output_config *config = size->config;
	size->width = bound_side(width, config->width_max, config->scale);
	size->height = bound_side(height, config->height_max, config->scale);
	if (size->waits || size_is_right(size)) {
		return;
	}
	uint64_t passed = gid_clock_now() - size->granted;
	size_wait(size, passed < INTERVAL_NS ? (int)((INTERVAL_NS - passed) / MS_NS) + 1 : 1);
}

struct output_size *output_size_create(struct weston_output *output,
		const struct output_config *config, struct output_stream *stream) {
	struct output_size *size = calloc(1, sizeof(*size));
	if (size == NULL) {
		return NULL;
	}
	size->output = output;
	size->config = config;
	size->stream = stream;
	size->timer = wl_event_loop_add_timer(
			wl_display_get_event_loop(output->compositor->wl_display), handle_timer,
			size);
	if (size->timer == NULL) {
		free(size);
		return NULL;
	}
	return size;
}

void output_size_destroy(struct output_size *size) {
	if (size != NULL) {
		wl_event_source_remove(size->timer);
		free(size);
	}
}
