// SPDX-License-Identifier: MIT
/** The device and the screens that are shown on its outputs. */
#ifndef CLUSTER_DISPLAY_H
#define CLUSTER_DISPLAY_H

#include "screen.h"

struct display {
	struct wl_event_loop *loop;
	struct device device;
	struct screen *screens; /* one for each output of the configuration */
	size_t screen_count;	/* of those that are initialised; the first is always */
	const struct cluster_config *config;
	bool ends;	      /* the event loop */
	bool failed;	      /* it ends because of its device */
	struct wl_list parts; /* struct device_part: backends that may have outputs */
	struct wl_listener backend_destroy, renderer_lost, new_output;
};

/*
 * `headless`: without a device; each output of the configuration is there then, with its name. The
 * hooks, `data` and `config` outlive the display.
 */
int display_init(struct display *display, struct wl_event_loop *loop, bool headless,
		const struct cluster_config *config, const struct screen_hooks *hooks, void *data);
int display_start(struct display *display);
void display_finish(struct display *display);

/* Time passed, a refresh of the screen that has most of them. */
void display_tick(struct display *display, uint64_t now);

/* Of all screens together, for one thread composes them, in ns; 0 where nothing is known of that.
 */
uint64_t display_worst_frame_ns(const struct display *display);

/* Of the screen that is refreshed most often, in ns. */
uint64_t display_refresh_ns(const struct display *display);

#endif
