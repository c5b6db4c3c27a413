// SPDX-License-Identifier: MIT
/*
 * The words behind a program's name. A row says what an option is called, what --help tells of it,
 * what it may be, and which member of the program's options it sets.
 */
#ifndef CONSOLE_COMMAND_LINE_H
#define CONSOLE_COMMAND_LINE_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
	OPTION_HEADING, /* no option: `help` stands above the rows behind it */
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
	bool is_optional;     /* the value, which is NULL then */
	const char *commands; /* for `note`: of which of the program's it is, a space behind each */
	/* A value that is none ends the program by argp_error(). */
	void (*set)(void *options, const char *value, struct argp_state *state);
};

#define OPTION_MEMBER(type, member)                                                                \
	.offset = offsetof(type, member), .size = sizeof(((type *)0)->member)

/* Of --domain. */
#define OPTION_DOMAIN_HELP                                                                         \
	"The domain that the program runs in (default: $GID_DOMAIN, else the only one here)"

struct command_line {
	const struct option_row *rows;
	size_t count;
	const char *words; /* what --help calls words that are no options; NULL: there are none */
	const char *help;  /* above the options and, behind \v, below them */
	/* Takes such a word. NULL: the program takes none. */
	void (*take)(void *options, char *word, struct argp_state *state);
	/* Hears of each option that is given, NULL: of none. */
	void (*note)(void *options, const struct option_row *row);
	/* Checks what was given, at the end; may be NULL. */
	void (*check)(void *options, struct argp_state *state);
};

#define COMMAND_LINE_ROWS(table) .rows = (table), .count = sizeof(table) / sizeof((table)[0])

/* -h is --help. Who uses the program wrongly gets EXIT_USAGE, with the word that it does not take.
 */
void command_line_parse(const struct command_line *line, int argc, char **argv, void *options);

#endif
