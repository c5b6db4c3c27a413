// SPDX-License-Identifier: MIT
/** A whole gidd inside of this process, with clients that a target speaks for. */
#ifndef FUZZ_INSIDE_H
#define FUZZ_INSIDE_H

#include "gidd.h"

/* One slot's: 8x8 pixels of XR24. */
extern const struct gid_wire_layout inside_layout;

void inside_read_config(struct config *config, const char *text);

/* A gidd of domain `self` of the cockpit that `text` describes, without sockets and links yet. */
void inside_init(struct gidd *gidd, struct config *config, const char *text, const char *self);

/* A folder for its sockets, which goes when the process ends. */
void inside_make_runtime(struct gidd *gidd);

/* Lets gidd do what it has to do. */
void inside_settle(struct gidd *gidd);

/* A new client: our end of its connection. */
int inside_connect(struct gidd *gidd);

/* Sends as a client; nothing for -1. */
void inside_send(int client, const union gid_wire_message *message, const int *fds,
		uint32_t fd_count);

/* Takes all that gidd said to a client, valid or it traps; closes our end, to -1, if gidd did. */
void inside_listen(int *client, void (*hear)(const union gid_wire_message *message));

/* No client, and nothing of any. */
void inside_demand_empty(const struct gidd *gidd);

#endif
