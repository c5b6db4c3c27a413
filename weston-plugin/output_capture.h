// SPDX-License-Identifier: MIT
/**
 * The pictures of one output, by Weston's own weston-output-capture: a Wayland client inside the
 * compositor's process. What it asks for is asked of Weston's code directly, so that a picture can
 * be asked for in the middle of a repaint; the answers come as events, later.
 *
 * Belongs to the compositor's thread.
 */
#ifndef GID_WESTON_OUTPUT_CAPTURE_H
#define GID_WESTON_OUTPUT_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <wayland-server-core.h>

struct output_capture;
struct output_shot;

struct output_capture_events {
	/* Pictures have this format of drm_fourcc.h and size from now on. */
	void (*form)(void *data, uint32_t fourcc, int32_t width, int32_t height);
	/* There will be no more: the output is gone, or the client was lost. */
	void (*ended)(void *data);
};

/* `name` is that of the output's head. NULL for want of memory. */
struct output_capture *output_capture_create(struct wl_display *display, const char *name,
		const struct output_capture_events *events, void *data);

/* Its shots must be gone. Accepts NULL. Not from within its events. */
void output_capture_destroy(struct output_capture *capture);

/* To whom Weston must give pictures, and who owns the buffers for them. */
struct wl_client *output_capture_get_client(const struct output_capture *capture);

/* The answer to output_shot_take(). `taken`: the picture is in the buffer. */
typedef void (*output_shot_answered_func)(void *data, bool taken);

/* One picture at a time. NULL for want of memory. */
struct output_shot *output_shot_create(
		struct output_capture *capture, output_shot_answered_func answered, void *data);

/* Not while it waits for an answer, but at the compositor's end. Accepts NULL. */
void output_shot_destroy(struct output_shot *shot);

/*
 * Asks for the picture of the next repaint, which may have begun: to be called before it draws.
 * `buffer` stays until the answer. Returns false where that cannot be asked yet.
 */
bool output_shot_take(struct output_shot *shot, struct wl_resource *buffer);

#endif
