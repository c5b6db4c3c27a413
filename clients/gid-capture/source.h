// SPDX-License-Identifier: MIT
/*
 * What pictures come from: an output or a window of the compositor, by one of the protocols that
 * compositors have for it.
 *
 * A source first tells the form that its pictures have. From then on its owner asks for one picture
 * at a time, into a wl_buffer of this form, and is answered by exactly one of `captured`, `retry`,
 * `asleep` and `ended`. A form that changes is told anew; a picture that was asked for in the old
 * one ends with `retry`.
 *
 * Events come while the display is dispatched, never from within a call.
 */
#ifndef GID_CAPTURE_SOURCE_H
#define GID_CAPTURE_SOURCE_H

#include <gid/stream.h>
#include <stdbool.h>
#include <stdint.h>
#include <wayland-client.h>

#include "screens.h"

/* What a wl_buffer must be that a picture is written to. */
struct source_form {
	uint32_t fourcc, width, height;
	uint32_t stride; // in bytes
	/* The alpha of an output says nothing: all of it is seen. */
	bool opaque;
};

/* A picture that was written. */
struct source_picture {
	uint64_t time; // when it was shown, of CLOCK_MONOTONIC
	/* What changed since the picture before; empty: all of it, or nobody knows. */
	struct gid_box damage;
	uint32_t transform; // enum wl_output_transform
};

struct source_events {
	void (*form)(void *data, const struct source_form *form);
	void (*captured)(void *data, const struct source_picture *picture);
	void (*retry)(void *data);
	/* There is none now, nor a form, if none was told yet: until a `refresh` after a while. */
	void (*asleep)(void *data);
	/* There will be no more. `why` is for people. */
	void (*ended)(void *data, const char *why);
};

struct source {
	const struct source_interface *interface;
	const struct source_events *events;
	void *data;
	/* After its first picture it waits until there is something new, and knows what. */
	bool knows_damage;
	/* Each picture tells how it is turned; else it is as the output is. */
	bool knows_transform;
};

struct source_interface {
	/*
	 * Asks for a picture in `buffer`, which stays until the answer. `stale` is the part of the
	 * buffer that is older than the last picture; empty: all of it.
	 */
	void (*capture)(struct source *source, struct wl_buffer *buffer, struct gid_box stale);
	/* The picture that is asked for next, or was, comes also if nothing has changed. */
	void (*refresh)(struct source *source);
	void (*destroy)(struct source *source);
};

/* What is to be captured: one output, or one window. */
struct source_subject {
	const struct screens_output *output;
	const struct screens_window *window; // NULL: the output
	bool cursor;			     // paint the pointer into it
};

/* Each returns NULL where the compositor does not have its protocol, or there is no memory. */
struct source *image_copy_source_create(const struct screens *screens,
		const struct source_subject *subject, const struct source_events *events,
		void *data);
struct source *screencopy_source_create(const struct screens *screens,
		const struct source_subject *subject, const struct source_events *events,
		void *data);
struct source *weston_source_create(const struct screens *screens,
		const struct source_subject *subject, const struct source_events *events,
		void *data);

#endif
