// SPDX-License-Identifier: MIT
#include "command_line.h"

#include <stdio.h>

static error_t parse_common(int key, char *value, struct argp_state *state) {
	switch (key) {
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_ARG: /* which the program's own parser did not take */
		argp_error(state, "unexpected argument %s", value);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void command_line_parse(const struct argp *argp, int argc, char **argv, void *input) {
	static const struct argp_option options[] = {{.key = 'h', .flags = OPTION_HIDDEN}, {0}};
	static const struct argp common = {.options = options, .parser = parse_common};
	static const struct argp_child children[] = {{.argp = &common}, {0}};
	struct argp whole = *argp;
	whole.children = children;
	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&whole, argc, argv, 0, NULL, input);
}
