// SPDX-License-Identifier: MIT
#include "input_options.h"

#include <argp.h>
#include <gid/gid.h>
#include <stdlib.h>

#include "command_line.h"
#include "common/option_value.h"
#include "gidway_version.h"

const char *argp_program_version = "gid-input " GIDWAY_VERSION;

enum {
	KEY_READER = 256,
	KEY_DEVICE,
	KEY_LIBEI,
	KEY_SIZE,
	KEY_SENDER_KEYMAP,
};

static const struct argp_option option_table[] = {
		{NULL, 0, NULL, 0, "The input", 1},
		{"domain", 'd', "OWNER", 0, "The domain whose input it is", 0},
		{"stream", 's', "NAME", 0,
				"The stream that is shown there: its input is input/NAME", 0},
		{"reader", KEY_READER, "DOMAIN", 0,
				"The domain that the program runs in (default: $GID_DOMAIN, "
				"else the only one here)",
				0},
		{NULL, 0, NULL, 0, "Who takes it", 2},
		{"uinput", 'u', NULL, 0,
				"The kernel, and so whatever runs on it (default: the compositor at "
				"$WAYLAND_DISPLAY)",
				0},
		{"device", KEY_DEVICE, "FILE", 0,
				"With --uinput: the device of uinput (default: /dev/uinput)", 0},
#ifdef INPUT_HAS_LIBEI
		{"libei", KEY_LIBEI, NULL, 0, "The EIS server at $LIBEI_SOCKET", 0},
		{"size", KEY_SIZE, "WIDTHxHEIGHT", 0,
				"With --libei: of its screen, which the stream shows (default: all "
				"its regions)",
				0},
#endif
		{"output", 'o', "NAME", 0,
				"The compositor's output that the stream shows (default: all of them)",
				0},
		{"sender-keymap", KEY_SENDER_KEYMAP, NULL, 0,
				"Keys mean what they mean to the sender (default: what "
				"$XKB_DEFAULT_LAYOUT and its kin say)",
				0},
		{0},
};

static void check_options(struct input_options *options, struct argp_state *state) {
	if (options->owner == NULL) {
		argp_error(state, "whose input? Name the domain with --domain OWNER");
	}
	option_stream(options->stream, state);
	if (!input_stream_name(options->input, options->stream)) {
		argp_error(state, "--stream: %s is too long: input/NAME has %u bytes at most",
				options->stream, GID_NAME_MAX);
	}
	if (options->uinput && options->libei) {
		argp_error(state, "--uinput and --libei: one of them takes it");
	}
	if ((options->uinput || options->libei) &&
			(options->taker.output != NULL || options->taker.sender_keymap)) {
		argp_error(state, "--output and --sender-keymap are not for %s",
				options->uinput ? "--uinput" : "--libei");
	}
	if (options->taker.width != 0 && !options->libei) {
		argp_error(state, "--size is for --libei");
	}
}

static error_t parse_option(int key, char *value, struct argp_state *state) {
	struct input_options *options = state->input;
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
	case 'u':
		options->uinput = true;
		break;
	case KEY_DEVICE:
		options->taker.device = value;
		break;
	case KEY_LIBEI:
		options->libei = true;
		break;
	case KEY_SIZE:
		option_size(value, &options->taker.width, &options->taker.height, state);
		break;
	case 'o':
		options->taker.output = value;
		break;
	case KEY_SENDER_KEYMAP:
		options->taker.sender_keymap = true;
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

void input_options_parse(struct input_options *options, int argc, char **argv) {
	static const struct argp argp = {
			.options = option_table,
			.parser = parse_option,
			.doc = "Takes the keys, pointer and touch of who looks at a stream in another "
			       "domain, and gives them to a compositor or to the kernel.\v"
			       "Example: gid-input --domain cluster --stream desktop\n\n"
			       "The exit status is 0 when the program was told to end; else 1.",
	};
	*options = (struct input_options){.taker = {.device = "/dev/uinput"}};
	command_line_parse(&argp, argc, argv, options);
}
