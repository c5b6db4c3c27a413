// SPDX-License-Identifier: MIT
/**
 * Whether the domain is sealed, as its gidd says (gidctl seal): then nothing new is begun here.
 * Streams, slabs and connections that there are go on. One flag for all threads.
 */
#ifndef CLUSTER_SEALED_H
#define CLUSTER_SEALED_H

#include <stdbool.h>

bool sealed_is_on(void);

/* By the display's thread alone. */
void sealed_set(bool on);

#endif
