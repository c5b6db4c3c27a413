// SPDX-License-Identifier: MIT
#include "intake.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "common/deadline.h"

#define ACCURACY_US 1000

/* --- what the receiver tells ------------------------------------------------------------------ */

static void handle_event(void *data, const struct input_record *event) {
	const struct intake *intake = data;
	intake->taker->handle(intake->taker, event);
}

static void handle_devices(void *data, uint32_t devices) {
	const struct intake *intake = data;
	intake->taker->add_devices(intake->taker, devices);
}

static void handle_keymap(void *data, const char *text) {
	const struct intake *intake = data;
	intake->taker->use_keymap(intake->taker, text);
}

static void handle_size(void *data, uint32_t width, uint32_t height, uint32_t scale) {
	const struct intake *intake = data;
	intake->taker->wish(intake->taker, width, height, scale);
}

static void handle_woken(void *data) {
	const struct intake *intake = data;
	deadline_set(intake->timer, gid_clock_now());
}

static void handle_sender_changed(void *data, bool is_there, const char *why) {
	const struct intake *intake = data;
	warnx("%s %s%s%s", is_there ? "taking" : "waiting for", intake->options->input,
			why != NULL ? ": " : "", why != NULL ? why : "");
}

/* --- the loop --------------------------------------------------------------------------------- */

static void intake_dispatch(struct intake *intake) {
	input_receiver_dispatch(intake->receiver);
	deadline_set(intake->timer, input_receiver_deadline(intake->receiver));
}

static int handle_timer(sd_event_source *source, uint64_t time, void *data) {
	intake_dispatch(data);
	return 0;
}

static int handle_readable(sd_event_source *source, int fd, uint32_t events, void *data) {
	intake_dispatch(data);
	return 0;
}

static int handle_domain(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct intake *intake = data;
	if (gid_domain_dispatch(intake->domain) < 0) {
		warnx("%s", gid_domain_error(intake->domain));
		return sd_event_exit(intake->event, EXIT_FAILURE);
	}
	return 0;
}

static int intake_add_sources(struct intake *intake) {
	int result = sd_event_add_io(intake->event, NULL, gid_domain_get_fd(intake->domain),
			EPOLLIN, handle_domain, intake);
	if (result >= 0) {
		result = sd_event_add_io(intake->event, NULL,
				input_receiver_get_fd(intake->receiver), EPOLLIN, handle_readable,
				intake);
	}
	if (result < 0) {
		warnx("event loop: %s", strerror(-result));
	}
	return result < 0 ? -1 : 0;
}

int intake_init(struct intake *intake, const struct input_options *options, struct taker *taker,
		sd_event *event) {
	*intake = (struct intake){.options = options,
			.event = event,
			.taker = taker,
			.events = {
					.sink = {.pens = taker->pens,
							.event = handle_event,
							.devices = handle_devices,
							.size = taker->wish != NULL ? handle_size
										    : NULL},
					.woken = handle_woken,
					.sender_changed = handle_sender_changed,
					.keymap = taker->use_keymap != NULL ? handle_keymap : NULL,
			}};
	if (gid_domain_connect(options->reader, &intake->domain) < 0) {
		warnx("%s", gid_domain_connect_error());
		return -1;
	}
	int result = sd_event_add_time_relative(event, &intake->timer, CLOCK_MONOTONIC, 0,
			ACCURACY_US, handle_timer, intake);
	if (result < 0) {
		warnx("event loop: %s", strerror(-result));
		return -1;
	}
	int error = input_receiver_create(intake->domain, options->owner, options->input,
			&intake->events, intake, &intake->receiver);
	if (error != 0) {
		warnx("%s: %s", options->input, gid_domain_error(intake->domain));
		return -1;
	}
	return intake_add_sources(intake);
}

void intake_finish(struct intake *intake) {
	input_receiver_destroy(intake->receiver);
	sd_event_source_disable_unref(intake->timer);
	gid_domain_destroy(intake->domain);
}
