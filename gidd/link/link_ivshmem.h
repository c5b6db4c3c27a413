// SPDX-License-Identifier: MIT
/** The kind of link that goes to another machine: what it hears from below. */
#ifndef GIDD_LINK_IVSHMEM_H
#define GIDD_LINK_IVSHMEM_H

#include "transport.h"

/* For the transport of the domain. */
extern const struct transport_events link_ivshmem_events;

/* The other domain rang, by the doorbell device. */
void link_ivshmem_rung(struct gidd *gidd, uint32_t domain);

#endif
