// SPDX-License-Identifier: MIT
#ifndef GID_INPUT_INPUT_OPTIONS_H
#define GID_INPUT_INPUT_OPTIONS_H

#include "taker.h"

struct input_options {
	const char *reader; // the domain that it runs in; NULL: $GID_DOMAIN
	const char *owner;  // the domain whose input it is
	const char *stream; // what its user looks at, or the input stream itself
	char input[INPUT_NAME_SIZE];
	bool uinput, libei; // one of them; else a compositor of wlroots
	struct taker_options taker;
};

/* Reads the command line; ends the process on --help and on mistakes. */
void input_options_parse(struct input_options *options, int argc, char **argv);

#endif
