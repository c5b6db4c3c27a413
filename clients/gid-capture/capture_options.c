// SPDX-License-Identifier: MIT
#include "capture_options.h"

#include <gid/gid.h>
#include <string.h>

#include "command_line.h"
#include "common/option_value.h"
#include "gidway_version.h"

#define RATE_MAX 1000

const char *argp_program_version = "gid-capture " GIDWAY_VERSION;

#define MEMBER(member) OPTION_MEMBER(struct capture_options, member)

static const struct option_row rows[] = {
		{OPTION_TEXT, "domain", 'd', "NAME", OPTION_DOMAIN_HELP, MEMBER(domain)},
		{OPTION_TEXT, "stream", 's', "NAME", "The stream to send", MEMBER(stream)},
		{OPTION_TEXT, "output", 'o', "NAME",
				"The output to capture (default: the only one)", MEMBER(output)},
		{OPTION_TEXT, "window", 'w', "NAME",
				"The window to capture, by its identifier, application id or title",
				MEMBER(window)},
		{OPTION_SWITCH, "no-cursor", 'c', NULL, "Leave the pointer out of the picture",
				MEMBER(no_cursor)},
		{OPTION_TEXT, "clipboard", 0, "DOMAIN",
				"Have copied text in common with who uses the stream in that domain",
				MEMBER(clipboard)},
		{OPTION_NUMBER, "rate", 'r', "N",
				"Send at most N pictures a second (default: each)", MEMBER(rate),
				.least = 1, .most = RATE_MAX},
		{OPTION_NUMBER, "frames", 'n', "N", "End after N pictures were sent",
				MEMBER(frames), .least = 1, .most = UINT64_MAX},
		{OPTION_SWITCH, "list", 'l', NULL, "List outputs and windows, and end",
				MEMBER(list)},
};

static void check_options(void *data, struct argp_state *state) {
	const struct capture_options *options = data;
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

void capture_options_parse(struct capture_options *options, int argc, char **argv) {
	static const struct command_line line = {
			COMMAND_LINE_ROWS(rows),
			.help = "Sends an output or a window of a Wayland compositor as a stream. The "
				"compositor writes each picture into the memory that readers see.\v"
				"Example: gid-capture --stream desktop\n\n"
				"The exit status is 0 when the program was told to end, or the count "
				"of --frames was reached; else 1.",
			.take = option_stray,
			.check = check_options,
	};
	*options = (struct capture_options){0};
	command_line_parse(&line, argc, argv, options);
}
