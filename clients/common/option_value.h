// SPDX-License-Identifier: MIT
/* The values of options of the command line. What is wrong ends the program with a message. */
#ifndef CLIENTS_COMMON_OPTION_VALUE_H
#define CLIENTS_COMMON_OPTION_VALUE_H

#include <argp.h>
#include <stdint.h>

/* Of --reader. */
#define OPTION_READER_HELP                                                                         \
	"The domain that reads it, which is the one that the program runs in (default: "           \
	"$GID_DOMAIN, else the only one here)"

/* Of --size: WIDTHxHEIGHT, each from 1 to GID_SIZE_MAX pixels. */
void option_size(const char *text, uint32_t *width, uint32_t *height, struct argp_state *state);

/* Of --stream, at the end of all options: it must be there, and be a stream's name. */
void option_stream(const char *name, struct argp_state *state);

/* Of programs that take options alone: a word that is none. */
void option_stray(void *options, char *word, struct argp_state *state);

#endif
