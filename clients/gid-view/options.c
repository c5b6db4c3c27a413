// SPDX-License-Identifier: MIT
#include "options.h"

#include <gid/gid.h>
#include <gid/stream.h>
#include <input_format.h>
#include <size_text.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "common/option_value.h"
#include "gidway_version.h"
#include "grab.h"

#define TEXT_MAX 1024

const char *argp_program_version = "gid-view " GIDWAY_VERSION;

/* Parses "+40" and the like. */
static const char *parse_offset(const char *text, uint32_t *offset) {
	return text != NULL && *text == '+' ? size_text_number(text + 1, 0, GID_SIZE_MAX, offset)
					    : NULL;
}

static bool parse_place(const char *text, struct box *place) {
	uint32_t width, height, x, y;
	const char *end = size_text_read(text, GID_SIZE_MAX, &width, &height);
	end = parse_offset(parse_offset(end, &x), &y);
	if (end == NULL || *end != '\0') {
		return false;
	}
	*place = (struct box){.x = (int32_t)x,
			.y = (int32_t)y,
			.width = (int32_t)width,
			.height = (int32_t)height};
	return true;
}

static bool parse_color(const char *text, uint32_t *color) {
	size_t length = strlen(text);
	char *end;
	if (strcmp(text, "none") == 0) {
		*color = 0;
		return true;
	}
	if ((length != 6 && length != 8) || strspn(text, "0123456789abcdefABCDEF") != length) {
		return false;
	}
	*color = (uint32_t)strtoul(text, &end, 16);
	if (length == 6) {
		*color = *color << 8 | 0xff;
	}
	return true;
}

static void set_size(void *data, const char *value, struct argp_state *state) {
	struct window_options *window = &((struct options *)data)->window;
	uint32_t width = 0, height = 0;
	option_size("size", value, &width, &height, state);
	window->width = (int32_t)width;
	window->height = (int32_t)height;
}

static void set_place(void *data, const char *value, struct argp_state *state) {
	struct options *options = data;
	if (!parse_place(value, &options->window.place)) {
		argp_error(state, "--place must be WIDTHxHEIGHT+X+Y, as in 640x360+20+40, not %s",
				value);
	}
}

static void set_background(void *data, const char *value, struct argp_state *state) {
	struct options *options = data;
	if (!parse_color(value, &options->window.background)) {
		argp_error(state, "--background must be none, RRGGBB or RRGGBBAA, not %s", value);
	}
}

static void set_gone(void *data, const char *value, struct argp_state *state) {
	struct options *options = data;
	if (!parse_color(value, &options->window.veil)) {
		argp_error(state, "--gone must be none, RRGGBB or RRGGBBAA, not %s", value);
	}
}

static void set_grab_key(void *data, const char *value, struct argp_state *state) {
	struct options *options = data;
	if (!grab_parse_key(value, &options->grab_key)) {
		argp_error(state,
				"--grab-key must be scroll-lock, right-ctrl, pause, none or "
				"the number of a key, as in 70, not %s",
				value);
	}
}

#define MEMBER(member) OPTION_MEMBER(struct options, member)

static const struct option_row rows[] = {
		{.help = "The stream"},
		{OPTION_TEXT, "domain", 'd', "OWNER",
				"The domain that owns the stream (default: that of --reader)",
				MEMBER(owner)},
		{OPTION_TEXT, "stream", 's', "NAME",
				"The stream's name, as in movie or camera/rear", MEMBER(stream)},
		{OPTION_TEXT, "reader", 0, "DOMAIN", OPTION_READER_HELP, MEMBER(reader)},
		{OPTION_TEXT, "peer", 0, "DOMAIN", NULL, MEMBER(reader)}, // its name until 0.2
		{OPTION_NUMBER, "credit", 0, "N", "Frames to hold at most, 3 to 63 (default: 4)",
				MEMBER(credit), .least = 3, .most = GID_CREDIT_MAX},
		{OPTION_SWITCH, "convert", 0, NULL,
				"Convert pictures to RGB, at the cost of a copy, if the "
				"compositor cannot show their format or colours",
				MEMBER(convert)},
		{OPTION_SWITCH, "fifo", 0, NULL,
				"Show each frame, in order and for one refresh at least, instead "
				"of the newest",
				MEMBER(fifo)},
		{OPTION_SWITCH, "timed", 0, NULL,
				"Show each frame when it is meant to be shown, not as soon as "
				"possible",
				MEMBER(timed)},
		{OPTION_SWITCH, "once", 0, NULL,
				"End with the stream, or with the window that it is of, instead of "
				"waiting for its return",
				MEMBER(once)},
		{OPTION_NUMBER, "frames", 'n', "N", "End after N frames were shown", MEMBER(frames),
				.least = 1, .most = UINT64_MAX},
		{.help = "The window"},
		{OPTION_SWITCH, "fullscreen", 'f', NULL, "Fill the output",
				MEMBER(window.fullscreen)},
		{OPTION_TEXT, "output", 0, "NAME",
				"Fill this output, as in HDMI-A-1 (default: the "
				"compositor's choice)",
				MEMBER(window.output)},
		{OPTION_SWITCH, "maximized", 'm', NULL,
				"Fill the area that the shell leaves for windows",
				MEMBER(window.maximized)},
		{OPTION_OWN, "size", 0, "WxH", "Size of the window (default: the picture's)",
				.set = set_size},
		{OPTION_OWN, "place", 0, "WxH+X+Y",
				"Where the picture lies in the window (default: all of it)",
				.set = set_place},
		{OPTION_OWN, "background", 0, "COLOR",
				"Colour around the picture: none, RRGGBB or RRGGBBAA in "
				"hexadecimal (default: 000000)",
				.set = set_background},
		{OPTION_OWN, "gone", 0, "COLOR",
				"What lies over the last picture once its producer has been gone "
				"for a second: none, RRGGBB or RRGGBBAA (default: 606468c0)",
				.set = set_gone},
		{OPTION_TEXT, "title", 0, "TEXT",
				"Title of the window (default: that of the window which is shown, or "
				"the stream's name)",
				MEMBER(window.title)},
		{OPTION_TEXT, "app-id", 0, "ID",
				"Application id (default: OWNER and that of the window which is "
				"shown, or gid-view)",
				MEMBER(window.app_id)},
		{OPTION_TEXT, "role", 0, "NAME",
				"Give the picture this safety role, by which the "
				"compositor forwards it",
				MEMBER(role)},
		{.help = "The user"},
		{OPTION_TEXT, "desktop", 0, "OWNER",
				"Use the desktop of this domain, by default its stream desktop: with "
				"input, and in the size of the window",
				MEMBER(desktop)},
		{OPTION_SWITCH, "input", 0, NULL,
				"Send keys, pointer and fingers back, as the stream input/NAME",
				MEMBER(input)},
		{OPTION_OWN, "grab-key", 0, "KEY",
				"With --input: what locks the pointer and takes shortcuts, and lets "
				"them go: scroll-lock, right-ctrl, pause, none or a number of Linux "
				"(default: scroll-lock)",
				.set = set_grab_key},
		{OPTION_NUMBER, "lease", 0, "MS",
				"With --input: how long keys stay pressed when this program is silent, "
				"100 to 10000 ms (default: 500)",
				MEMBER(lease_ms), .least = INPUT_LEASE_MIN_MS,
				.most = INPUT_LEASE_MAX_MS},
		{OPTION_SWITCH, "clipboard", 0, NULL,
				"With --input: have texts that are copied in common, while the window "
				"is in use",
				MEMBER(clipboard)},
		{.help = "Reports"},
		{OPTION_TEXT, "stats", 0, "FILE",
				"Write counts and latencies as JSON to FILE, every second and "
				"at the end",
				MEMBER(stats_path)},
};

/* A Wayland message that is too long ends the connection, as if the compositor had gone. */
static void check_text(const char *option, const char *value, struct argp_state *state) {
	if (value != NULL && strlen(value) > TEXT_MAX) {
		argp_error(state, "%s has at most %d bytes", option, TEXT_MAX);
	}
}

/* An output without a configured stream name is named after its stream. */
static void complete_desktop(struct options *options, struct argp_state *state) {
	if (options->desktop == NULL) {
		return;
	}
	if (options->owner != NULL) {
		argp_error(state, "--desktop and --domain exclude each other: both name the owner");
	}
	options->owner = options->desktop;
	options->stream = options->stream != NULL ? options->stream : "desktop";
	options->input = options->window.leads = true;
}

static void check_options(void *data, struct argp_state *state) {
	struct options *options = data;
	complete_desktop(options, state);
	if (options->clipboard && !options->input) {
		argp_error(state, "--clipboard is for a window that is used: add --input");
	}
	option_stream(options->stream, state);
	check_text("--title", options->window.title, state);
	check_text("--app-id", options->window.app_id, state);
	if (options->window.fullscreen && options->window.maximized) {
		argp_error(state, "--fullscreen and --maximized exclude each other");
	}
	if (options->window.output != NULL && options->window.maximized) {
		argp_error(state, "--output and --maximized exclude each other");
	}
	options->window.fullscreen |= options->window.output != NULL;
	options->window.takes_input = options->input;
	options->title_follows = options->window.title == NULL;
	options->app_id_follows = options->window.app_id == NULL;
	if (options->title_follows) {
		options->window.title = options->stream;
	}
	if (options->app_id_follows) {
		options->window.app_id = "gid-view";
	}
}

void options_parse(struct options *options, int argc, char **argv) {
	static const struct command_line line = {
			COMMAND_LINE_ROWS(rows),
			.help = "Shows a stream in a window of a Wayland compositor, without "
				"copying it: the compositor gets each frame by its number.\v"
				"Example: gid-view --domain open --stream movie\n\n"
				"The exit status is 0 when the window was closed, the count of "
				"--frames was reached or, with --once, the stream ended; else 1.",
			.take = option_stray,
			.check = check_options,
	};
	*options = (struct options){
			.credit = 4,
			.grab_key = GRAB_KEY_DEFAULT,
			.lease_ms = INPUT_LEASE_DEFAULT_MS,
			.window = {.background = 0x000000ff, .veil = 0x606468c0},
	};
	command_line_parse(&line, argc, argv, options);
}
