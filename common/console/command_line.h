// SPDX-License-Identifier: MIT
/*
 * The command line of a program, by a table for argp. A row says what an option is called, what
 * --help says of it, which values it takes, and which member of the program's options it sets.
 */
#ifndef CONSOLE_COMMAND_LINE_H
#define CONSOLE_COMMAND_LINE_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
	OPTION_HEADING, /* no option: `help` is the heading of the rows that follow */
	OPTION_TEXT,	/* the member is a const char * */
	OPTION_SWITCH,	/* takes no value; the member is a bool, and becomes true */
	OPTION_NUMBER,	/* from `least` to `most`; the member has 32 or 64 bits */
	OPTION_OWN,	/* `set` reads it */
};

struct option_row {
	enum option_kind kind;
	const char *name;
	char letter;	     /* 0: it has none */
	const char *value;   /* what --help calls it; NULL: it takes none */
	const char *help;    /* NULL: --help does not name it */
	size_t offset, size; /* of the member: OPTION_MEMBER() */
	uint64_t least, most;
	bool is_optional; /* the value, which is NULL then */
	/* For `note`: the program's commands that take it, a space behind each. */
	const char *commands;
	/* Reads the value. Calls argp_error(), which ends the program, where it is not valid. */
	void (*set)(void *options, const char *value, struct argp_state *state);
};

#define OPTION_MEMBER(type, member)                                                                \
	.offset = offsetof(type, member), .size = sizeof(((type *)0)->member)

/* The help of --domain, which is the same for all programs. */
#define OPTION_DOMAIN_HELP                                                                         \
	"The domain that the program runs in (default: $GID_DOMAIN, else the only one here)"

struct command_line {
	const struct option_row *rows;
	size_t count;
	/* What --help calls arguments that are no options; NULL: there are none. */
	const char *words;
	const char *help; /* shown above the options and, after \v, below them */
	/* Takes such an argument. NULL: the program takes none. */
	void (*take)(void *options, char *word, struct argp_state *state);
	/* Called for each option that is given; may be NULL. */
	void (*note)(void *options, const struct option_row *row);
	/* Checks what was given, at the end; may be NULL. */
	void (*check)(void *options, struct argp_state *state);
};

#define COMMAND_LINE_ROWS(table) .rows = (table), .count = sizeof(table) / sizeof((table)[0])

/*
 * Reads the command line into `options`. -h is --help. A wrong option or argument ends the program
 * with EXIT_USAGE and a message that names it.
 */
void command_line_parse(const struct command_line *line, int argc, char **argv, void *options);

#endif
