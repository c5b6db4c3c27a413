// SPDX-License-Identifier: MIT
/**
 * What carries messages between domains of different machines: the hub, which the host's gidd is,
 * and its clients, which all others are. hub.c and hub_client.c are the two ends, and the two kinds
 * of transport.
 */
#ifndef GIDD_TRANSPORT_H
#define GIDD_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

struct gidd;
struct transport;

struct transport_kind {
	/* To the other domain, as long as the two are joined in that epoch. Never blocks. */
	void (*send)(struct transport *transport, uint32_t domain, uint32_t epoch,
			const union gid_wire_message *message);
	/*
	 * Parts us from the domain, with the event `down`; they are joined again later. The hub
	 * counts what is a fault of the other end.
	 */
	void (*part)(struct transport *transport, uint32_t domain, uint32_t epoch, bool fault,
			const char *why);
	void (*close)(struct transport *transport);
};

struct transport {
	const struct transport_kind *kind;
	const struct transport_events *events;
	struct gidd *gidd;
};

/* What a transport tells those who use it. Called from the event loop, `down` from part(), too. */
struct transport_events {
	/* The other domain is there. */
	void (*up)(struct gidd *gidd, uint32_t domain, uint32_t epoch);
	/* It is not any more; `domain` 0: none of them is. */
	void (*down)(struct gidd *gidd, uint32_t domain, const char *why);
	void (*receive)(struct gidd *gidd, uint32_t domain, uint32_t epoch,
			const union gid_wire_message *message);
	/* The hub has found that the domain did what no honest one does, and parts us from it. */
	void (*fault)(struct gidd *gidd, uint32_t domain, const char *why);
	/* There is no way to any of them yet. */
	void (*unreachable)(struct gidd *gidd, const char *why);
};

#endif
