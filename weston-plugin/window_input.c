// SPDX-License-Identifier: MIT
#include "window_input.h"

#include <libweston/desktop.h>
#include <stdlib.h>

#include "cursor_stream.h"
#include "size_wish.h"
#include "stream_clipboard.h"
#include "stream_input.h"
#include "window_seat.h"

/* The interval at which a client can be asked to close its window. */
#define CLOSE_NS 1000000000ull

struct window_input {
	const struct forward *forward;
	struct weston_surface *window; /* NULL: none */
	struct window_seat *seat;
	struct stream_input *input;
	struct stream_clipboard *clipboard; /* NULL: it is not shared */
	struct cursor_stream *cursor;	    /* NULL: none */
	struct size_wish *size;		    /* NULL: the user cannot request a size */
	int32_t width, height;		    /* last requested size in pixels; 0: none */
	uint64_t closed;		    /* when it was last asked to close; 0: never */
};

static struct weston_desktop_surface *desktop_surface(const struct window_input *input) {
	return input->window != NULL && weston_surface_is_desktop_surface(input->window)
			? weston_surface_get_desktop_surface(input->window)
			: NULL;
}

/* --- its size --------------------------------------------------------------------------------- */

/* A window that has another size than requested chose that: it is not asked again. */
static bool handle_has_size(void *data, int32_t width, int32_t height) {
	const struct window_input *input = data;
	if (input->window == NULL) {
		return true;
	}
	if (input->width != 0) {
		return input->width == width && input->height == height;
	}
	struct gid_box seen = forward_get_seen(input->forward, input->window);
	int32_t scale = input->window->buffer_viewport.buffer.scale;
	return width / scale == seen.width && height / scale == seen.height;
}

/* The client has limits of its own, and chooses: Weston 14 does not tell them. */
static void handle_set_size(void *data, int32_t width, int32_t height) {
	struct window_input *input = data;
	struct weston_desktop_surface *window = desktop_surface(input);
	if (window == NULL) {
		return;
	}
	int32_t scale = input->window->buffer_viewport.buffer.scale;
	input->width = width;
	input->height = height;
	weston_desktop_surface_set_size(window, width / scale, height / scale);
}

static const struct sized sized = {.has_size = handle_has_size, .set_size = handle_set_size};

/* --- the user's input ------------------------------------------------------------------------- */

static void handle_event(void *data, const struct input_record *event) {
	const struct window_input *input = data;
	input_seat_handle(window_seat_get_base(input->seat), event);
	if (event->type == INPUT_GROUP_END) {
		cursor_stream_look(input->cursor);
	}
}

static void handle_devices(void *data, uint32_t devices) {
	const struct window_input *input = data;
	input_seat_set_devices(window_seat_get_base(input->seat), devices);
}

static void handle_size(void *data, uint32_t width, uint32_t height, uint32_t scale) {
	const struct window_input *input = data;
	if (input->size != NULL) {
		size_wish_make(input->size, width, height);
	}
}

static void handle_close(void *data) {
	struct window_input *input = data;
	struct weston_desktop_surface *window = desktop_surface(input);
	uint64_t now = gid_clock_now();
	if (window != NULL && (input->closed == 0 || now - input->closed >= CLOSE_NS)) {
		input->closed = now;
		weston_desktop_surface_close(window);
	}
}

static const struct input_sink input_sink = {
		.event = handle_event,
		.devices = handle_devices,
		.size = handle_size,
		.close = handle_close,
};

/* --- create and destroy ----------------------------------------------------------------------- */

void window_input_set_domain(struct window_input *input, struct gid_domain *domain) {
	if (input != NULL) {
		stream_input_set_domain(input->input, domain);
		stream_clipboard_set_domain(input->clipboard, domain);
		cursor_stream_set_domain(input->cursor, domain);
	}
}

void window_input_set_window(struct window_input *input, struct weston_surface *window) {
	if (input == NULL || input->window == window) {
		return;
	}
	stream_input_release(input->input);
	window_seat_set_window(input->seat, window);
	input->window = window;
	input->width = input->height = 0;
	input->closed = 0;
	if (window != NULL && input->size != NULL) {
		size_wish_repeat(input->size);
	}
}

static bool make_parts(struct window_input *input, struct weston_compositor *compositor,
		const struct safety_config *config) {
	const struct input_source *from = &config->input;
	input->seat = window_seat_create(compositor, from->stream, from->cursor, input->forward);
	input->input = stream_input_create(compositor, config->label, from, &input_sink, input);
	if (input->seat == NULL || input->input == NULL) {
		return false;
	}
	if (from->cursor) {
		input->cursor = cursor_stream_create(compositor, config->stream, CURSOR_ELSEWHERE);
		cursor_stream_set_seat(input->cursor,
				input_seat_get_base(window_seat_get_base(input->seat)));
	}
	if (config->width_max > 0) {
		input->size = size_wish_create(wl_display_get_event_loop(compositor->wl_display),
				(struct size_limits){config->width_max, config->height_max, 1},
				&sized, input);
	}
	if (from->has_clipboard) {
		struct input_seat *seat = window_seat_get_base(input->seat);
		input->clipboard = stream_clipboard_create(
				input_seat_get_base(seat), config->label, from);
	}
	return from->cursor == (input->cursor != NULL) &&
			from->has_clipboard == (input->clipboard != NULL) &&
			(input->size != NULL || config->width_max == 0);
}

struct window_input *window_input_create(struct weston_compositor *compositor,
		const struct safety_config *config, const struct forward *forward) {
	struct window_input *input = calloc(1, sizeof(*input));
	if (input == NULL) {
		return NULL;
	}
	input->forward = forward;
	if (!make_parts(input, compositor, config)) {
		window_input_destroy(input);
		return NULL;
	}
	return input;
}

void window_input_destroy(struct window_input *input) {
	if (input == NULL) {
		return;
	}
	stream_clipboard_destroy(input->clipboard);
	stream_input_destroy(input->input);
	size_wish_destroy(input->size);
	cursor_stream_destroy(input->cursor);
	window_seat_destroy(input->seat);
	free(input);
}
