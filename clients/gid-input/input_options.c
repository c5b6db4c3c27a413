// SPDX-License-Identifier: MIT
#include "input_options.h"

#include <gid/gid.h>

#include "command_line.h"
#include "common/option_value.h"
#include "gidway_version.h"

const char *argp_program_version = "gid-input " GIDWAY_VERSION;

static void set_resize(void *data, const char *value, struct argp_state *state) {
	struct input_options *options = data;
	option_size("resize", value, &options->taker.width_max, &options->taker.height_max, state);
}

static void set_size(void *data, const char *value, struct argp_state *state) {
	struct input_options *options = data;
	option_size("size", value, &options->taker.width, &options->taker.height, state);
}

#define MEMBER(member) OPTION_MEMBER(struct input_options, member)

static const struct option_row rows[] = {
		{.help = "The input"},
		{OPTION_TEXT, "domain", 'd', "OWNER", "The domain whose input it is",
				MEMBER(owner)},
		{OPTION_TEXT, "stream", 's', "NAME",
				"The stream that is shown there: its input is input/NAME",
				MEMBER(stream)},
		{OPTION_TEXT, "reader", 0, "DOMAIN", OPTION_DOMAIN_HELP, MEMBER(reader)},
		{.help = "Who takes it"},
		{OPTION_SWITCH, "uinput", 'u', NULL,
				"The kernel, and so whatever runs on it (default: the compositor at "
				"$WAYLAND_DISPLAY)",
				MEMBER(uinput)},
		{OPTION_TEXT, "device", 0, "FILE",
				"With --uinput: the device of uinput (default: /dev/uinput)",
				MEMBER(taker.device)},
#ifdef INPUT_HAS_LIBEI
		{OPTION_SWITCH, "libei", 0, NULL, "The EIS server at $LIBEI_SOCKET", MEMBER(libei)},
		{OPTION_OWN, "size", 0, "WIDTHxHEIGHT",
				"With --libei: of its screen, which the stream shows (default: all "
				"its regions)",
				.set = set_size},
#endif
		{OPTION_TEXT, "output", 'o', "NAME",
				"The compositor's output that the stream shows (default: all of them)",
				MEMBER(taker.output)},
		{OPTION_OWN, "resize", 0, "WIDTHxHEIGHT",
				"The output has the size of the sender's window, up to this one "
				"(default: it keeps its size)",
				.set = set_resize},
		{OPTION_SWITCH, "sender-keymap", 0, NULL,
				"Keys mean what they mean to the sender (default: what "
				"$XKB_DEFAULT_LAYOUT and its kin say)",
				MEMBER(taker.sender_keymap)},
};

static void check_options(void *data, struct argp_state *state) {
	struct input_options *options = data;
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
	bool resizes = options->taker.width_max != 0;
	if ((options->uinput || options->libei) &&
			(options->taker.output != NULL || options->taker.sender_keymap ||
					resizes)) {
		argp_error(state, "--output, --resize and --sender-keymap are not for %s",
				options->uinput ? "--uinput" : "--libei");
	}
	if (resizes && options->taker.output == NULL) {
		argp_error(state, "--resize: of which output? Name it with --output NAME");
	}
	if (options->taker.width != 0 && !options->libei) {
		argp_error(state, "--size is for --libei");
	}
}

void input_options_parse(struct input_options *options, int argc, char **argv) {
	static const struct command_line line = {
			COMMAND_LINE_ROWS(rows),
			.help = "Takes the keys, pointer and touch of who looks at a stream in another "
				"domain, and gives them to a compositor or to the kernel.\v"
				"Example: gid-input --domain cluster --stream desktop\n\n"
				"The exit status is 0 when the program was told to end; else 1.",
			.take = option_stray,
			.check = check_options,
	};
	*options = (struct input_options){.taker = {.device = "/dev/uinput"}};
	command_line_parse(&line, argc, argv, options);
}
