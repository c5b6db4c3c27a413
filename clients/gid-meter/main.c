// SPDX-License-Identifier: MIT
/*
 * gid-meter: the instrument cluster's own picture, as a stream. Draws one for each refresh of the
 * display that shows it, and reports as JSON how evenly that did so.
 */
#include <argp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "command_line.h"
#include "common/option_value.h"
#include "dial_stream.h"
#include "gidway_version.h"
#include "option_number.h"
#include "standard_streams.h"

#define RATE_MAX 500
#define TIMER_ACCURACY_US 1

const char *argp_program_version = "gid-meter " GIDWAY_VERSION;

/* --- the command line ------------------------------------------------------------------------- */

static const struct argp_option argp_options[] = {
		{"domain", 'd', "NAME", 0,
				"The domain that the program runs in (default: $GID_DOMAIN, "
				"else the only one here)",
				0},
		{"stream", 's', "NAME", 0, "The stream to send (default: meter)", 0},
		{"size", 'S', "WIDTHxHEIGHT", 0, "Size of the picture (default: 1280x480)", 0},
		{"rate", 'r', "N", 0,
				"Pictures a second while no reader tells when it shows them "
				"(default: 60)",
				0},
		{"seconds", 't', "N", 0, "End after N seconds", 0},
		{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state) {
	struct dial_stream_options *options = state->input;
	switch (key) {
	case 'd':
		options->domain = arg;
		return 0;
	case 's':
		option_stream(arg, state);
		options->stream = arg;
		return 0;
	case 'S':
		option_size(arg, &options->width, &options->height, state);
		return 0;
	case 'r':
		options->rate = (uint32_t)option_number("--rate", arg, 1, RATE_MAX, state);
		return 0;
	case 't':
		options->seconds = option_number("--seconds", arg, 0, UINT32_MAX, state);
		return 0;
	case ARGP_KEY_ARG:
		option_stray(arg, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* --- what happens ----------------------------------------------------------------------------- */

static int handle_time(sd_event_source *source, uint64_t usec, void *data) {
	uint64_t wake;
	if (dial_stream_tick(data, &wake) < 0) {
		return sd_event_exit(sd_event_source_get_event(source), EXIT_FAILURE);
	}
	return sd_event_source_set_time(source, (wake + 999) / 1000);
}

static int handle_domain(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct dial_stream *dials = data;
	int error = gid_domain_dispatch(dials->domain);
	if (error < 0) {
		dial_stream_fail(dials, "gidd", error);
		return sd_event_exit(sd_event_source_get_event(source), EXIT_FAILURE);
	}
	return 0;
}

static int handle_producer(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct dial_stream *dials = data;
	gid_producer_dispatch(dials->producer);
	return 0;
}

static int add_sources(struct dial_stream *dials, sd_event *event, uint64_t seconds) {
	sd_event_source *timer = NULL;
	int ret = sd_event_add_io(event, NULL, gid_domain_get_fd(dials->domain), EPOLLIN,
			handle_domain, dials);
	if (ret >= 0) {
		ret = sd_event_add_io(event, NULL, gid_producer_get_fd(dials->producer), EPOLLIN,
				handle_producer, dials);
	}
	if (ret >= 0) {
		ret = sd_event_add_time(event, &timer, CLOCK_MONOTONIC, dials->next / 1000,
				TIMER_ACCURACY_US, handle_time, dials);
	}
	if (ret >= 0) {
		ret = sd_event_source_set_enabled(timer, SD_EVENT_ON);
	}
	if (ret >= 0) {
		ret = sd_event_source_set_floating(timer, true);
	}
	sd_event_source_unref(timer);
	if (ret >= 0 && seconds > 0) {
		ret = sd_event_add_time_relative(
				event, NULL, CLOCK_MONOTONIC, seconds * 1000000, 0, NULL, NULL);
	}
	sd_event_add_signal(event, NULL, SIGINT | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL);
	sd_event_add_signal(event, NULL, SIGTERM | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL);
	return ret;
}

static int run(const struct dial_stream_options *options) {
	static struct dial_stream dials;
	sd_event *event;
	int status = EXIT_FAILURE;
	if (sd_event_default(&event) < 0) {
		return EXIT_FAILURE;
	}
	if (dial_stream_init(&dials, options) == 0) {
		int ret = add_sources(&dials, event, options->seconds);
		if (ret < 0) {
			fprintf(stderr, "gid-meter: event loop: %s\n", strerror(-ret));
		} else {
			status = sd_event_loop(event);
			dial_stream_report(&dials);
		}
	}
	dial_stream_finish(&dials);
	sd_event_unref(event);
	return status;
}

int main(int argc, char **argv) {
	static const struct argp argp = {
			.options = argp_options,
			.parser = parse_option,
			.doc = "Sends moving dials as a stream, a picture for each refresh of the "
			       "display that shows them, and at the end writes a line of JSON: how "
			       "evenly they were shown.",
	};
	struct dial_stream_options options = {
			.stream = "meter", .width = 1280, .height = 480, .rate = 60};
	standard_streams_init();
	command_line_parse(&argp, argc, argv, &options);
	return run(&options);
}
