// SPDX-License-Identifier: MIT
/**
 * The display's touch panels, mice and keyboards, as the backends of wlroots have them: reads what
 * they say, and hands it to whoever is seen there (input_router.h). Devices of no use are not
 * listened to.
 */
#ifndef CLUSTER_PANELS_H
#define CLUSTER_PANELS_H

#include "display.h"
#include "input_router.h"

/* A backend that may have devices. */
struct panel_source {
	struct panels *panels; /* NULL: there is none, or it is gone */
	struct wl_listener new_input, destroy;
};

struct panels {
	struct display *display;
	struct input_router *router;
	uint32_t wanted;	/* enum input_devices: what anything takes */
	struct wl_list devices; /* struct panel.link */
	size_t count;
	uint64_t time; /* of the last event: never goes back */
	struct panel_source sources[2];
};

/* Before the display starts. `router` outlives it. */
void panels_init(struct panels *panels, struct display *display, struct input_router *router,
		uint32_t wanted);

/* Before the display is finished. Takes zeroes. */
void panels_finish(struct panels *panels);

#endif
