// SPDX-License-Identifier: MIT
/** Folders that gidd puts sockets and windows into. */
#ifndef GIDD_FOLDER_H
#define GIDD_FOLDER_H

#include <sys/types.h>

/*
 * Makes the folder, or takes one that is there: of gidd's own user or root's, no link, and one that
 * others may not write to. Who else had it could put something in the place of what is in it, and
 * root's gidd would give that away. 0 or -errno. Says why in the log.
 */
int folder_make(const char *path, mode_t mode);

#endif
