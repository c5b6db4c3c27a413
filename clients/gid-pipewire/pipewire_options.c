// SPDX-License-Identifier: MIT
#include "pipewire_options.h"

#include <gid/stream.h>

#include "command_line.h"
#include "common/option_value.h"
#include "gidway_version.h"

/* What two readers with a picture each in work and one to come take, and the picture shown. */
#define CREDIT_DEFAULT 8
#define CREDIT_LEAST 3

const char *argp_program_version = "gid-pipewire " GIDWAY_VERSION;

#define MEMBER(member) OPTION_MEMBER(struct pipewire_options, member)

static const struct option_row rows[] = {
		{OPTION_TEXT, "domain", 'd', "OWNER",
				"The domain that owns the stream (default: that of --reader)",
				MEMBER(owner)},
		{OPTION_TEXT, "stream", 's', "NAME",
				"The stream's name, as in movie or camera/rear", MEMBER(stream)},
		{OPTION_TEXT, "reader", 0, "DOMAIN", OPTION_READER_HELP, MEMBER(reader)},
		{OPTION_TEXT, "name", 'n', "NAME",
				"The node's name in PipeWire (default: gid.OWNER.STREAM)",
				MEMBER(name)},
		{OPTION_TEXT, "description", 0, "TEXT",
				"What programs show as the camera's name (default: the stream's)",
				MEMBER(description)},
		{OPTION_NUMBER, "credit", 0, "N", "Frames to hold at most, 3 to 63 (default: 8)",
				MEMBER(credit), .least = CREDIT_LEAST, .most = GID_CREDIT_MAX},
		{OPTION_SWITCH, "browsers", 0, NULL,
				"Copy each picture once, for Chromium, Firefox and all else that "
				"reads by WebRTC: they take no other memory",
				MEMBER(browsers)},
};

static void check_options(void *data, struct argp_state *state) {
	const struct pipewire_options *options = data;
	option_stream(options->stream, state);
}

void pipewire_options_parse(struct pipewire_options *options, int argc, char **argv) {
	static const struct command_line line = {
			COMMAND_LINE_ROWS(rows),
			.help = "Makes a stream a camera of PipeWire, for all that reads cameras "
				"there. Its pictures are not copied, but for browsers.\v"
				"Example: gid-pipewire --domain open --stream camera/rear\n\n"
				"The exit status is 0 when the program was told to end, else 1.",
			.take = option_stray,
			.check = check_options,
	};
	*options = (struct pipewire_options){.credit = CREDIT_DEFAULT};
	command_line_parse(&line, argc, argv, options);
}
