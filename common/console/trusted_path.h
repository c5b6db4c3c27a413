// SPDX-License-Identifier: MIT
/* Whether a path leads root where others than root could want it to. */
#ifndef CONSOLE_TRUSTED_PATH_H
#define CONSOLE_TRUSTED_PATH_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether nobody but root and our user can put something else in its place, or in the place of a
 * folder on the way. Links count as what they are: ask for realpath(3), too. False: `part` is the
 * beginning of the path that others can change, or that is not there.
 */
bool path_is_trusted(const char *path, char *part, size_t size);

#endif
