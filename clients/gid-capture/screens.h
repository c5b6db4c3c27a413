// SPDX-License-Identifier: MIT
/* The outputs and windows of a compositor that can be captured, and the protocols for it. */
#ifndef GID_CAPTURE_SCREENS_H
#define GID_CAPTURE_SCREENS_H

#include <stdbool.h>
#include <stdint.h>
#include <wayland-client.h>

struct screens;

struct screens_output {
	struct wl_list link; // screens.outputs
	struct screens *screens;
	struct wl_output *output;
	uint32_t global;
	char *name; // NULL: the compositor tells none
	int32_t width, height;
	uint32_t transform; // enum wl_output_transform
};

/* A toplevel that ext-foreign-toplevel-list-v1 tells of. */
struct screens_window {
	struct wl_list link; // screens.windows
	struct screens *screens;
	struct ext_foreign_toplevel_handle_v1 *handle;
	char *identifier, *app_id, *title; // NULL: not told
	bool renamed;			   // since the last `done`
};

struct screens {
	struct wl_display *display;
	struct wl_registry *registry;
	struct wl_shm *shm;
	/* The protocols; NULL: the compositor does not have it. */
	struct ext_image_copy_capture_manager_v1 *image_copy;
	struct ext_output_image_capture_source_manager_v1 *output_sources;
	struct ext_foreign_toplevel_image_capture_source_manager_v1 *window_sources;
	struct ext_foreign_toplevel_list_v1 *window_list;
	struct zwlr_screencopy_manager_v1 *screencopy;
	struct weston_capture_v1 *weston;
	struct wl_list outputs, windows;
	/* An output came, and its name and size are known; also when these change. */
	void (*output_there)(void *data, struct screens_output *output);       // may be NULL
	void (*output_gone)(void *data, const struct screens_output *output);  // likewise
	void (*window_gone)(void *data, const struct screens_window *window);  // likewise
	void (*window_named)(void *data, const struct screens_window *window); // anew; likewise
	void *data;
};

/* Asks the compositor. Returns 0, or -1 after saying on stderr what is wrong. */
int screens_init(struct screens *screens, struct wl_display *display);
void screens_finish(struct screens *screens);

/*
 * The output of this name; NULL: the only one. Returns NULL after saying on stderr which there are.
 */
struct screens_output *screens_find_output(struct screens *screens, const char *name);

/*
 * The window with this identifier, or else the only one with this application id or title. Returns
 * NULL after saying on stderr which there are.
 */
struct screens_window *screens_find_window(struct screens *screens, const char *words);

/*
 * Writes a line for each output and window to stdout, with the protocol by which it can be
 * captured.
 */
void screens_print(const struct screens *screens);

#endif
