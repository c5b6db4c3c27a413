// SPDX-License-Identifier: MIT
#include "cluster_options.h"

#include <sched.h>

#include "command_line.h"
#include "gidway_version.h"
#include "option_number.h"
#include "variable.h"

#define DEFAULT_CONFIG "/etc/gidway/cluster.conf"
#define DEFAULT_PRIORITY 10

const char *argp_program_version = "gid-cluster " GIDWAY_VERSION;

static void set_realtime(void *data, const char *value, struct argp_state *state) {
	struct cluster_options *options = data;
	options->realtime = value == NULL
			? DEFAULT_PRIORITY
			: (int)option_number("realtime", value,
					  (uint64_t)sched_get_priority_min(SCHED_FIFO),
					  (uint64_t)sched_get_priority_max(SCHED_FIFO), state);
}

#define MEMBER(member) OPTION_MEMBER(struct cluster_options, member)

static const struct option_row rows[] = {
		{OPTION_TEXT, "config", 'c', "FILE",
				"The roles and their limits (default: " DEFAULT_CONFIG ")",
				MEMBER(config)},
		{OPTION_TEXT, "domain", 'd', "NAME",
				"The domain that the display belongs to (default: $GID_DOMAIN, "
				"else the only one here)",
				MEMBER(domain)},
		{OPTION_SWITCH, "headless", 'H', NULL, "Run without a screen", MEMBER(headless)},
		{OPTION_SWITCH, "check", 'n', NULL,
				"Check the configuration, write its mistakes, and end",
				MEMBER(check)},
		{OPTION_TEXT, "status", 0, "PATH",
				"The socket for the status, as JSON (default: "
				"$GID_RUNTIME_DIR/DOMAIN/cluster.sock)",
				MEMBER(status)},
		{OPTION_TEXT, "state", 0, "FILE",
				"Keep the state of the roles there (the status socket's name with "
				".state)",
				MEMBER(state)},
		{OPTION_OWN, "realtime", 0, "PRIORITY",
				"Run before all ordinary programs, with locked memory "
				"(default priority: 10)",
				.is_optional = true, .set = set_realtime},
		{OPTION_SWITCH, "confine", 0, NULL,
				"End by SIGSYS should the display's thread make a system call "
				"that showing does not need",
				MEMBER(confine)},
		{OPTION_SWITCH, "verbose", 'v', NULL, "Say more", MEMBER(verbose)},
		{.help = "Learning which pictures are allowed:"},
		{OPTION_TEXT, "learn", 0, "ROLE",
				"Collect the hashes of all pictures of the role's stream",
				MEMBER(learn)},
		{OPTION_TEXT, "output", 'o', "FILE",
				"The file that they are added to (default: ROLE.hashes)",
				MEMBER(output)},
		{OPTION_TEXT, "like", 0, "FILE",
				"Only of pictures that are near to one of this PNG, which has them "
				"below each other",
				MEMBER(like)},
		{OPTION_NUMBER, "tolerance", 0, "N",
				"How far each of their colours may be from it, of 255 (default: 2)",
				MEMBER(tolerance), .most = 255},
		{OPTION_NUMBER, "seconds", 0, "N",
				"How long (default: until the stream ends, or Ctrl-C)",
				MEMBER(seconds), .least = 1, .most = 86400},
};

void cluster_options_parse(struct cluster_options *options, int argc, char **argv) {
	static const struct command_line line = {
			COMMAND_LINE_ROWS(rows),
			.help = "Shows streams of any domain and, above them, safety pictures, which "
				"it watches over; see gid-cluster(1).",
	};
	*options = (struct cluster_options){
			.config = DEFAULT_CONFIG,
			.domain = variable_get("GID_DOMAIN"),
			.tolerance = 2,
	};
	command_line_parse(&line, argc, argv, options);
}
