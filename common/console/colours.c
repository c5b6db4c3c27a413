// SPDX-License-Identifier: MIT
#include "colours.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "variable.h"

bool terminal_obeys(int fd) {
	const char *kind = variable_get("TERM");
	return isatty(fd) && (kind == NULL || strcmp(kind, "dumb") != 0);
}

bool colours_are_for(int fd) {
	return terminal_obeys(fd) && variable_get("NO_COLOR") == NULL;
}
