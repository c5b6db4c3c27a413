// SPDX-License-Identifier: MIT
#include "command_line.h"

#include <stdio.h>

static error_t parse_help(int key, char *value, struct argp_state *state) {
	if (key != 'h') {
		return ARGP_ERR_UNKNOWN;
	}
	argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
	return 0;
}

void command_line_parse(const struct argp *argp, int argc, char **argv, void *input) {
	static const struct argp_option options[] = {{.key = 'h', .flags = OPTION_HIDDEN}, {0}};
	static const struct argp help = {.options = options, .parser = parse_help};
	static const struct argp_child children[] = {{.argp = &help}, {0}};
	struct argp whole = *argp;
	whole.children = children;
	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&whole, argc, argv, 0, NULL, input);
}
