// SPDX-License-Identifier: MIT
#include "cluster_options.h"

#include <argp.h>
#include <sched.h>

#include "command_line.h"
#include "gidway_version.h"
#include "option_number.h"
#include "variable.h"

#define DEFAULT_CONFIG "/etc/gidway/cluster.conf"
#define DEFAULT_PRIORITY 10

enum {
	KEY_STATUS = 256,
	KEY_STATE,
	KEY_LEARN,
	KEY_LIKE,
	KEY_TOLERANCE,
	KEY_SECONDS,
	KEY_REALTIME,
	KEY_CONFINE
};

const char *argp_program_version = "gid-cluster " GIDWAY_VERSION;

static const struct argp_option argp_options[] = {
		{"config", 'c', "FILE", 0,
				"The roles and their limits (default: " DEFAULT_CONFIG ")", 0},
		{"domain", 'd', "NAME", 0,
				"The domain that the display belongs to (default: $GID_DOMAIN, "
				"else the only one here)",
				0},
		{"headless", 'H', NULL, 0, "Run without a screen", 0},
		{"check", 'n', NULL, 0, "Check the configuration, write its mistakes, and end", 0},
		{"status", KEY_STATUS, "PATH", 0,
				"The socket for the status, as JSON (default: "
				"$GID_RUNTIME_DIR/DOMAIN/cluster.sock)",
				0},
		{"state", KEY_STATE, "FILE", 0,
				"Keep the state of the roles there (the status socket's name with "
				".state)",
				0},
		{"realtime", KEY_REALTIME, "PRIORITY", OPTION_ARG_OPTIONAL,
				"Run before all ordinary programs, with locked memory "
				"(default priority: 10)",
				0},
		{"confine", KEY_CONFINE, NULL, 0,
				"End by SIGSYS should the display's thread make a system call "
				"that showing does not need",
				0},
		{"verbose", 'v', NULL, 0, "Say more", 0},
		{NULL, 0, NULL, 0, "Learning which pictures are allowed:", 1},
		{"learn", KEY_LEARN, "ROLE", 0,
				"Collect the hashes of all pictures of the role's stream", 1},
		{"output", 'o', "FILE", 0, "The file that they are added to (default: ROLE.hashes)",
				1},
		{"like", KEY_LIKE, "FILE", 0,
				"Only of pictures that are near to one of this PNG, which has them "
				"below each other",
				1},
		{"tolerance", KEY_TOLERANCE, "N", 0,
				"How far each of their colours may be from it, of 255 (default: 2)",
				1},
		{"seconds", KEY_SECONDS, "N", 0,
				"How long (default: until the stream ends, or Ctrl-C)", 1},
		{0},
};

static int parse_priority(const char *text, struct argp_state *state) {
	if (text == NULL) {
		return DEFAULT_PRIORITY;
	}
	return (int)option_number("--realtime", text, (uint64_t)sched_get_priority_min(SCHED_FIFO),
			(uint64_t)sched_get_priority_max(SCHED_FIFO), state);
}

static error_t parse_option(int key, char *arg, struct argp_state *state) {
	struct cluster_options *options = state->input;
	switch (key) {
	case 'c':
		options->config = arg;
		return 0;
	case 'd':
		options->domain = arg;
		return 0;
	case 'H':
		options->headless = true;
		return 0;
	case 'n':
		options->check = true;
		return 0;
	case 'o':
		options->output = arg;
		return 0;
	case 'v':
		options->verbose = true;
		return 0;
	case KEY_CONFINE:
		options->confine = true;
		return 0;
	case KEY_STATUS:
		options->status = arg;
		return 0;
	case KEY_STATE:
		options->state = arg;
		return 0;
	case KEY_LEARN:
		options->learn = arg;
		return 0;
	case KEY_LIKE:
		options->like = arg;
		return 0;
	case KEY_TOLERANCE:
		options->tolerance = (unsigned)option_number("--tolerance", arg, 0, 255, state);
		return 0;
	case KEY_SECONDS:
		options->seconds = (unsigned)option_number("--seconds", arg, 1, 86400, state);
		return 0;
	case KEY_REALTIME:
		options->realtime = parse_priority(arg, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void cluster_options_parse(struct cluster_options *options, int argc, char **argv) {
	static const struct argp argp = {
			.options = argp_options,
			.parser = parse_option,
			.doc = "Shows streams of any domain and, above them, safety pictures, which "
			       "it watches over; see gid-cluster(1).",
	};
	*options = (struct cluster_options){
			.config = DEFAULT_CONFIG,
			.domain = variable_get("GID_DOMAIN"),
			.tolerance = 2,
	};
	command_line_parse(&argp, argc, argv, options);
}
