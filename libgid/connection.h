// SPDX-License-Identifier: MIT
/**
 * The connection to gidd, and the domain that uses it: requests, messages without an answer, events
 * and restarts of gidd. For slabs, imports and streams; domain.c has what users of the library
 * call.
 */
#ifndef GID_CONNECTION_H
#define GID_CONNECTION_H

#include "loop.h"
#include "table.h"
#include "wire.h"

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

/*
 * Something that hears from gidd. Embedded in its owner, which adds and removes it. Order matters
 * after a restart of gidd: slabs register again before streams, hence the two kinds.
 */
struct gid_endpoint {
	struct gid_endpoint *prev, *next;
	enum { GID_ENDPOINT_SLAB, GID_ENDPOINT_STREAM } kind;
	/*
	 * A message that answers no request. Returns whether it was this endpoint's; then the
	 * descriptors in `fds` that it kept are set to -1, and the others are closed by the caller.
	 */
	bool (*message)(struct gid_endpoint *endpoint, const union gid_wire_message *message,
			int fds[static GID_WIRE_FDS_MAX]);
	/* gidd is back and knows nothing of us: register again. */
	void (*reconnected)(struct gid_endpoint *endpoint);
	/* A slab for a stream is there, under a number that is new. Runs no callback. May be NULL.
	 */
	void (*slab_made)(struct gid_endpoint *endpoint, struct gid_slab *slab);
	/* The domain is being destroyed before its owner: to be removed. May be NULL. */
	void (*domain_destroyed)(struct gid_endpoint *endpoint);
};

struct gid_domain {
	struct gid_loop loop;
	char *path; /* of gidd's socket */
	uint32_t number;
	char name[GID_NAME_MAX + 1];
	uint64_t window; /* bytes of the domain's window; 0: it has none */
	uint64_t sealed; /* since when it is, as gidd said last, in s since 1970; 0: it is not */
	char error[320];
	uint64_t answer_ns; /* how long gidd may take to answer: $GID_ANSWER_SECONDS */

	enum gid_connection_state state;
	int socket; /* -1 in AWAY and GONE */
	struct gid_timer reconnect;
	struct gid_timer greeting; /* the end of gidd's time to say WELCOME */
	uint64_t back_off;
	int lost;   /* -errno, in AWAY and GONE: why the last connection ended */
	int unsaid; /* -errno: a message to gidd failed since it is back; 0: none did */

	struct gid_endpoint endpoints;
	struct gid_endpoint *next_endpoint; /* of the walk under way, if any */

	uint32_t serial; /* of the last request */
	struct gid_pending *pending;
	/* Packets that came while something else was awaited. */
	struct gid_packet *queue, **queue_end;
	uint32_t queued, queued_fds; /* how many of them, and descriptors in them */
	struct gid_timer deliver;    /* armed while there are queued packets */
	int handled;		     /* messages, since dispatch began */

	/* By number of the domain; NULL: gidd told of no other machine's clock yet. */
	struct gid_clock {
		int64_t offset;
		uint64_t error;
	} *clocks;

	struct gid_slab *slabs;		  /* all objects, own and imported */
	struct gid_table own_slabs;	  /* registered ones, by number */
	struct gid_departure *departures; /* of those that leave their memory */
	uint32_t renamed;		  /* how often a slot of those got another gid */
	struct gid_table imported_slabs;  /* that gidd gave us, by key */
	struct gid_imports *imports;
	/* What is mapped of each domain: bounded, as the owner chooses how much that is. */
	struct gid_imported_of {
		uint64_t bytes;
		uint32_t slabs;
	} imported_of[GID_DOMAIN_MAX + 1];
	struct gid_timeline *timeline; /* of $GID_TIMELINE; NULL: none, or not asked yet */
};

/*
 * A reference to the timeline that a producer or consumer was given, or, for NULL, to that of the
 * environment; NULL where there is none.
 */
struct gid_timeline *gid_domain_get_timeline(struct gid_domain *domain, struct gid_timeline *given);

/* --- for domain.c ----------------------------------------------------------------------------- */

/* Prepares timers and lists. */
void gid_connection_init(struct gid_domain *domain);

/*
 * Connects and sends HELLO: GREETING after 0, else the state is left alone. Where more programs
 * than gidd has room for wait to be accepted, this waits until `deadline`; 0: not at all.
 */
int gid_connection_greet(struct gid_domain *domain, uint64_t deadline);

/*
 * Delivers the queued packets and those at the socket. Runs when the socket is readable; `data` is
 * the domain.
 */
void gid_connection_deliver(void *data);

/* Closes it for good; and frees the rest, when all slabs and streams are gone. */
void gid_connection_close(struct gid_domain *domain);
void gid_connection_finish(struct gid_domain *domain);

/* --- for all parts ---------------------------------------------------------------------------- */

void gid_endpoint_add(struct gid_domain *domain, struct gid_endpoint *endpoint);
void gid_endpoint_remove(struct gid_domain *domain, struct gid_endpoint *endpoint);

/* Calls slab_made() of all endpoints. */
void gid_endpoints_tell_made(struct gid_domain *domain, struct gid_slab *slab);

/*
 * Sends a request (its serial is set here) with `fd_count` descriptors, which stay the caller's,
 * and waits at most 2 s for the answer, or $GID_ANSWER_SECONDS. Events that come meanwhile are
 * queued for gid_domain_dispatch(); a gidd that says too many is left. Returns 0 with `*answer`
 * (and the descriptors in `answer_fds`, now the caller's; may be NULL where none can come), or
 * -errno, where a RESULT with an error counts as one and its text becomes gid_domain_error().
 */
int gid_domain_request(struct gid_domain *domain, union gid_wire_message *request, const int *fds,
		uint32_t fd_count, union gid_wire_message *answer,
		int answer_fds[GID_WIRE_FDS_MAX]);

/*
 * Called from gid_domain_dispatch() with 0 and the answer, with the error of a RESULT and that (its
 * text is gid_domain_error() then), or with -ENOTCONN or -ETIMEDOUT and no answer. Descriptors that
 * it keeps it sets to -1.
 */
typedef void (*gid_answer_func)(void *data, int error, const union gid_wire_message *answer,
		int fds[static GID_WIRE_FDS_MAX]);

/* The same without waiting for the answer. Data that goes away cancels first. */
int gid_domain_request_async(struct gid_domain *domain, union gid_wire_message *request,
		const int *fds, uint32_t fd_count, gid_answer_func answered, void *data);
void gid_domain_request_cancel(struct gid_domain *domain, void *data);

/*
 * For data that goes away, where gidd's answer still counts: from now on `answered` gets it, with
 * the domain as its data.
 */
void gid_domain_request_hand_over(
		struct gid_domain *domain, const void *data, gid_answer_func answered);

/*
 * For a PUBLISH: whether gidd was asked for the same stream already, by somebody who handed the
 * answer over. Then `answered` gets it, as after gid_domain_request_async(), and it is the last
 * such request.
 */
bool gid_domain_request_take_over(struct gid_domain *domain, const union gid_wire_message *request,
		gid_answer_func answered, void *data);

/*
 * Waits, as gid_domain_request() does, for the answer to the last gid_domain_request_async(). The
 * caller handles it in place of `answered`, and closes the packet's descriptors. After an error
 * without an answer the packet is empty.
 */
int gid_domain_await(struct gid_domain *domain, struct gid_packet *packet);

/*
 * Sends without awaiting an answer; one that comes is dropped. A gidd that makes no room for the
 * message within 100 ms counts as gone, as with all that is sent.
 */
int gid_domain_post(struct gid_domain *domain, union gid_wire_message *message, const int *fds,
		uint32_t fd_count);

/* Before anything is made for gidd to grant: 0, or -ENOTCONN with the domain's error. */
int gid_domain_check_connected(struct gid_domain *domain);

/*
 * Before anything new is made that gidd would have to grant: 0, or -ESHUTDOWN with the domain's
 * error, for it is sealed. Also while gidd is away, until it says otherwise. Allocates nothing.
 */
int gid_domain_check_sealed(struct gid_domain *domain);

/* Sends if there is room at once. If not, or while gidd is away, the message is dropped. */
void gid_domain_hint(struct gid_domain *domain, const union gid_wire_message *message);

/* Remembers the sentence for gid_domain_error() and returns `error`. */
int gid_domain_fail(struct gid_domain *domain, int error, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

/* For names that are not valid, which are not repeated: they may hold anything. */
#define GID_STREAM_NAME_RULE                                                                       \
	"the name of a stream or a domain has 1 to 63 of the letters a-z A-Z 0-9 - _ . and / "     \
	"between others"

#endif
