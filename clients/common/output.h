// SPDX-License-Identifier: MIT
/* Finds outputs by name, and watches them. */
#ifndef CLIENTS_OUTPUT_H
#define CLIENTS_OUTPUT_H

#include <wayland-client.h>

struct output {
	struct wl_output *base;
	uint32_t global;    // its name in the registry
	uint32_t transform; // enum wl_output_transform, as the compositor said last
	/* Called with its name; NULL: the name is known. */
	void (*named)(struct output *output, const char *name);
	void *data;	     // of `named`
	struct wl_list link; // output_watch.asked, until then
};

/*
 * Finds the compositor's output of this name, such as HDMI-A-1. NULL, after saying on stderr which
 * outputs there are. Waits for the compositor's answer, and dispatches nothing else meanwhile.
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

/*
 * Watches an output that is there now, and takes it over. `changed` is called when it goes, and
 * when it is back.
 */
void output_watch_init(struct output_watch *watch, struct wl_display *display, const char *name,
		struct output *output, void (*changed)(void *data), void *data);
void output_watch_finish(struct output_watch *watch);

#endif
