// SPDX-License-Identifier: MIT
/**
 * `gidctl revoke`: takes streams from readers at run time. Their subscriptions end, programs leave
 * the memory that these readers can see (eviction.h), and that is emptied, whether the readers
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
