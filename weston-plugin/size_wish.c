// SPDX-License-Identifier: MIT
#include "size_wish.h"

#include <gid/gid.h>
#include <stdlib.h>

/* The delay until `is_ready` is called again. */
#define AGAIN_MS 20
#define MS_NS 1000000ull

struct size_wish {
	struct size_limits limits;
	const struct sized *sized;
	void *data;
	struct wl_event_source *timer;
	int32_t width, height; /* the last request, within the limits; 0: none */
	uint64_t granted;      /* when one was granted; 0: never */
	bool waits;	       /* the timer is armed */
};

static bool wish_is_granted(const struct size_wish *wish) {
	return wish->sized->has_size(wish->data, wish->width, wish->height);
}

static void wish_wait(struct size_wish *wish, int ms) {
	wish->waits = true;
	wl_event_source_timer_update(wish->timer, ms);
}

static int handle_timer(void *data) {
	struct size_wish *wish = data;
	wish->waits = false;
	if (wish_is_granted(wish)) {
		return 0;
	}
	if (wish->sized->is_ready != NULL && !wish->sized->is_ready(wish->data)) {
		wish_wait(wish, AGAIN_MS);
		return 0;
	}
	wish->granted = gid_clock_now();
	wish->sized->set_size(wish->data, wish->width, wish->height);
	return 0;
}

void size_wish_repeat(struct size_wish *wish) {
	if (wish->width == 0 || wish->waits || wish_is_granted(wish)) {
		return;
	}
	uint64_t passed = gid_clock_now() - wish->granted;
	uint64_t rest = passed < SIZE_INTERVAL_NS ? SIZE_INTERVAL_NS - passed : 0;
	wish_wait(wish, (int)(rest / MS_NS) + 1);
}

void size_wish_set_step(struct size_wish *wish, int32_t step) {
	wish->limits.step = step;
}

void size_wish_make(struct size_wish *wish, uint32_t width, uint32_t height) {
	wish->width = size_limits_bound(width, wish->limits.width, wish->limits.step);
	wish->height = size_limits_bound(height, wish->limits.height, wish->limits.step);
	size_wish_repeat(wish);
}

struct size_wish *size_wish_create(struct wl_event_loop *loop, struct size_limits limits,
		const struct sized *sized, void *data) {
	struct size_wish *wish = calloc(1, sizeof(*wish));
	if (wish == NULL) {
		return NULL;
	}
	*wish = (struct size_wish){.limits = limits, .sized = sized, .data = data};
	wish->timer = wl_event_loop_add_timer(loop, handle_timer, wish);
	if (wish->timer == NULL) {
		free(wish);
		return NULL;
	}
	return wish;
}

void size_wish_destroy(struct size_wish *wish) {
	if (wish != NULL) {
		wl_event_source_remove(wish->timer);
		free(wish);
	}
}
