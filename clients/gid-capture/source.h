// SPDX-License-Identifier: MIT
/*
 * A source of pictures: an output or a window of the compositor, by one of the capture protocols.
 *
 * A source first announces the form of its pictures, of any size. From then on its owner asks for
 * one picture at a time, into a wl_buffer of this form, and gets exactly one of `captured`,
 * `retry`, `asleep` and `ended`. A form that changes is announced again; a picture that was asked
 * for in the old one ends with `retry`.
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

/* What a wl_buffer for a picture must be like. */
struct source_form {
	uint32_t fourcc, width, height;
	uint32_t stride; // in bytes
	/* The alpha has no meaning, as for an output. */
	bool opaque;
};

/* A picture that was captured. */
struct source_picture {
	uint64_t time; // when it was shown, of CLOCK_MONOTONIC
	/* What changed since the last picture; empty: all of it, or unknown. */
	struct gid_box damage;
	uint32_t transform; // enum wl_output_transform
};

struct source_events {
	void (*form)(void *data, const struct source_form *form);
	void (*captured)(void *data, const struct source_picture *picture);
	void (*retry)(void *data);
	/*
	 * There is no picture now, nor a form if none was announced: until the owner calls
	 * `refresh`.
	 */
	void (*asleep)(void *data);
	/* There will be no more pictures. `why` is for messages. */
	void (*ended)(void *data, const char *why);
};

struct source {
	const struct source_interface *interface;
	const struct source_events *events;
	void *data;
	/* It waits until something has changed, and reports what. */
	bool knows_damage;
	/* It reports the transform of each picture; if not, the output's is used. */
	bool knows_transform;
	/* Its pictures have no pointer in them. */
	bool without_cursor;
};

struct source_interface {
	/*
	 * Asks for a picture in `buffer`, which must exist until the answer. `stale` is the part of
	 * the buffer that is older than the last picture; empty: all of it.
	 */
	void (*capture)(struct source *source, struct wl_buffer *buffer, struct gid_box stale);
	/* The present or next request is answered even if nothing has changed. */
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
