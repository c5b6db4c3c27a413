// SPDX-License-Identifier: MIT
/* Outputs by their names. */
#ifndef CLIENTS_OUTPUT_H
#define CLIENTS_OUTPUT_H

#include <wayland-client.h>

struct output {
	struct wl_output *base;
	uint32_t transform;	      // enum wl_output_transform, as the compositor said last
	struct output_search *search; // NULL: it is over
};

/*
 * The compositor's output of this name, as in HDMI-A-1, or NULL after saying on stderr which ones
 * there are. Waits for the compositor's answer, and dispatches nothing else meanwhile.
 */
struct output *output_find(struct wl_display *display, const char *name);

/* Before the connection ends. Accepts NULL. */
void output_release(struct output *output);

#endif
