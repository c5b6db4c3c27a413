// SPDX-License-Identifier: MIT
#include "capture_options.h"

#include <argp.h>
#include <gid/gid.h>
#include <string.h>

#include "command_line.h"
#include "common/option_value.h"
#include "gidway_version.h"
#include "option_number.h"

#define RATE_MAX 1000

enum { KEY_CLIPBOARD = 256 };

const char *argp_program_version = "gid-capture " GIDWAY_VERSION;

static const struct argp_option option_table[] = {
		{"domain", 'd', "NAME", 0,
				"The domain that the program runs in (default: $GID_DOMAIN, "
				"else the only one here)",
				0},
		{"stream", 's', "NAME", 0, "The stream to send", 0},
		{"output", 'o', "NAME", 0, "The output to capture (default: the only one)", 0},
		{"window", 'w', "NAME", 0,
				"The window to capture, by its identifier, application id or title",
				0},
		{"no-cursor", 'c', NULL, 0, "Leave the pointer out of the picture", 0},
		{"clipboard", KEY_CLIPBOARD, "DOMAIN", 0,
				"Have copied text in common with who uses the stream in that domain",
				0},
		{"rate", 'r', "N", 0, "Send at most N pictures a second (default: each)", 0},
		{"frames", 'n', "N", 0, "End after N pictures were sent", 0},
		{"list", 'l', NULL, 0, "List outputs and windows, and end", 0},
		{0},
};

static void check_options(const struct capture_options *options, struct argp_state *state) {
	if (options->list) {
		return;
	}
	option_stream(options->stream, state);
	if (options->clipboard != NULL &&
			(!gid_name_is_valid(options->clipboard) ||
					strchr(options->clipboard, '/') != NULL)) {
		argp_error(state, "--clipboard: %s cannot be a domain's name", options->clipboard);
	}
	if (options->output != NULL && options->window != NULL) {
		argp_error(state, "--output and --window exclude each other");
	}
}

static error_t parse_option(int key, char *value, struct argp_state *state) {
	struct capture_options *options = state->input;
	switch (key) {
	case 'd':
		options->domain = value;
		break;
	case 's':
		options->stream = value;
		break;
	case 'o':
		options->output = value;
		break;
	case 'w':
		options->window = value;
		break;
	case 'c':
		options->cursor = false;
		break;
	case KEY_CLIPBOARD:
		options->clipboard = value;
		break;
	case 'r':
		options->rate = (uint32_t)option_number("--rate", value, 1, RATE_MAX, state);
		break;
	case 'n':
		options->frames = option_number("--frames", value, 1, UINT64_MAX, state);
		break;
	case 'l':
		options->list = true;
		break;
	case ARGP_KEY_ARG:
		option_stray(value, state);
		break;
	case ARGP_KEY_END:
		check_options(options, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

void capture_options_parse(struct capture_options *options, int argc, char **argv) {
	static const struct argp argp = {
			.options = option_table,
			.parser = parse_option,
			.doc = "Sends an output or a window of a Wayland compositor as a stream. The "
			       "compositor writes each picture into the memory that readers see.\v"
			       "Example: gid-capture --stream desktop\n\n"
			       "The exit status is 0 when the program was told to end, or the count "
			       "of --frames was reached; else 1.",
	};
	*options = (struct capture_options){.cursor = true};
	command_line_parse(&argp, argc, argv, options);
}
