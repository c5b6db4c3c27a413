// SPDX-License-Identifier: MIT
/**
 * Memory that some may not read any more: programs have a little time to go on elsewhere, so that
 * others lose nothing; then it is emptied, whether they have left it or not.
 */
#ifndef GIDD_LEAVING_H
#define GIDD_LEAVING_H

#include "gidd.h"

/* Has all such memory left by its clients. How many pieces it is. */
uint32_t leaving_begin(struct gidd *gidd);
/* Something is being left: it is emptied after a while. */
void leaving_arm(struct gidd *gidd);
void leaving_close(struct gidd *gidd);

#endif
