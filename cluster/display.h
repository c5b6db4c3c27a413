// SPDX-License-Identifier: MIT
/**
 * The output: composes the scene, has what was composed checked before it is shown, shows it, and
 * counts.
 */
#ifndef CLUSTER_DISPLAY_H
#define CLUSTER_DISPLAY_H

#include "cluster_config.h"
#include "device.h"
#include "frame_clock.h"
#include "own_picture.h"
#include "pixels.h"
#include "samples.h"
#include <wlr/types/wlr_output_layout.h>
#include <wlr/types/wlr_scene.h>

struct display_hooks {
	/* A frame is about to be composed. */
	void (*begin)(void *data, uint64_t now);
	/* Returns whether `composed` may be shown; if not, it is composed once more. */
	bool (*check)(void *data, const struct pixels *composed, uint64_t now);
	void (*presented)(void *data, uint32_t commit, uint64_t when);
};

struct display_stats {
	uint64_t started, frames, missed;
	uint64_t last, longest_gap_ns; /* between two frames in a row */
	/* composing with the checks: all frames together, the slowest, the last ones */
	uint64_t compose_ns, compose_max_ns;
	struct samples compose;
};

struct display {
	struct wl_display *wayland;
	struct device device;
	struct wlr_scene *scene;
	struct wlr_scene_tree *clients, *safety; /* the second above the first */
	struct wlr_output_layout *layout;
	struct wlr_scene_output_layout *scene_layout;
	struct wlr_output *output; /* NULL: there is none now */
	struct wlr_scene_output *scene_output;
	struct own_picture *background; /* below everything; NULL: none */
	struct wlr_buffer *front;	/* what was shown last, locked */
	const struct cluster_config *config;
	const struct display_hooks *hooks;
	void *data;
	struct display_stats stats;
	struct frame_clock clock;
	int timer; /* for the next frame */
	struct wl_event_source *timer_source;
	bool failed; /* the device is gone, and the event loop ends */
	struct wl_listener backend_destroy, renderer_lost;
	struct wl_listener new_output, frame, present, request_state, output_destroy;
};

/* `headless`: without a screen. The hooks, `data` and `config` outlive the display. */
int display_init(struct display *display, struct wl_display *wayland, bool headless,
		const struct cluster_config *config, const struct display_hooks *hooks, void *data);
int display_start(struct display *display);
void display_finish(struct display *display);

/* The number of the commit that will be next. Never 0. */
uint32_t display_next_commit(const struct display *display);

/* A copy of what the output shows in the box. NULL: it is not on the output, or there is none. */
struct own_picture *display_capture(struct display *display, const struct gid_box *box);

/* How long a picture stays at least, in ns. */
uint64_t display_refresh_ns(const struct display *display);

#endif
