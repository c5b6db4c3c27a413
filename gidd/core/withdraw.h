// SPDX-License-Identifier: MIT
/**
 * What is taken from readers while gidd runs, by `gidctl revoke`: their subscriptions end, programs
 * leave the memory that they can see (eviction.h), and that is emptied, whether the readers
 * co-operate or not.
 */
#ifndef GIDD_WITHDRAW_H
#define GIDD_WITHDRAW_H

#include "gidd.h"
#include "wire.h"

void withdraw_init(struct gidd *gidd);

/* WITHDRAW of a client: answered. */
void withdraw_request(struct client *client, const struct gid_wire_withdraw *request);

#endif
