// SPDX-License-Identifier: MIT
/**
 * The hub's inside: ports with a byte stream each, and pairs of domains that are joined.
 * What may pass between two of them says hub_check.c.
 */
#ifndef GIDD_HUB_H
#define GIDD_HUB_H

#include "byte_stream.h"
#include "config_windows.h"
#include "hub_restore.h"
#include "listener.h"
#include "transport.h"

struct hub_port {
	TAILQ_ENTRY(hub_port) entry;
	struct hub *hub;
	const struct config_domain *domain;
	bool self; /* the hub's own domain: no stream, and always there */
	struct listener listener;
	struct hub_restore restore; /* of a guest: where its QEMU says that it is set back */
	struct byte_stream stream;
	bool connected;
	bool joined;		     /* a gidd is there, and speaks our version */
	uint64_t nonce;		     /* its own: tells whether it is the same one still */
	uint32_t pings;		     /* the number of its last PING since it joined */
	uint64_t sent_us;	     /* when its windows were last sent to it; 0: never */
	uint64_t told_us;	     /* when it was last told JOINED */
	sd_event_source *send_timer; /* armed: windows are to be sent */
};

/* What one end of a pair did that no gidd does. */
struct hub_faults {
	uint64_t count;
	char last[192];
};

/* Two domains that share something. */
struct hub_pair {
	TAILQ_ENTRY(hub_pair) entry;
	struct hub *hub;
	struct hub_port *ends[2];
	struct hub_faults faults[2]; /* of each end */
	bool up;
	uint64_t ups;	/* how often they were joined */
	char why[192];	/* why they are not */
	uint32_t epoch; /* of the last time that they were joined: what comes later is not meant */
	sd_event_source *again; /* armed: it was parted, and waits to be joined again */
	uint64_t back_off_us, joined_us;
};

struct hub {
	struct transport base;
	TAILQ_HEAD(, hub_port) ports;
	TAILQ_HEAD(, hub_pair) pairs;
	struct config_windows windows; /* that it has made */
	uint32_t epoch;
};

/* The hub makes the windows, and listens for its ports. 0 or -errno. */
int hub_open(struct gidd *gidd, const struct transport_events *events,
		struct transport **transport);

/* The transport as a hub, or NULL: it is none. */
const struct hub *hub_of(const struct transport *transport);

#endif
