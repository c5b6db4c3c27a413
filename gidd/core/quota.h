// SPDX-License-Identifier: MIT
/** Counts what clients have, against the limits of the client, its user, and its whole domain. */
#ifndef GIDD_QUOTA_H
#define GIDD_QUOTA_H

#include "config.h"

struct client;

/*
 * Takes `amount` for the client. Returns 0, or -EDQUOT with a sentence about whose limit it is;
 * then nothing was taken.
 */
int quota_take(struct client *client, enum quota quota, uint64_t amount, char why[static 192]);
void quota_give(struct client *client, enum quota quota, uint64_t amount);

#endif
