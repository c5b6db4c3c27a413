// SPDX-License-Identifier: MIT
/* A number that an option of the command line takes. */
#ifndef CONSOLE_OPTION_NUMBER_H
#define CONSOLE_OPTION_NUMBER_H

#include <argp.h>
#include <stdint.h>

/*
 * Reads a number from `least` to `most`, in digits alone, of the option of that name. Returns it;
 * any other text ends the program with a message.
 */
uint64_t option_number(const char *option, const char *text, uint64_t least, uint64_t most,
		struct argp_state *state);

/* The same of a number that may have a point in it. */
double option_decimal(const char *option, const char *text, double least, double most,
		struct argp_state *state);

#endif
