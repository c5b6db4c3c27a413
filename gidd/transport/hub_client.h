// SPDX-License-Identifier: MIT
/** The end of the transport that is not the hub: a stream of bytes to it. */
#ifndef GIDD_HUB_CLIENT_H
#define GIDD_HUB_CLIENT_H

#include "transport.h"

/* Begins to reach the hub, and goes on trying until closed. 0 or -errno. */
int hub_client_open(struct gidd *gidd, const struct transport_events *events,
		struct transport **transport);

#endif
