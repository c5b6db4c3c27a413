// SPDX-License-Identifier: MIT
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "command_line.h"
#include "common/main_loop.h"
#include "common/option_value.h"
#include "gidway_version.h"
#include "lights.h"
#include "standard_streams.h"
#include "surface.h"
#include "telltale.h"

#define MS 1000ull  /* in µs, as sd-event counts */
#define AGAIN_MS 50 /* until a state that waits is tried again */

const char *argp_program_version = "gid-telltale " GIDWAY_VERSION;

struct options {
	const char *domain, *stream, *role, *png, *sheet;
	uint32_t width, height;
	unsigned state, cycle_ms, heartbeat_ms;
};

struct program {
	struct options options;
	struct sheet sheet; /* with --sheet */
	struct telltale telltale;
	struct surface surface; /* with a role */
	sd_event *event;
	sd_event_source *cycle, *beat;
};

/* --- the command line ------------------------------------------------------------------------- */

static void set_size(void *data, const char *value, struct argp_state *state) {
	struct options *options = data;
	option_size("size", value, &options->width, &options->height, state);
}

static void check_options(void *data, struct argp_state *state) {
	const struct options *options = data;
	option_stream(options->stream, state);
	if (options->sheet == NULL && options->state >= LIGHTS_STATES) {
		argp_error(state, "--state must be from 0 to %u", LIGHTS_STATES - 1);
	}
	if (options->sheet != NULL && options->png != NULL) {
		argp_error(state, "--png draws lights, and no --sheet");
	}
}

#define MEMBER(member) OPTION_MEMBER(struct options, member)

static const struct option_row rows[] = {
		{OPTION_TEXT, "domain", 'd', "NAME", OPTION_DOMAIN_HELP, MEMBER(domain)},
		{OPTION_TEXT, "stream", 's', "NAME",
				"The stream to send (default: safety/telltale)", MEMBER(stream)},
		{OPTION_TEXT, "role", 'r', "NAME",
				"Show the lights as a surface with this safety role, which "
				"the compositor sends",
				MEMBER(role)},
		{OPTION_OWN, "size", 'S', "WIDTHxHEIGHT", "Size of the picture (default: 320x80)",
				.set = set_size},
		{OPTION_NUMBER, "state", 'l', "N",
				"Which lights are lit at first: 0 to 15, a bit for "
				"each (default: 1)",
				MEMBER(state), .most = SHEET_PICTURES_MAX - 1},
		{OPTION_TEXT, "sheet", 't', "FILE",
				"A PNG with the pictures of the states below each other, "
				"which are shown in place of the lights",
				MEMBER(sheet)},
		{OPTION_NUMBER, "cycle", 'c', "MS",
				"Switch to the next state each time after this time",
				MEMBER(cycle_ms), .most = 3600000},
		{OPTION_NUMBER, "heartbeat", 'b', "MS",
				"Send the same picture again after this time (default: 50)",
				MEMBER(heartbeat_ms), .most = 60000},
		{OPTION_TEXT, "png", 'p', "FILE", "Draw the state into a PNG file instead, and end",
				MEMBER(png)},
};

/* --- what happens ----------------------------------------------------------------------------- */

static int check(struct program *program, int ret) {
	if (ret < 0 && ret != -EAGAIN) {
		fprintf(stderr, "gid-telltale: %s\n", gid_strerror(ret));
		return sd_event_exit(program->event, EXIT_FAILURE);
	}
	return 0;
}

/* When the next sign of life is due, or another try to show a state that waits. */
static void set_beat(struct program *program) {
	unsigned ms = program->telltale.waits ? AGAIN_MS : program->options.heartbeat_ms;
	sd_event_source_set_time_relative(program->beat, ms * MS);
	sd_event_source_set_enabled(program->beat, ms > 0 ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

static unsigned count_states(const struct program *program) {
	return program->options.sheet != NULL ? program->sheet.count : LIGHTS_STATES;
}

static int next_state(struct program *program) {
	unsigned state = (program->telltale.state + 1) % count_states(program);
	if (program->options.role != NULL) {
		return check(program, surface_change(&program->surface, state));
	}
	int ret = telltale_change(&program->telltale, state);
	if (program->telltale.waits) {
		set_beat(program);
	}
	return check(program, ret);
}

static int handle_cycle(sd_event_source *source, uint64_t usec, void *data) {
	struct program *program = data;
	sd_event_source_set_time(source, usec + program->options.cycle_ms * MS);
	return next_state(program);
}

static int handle_beat(sd_event_source *source, uint64_t usec, void *data) {
	struct program *program = data;
	int ret = telltale_beat(&program->telltale);
	set_beat(program);
	return check(program, ret);
}

static int handle_next(sd_event_source *source, const struct signalfd_siginfo *info, void *data) {
	return next_state(data);
}

static int handle_domain(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct program *program = data;
	return check(program, gid_domain_dispatch(program->telltale.domain));
}

static int handle_producer(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct program *program = data;
	return check(program, gid_producer_dispatch(program->telltale.producer));
}

static int add_sources(struct program *program) {
	sd_event *event = program->event;
	const struct options *options = &program->options;
	struct telltale *telltale = &program->telltale;
	int ret = sd_event_add_io(event, NULL, gid_domain_get_fd(telltale->domain), EPOLLIN,
			handle_domain, program);
	if (ret >= 0 && telltale->producer != NULL) {
		ret = sd_event_add_io(event, NULL, gid_producer_get_fd(telltale->producer), EPOLLIN,
				handle_producer, program);
	}
	if (ret >= 0) {
		ret = sd_event_add_signal(event, NULL, SIGUSR1 | SD_EVENT_SIGNAL_PROCMASK,
				handle_next, program);
	}
	if (ret >= 0 && telltale->producer != NULL) {
		ret = sd_event_add_time_relative(
				event, &program->beat, CLOCK_MONOTONIC, 0, 1, handle_beat, program);
		set_beat(program);
	}
	if (ret >= 0 && options->cycle_ms > 0) {
		ret = sd_event_add_time_relative(event, &program->cycle, CLOCK_MONOTONIC,
				options->cycle_ms * MS, 1, handle_cycle, program);
		sd_event_source_set_enabled(program->cycle, SD_EVENT_ON);
	}
	sd_event_set_signal_exit(event, true);
	return ret;
}

/* Draws the first state; a surface does so when the compositor agrees to its size. */
static int begin(struct program *program) {
	const struct options *options = &program->options;
	program->telltale.state = options->state;
	if (options->role != NULL) {
		return surface_init(&program->surface, &program->telltale, program->event,
				       options->role) < 0
				? -ENOTCONN
				: 0;
	}
	return telltale_change(&program->telltale, options->state);
}

static void report(const struct program *program) {
	if (program->options.role != NULL) {
		surface_report(&program->surface);
	} else {
		telltale_report(&program->telltale);
	}
}

/* False after saying why not. */
static bool has_pictures(struct program *program) {
	const struct options *options = &program->options;
	if (options->sheet == NULL) {
		return true;
	}
	if (sheet_read(&program->sheet, options->sheet, options->width, options->height) < 0) {
		return false;
	}
	if (options->state >= program->sheet.count) {
		fprintf(stderr, "gid-telltale: %s has no picture %u, only %u of them\n",
				options->sheet, options->state, program->sheet.count);
		return false;
	}
	return true;
}

static int run(struct program *program) {
	const struct options *options = &program->options;
	int status = EXIT_FAILURE;
	if (sd_event_default(&program->event) < 0 || !has_pictures(program)) {
		return EXIT_FAILURE;
	}
	if (telltale_init(&program->telltale, options->domain,
			    options->role != NULL ? NULL : options->stream, options->width,
			    options->height) == 0) {
		program->telltale.sheet = options->sheet != NULL ? &program->sheet : NULL;
		int ret = add_sources(program);
		if (ret >= 0) {
			ret = begin(program);
		}
		if (ret >= 0) {
			status = main_loop_run(program->event);
			report(program);
		} else if (options->role == NULL) {
			fprintf(stderr, "gid-telltale: %s\n", strerror(-ret));
		}
	}
	surface_finish(&program->surface);
	telltale_finish(&program->telltale);
	sheet_finish(&program->sheet);
	sd_event_unref(program->event);
	return status;
}

int main(int argc, char **argv) {
	static const struct command_line line = {
			COMMAND_LINE_ROWS(rows),
			.help = "Draws warning lights straight into shared memory and sends them as "
				"a stream. SIGUSR1 switches to the next state.",
			.take = option_stray,
			.check = check_options,
	};
	struct program program = {
			.options =
					{
							.stream = "safety/telltale",
							.width = 320,
							.height = 80,
							.state = 1,
							.heartbeat_ms = 50,
					},
	};
	const struct options *options = &program.options;
	standard_streams_init();
	command_line_parse(&line, argc, argv, &program.options);
	if (options->png != NULL) {
		return lights_write_png(options->png, options->width, options->height,
				       options->state) == 0
				? EXIT_SUCCESS
				: EXIT_FAILURE;
	}
	return run(&program);
}
