// SPDX-License-Identifier: MIT
/**
 * Captures of one output, by Weston's own weston-output-capture: a Wayland client inside the
 * compositor's process. Requests for captures call Weston's code directly, so that one can be made
 * within a repaint; the answers arrive later, as events.
 *
 * Runs on the compositor's thread.
 */
#ifndef GID_WESTON_OUTPUT_CAPTURE_H
#define GID_WESTON_OUTPUT_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <wayland-server-core.h>

struct output_capture;
struct output_shot;

struct output_capture_events {
	/* Captures have this format of drm_fourcc.h and this size from now on. */
	void (*form)(void *data, uint32_t fourcc, int32_t width, int32_t height);
	/* There are no more captures: the output is gone, or the client was lost. */
	void (*ended)(void *data);
};

/* `name` is that of the output's head. Returns NULL without memory. */
struct output_capture *output_capture_create(struct wl_display *display, const char *name,
		const struct output_capture_events *events, void *data);

/* Its shots must be destroyed before. Accepts NULL. Not to be called within its events. */
void output_capture_destroy(struct output_capture *capture);

/* The client that Weston must authorise, and that owns the buffers. */
struct wl_client *output_capture_get_client(const struct output_capture *capture);

/* The answer to output_shot_take(). `taken`: the buffer has the picture. */
typedef void (*output_shot_answered_func)(void *data, bool taken);

/* One capture at a time. Returns NULL without memory. */
struct output_shot *output_shot_create(
		struct output_capture *capture, output_shot_answered_func answered, void *data);

/* Not to be called while it waits for an answer, except when the compositor ends. Accepts NULL. */
void output_shot_destroy(struct output_shot *shot);

/*
 * Requests a capture of the next repaint. That may have begun: to be called before the renderer
 * draws. `buffer` must stay until the answer. Returns false if Weston cannot be asked yet.
 */
bool output_shot_take(struct output_shot *shot, struct wl_resource *buffer);

#endif
