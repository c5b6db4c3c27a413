// SPDX-License-Identifier: MIT
/* The number that an option of the command line has. */
#ifndef CLIENTS_COMMON_OPTION_VALUE_H
#define CLIENTS_COMMON_OPTION_VALUE_H

#include <argp.h>
#include <stdint.h>

/*
 * Returns it; ends the program with a message where `text` is no number from `least` to `most`.
 * `option` is what the user wrote, as in "--rate".
 */
uint64_t option_number(const char *option, const char *text, uint64_t least, uint64_t most,
		struct argp_state *state);

#endif
