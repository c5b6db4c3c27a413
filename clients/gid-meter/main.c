// SPDX-License-Identifier: MIT
/*
 * gid-meter: the instrument cluster's own picture, as a stream. Draws one for each refresh of the
 * display that shows it, and reports as JSON how evenly that did so.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "command_line.h"
#include "common/main_loop.h"
#include "common/option_value.h"
#include "dial_stream.h"
#include "gidway_version.h"
#include "standard_streams.h"

#define RATE_MAX 500
#define TIMER_ACCURACY_US 1

const char *argp_program_version = "gid-meter " GIDWAY_VERSION;

/* --- the command line ------------------------------------------------------------------------- */

static void set_size(void *data, const char *value, struct argp_state *state) {
	struct dial_stream_options *options = data;
	option_size("size", value, &options->width, &options->height, state);
}

static void check_options(void *data, struct argp_state *state) {
	const struct dial_stream_options *options = data;
	option_stream(options->stream, state);
}

#define MEMBER(member) OPTION_MEMBER(struct dial_stream_options, member)

static const struct option_row rows[] = {
		{OPTION_TEXT, "domain", 'd', "NAME", OPTION_DOMAIN_HELP, MEMBER(domain)},
		{OPTION_TEXT, "stream", 's', "NAME", "The stream to send (default: meter)",
				MEMBER(stream)},
		{OPTION_OWN, "size", 'S', "WIDTHxHEIGHT", "Size of the picture (default: 1280x480)",
				.set = set_size},
		{OPTION_NUMBER, "rate", 'r', "N",
				"Pictures a second while no reader tells when it shows them "
				"(default: 60)",
				MEMBER(rate), .least = 1, .most = RATE_MAX},
		{OPTION_NUMBER, "seconds", 't', "N", "End after N seconds", MEMBER(seconds),
				.most = UINT32_MAX},
};

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
	sd_event_set_signal_exit(event, true);
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
			status = main_loop_run(event);
			dial_stream_report(&dials);
		}
	}
	dial_stream_finish(&dials);
	sd_event_unref(event);
	return status;
}

int main(int argc, char **argv) {
	static const struct command_line line = {
			COMMAND_LINE_ROWS(rows),
			.help = "Sends moving dials as a stream, a picture for each refresh of the "
				"display that shows them, and at the end writes a line of JSON: how "
				"evenly they were shown.",
			.take = option_stray,
			.check = check_options,
	};
	struct dial_stream_options options = {
			.stream = "meter", .width = 1280, .height = 480, .rate = 60};
	standard_streams_init();
	command_line_parse(&line, argc, argv, &options);
	return run(&options);
}
