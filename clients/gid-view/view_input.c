// SPDX-License-Identifier: MIT
#include "view_input.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/deadline.h"

#define AGAIN_NS 1000000000ull
#define ACCURACY_US 1000

/* --- the sender ------------------------------------------------------------------------------- */

/* To be called after anything that may change the next deadline. */
static void input_arm(struct view_input *input) {
	if (input->sender != NULL) {
		uint64_t sender = input_sender_deadline(input->sender);
		uint64_t seats = seats_deadline(&input->seats);
		deadline_set(input->timer, sender < seats ? sender : seats);
	}
}

/* Another window may have the stream until it is closed; or gidd is away. Reported once. */
static void input_try_again(struct view_input *input, int error) {
	const char *why = error == -EEXIST ? "another program of this domain sends it"
					   : gid_domain_error(input->domain);
	input_sender_destroy(input->sender);
	input->sender = NULL;
	if (error != input->told) {
		warnx("no input: %s: %s", input->stream,
				why[0] != '\0' ? why : gid_strerror(error));
		input->told = error;
	}
	deadline_set(input->timer, gid_clock_now() + AGAIN_NS);
}

static void sender_published(void *data, int error) {
	struct view_input *input = data;
	if (error != 0) {
		input_try_again(input, error);
	} else {
		input->told = 0;
		input_arm(input);
	}
}

static void sender_readers(void *data, uint32_t readers) {
	struct view_input *input = data;
	if (readers > 1 && readers > input->readers) {
		warnx("%s is taken by %u programs, and each of them plays it", input->stream,
				readers);
	} else if ((readers > 0) != (input->readers > 0)) {
		warnx("%s %s", input->stream, readers > 0 ? "is taken" : "is taken by nobody now");
	}
	input->readers = readers;
}

static const struct input_sender_events sender_events = {
		.published = sender_published,
		.readers = sender_readers,
};

static void input_send_size(struct view_input *input) {
	input_sender_set_size(input->sender, (uint32_t)input->width, (uint32_t)input->height,
			(uint32_t)input->scale);
}

static void input_begin(struct view_input *input) {
	int error = input_sender_create(input->domain, input->stream, input->lease_ms,
			&sender_events, input, &input->sender);
	if (error != 0) {
		input_try_again(input, error);
		return;
	}
	input_sender_set_devices(input->sender, input->devices);
	input_sender_set_keymap(input->sender, input->keymap);
	input_send_size(input);
}

static int handle_timer(sd_event_source *source, uint64_t time, void *data) {
	struct view_input *input = data;
	seats_dispatch(&input->seats, gid_clock_now());
	if (input->sender == NULL) {
		input_begin(input);
	} else {
		input_sender_dispatch(input->sender);
	}
	input_arm(input);
	return 0;
}

/* --- the seats -------------------------------------------------------------------------------- */

/* The clipboard is that of the first one. */
static bool has_clipboard(const struct view_input *input, const struct seat *seat) {
	return seat->base == input->clipboard.seat;
}

static bool is_press(const struct input_record *event) {
	bool is_switch = event->type == INPUT_KEY || event->type == INPUT_BUTTON ||
			event->type == INPUT_PEN_BUTTON;
	return (is_switch && event->value != 0) || event->type == INPUT_TOUCH_DOWN;
}

static void seat_event(void *data, const struct seat *seat, const struct input_record *event) {
	struct view_input *input = data;
	if (is_press(event) && seat->focused && has_clipboard(input, seat)) {
		view_clipboard_pressed(&input->clipboard, seat->serial);
	}
	if (input->sender != NULL) {
		input_sender_add(input->sender, event);
	}
}

static void seat_group(void *data) {
	struct view_input *input = data;
	if (input->sender != NULL) {
		input_sender_flush(input->sender);
		input_arm(input);
	}
}

static void seat_bound(void *data) {
	struct view_input *input = data;
	view_clipboard_set_seat(&input->clipboard, seats_first(&input->seats));
}

static void seat_gone(void *data, struct wl_seat *base) {
	struct view_input *input = data;
	if (base == input->clipboard.seat) {
		view_clipboard_set_seat(&input->clipboard, NULL);
		view_clipboard_set_seat(&input->clipboard, seats_first(&input->seats));
	}
}

static void seat_focus(void *data, const struct seat *seat) {
	struct view_input *input = data;
	if (!seat->focused && has_clipboard(input, seat)) {
		view_clipboard_left(&input->clipboard);
	}
	input_arm(input);
}

static void seat_lost(void *data, const struct input_held *held) {
	struct view_input *input = data;
	if (input->sender != NULL) {
		input_sender_release(input->sender, held);
		input_arm(input);
	}
}

static void seat_devices_changed(void *data) {
	struct view_input *input = data;
	uint32_t devices = seats_devices(&input->seats);
	if (!(devices & INPUT_KEYBOARD)) {
		view_clipboard_left(&input->clipboard);
	}
	input->devices = devices;
	if (input->sender != NULL) {
		input_sender_set_devices(input->sender, devices);
		seat_group(input);
	}
}

static void seat_keymap(void *data, const char *text) {
	struct view_input *input = data;
	free(input->keymap);
	input->keymap = text != NULL ? strdup(text) : NULL;
	if (input->sender != NULL) {
		input_sender_set_keymap(input->sender, input->keymap);
		seat_group(input);
	}
}

static const struct seat_events seat_events = {
		.event = seat_event,
		.group = seat_group,
		.bound = seat_bound,
		.gone = seat_gone,
		.focus = seat_focus,
		.lost = seat_lost,
		.devices = seat_devices_changed,
		.keymap = seat_keymap,
};

/* --- the window ------------------------------------------------------------------------------- */

void view_input_set_size(struct view_input *input, int32_t width, int32_t height, int32_t scale) {
	bool sendable = width > 0 && height > 0 && width <= (int32_t)INPUT_SIZE_MAX &&
			height <= (int32_t)INPUT_SIZE_MAX;
	input->width = sendable ? width : 0;
	input->height = sendable ? height : 0;
	input->scale = sendable ? scale : 0;
	if (input->sender != NULL) {
		input_send_size(input);
		input_sender_flush(input->sender);
		input_arm(input);
	}
}

bool view_input_close(struct view_input *input) {
	if (input->sender == NULL || input->readers == 0) {
		return false;
	}
	input_sender_close(input->sender);
	input_sender_flush(input->sender);
	input_arm(input);
	return true;
}

/* --- create and destroy ----------------------------------------------------------------------- */

static void cursor_changed(void *data) {
	struct view_input *input = data;
	seats_cursor_changed(&input->seats);
}

void view_input_dispatch(struct view_input *input) {
	cursor_receive(&input->cursor);
}

int view_input_init(struct view_input *input, sd_event *event, struct wayland *wayland,
		const struct window *window, struct gid_domain *domain, const char *owner,
		const struct options *options) {
	*input = (struct view_input){.event = event,
			.domain = domain,
			.lease_ms = options->lease_ms,
			.place = {.wayland = wayland,
					.window = window,
					.cursor = &input->cursor,
					.seats = &input->seats.list,
					.release_key = options->grab_key,
					.events = &seat_events,
					.data = input}};
	if (!input_stream_name(input->stream, options->stream)) {
		warnx("--input: the stream's name is too long: 57 bytes at most");
		return -1;
	}
	int result = sd_event_add_time_relative(
			event, &input->timer, CLOCK_MONOTONIC, 0, ACCURACY_US, handle_timer, input);
	if (result < 0) {
		warnx("event loop: %s", strerror(-result));
		return -1;
	}
	if (options->clipboard &&
			view_clipboard_init(&input->clipboard, event, wayland, domain, owner,
					options->stream) < 0) {
		return -1;
	}
	if (cursor_init(&input->cursor, event, wayland, &window->scale, domain, owner,
			    options->stream) < 0) {
		return -1;
	}
	seats_init(&input->seats, &input->place);
	input->cursor.changed = cursor_changed;
	input->cursor.data = input;
	return 0;
}

void view_input_finish(struct view_input *input) {
	seats_finish(&input->seats);
	view_clipboard_finish(&input->clipboard);
	cursor_finish(&input->cursor);
	input_sender_destroy(input->sender);
	sd_event_source_disable_unref(input->timer);
	free(input->keymap);
	*input = (struct view_input){0};
}
