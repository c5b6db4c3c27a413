// SPDX-License-Identifier: MIT
/**
 * What gidd knows, as JSON for gidctl: gidctl(1) describes it.
 *
 * A report is made at most ten times a second, after it was asked for, and shared by all who wait
 * for one. Each client has one that it has not read, and one that it waits for.
 */
#ifndef GIDD_STATUS_H
#define GIDD_STATUS_H

#include "client.h"

/* Answers STATUS, at once or when the next report is due. */
void status_request(struct client *client, uint32_t serial);

/* No report follows. */
void status_close(struct gidd *gidd);

#endif
