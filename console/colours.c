// SPDX-License-Identifier: MIT
#include "colours.h"

#include <stddef.h>
#include <unistd.h>

#include "variable.h"

bool colours_are_for(int fd) {
	return isatty(fd) && variable_get("NO_COLOR") == NULL;
}
