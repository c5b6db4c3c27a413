// SPDX-License-Identifier: MIT
/** Differences between the supported versions of wlroots: 0.18, 0.19 and 0.20. */
#ifndef GID_WLROOTS_VERSIONS_H
#define GID_WLROOTS_VERSIONS_H

#include <wlr/interfaces/wlr_buffer.h>
#include <wlr/render/swapchain.h>
#include <wlr/types/wlr_output.h>
#include <wlr/types/wlr_scene.h>
#include <wlr/version.h>

#define WLROOTS_VERSION (WLR_VERSION_MAJOR * 1000 + WLR_VERSION_MINOR)

#if WLROOTS_VERSION < 19

/* In 0.18 nothing has to be finished: the destruction of an output already did it. */
static inline void wlr_buffer_finish(struct wlr_buffer *buffer) {
}

static inline void wlr_output_finish(struct wlr_output *output) {
}

static inline bool wlr_scene_output_needs_frame(struct wlr_scene_output *scene_output) {
	return scene_output->output->needs_frame ||
			pixman_region32_not_empty(&scene_output->pending_commit_damage);
}

static inline struct wlr_buffer *swapchain_acquire(struct wlr_swapchain *swapchain) {
	return wlr_swapchain_acquire(swapchain, NULL);
}

/* When the frame was presented; NULL: the backend does not know. */
static inline const struct timespec *presented_at(const struct wlr_output_event_present *event) {
	return event->when;
}

/* `when` must live as long as the event. */
static inline void set_presented_at(struct wlr_output_event_present *event, struct timespec *when) {
	event->when = when;
}

#else

static inline struct wlr_buffer *swapchain_acquire(struct wlr_swapchain *swapchain) {
	return wlr_swapchain_acquire(swapchain);
}

static inline const struct timespec *presented_at(const struct wlr_output_event_present *event) {
	return &event->when;
}

static inline void set_presented_at(struct wlr_output_event_present *event, struct timespec *when) {
	event->when = *when;
}

#endif

#endif
