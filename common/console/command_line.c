// SPDX-License-Identifier: MIT
#include "command_line.h"

#include <assert.h>
#include <stdio.h>

#include "option_number.h"

#define ROWS_MAX 32
#define KEY_FIRST 256 /* of options without a letter */

struct parsing {
	const struct command_line *line;
	void *options;
};

static int key_of(const struct command_line *line, size_t i) {
	const struct option_row *row = &line->rows[i];
	return row->letter != '\0' ? row->letter : KEY_FIRST + (int)i;
}

static void set_number(const struct option_row *row, void *member, uint64_t number) {
	if (row->size == sizeof(uint64_t)) {
		*(uint64_t *)member = number;
	} else {
		assert(row->size == sizeof(uint32_t));
		*(uint32_t *)member = (uint32_t)number;
	}
}

static void set_option(const struct option_row *row, void *options, const char *value,
		struct argp_state *state) {
	void *member = (char *)options + row->offset;
	switch (row->kind) {
	case OPTION_HEADING:
		break;
	case OPTION_TEXT:
		*(const char **)member = value;
		break;
	case OPTION_SWITCH:
		*(bool *)member = true;
		break;
	case OPTION_NUMBER:
		set_number(row, member,
				option_number(row->name, value, row->least, row->most, state));
		break;
	case OPTION_OWN:
		row->set(options, value, state);
		break;
	}
}

static error_t parse_option(int key, const char *value, struct argp_state *state) {
	const struct parsing *parsing = state->input;
	const struct command_line *line = parsing->line;
	for (size_t i = 0; i < line->count; i++) {
		if (key_of(line, i) == key) {
			if (line->note != NULL) {
				line->note(parsing->options, &line->rows[i]);
			}
			set_option(&line->rows[i], parsing->options, value, state);
			return 0;
		}
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse(int key, char *value, struct argp_state *state) {
	const struct parsing *parsing = state->input;
	const struct command_line *line = parsing->line;
	switch (key) {
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_ARG:
		if (line->take != NULL) {
			line->take(parsing->options, value, state);
		} else {
			argp_error(state, "unexpected argument %s", value);
		}
		return 0;
	case ARGP_KEY_END:
		if (line->check != NULL) {
			line->check(parsing->options, state);
		}
		return 0;
	default:
		return parse_option(key, value, state);
	}
}

static struct argp_option shown(const struct command_line *line, size_t i) {
	const struct option_row *row = &line->rows[i];
	if (row->kind == OPTION_HEADING) {
		return (struct argp_option){.doc = row->help};
	}
	return (struct argp_option){
			.name = row->name,
			.key = key_of(line, i),
			.arg = row->value,
			.flags = (row->help == NULL ? OPTION_HIDDEN : 0) |
					(row->is_optional ? OPTION_ARG_OPTIONAL : 0),
			.doc = row->help,
	};
}

void command_line_parse(const struct command_line *line, int argc, char **argv, void *options) {
	struct argp_option table[ROWS_MAX + 2] = {{.key = 'h', .flags = OPTION_HIDDEN}};
	struct parsing parsing = {line, options};
	assert(line->count <= ROWS_MAX);
	for (size_t i = 0; i < line->count; i++) {
		table[i + 1] = shown(line, i);
	}
	const struct argp argp = {
			.options = table,
			.parser = parse,
			.args_doc = line->words,
			.doc = line->help,
	};
	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &parsing);
}
