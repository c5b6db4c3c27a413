// SPDX-License-Identifier: MIT
/** Passes on what other domains ask for, and what becomes of them, to slabs and streams. */
#ifndef GIDD_REMOTE_H
#define GIDD_REMOTE_H

#include "gidd.h"

void remote_init(struct gidd *gidd);

/*
 * Begins to reach the domains that this one shares something with, and goes on trying; for those on
 * other machines it takes part in the hub. 0 or -errno; to be closed in either case.
 */
int remote_open(struct gidd *gidd);
/* The configuration has changed: there may be more of them. */
int remote_open_links(struct gidd *gidd);
void remote_close(struct gidd *gidd);

#endif
