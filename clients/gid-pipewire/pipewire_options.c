// SPDX-License-Identifier: MIT
#include "pipewire_options.h"

#include <argp.h>
#include <gid/stream.h>

#include "command_line.h"
#include "common/option_value.h"
#include "gidway_version.h"
#include "option_number.h"

/* What two readers with a picture each in work and one to come take, and the picture shown. */
#define CREDIT_DEFAULT 8
#define CREDIT_LEAST 3

const char *argp_program_version = "gid-pipewire " GIDWAY_VERSION;

enum {
	KEY_READER = 256,
	KEY_DESCRIPTION,
	KEY_CREDIT,
};

static const struct argp_option option_table[] = {
		{"domain", 'd', "OWNER", 0,
				"The domain that owns the stream (default: that of --reader)", 0},
		{"stream", 's', "NAME", 0, "The stream's name, as in movie or camera/rear", 0},
		{"reader", KEY_READER, "DOMAIN", 0,
				"The domain that reads it, which is the one that the program runs "
				"in (default: $GID_DOMAIN, else the only one here)",
				0},
		{"name", 'n', "NAME", 0, "The node's name in PipeWire (default: gid.OWNER.STREAM)",
				0},
		{"description", KEY_DESCRIPTION, "TEXT", 0,
				"What programs show as the camera's name (default: the stream's)",
				0},
		{"credit", KEY_CREDIT, "N", 0, "Frames to hold at most, 3 to 63 (default: 8)", 0},
		{0},
};

static error_t parse_option(int key, char *value, struct argp_state *state) {
	struct pipewire_options *options = state->input;
	switch (key) {
	case 'd':
		options->owner = value;
		break;
	case 's':
		options->stream = value;
		break;
	case 'n':
		options->name = value;
		break;
	case KEY_READER:
		options->reader = value;
		break;
	case KEY_DESCRIPTION:
		options->description = value;
		break;
	case KEY_CREDIT:
		options->credit = (uint32_t)option_number(
				"--credit", value, CREDIT_LEAST, GID_CREDIT_MAX, state);
		break;
	case ARGP_KEY_ARG:
		option_stray(value, state);
		break;
	case ARGP_KEY_END:
		option_stream(options->stream, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

void pipewire_options_parse(struct pipewire_options *options, int argc, char **argv) {
	static const struct argp argp = {
			.options = option_table,
			.parser = parse_option,
			.doc = "Makes a stream a camera of PipeWire, for browsers, OBS and all that "
			       "reads cameras there. Its pictures are not copied.\v"
			       "Example: gid-pipewire --domain open --stream camera/rear\n\n"
			       "The exit status is 0 when the program was told to end, else 1.",
	};
	*options = (struct pipewire_options){.credit = CREDIT_DEFAULT};
	command_line_parse(&argp, argc, argv, options);
}
