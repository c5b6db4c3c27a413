// SPDX-License-Identifier: MIT
/* Whether other users could make a path lead somewhere else. */
#ifndef CONSOLE_TRUSTED_PATH_H
#define CONSOLE_TRUSTED_PATH_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether only root and our user can replace the file, or a folder on the way to it. Links count as
 * what they are: check realpath(3), too. If false, `part` is the beginning of the path that others
 * can change, or that does not exist.
 */
bool path_is_trusted(const char *path, char *part, size_t size);

#endif
