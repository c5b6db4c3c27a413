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

struct config_domain;
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
	/* Has the hub empty a piece of a window of our own domain, and say so by `punched`. */
	void (*punch)(struct transport *transport, uint64_t place, uint64_t size);
	/*
	 * Has the owner take a stream or slab from readers. 0; -EXDEV: only the hub can do that,
	 * and this is not it, or the owner is not joined by it; -EHOSTDOWN: the owner is not there.
	 */
	int (*withdraw)(struct transport *transport, const struct config_domain *owner,
			const struct gid_wire_withdraw *withdraw);
	/* The configuration has changed. */
	void (*reload)(struct transport *transport);
	void (*close)(struct transport *transport);
};

struct transport {
	const struct transport_kind *kind;
	const struct transport_events *events;
	struct gidd *gidd;
	uint32_t pings;	  /* sent to all other machines */
	uint64_t session; /* of a client of the hub: counts how often it has joined it */
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

/* What the hub tells of a domain's own memory. See gidd->withdraw_events. */
struct withdraw_events {
	/* A stream or slab of ours is taken from readers. */
	void (*withdrawn)(struct gidd *gidd, const struct gid_wire_withdraw *withdraw);
	/* A piece of our own window is empty. */
	void (*punched)(struct gidd *gidd, uint64_t place, uint64_t size);
	/* Who reads a window of ours, and how much of it may be used. */
	void (*own_window)(struct gidd *gidd, const struct gid_wire_own_window *window);
};

#endif
