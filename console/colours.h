// SPDX-License-Identifier: MIT
/* Whether what a program writes has colours. */
#ifndef CONSOLE_COLOURS_H
#define CONSOLE_COLOURS_H

#include <stdbool.h>

/* On a terminal, unless $NO_COLOR is set. */
bool colours_are_for(int fd);

#endif
