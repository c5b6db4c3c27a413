// SPDX-License-Identifier: MIT
/** Passes on what the clients of this domain ask for: to slabs, streams, memory of the window, the
 * report. */
#ifndef GIDD_LOCAL_H
#define GIDD_LOCAL_H

#include "gidd.h"

/* Nobody is there yet, and nothing. */
void local_init(struct gidd *gidd);
/* All clients are gone. */
void local_close(struct gidd *gidd);

#endif
