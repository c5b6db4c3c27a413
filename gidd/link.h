// SPDX-License-Identifier: MIT
/**
 * What joins this domain to another: messages with descriptors, over whatever carries them.
 *
 * A kind of link is one file. It defines a struct link_kind and registers it:
 *
 *     LINK_KIND(my_kind) = {.name = "mine", .open = …, .send = …, .drop = …, .close = …};
 *
 * and is chosen by `kind=mine` in a [link ONE OTHER] section, whose other keys are its own to read.
 * Without one it is `ivshmem` where one of the two is a guest, else `local`.
 * A kind must know by itself who is at the other end; what a peer says it is counts for nothing.
 */
#ifndef GIDD_LINK_H
#define GIDD_LINK_H

#include "config.h"
#include "gidd.h"
#include "suspect.h"

enum link_state {
	LINK_DOWN,  /* the kind tries to reach the other domain */
	LINK_HELLO, /* messages can pass, the greeting is under way */
	LINK_UP,
};

struct link_request;

struct link {
	TAILQ_ENTRY(link) entry;
	struct peer peer;
	const struct link_kind *kind;
	void *transport; /* the kind's own */
	const struct config_domain *remote;
	const struct config_link *config; /* NULL: nothing is configured */
	enum link_state state;
	sd_event_source *patience; /* for the greeting */
	sd_event_source *confirm;  /* when what was imported before is asked for again */
	uint32_t serial;
	TAILQ_HEAD(, link_request) requests; /* sent and not answered yet */
	/* What is to be added to the other domain's times to get ours, at most so far off, in ns.
	 */
	bool clock_known;
	int64_t clock_offset;
	uint64_t clock_error;
	uint64_t ups;	 /* how often it came up */
	char why[192];	 /* why it is down */
	uint64_t faults; /* how often it was closed for what the other domain did */
	char fault[192]; /* the last one */
	struct suspect suspect;
	/* Doorbells, where the other domain is on another machine. */
	bool has_device; /* they go by the device */
	struct rings {
		uint64_t by_device, by_message;
	} rings, heard;
};

struct link_kind {
	const char *name;
	/* The other end is another machine: it can see what is in windows, and nothing else. */
	bool windows_only;
	/* Begins to reach the other domain, and goes on trying until closed. 0 or -errno. */
	int (*open)(struct link *link);
	/*
	 * Sends a message; the descriptors stay the caller's. Never blocks, never calls back. A
	 * failure ends in link_lost() from the event loop.
	 */
	void (*send)(struct link *link, const union gid_wire_message *message, const int *fds,
		uint32_t fd_count);
	/*
	 * Gives the connection up, with link_lost() from the event loop, and tries again later.
	 * `fault`: for what the other domain did.
	 */
	void (*drop)(struct link *link, bool fault, const char *why);
	/* For good; frees what open() made. */
	void (*close)(struct link *link);
};

/* What a kind calls. The lower-numbered domain awaits HELLO, the other one sends it. */
void link_connected(struct link *link);
void link_message(
	struct link *link, const union gid_wire_message *message, int fds[static GID_WIRE_FDS_MAX]);
void link_lost(struct link *link, const char *why);

/* Gives the connection up; the kind tries again later. */
void link_drop(struct link *link, const char *why);
/* The other domain did what no honest one does: counts that, and drops the link. */
void link_fault(struct link *link, const char *why);
/* Counts only: somebody else closes it, the hub for one. */
void link_note_fault(struct gidd *gidd, uint32_t domain, const char *why);

/* Kinds find each other by lying in one section of the program. */
#define LINK_KIND(kind)                                                                            \
	static const struct link_kind kind;                                                        \
	static const struct link_kind *const kind##_entry                                          \
		__attribute__((section("gidd_link_kinds"), used, retain)) = &kind;                 \
	static const struct link_kind kind

const struct link_kind *link_kind_find(const char *name);

/*
 * One link to each domain that this one shares something with, in either direction, as far as it is
 * not open yet.
 */
int link_open_all(struct gidd *gidd);
void link_close_all(struct gidd *gidd);

/* The link by which the domain is reached, or NULL. */
struct link *link_find(struct gidd *gidd, uint32_t domain);

static inline struct link *link_of(struct peer *peer) {
	return (struct link *)((char *)peer - offsetof(struct link, peer));
}

/* Whether the peer can see memory that is there in a window, 0: in none. */
static inline bool link_can_carry(struct peer *peer, uint64_t window_offset) {
	return peer->client != NULL || window_offset != 0 || !link_of(peer)->kind->windows_only;
}

/* --- link_request.c: what this domain asks of the other --------------------------------------- */

/* Asks for a slab in the name of a client. */
void link_import(struct link *link, struct peer *client, const struct gid_wire_import *request);
/* Asks for a stream: the subscription hears of the result. */
void link_subscribe(struct link *link, struct subscription *subscription);

/* Asks whether a slab that was imported before the link was lost is still there. */
void link_confirm(struct link *link, gid_id gid);

/* RESULT and IMPORTED from the other domain. */
void link_answer(
	struct link *link, const union gid_wire_message *answer, int fds[static GID_WIRE_FDS_MAX]);
/* The link is lost: everybody who still waits gets an error. */
void link_fail_requests(struct link *link);
/* The client, or the subscription, does not wait any more. */
void link_forget(struct gidd *gidd, const struct peer *client);
void link_forget_subscription(struct gidd *gidd, const struct subscription *subscription);

#endif
