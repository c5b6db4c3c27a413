// SPDX-License-Identifier: MIT
/**
 * The hub's inside: members with a byte stream each, and pairs of domains that are joined.
 * hub.c: pairs and what is routed; hub_member.c: members come and go; hub_check.c: what may pass.
 */
#ifndef GIDD_HUB_H
#define GIDD_HUB_H

#include "carrier.h"
#include "trunk.h"

struct hub_member {
	TAILQ_ENTRY(hub_member) entry;
	struct hub *hub;
	const struct config_domain *domain;
	bool self; /* the hub's own domain: no stream, and always there */
	char path[128];
	int listener;
	sd_event_source *io;
	struct trunk trunk;
	bool connected;
	bool joined;	/* a gidd is there, and speaks our version */
	uint64_t nonce; /* its own: tells whether it is the same one still */
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
	struct hub_member *ends[2];
	struct hub_faults faults[2]; /* of each end */
	bool up;
	uint64_t ups;	/* how often they were joined */
	char why[192];	/* why they are not */
	uint32_t epoch; /* of the last time that they were joined: what comes later is not meant */
	sd_event_source *again; /* armed: it was parted, and waits to be joined again */
	uint64_t back_off_us, joined_us;
};

struct hub {
	struct gidd *gidd;
	TAILQ_HEAD(, hub_member) members;
	TAILQ_HEAD(, hub_pair) pairs;
	uint32_t epoch;
};

/* --- hub.c --- */

/* A member's gidd is there, or is gone. */
void hub_join(struct hub_member *member);
void hub_leave(struct hub_member *member, const char *why);

/* From a member: for another domain, or for the hub itself. */
void hub_route(struct hub_member *from, const struct gid_wire_envelope *envelope,
	const union gid_wire_message *message);
void hub_peer(struct hub_member *from, const struct gid_wire_peer *peer);

/* A member said what is no message: all that it is joined with count that. */
void hub_note_fault(struct hub_member *member, const char *why);

/* --- hub_member.c --- */

int hub_member_open(struct hub *hub, const struct config_domain *domain);
void hub_member_close(struct hub_member *member);

/* --- hub_check.c --- */

enum hub_verdict {
	HUB_PASS,
	HUB_REFUSE, /* answered with -ENOENT in the name of the other domain */
	HUB_BREAK,  /* no honest gidd says that */
};

/* By the configuration, whatever the two ends make of it. `*why` is set for HUB_BREAK. */
enum hub_verdict hub_check(const struct config *config, const struct config_domain *from,
	const struct config_domain *to, const union gid_wire_message *message, const char **why);

#endif
