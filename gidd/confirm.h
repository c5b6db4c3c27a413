// SPDX-License-Identifier: MIT
/**
 * Slabs of another domain after its gidd was away: they may have died with their owners, and nobody
 * told us. What was imported before is doubtful until it has been asked for again.
 */
#ifndef GIDD_CONFIRM_H
#define GIDD_CONFIRM_H

#include "link.h"

void confirm_link_lost(struct link *link);
void confirm_link_up(struct link *link);

/* What the other domain said: the slab's memory by inode and offset; 0 where there is no such slab.
 */
void confirm_answer(struct gidd *gidd, gid_id gid, uint64_t inode, uint64_t offset);

#endif
