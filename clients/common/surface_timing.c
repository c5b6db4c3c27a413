// SPDX-License-Identifier: MIT
#include "surface_timing.h"

#include "commit-timing-v1-client-protocol.h"
#include "fifo-v1-client-protocol.h"

void surface_timing_init(struct surface_timing *timing, const struct wayland *wayland,
		struct wl_surface *surface, bool each, bool timed) {
	*timing = (struct surface_timing){.wayland = wayland};
	if (each && wayland->fifo != NULL) {
		timing->fifo = wp_fifo_manager_v1_get_fifo(wayland->fifo, surface);
	}
	if (timed && wayland->commit_timing != NULL && (!each || timing->fifo != NULL)) {
		timing->timer = wp_commit_timing_manager_v1_get_timer(
				wayland->commit_timing, surface);
	}
}

void surface_timing_finish(struct surface_timing *timing) {
	if (timing->timer != NULL) {
		wp_commit_timer_v1_destroy(timing->timer);
	}
	if (timing->fifo != NULL) {
		wp_fifo_v1_destroy(timing->fifo);
	}
	*timing = (struct surface_timing){0};
}

bool surface_timing_queues(const struct surface_timing *timing) {
	return timing->fifo != NULL || timing->timer != NULL;
}

void surface_timing_set(struct surface_timing *timing, uint64_t time) {
	if (timing->fifo != NULL) {
		wp_fifo_v1_wait_barrier(timing->fifo);
		wp_fifo_v1_set_barrier(timing->fifo);
	}
	if (timing->timer != NULL && time != 0) {
		uint64_t there = wayland_presentation_time(timing->wayland, time);
		uint64_t seconds = there / 1000000000;
		wp_commit_timer_v1_set_timestamp(timing->timer, (uint32_t)(seconds >> 32),
				(uint32_t)seconds, (uint32_t)(there % 1000000000));
	}
}
