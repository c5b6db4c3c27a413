// SPDX-License-Identifier: MIT
/** What gidd knows, as JSON for gidctl: gidctl(1) describes it. */
#ifndef GIDD_STATUS_H
#define GIDD_STATUS_H

#include "peer.h"

/* Answers STATUS. */
void status_send(struct peer *peer, uint32_t serial);

#endif
