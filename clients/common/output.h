// SPDX-License-Identifier: MIT
/* An output that is known by its name, may go, and come back under the same name. */
#ifndef CLIENTS_OUTPUT_H
#define CLIENTS_OUTPUT_H

#include <stdbool.h>
#include <wayland-client.h>

struct output {
	struct wl_output *base;
	uint32_t global;    // its name in the registry
	uint32_t transform; // enum wl_output_transform, as the compositor said last
	struct output_watch *watch;
	bool is_named;
	struct wl_list link; // output_watch.asked, until then
};

/* Zeroes: none is watched. */
struct output_watch {
	struct wl_registry *registry;
	const char *name;
	struct output *output; // NULL: it is not there now
	struct wl_list asked;  // struct output.link: others, until they are named
	char *others;	       // while it is searched for: the names of the rest
	void (*changed)(void *data);
	void *data;
};

/*
 * Finds the compositor's output of this name, such as HDMI-A-1, and watches it: `changed` is called
 * when it goes, and when it is back. Waits for the compositor's answer as display_roundtrip(), and
 * dispatches nothing else meanwhile. Returns 0, or -1 after saying on stderr which outputs there
 * are; then none is watched. `watch` must not move.
 */
int output_watch_init(struct output_watch *watch, struct wl_display *display, const char *name,
		void (*changed)(void *data), void *data);

/* Before the connection ends. Accepts zeroes. */
void output_watch_finish(struct output_watch *watch);

#endif
