// SPDX-License-Identifier: MIT
#include "stream_input.h"

#include <input_receiver.h>
#include <stdlib.h>

#define AGAIN_MS 1000
#define MS_NS 1000000ull

struct stream_input {
	const char *label;
	const struct input_source *from;
	const struct input_sink *sink;
	void *data;
	struct weston_log_pacer pacer;
	struct gid_domain *domain;	 /* NULL: none */
	struct input_receiver *receiver; /* NULL: the timer creates it */
	struct wl_event_loop *loop;
	struct wl_event_source *source, *timer;
	struct input_receiver_events events;
};

#define paced_log(input, ...) weston_log_paced(&(input)->pacer, 30, 60000, __VA_ARGS__)

/* --- events of the receiver ------------------------------------------------------------------- */

static void handle_event(void *data, const struct input_record *event) {
	const struct stream_input *input = data;
	input->sink->event(input->data, event);
}

static void handle_devices(void *data, uint32_t devices) {
	const struct stream_input *input = data;
	input->sink->devices(input->data, devices);
}

static void handle_size(void *data, uint32_t width, uint32_t height, uint32_t scale) {
	const struct stream_input *input = data;
	if (input->sink->size != NULL) {
		input->sink->size(input->data, width, height, scale);
	}
}

static void handle_close(void *data) {
	const struct stream_input *input = data;
	if (input->sink->close != NULL) {
		input->sink->close(input->data);
	}
}

static void handle_woken(void *data) {
	const struct stream_input *input = data;
	wl_event_source_timer_update(input->timer, 1);
}

static void handle_sender_changed(void *data, bool is_there, const char *why) {
	struct stream_input *input = data;
	paced_log(input, "gid: %s: %s of domain %s %s%s%s\n", input->label, input->from->stream,
			input->from->domain, is_there ? "is there" : "is not there",
			why != NULL ? ": " : "", why != NULL ? why : "");
}

static const struct input_receiver_events receiver_events = {
		.sink = {.event = handle_event,
				.devices = handle_devices,
				.size = handle_size,
				.close = handle_close},
		.woken = handle_woken,
		.sender_changed = handle_sender_changed,
};

/* --- the event loop --------------------------------------------------------------------------- */

static void input_arm(struct stream_input *input) {
	uint64_t deadline = input_receiver_deadline(input->receiver);
	uint64_t now = gid_clock_now();
	int ms = 0; /* disarmed */
	if (deadline != UINT64_MAX) {
		ms = deadline > now ? (int)((deadline - now) / MS_NS + 1) : 1;
	}
	wl_event_source_timer_update(input->timer, ms);
}

static int handle_readable(int fd, uint32_t mask, void *data) {
	struct stream_input *input = data;
	input_receiver_dispatch(input->receiver);
	input_arm(input);
	return 0;
}

static void input_begin(struct stream_input *input) {
	int error = input_receiver_create(input->domain, input->from->domain, input->from->stream,
			&input->events, input, &input->receiver);
	if (error == 0) {
		input->source = wl_event_loop_add_fd(input->loop,
				input_receiver_get_fd(input->receiver), WL_EVENT_READABLE,
				handle_readable, input);
		return;
	}
	handle_sender_changed(input, false, gid_domain_error(input->domain));
	wl_event_source_timer_update(input->timer, AGAIN_MS);
}

static int handle_timer(void *data) {
	struct stream_input *input = data;
	if (input->receiver != NULL) {
		handle_readable(-1, 0, input);
	} else if (input->domain != NULL) {
		input_begin(input);
	}
	return 0;
}

/* --- create and destroy ----------------------------------------------------------------------- */

static void input_end(struct stream_input *input) {
	if (input->source != NULL) {
		wl_event_source_remove(input->source);
		input->source = NULL;
	}
	input_receiver_destroy(input->receiver);
	input->receiver = NULL;
	wl_event_source_timer_update(input->timer, 0);
}

void stream_input_set_domain(struct stream_input *input, struct gid_domain *domain) {
	if (input == NULL || input->domain == domain) {
		return;
	}
	input_end(input);
	input->domain = domain;
	if (domain != NULL) {
		input_begin(input);
	}
}

void stream_input_release(struct stream_input *input) {
	if (input->receiver != NULL) {
		input_receiver_release(input->receiver);
	}
}

struct stream_input *stream_input_create(struct weston_compositor *compositor, const char *label,
		const struct input_source *source, const struct input_sink *sink, void *data) {
	struct stream_input *input = calloc(1, sizeof(*input));
	if (input == NULL) {
		return NULL;
	}
	*input = (struct stream_input){.label = label,
			.from = source,
			.sink = sink,
			.data = data,
			.events = receiver_events};
	input->events.sink.pens = sink->pens;
	input->loop = wl_display_get_event_loop(compositor->wl_display);
	input->timer = wl_event_loop_add_timer(input->loop, handle_timer, input);
	if (input->timer == NULL) {
		free(input);
		return NULL;
	}
	return input;
}

void stream_input_destroy(struct stream_input *input) {
	if (input == NULL) {
		return;
	}
	input_end(input);
	wl_event_source_remove(input->timer);
	free(input);
}
