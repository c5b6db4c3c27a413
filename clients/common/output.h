// SPDX-License-Identifier: MIT
/* Outputs by their names. */
#ifndef CLIENTS_OUTPUT_H
#define CLIENTS_OUTPUT_H

#include <wayland-client.h>

struct output {
	struct wl_output *base;
	uint32_t global;    // its name in the registry
	uint32_t transform; // enum wl_output_transform, as the compositor said last
	/* What it is called; NULL: that is known. */
	void (*named)(struct output *output, const char *name);
	void *data;	     // of `named`
	struct wl_list link; // output_watch.asked, until then
};

/*
 * The compositor's output of this name, as in HDMI-A-1, or NULL after saying on stderr which ones
 * there are. Waits for the compositor's answer, and dispatches nothing else meanwhile.
 */
struct output *output_find(struct wl_display *display, const char *name);

/* Before the connection ends. Accepts NULL. */
void output_release(struct output *output);

/* An output that may go, and come back under the same name. Zeroes: none is watched. */
struct output_watch {
	struct wl_registry *registry;
	const char *name;
	struct output *output; // NULL: it is not there now
	struct wl_list asked;  // struct output.link: others, until they are named
	void (*changed)(void *data);
	void *data;
};

/* Takes the output over, which is there now. `changed` is called when it has gone, or is back. */
void output_watch_init(struct output_watch *watch, struct wl_display *display, const char *name,
		struct output *output, void (*changed)(void *data), void *data);
void output_watch_finish(struct output_watch *watch);

#endif
