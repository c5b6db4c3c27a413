// SPDX-License-Identifier: MIT
#include "options.h"

#include <argp.h>
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
#include "option_number.h"

#define TEXT_MAX 1024

const char *argp_program_version = "gid-view " GIDWAY_VERSION;

enum {
	KEY_READER = 256,
	KEY_ONCE,
	KEY_OUTPUT,
	KEY_SIZE,
	KEY_PLACE,
	KEY_BACKGROUND,
	KEY_GONE,
	KEY_TITLE,
	KEY_APP_ID,
	KEY_ROLE,
	KEY_STATS,
	KEY_CREDIT,
	KEY_CONVERT,
	KEY_FIFO,
	KEY_TIMED,
	KEY_DESKTOP,
	KEY_INPUT,
	KEY_GRAB_KEY,
	KEY_LEASE,
	KEY_CLIPBOARD,
};

static const struct argp_option option_table[] = {
		{NULL, 0, NULL, 0, "The stream", 1},
		{"domain", 'd', "OWNER", 0,
				"The domain that owns the stream (default: that of --reader)", 0},
		{"stream", 's', "NAME", 0, "The stream's name, as in movie or camera/rear", 0},
		{"reader", KEY_READER, "DOMAIN", 0,
				"The domain that reads it, which is the one that the program runs "
				"in (default: $GID_DOMAIN, else the only one here)",
				0},
		{"peer", KEY_READER, "DOMAIN", OPTION_HIDDEN, NULL, 0}, // its name until 0.2
		{"credit", KEY_CREDIT, "N", 0, "Frames to hold at most, 3 to 63 (default: 4)", 0},
		{"convert", KEY_CONVERT, NULL, 0,
				"Convert pictures to RGB, at the cost of a copy, if the "
				"compositor cannot show their format or colours",
				0},
		{"fifo", KEY_FIFO, NULL, 0,
				"Show each frame, in order and for one refresh at least, instead "
				"of the newest",
				0},
		{"timed", KEY_TIMED, NULL, 0,
				"Show each frame when it is meant to be shown, not as soon as "
				"possible",
				0},
		{"once", KEY_ONCE, NULL, 0,
				"End with the stream, or with the window that it is of, instead of "
				"waiting for its return",
				0},
		{"frames", 'n', "N", 0, "End after N frames were shown", 0},
		{NULL, 0, NULL, 0, "The window", 2},
		{"fullscreen", 'f', NULL, 0, "Fill the output", 0},
		{"output", KEY_OUTPUT, "NAME", 0,
				"Fill this output, as in HDMI-A-1 (default: the "
				"compositor's choice)",
				0},
		{"maximized", 'm', NULL, 0, "Fill the area that the shell leaves for windows", 0},
		{"size", KEY_SIZE, "WxH", 0, "Size of the window (default: the picture's)", 0},
		{"place", KEY_PLACE, "WxH+X+Y", 0,
				"Where the picture lies in the window (default: all of it)", 0},
		{"background", KEY_BACKGROUND, "COLOR", 0,
				"Colour around the picture: none, RRGGBB or RRGGBBAA in "
				"hexadecimal (default: 000000)",
				0},
		{"gone", KEY_GONE, "COLOR", 0,
				"What lies over the last picture once its producer has been gone "
				"for a second: none, RRGGBB or RRGGBBAA (default: 606468c0)",
				0},
		{"title", KEY_TITLE, "TEXT", 0,
				"Title of the window (default: that of the window which is shown, or "
				"the stream's name)",
				0},
		{"app-id", KEY_APP_ID, "ID", 0,
				"Application id (default: OWNER and that of the window which is "
				"shown, or gid-view)",
				0},
		{"role", KEY_ROLE, "NAME", 0,
				"Give the picture this safety role, by which the "
				"compositor forwards it",
				0},
		{NULL, 0, NULL, 0, "The user", 3},
		{"desktop", KEY_DESKTOP, "OWNER", 0,
				"Use the desktop of this domain, by default its stream desktop: with "
				"input, and in the size of the window",
				0},
		{"input", KEY_INPUT, NULL, 0,
				"Send keys, pointer and fingers back, as the stream input/NAME", 0},
		{"grab-key", KEY_GRAB_KEY, "KEY", 0,
				"With --input: what locks the pointer and takes shortcuts, and lets "
				"them go: scroll-lock, right-ctrl, pause, none or a number of Linux "
				"(default: scroll-lock)",
				0},
		{"lease", KEY_LEASE, "MS", 0,
				"With --input: how long keys stay pressed when this program is silent, "
				"100 to 10000 ms (default: 500)",
				0},
		{"clipboard", KEY_CLIPBOARD, NULL, 0,
				"With --input: have texts that are copied in common, while the window "
				"is in use",
				0},
		{NULL, 0, NULL, 0, "Reports", 4},
		{"stats", KEY_STATS, "FILE", 0,
				"Write counts and latencies as JSON to FILE, every second and "
				"at the end",
				0},
		{0},
};

/* "+40", and so on. */
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

/* What is longer than a message may be ends the connection, as if the compositor had gone. */
static const char *take_text(const char *option, const char *value, struct argp_state *state) {
	if (strlen(value) > TEXT_MAX) {
		argp_error(state, "%s has at most %d bytes", option, TEXT_MAX);
	}
	return value;
}

static error_t parse_window_option(struct window_options *window, int key, const char *value,
		struct argp_state *state) {
	uint32_t width = 0, height = 0;
	switch (key) {
	case 'f':
		window->fullscreen = true;
		break;
	case 'm':
		window->maximized = true;
		break;
	case KEY_OUTPUT:
		window->output = value;
		break;
	case KEY_TITLE:
		window->title = take_text("--title", value, state);
		break;
	case KEY_APP_ID:
		window->app_id = take_text("--app-id", value, state);
		break;
	case KEY_SIZE:
		option_size(value, &width, &height, state);
		window->width = (int32_t)width;
		window->height = (int32_t)height;
		break;
	case KEY_PLACE:
		if (!parse_place(value, &window->place)) {
			argp_error(state,
					"--place must be WIDTHxHEIGHT+X+Y, as in "
					"640x360+20+40, not %s",
					value);
		}
		break;
	case KEY_BACKGROUND:
		if (!parse_color(value, &window->background)) {
			argp_error(state, "--background must be none, RRGGBB or RRGGBBAA, not %s",
					value);
		}
		break;
	case KEY_GONE:
		if (!parse_color(value, &window->veil)) {
			argp_error(state, "--gone must be none, RRGGBB or RRGGBBAA, not %s", value);
		}
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse_input_option(
		struct options *options, int key, const char *value, struct argp_state *state) {
	switch (key) {
	case KEY_DESKTOP:
		options->desktop = value;
		break;
	case KEY_INPUT:
		options->input = true;
		break;
	case KEY_LEASE:
		options->lease_ms = (uint32_t)option_number(
				"--lease", value, INPUT_LEASE_MIN_MS, INPUT_LEASE_MAX_MS, state);
		break;
	case KEY_CLIPBOARD:
		options->clipboard = true;
		break;
	case KEY_GRAB_KEY:
		if (!grab_parse_key(value, &options->grab_key)) {
			argp_error(state,
					"--grab-key must be scroll-lock, right-ctrl, pause, none or "
					"the number of a key, as in 70, not %s",
					value);
		}
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* The stream's name is what an output has that nobody gave another one. */
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

static void check_options(struct options *options, struct argp_state *state) {
	complete_desktop(options, state);
	if (options->clipboard && !options->input) {
		argp_error(state, "--clipboard is for a window that is used: add --input");
	}
	option_stream(options->stream, state);
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

static error_t parse_option(int key, char *value, struct argp_state *state) {
	struct options *options = state->input;
	switch (key) {
	case 'd':
		options->owner = value;
		break;
	case 's':
		options->stream = value;
		break;
	case KEY_READER:
		options->reader = value;
		break;
	case KEY_CREDIT:
		options->credit = (uint32_t)option_number(
				"--credit", value, 3, GID_CREDIT_MAX, state);
		break;
	case KEY_CONVERT:
		options->convert = true;
		break;
	case KEY_FIFO:
		options->fifo = true;
		break;
	case KEY_TIMED:
		options->timed = true;
		break;
	case KEY_ONCE:
		options->once = true;
		break;
	case 'n':
		options->frames = option_number("--frames", value, 1, UINT64_MAX, state);
		break;
	case KEY_ROLE:
		options->role = value;
		break;
	case KEY_STATS:
		options->stats_path = value;
		break;
	case ARGP_KEY_ARG:
		option_stray(value, state);
		break;
	case ARGP_KEY_END:
		check_options(options, state);
		break;
	default:
		return parse_window_option(&options->window, key, value, state) == 0
				? 0
				: parse_input_option(options, key, value, state);
	}
	return 0;
}

void options_parse(struct options *options, int argc, char **argv) {
	static const struct argp argp = {
			.options = option_table,
			.parser = parse_option,
			.doc = "Shows a stream in a window of a Wayland compositor, without "
			       "copying it: the compositor gets each frame by its number.\v"
			       "Example: gid-view --domain open --stream movie\n\n"
			       "The exit status is 0 when the window was closed, the count of "
			       "--frames was reached or, with --once, the stream ended; else 1.",
	};
	*options = (struct options){
			.credit = 4,
			.grab_key = GRAB_KEY_DEFAULT,
			.lease_ms = INPUT_LEASE_DEFAULT_MS,
			.window = {.background = 0x000000ff, .veil = 0x606468c0},
	};
	command_line_parse(&argp, argc, argv, options);
}
