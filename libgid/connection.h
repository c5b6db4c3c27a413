// SPDX-License-Identifier: MIT
/** The inside of a gid_domain: for domain.c, request.c and reconnect.c, and the slabs' own lists.
 */
#ifndef GID_CONNECTION_H
#define GID_CONNECTION_H

#include "control.h"
#include "loop.h"
#include "table.h"

#define GID_ANSWER_DEFAULT_S 2ull
#define GID_ANSWER_MAX_S 600ull

enum gid_connection_state {
	GID_CONNECTION_AWAY,	 /* the reconnect timer runs */
	GID_CONNECTION_GREETING, /* HELLO is sent, WELCOME is awaited */
	GID_CONNECTION_UP,
	GID_CONNECTION_GONE, /* for good: gidd came back as something else */
};

struct gid_packet {
	struct gid_packet *next;
	union gid_wire_message message;
	int fds[GID_WIRE_FDS_MAX]; /* -1: none, or taken */
};

struct gid_domain {
	struct gid_loop loop;
	char *place; /* path of gidd's socket */
	uint32_t number;
	char name[GID_NAME_MAX + 1];
	uint64_t window; /* bytes of the domain's window; 0: it has none */
	char error[320];
	uint64_t answer_ns; /* how long gidd may take to answer: $GID_ANSWER_SECONDS */

	enum gid_connection_state state;
	int socket; /* -1 in AWAY and GONE */
	struct gid_timer reconnect;
	struct gid_timer greeting; /* the end of gidd's time to say WELCOME */
	uint64_t back_off;
	int gone; /* -errno, in GONE */

	struct gid_endpoint endpoints;
	struct gid_endpoint *next_endpoint; /* of the walk under way, if any */

	uint32_t serial; /* of the last request */
	struct gid_pending *pending;
	struct gid_packet *kept, **kept_end; /* read while waiting for something else */
	struct gid_timer deliver;	     /* armed while there are kept packets */
	int handled;			     /* messages, since dispatch began */

	/* By number of the domain; NULL: no other machine's was told of yet. */
	struct gid_clock {
		int64_t offset;
		uint64_t error;
	} *clocks;

	struct gid_slab *slabs;	    /* all objects, own and imported */
	struct gid_table own_slabs; /* registered ones, by number */
	struct gid_imports *imports;
	struct gid_timeline *timeline; /* of $GID_TIMELINE; NULL: none, or not asked yet */
};

/*
 * A reference to the timeline that a producer or consumer was given, or, for NULL, to that of the
 * environment; NULL where there is none.
 */
struct gid_timeline *gid_domain_get_timeline(struct gid_domain *domain, struct gid_timeline *given);

/* --- reconnect.c ------------------------------------------------------------------------------ */

/* Prepares the timers. */
void gid_connection_init(struct gid_domain *domain);
void gid_connection_finish(struct gid_domain *domain);

/* Connects and sends HELLO: GREETING after 0, else the state is left alone. */
int gid_connection_greet(struct gid_domain *domain);

/* Takes the answer to HELLO. Every slab and stream registers again, but after the first one. */
void gid_connection_welcome(struct gid_domain *domain, const union gid_wire_message *message);

/* Closes the connection, for the reason that is told, and sees to the next one. */
void gid_connection_lose(struct gid_domain *domain, int error, const char *why);

/* --- request.c -------------------------------------------------------------------------------- */

void gid_request_init(struct gid_domain *domain);
void gid_request_finish(struct gid_domain *domain);

/*
 * Reads one packet that is whole and valid. Returns 1, 0 where there is none, or a negative value
 * where the connection was lost over it.
 */
int gid_request_receive(struct gid_domain *domain, struct gid_packet *packet);

/* Delivers the kept packets and those at the socket: what is watched for. */
void gid_request_deliver(void *data);

/* Lets all requests under way end with -ENOTCONN at the next dispatch. */
void gid_request_fail_all(struct gid_domain *domain);

/* --- place.c ---------------------------------------------------------------------------------- */

/*
 * Finds the path of gidd's socket for what gid_domain_connect() was given: 0 and the path, which
 * the caller frees; or -EINVAL, -ENOENT or -ENOMEM with a sentence in `why`.
 */
int gid_place_find(const char *name, char **place, char *why, size_t why_size);

/* What to do about a connection to `place` that failed with `error`. */
void gid_place_explain(const char *place, int error, char *why, size_t why_size);

#endif
