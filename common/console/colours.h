// SPDX-License-Identifier: MIT
/* What a terminal shows of what a program writes. */
#ifndef CONSOLE_COLOURS_H
#define CONSOLE_COLOURS_H

#include <stdbool.h>

/* Whether it is one that obeys control sequences, as those of $TERM=dumb do not. */
bool terminal_obeys(int fd);

/* Whether what is written there has colours: on such a terminal, unless $NO_COLOR is set. */
bool colours_are_for(int fd);

#endif
