// SPDX-License-Identifier: MIT
/* Checks the values of options. A wrong one ends the program with a message. */
#ifndef CLIENTS_COMMON_OPTION_VALUE_H
#define CLIENTS_COMMON_OPTION_VALUE_H

#include <argp.h>
#include <stdint.h>

/* The help of --reader. */
#define OPTION_READER_HELP                                                                         \
	"The domain that reads it, which is the one that the program runs in (default: "           \
	"$GID_DOMAIN, else the only one here)"

/* Reads the value of --NAME: WIDTHxHEIGHT, each from 1 to GID_SIZE_MAX pixels. */
void option_size(const char *name, const char *text, uint32_t *width, uint32_t *height,
		struct argp_state *state);

/* Checks --stream, after all options were read: it is required, and must be a stream's name. */
void option_stream(const char *name, struct argp_state *state);

/* command_line.take() of programs that take options alone: refuses the argument. */
void option_stray(void *options, char *word, struct argp_state *state);

#endif
