// SPDX-License-Identifier: MIT
/* What a terminal can show: control sequences and colours. */
#ifndef CONSOLE_COLOURS_H
#define CONSOLE_COLOURS_H

#include <stdbool.h>

/* Whether `fd` is a terminal that obeys control sequences; one with $TERM=dumb does not. */
bool terminal_obeys(int fd);

/* Whether to write colours to `fd`: to such a terminal, unless $NO_COLOR is set. */
bool colours_are_for(int fd);

#endif
