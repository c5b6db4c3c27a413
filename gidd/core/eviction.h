// SPDX-License-Identifier: MIT
/**
 * Memory that some may not read any more: programs have a little time to go on elsewhere, so that
 * others lose nothing; then it is emptied, whether they have left it or not.
 */
#ifndef GIDD_EVICTION_H
#define GIDD_EVICTION_H

#include "gidd.h"

/* Asks its clients to leave all such memory. Returns how many pieces it is. */
uint32_t eviction_begin(struct gidd *gidd);
/* Something is being left: it is emptied after a while. */
void eviction_arm(struct gidd *gidd);
void eviction_close(struct gidd *gidd);

#endif
