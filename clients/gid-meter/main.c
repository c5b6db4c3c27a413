// SPDX-License-Identifier: MIT
/*
 * gid-meter: the instrument cluster's own picture. Draws a frame for each refresh into gid memory,
 * shows it by gid-buffer-v1, and reports as JSON how evenly the display showed them.
 */
#include "../common/histogram.h"
#include "../common/window.h"
#include "dial.h"
#include "gid-buffer-v1-client-protocol.h"
#include "gidway_version.h"
#include "presentation-time-client-protocol.h"
#include <argp.h>
#include <drm_fourcc.h>
#include <gid/domain.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define BUFFERS 3

const char *argp_program_version = "gid-meter " GIDWAY_VERSION;

struct meter;

struct picture {
	struct meter *meter;
	struct wl_buffer *buffer;
	bool busy;
};

struct meter {
	sd_event *event;
	struct wayland wayland;
	struct window window;
	struct gid_domain *domain;
	struct gid_slab *slab;
	struct gid_layout layout;
	struct picture pictures[BUFFERS];
	bool waiting; /* for the frame callback */
	uint64_t started, last_shown, first_shown, shown, drawn, starved;
	struct histogram intervals;
	uint32_t width, height;
};

static void meter_draw(struct meter *meter);

/* --- when it was shown ------------------------------------------------------------------------ */

static void handle_sync_output(
		void *data, struct wp_presentation_feedback *feedback, struct wl_output *output) {
}

static void handle_presented(void *data, struct wp_presentation_feedback *feedback, uint32_t sec_hi,
		uint32_t sec_lo, uint32_t nsec, uint32_t refresh, uint32_t seq_hi, uint32_t seq_lo,
		uint32_t flags) {
	struct meter *meter = data;
	uint64_t now = wayland_presented_time(&meter->wayland, sec_hi, sec_lo, nsec);
	if (meter->last_shown != 0 && now > meter->last_shown) {
		histogram_add(&meter->intervals, (now - meter->last_shown) / 1000);
	} else if (meter->first_shown == 0) {
		meter->first_shown = now;
	}
	meter->last_shown = now;
	meter->shown++;
	wp_presentation_feedback_destroy(feedback);
}

static void handle_discarded(void *data, struct wp_presentation_feedback *feedback) {
	wp_presentation_feedback_destroy(feedback);
}

static const struct wp_presentation_feedback_listener feedback_listener = {
		.sync_output = handle_sync_output,
		.presented = handle_presented,
		.discarded = handle_discarded,
};

/* --- a frame ---------------------------------------------------------------------------------- */

static void handle_frame(void *data, struct wl_callback *callback, uint32_t time) {
	struct meter *meter = data;
	wl_callback_destroy(callback);
	meter->waiting = false;
	meter_draw(meter);
}

static const struct wl_callback_listener frame_listener = {.done = handle_frame};

static void handle_release(void *data, struct wl_buffer *buffer) {
	struct picture *picture = data;
	picture->busy = false;
	if (!picture->meter->waiting) {
		meter_draw(picture->meter);
	}
}

static const struct wl_buffer_listener buffer_listener = {.release = handle_release};

static struct picture *meter_free_picture(struct meter *meter) {
	for (unsigned i = 0; i < BUFFERS; i++) {
		if (meter->pictures[i].buffer != NULL && !meter->pictures[i].busy) {
			return &meter->pictures[i];
		}
	}
	meter->starved++;
	return NULL;
}

static void meter_draw(struct meter *meter) {
	struct picture *picture = meter->window.mapped ? meter_free_picture(meter) : NULL;
	if (picture == NULL || meter->waiting) {
		return;
	}
	uint8_t *data = gid_slab_data(meter->slab, (uint32_t)(picture - meter->pictures));
	dials_draw(data + meter->layout.planes[0].offset, meter->width, meter->height,
			meter->layout.planes[0].stride,
			(double)(gid_clock_now() - meter->started) / 1e9);
	struct wl_surface *surface = meter->window.picture;
	wl_callback_add_listener(wl_surface_frame(surface), &frame_listener, meter);
	if (meter->wayland.presentation != NULL) {
		wp_presentation_feedback_add_listener(
				wp_presentation_feedback(meter->wayland.presentation, surface),
				&feedback_listener, meter);
	}
	wl_surface_attach(surface, picture->buffer, 0, 0);
	wl_surface_damage_buffer(surface, 0, 0, INT32_MAX, INT32_MAX);
	wl_surface_commit(surface);
	picture->busy = true;
	meter->waiting = true;
	meter->drawn++;
}

/* --- memory ----------------------------------------------------------------------------------- */

static void handle_created(
		void *data, struct gid_buffer_params_v1 *params, struct wl_buffer *buffer) {
	struct picture *picture = data;
	picture->buffer = buffer;
	wl_buffer_add_listener(buffer, &buffer_listener, picture);
	meter_draw(picture->meter);
}

static void handle_failed(void *data, struct gid_buffer_params_v1 *params) {
	struct picture *picture = data;
	fprintf(stderr,
			"gid-meter: the compositor cannot get our memory: does it run in "
			"the same domain?\n");
	sd_event_exit(picture->meter->event, EXIT_FAILURE);
}

static void handle_revoked(void *data, struct gid_buffer_params_v1 *params) {
}

static const struct gid_buffer_params_v1_listener params_listener = {
		.created = handle_created,
		.failed = handle_failed,
		.revoked = handle_revoked,
};

static int meter_make_pictures(struct meter *meter) {
	int ret = gid_layout_init(
			&meter->layout, DRM_FORMAT_XRGB8888, meter->width, meter->height, 64);
	if (ret == 0) {
		ret = gid_slab_create(
				meter->domain, &meter->layout, 0, BUFFERS, NULL, &meter->slab);
	}
	if (ret < 0) {
		fprintf(stderr, "gid-meter: %s\n", gid_domain_error(meter->domain));
		return -1;
	}
	for (uint32_t i = 0; i < BUFFERS; i++) {
		meter->pictures[i].meter = meter;
		gid_id gid = gid_slab_gid(meter->slab, i);
		struct gid_buffer_params_v1 *params =
				gid_buffer_manager_v1_create_params(meter->wayland.gid_buffers);
		gid_buffer_params_v1_add_listener(params, &params_listener, &meter->pictures[i]);
		gid_buffer_params_v1_add(params, (uint32_t)(gid >> 32), (uint32_t)gid, 0,
				meter->layout.planes[0].offset, meter->layout.planes[0].stride,
				(uint32_t)(meter->layout.modifier >> 32),
				(uint32_t)meter->layout.modifier);
		gid_buffer_params_v1_create(params, (int32_t)meter->width, (int32_t)meter->height,
				meter->layout.fourcc);
	}
	return 0;
}

/* --- the program ------------------------------------------------------------------------------ */

static void handle_ready(void *data) {
	meter_draw(data);
}

static void handle_closed(void *data) {
	struct meter *meter = data;
	sd_event_exit(meter->event, EXIT_SUCCESS);
}

static int handle_domain(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct meter *meter = data;
	gid_domain_dispatch(meter->domain);
	return 0;
}

static void meter_report(const struct meter *meter) {
	double seconds = (double)(meter->last_shown - meter->first_shown) / 1e9;
	printf("{\"drawn\": %" PRIu64 ", \"shown\": %" PRIu64
	       ", \"seconds\": %.3f, \"rate\": %.3f, "
	       "\"interval_p50_us\": %.0f, \"interval_p99_us\": %.0f, \"interval_max_us\": %" PRIu64
	       ", \"starved\": %" PRIu64 "}\n",
			meter->drawn, meter->shown, seconds,
			seconds > 0 ? (double)(meter->shown - 1) / seconds : 0.0,
			histogram_percentile(&meter->intervals, 50),
			histogram_percentile(&meter->intervals, 99), meter->intervals.max,
			meter->starved);
}

static int meter_run(struct meter *meter, const char *app_id, uint64_t seconds) {
	int status = EXIT_FAILURE;
	if (gid_domain_connect(NULL, &meter->domain) < 0) {
		fprintf(stderr, "gid-meter: %s\n", gid_domain_connect_error());
		return status;
	}
	sd_event_add_io(meter->event, NULL, gid_domain_get_fd(meter->domain), EPOLLIN,
			handle_domain, meter);
	sd_event_add_signal(meter->event, NULL, SIGINT | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL);
	sd_event_add_signal(meter->event, NULL, SIGTERM | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL);
	if (seconds > 0) {
		sd_event_add_time_relative(meter->event, NULL, CLOCK_MONOTONIC, seconds * 1000000,
				0, NULL, NULL);
	}
	if (wayland_init(&meter->wayland, meter->event) == 0) {
		struct window_options options = {.title = "gid-meter", .app_id = app_id};
		meter->started = gid_clock_now();
		window_init(&meter->window, &meter->wayland, &options);
		meter->window.ready = handle_ready;
		meter->window.closed = handle_closed;
		meter->window.data = meter;
		window_set_picture_size(
				&meter->window, (int32_t)meter->width, (int32_t)meter->height);
		if (meter_make_pictures(meter) == 0) {
			status = sd_event_loop(meter->event);
			meter_report(meter);
		}
		window_finish(&meter->window);
		wayland_finish(&meter->wayland);
	}
	gid_slab_destroy(meter->slab, false);
	gid_domain_destroy(meter->domain);
	return status;
}

struct options {
	uint32_t width, height;
	uint64_t seconds;
	const char *app_id;
};

enum { KEY_APP_ID = 256 };

static const struct argp_option argp_options[] = {
		{"size", 'S', "WIDTHxHEIGHT", 0, "Size of the picture (default: 1280x480)", 0},
		{"seconds", 't', "N", 0, "End after N seconds", 0},
		{"app-id", KEY_APP_ID, "ID", 0, "Application id (default: gid-meter)", 0},
		{NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0}, /* as --help */
		{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state) {
	struct options *options = state->input;
	char rest;
	switch (key) {
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case 'S':
		if (sscanf(arg, "%ux%u%c", &options->width, &options->height, &rest) != 2 ||
				options->width - 1 >= GID_SIZE_MAX ||
				options->height - 1 >= GID_SIZE_MAX) {
			argp_error(state, "--size must be WIDTHxHEIGHT in pixels");
		}
		return 0;
	case 't':
		if (sscanf(arg, "%" SCNu64 "%c", &options->seconds, &rest) != 1) {
			argp_error(state, "--seconds must be a number");
		}
		return 0;
	case KEY_APP_ID:
		options->app_id = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv) {
	static const struct argp argp = {
			.options = argp_options,
			.parser = parse_option,
			.doc = "Shows moving dials at the display's full rate, and at the end "
			       "writes a line of JSON: how evenly they were shown.",
	};
	struct options options = {.width = 1280, .height = 480, .app_id = "gid-meter"};
	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	static struct meter meter;
	meter.width = options.width;
	meter.height = options.height;
	if (sd_event_default(&meter.event) < 0) {
		return EXIT_FAILURE;
	}
	int status = meter_run(&meter, options.app_id, options.seconds);
	sd_event_unref(meter.event);
	return status;
}
