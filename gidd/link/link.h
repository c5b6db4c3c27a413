// SPDX-License-Identifier: MIT
/**
 * A link joins this domain to another: it carries messages with descriptors, and matches answers to
 * requests. What the messages mean is up to the receivers of its events.
 *
 * A kind of link is one file. It defines a struct link_kind and registers it:
 *
 *     LINK_KIND(my_kind) = {.name = "mine", .keys = …, .open = …, .send = …, .drop = …, …};
 *
 * and is chosen by `kind=mine` in a [link ONE OTHER] section, whose other keys are those of its
 * table. Without one it is `ivshmem` where one of the two is a guest, else `local`. A kind must
 * know by itself who is at the other end; what a peer says of itself counts for nothing.
 */
#ifndef GIDD_LINK_H
#define GIDD_LINK_H

#include "gidd.h"

enum link_state {
	LINK_DOWN,  /* the kind tries to reach the other domain */
	LINK_HELLO, /* messages can pass, the greeting is under way */
	LINK_UP,
};

struct link_request;

/*
 * Memory of the other domain looks broken. But if the message that its subscription has ended is
 * still on its way, the memory may rightly be in other use. So a finding counts only once a PING
 * that was sent after it is answered and no such message came before the answer; or once ten later
 * PINGs were not answered.
 */
struct link_suspicion {
	uint32_t number; /* of the subscription, on the link; 0: nothing was seen */
	uint64_t since;	 /* ns */
	uint32_t rounds; /* that were asked since, and not answered */
	char why[80];
	char stream[GID_NAME_MAX + 1];
};

/* Names of streams. */
struct link_offers {
	char (*names)[GID_NAME_MAX + 1];
	uint32_t count;
	uint32_t room; /* for so many */
};

struct link {
	TAILQ_ENTRY(link) entry;
	struct peer peer;
	const struct link_kind *kind;
	void *kind_data;
	const struct link_events *events;
	const struct config_domain *remote;
	const struct config_link *config; /* NULL: nothing is configured */
	enum link_state state;
	uint64_t greeting_us, greeting_max_us; /* how long it takes, and how long it may take */
	uint32_t serial;
	TAILQ_HEAD(, link_request) requests; /* not answered yet, in their order */
	struct link_request *unsent;	     /* the first one that waits for its turn, or NULL */
	uint32_t request_count, on_the_way;  /* all, and those that were sent */
	/* What is to be added to the other domain's times to get ours, at most so far off, in ns.
	 */
	bool clock_known;
	int64_t clock_offset;
	uint64_t clock_error;
	uint64_t ups;	 /* how often it came up */
	char why[192];	 /* why it is down */
	uint64_t faults; /* how often it was closed for what the other domain did */
	char fault[192]; /* the last one */
	struct link_suspicion suspicion;
	bool takes_offers; /* the other gidd */
	/* Streams that the other domain has for us, as it said last, and as it is about to say. */
	struct link_offers offers, coming_offers;
	/* Doorbells, where the other domain is on another machine. */
	bool has_device;    /* they go by the device */
	bool takes_vectors; /* and the other gidd lets its clients ring ours past both */
	uint32_t direct;    /* subscriptions that the other end rings past us */
	struct rings {
		uint64_t by_device, by_message;
	} rings, heard;
};

struct link_kind {
	const char *name;
	struct config_link_keys keys; /* of its section: they fill the link's config->settings */
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
	/* Whether something waits that the other end takes no more of now. NULL: nothing does. */
	bool (*has_queue)(const struct link *link);
	/*
	 * Gives the connection up, with link_lost() from the event loop, and tries again later.
	 * `fault`: for what the other domain did.
	 */
	void (*drop)(struct link *link, bool fault, const char *why);
	/*
	 * Rings the client of ours that has the subscription of that number on the link. NULL: the
	 * other end rings it by itself.
	 */
	void (*ring)(struct link *link, uint32_t number);
	/*
	 * The subscription of that number is over; or it waits for the link, to be asked for anew:
	 * then its client keeps its doorbell. NULL: nothing of it is kept.
	 */
	void (*forget)(struct link *link, uint32_t number, bool waits);
	/* For good; frees what open() made. */
	void (*close)(struct link *link);
};

/* What is told of a link, from the event loop. */
struct link_events {
	void (*up)(struct link *link);
	/* All pending requests were answered with an error before this. */
	void (*lost)(struct link *link);
	/* All but greetings and answers. Descriptors that are kept are set to -1. */
	void (*message)(struct link *link, const union gid_wire_message *message,
			int fds[static GID_WIRE_FDS_MAX]);
	/* More is known of the other machine's clock. */
	void (*clock)(struct link *link);
	/* The other machine rang, for the subscription of that number on the link; 0: for any. */
	void (*rung)(struct link *link, uint32_t number);
	/* A client of ours rings for that subscription: whether the other end sleeps, and is not
	 * rung already. */
	bool (*should_ring)(struct link *link, uint32_t number);
	/* Before each PING: to look at all memory that the other machine shares with us. */
	void (*inspect)(struct link *link);
};

/* --- for those who use links ------------------------------------------------------------------ */

/*
 * One link to each domain that this one shares something with, in either direction, as far as it is
 * not open yet. `events` is constant. 0, or the error of the first one that cannot be opened.
 */
int link_open_all(struct gidd *gidd, const struct link_events *events);
/* Each link is lost a last time. */
void link_close_all(struct gidd *gidd);

/* The link by which the domain is reached, or NULL. */
struct link *link_find(struct gidd *gidd, uint32_t domain);

static inline struct link *link_of(struct peer *peer) {
	return (struct link *)((char *)peer - offsetof(struct link, peer));
}

/* Whether the peer is on another machine, and so sees only memory in windows. */
static inline bool link_is_remote(struct peer *peer) {
	return peer->client == NULL && link_of(peer)->kind->windows_only;
}

/* Whether the peer can see memory of ours that is there in the window `fd`; 0: in none. */
bool link_can_carry(struct peer *peer, int fd, uint64_t window_offset);

/*
 * The answer to a request, RESULT or IMPORTED; NULL: the link is lost, and none will come. Returns
 * what is wrong with it, a constant sentence, or NULL. A wrong one is none: the link is dropped,
 * and this called once more.
 */
typedef const char *(*link_answered)(struct link *link, const union gid_wire_message *answer,
		int fds[static GID_WIRE_FDS_MAX], void *data);

/*
 * Sends a request, whose serial is set here; the descriptors stay the caller's. It may wait for its
 * turn first, unless it has descriptors. 0; -ENOTCONN: the link is not up; -EAGAIN: too much was
 * asked that is not answered; -ENOMEM.
 */
int link_request(struct link *link, union gid_wire_message *message, const int *fds,
		uint32_t fd_count, link_answered answered, void *data);
/* Whether programs may ask for more now: gidd itself may ask for as much again. */
bool link_has_room(const struct link *link);
/* Whether a request with descriptors would be too much now. */
bool link_is_busy(const struct link *link);
/* Nobody waits for answers with that `data` any more, on whatever link. */
void link_cancel(struct gidd *gidd, const void *data);

/* Gives the connection up; the kind tries again later. */
void link_drop(struct link *link, const char *why);
/* The other domain did what no honest one does: counts that, and drops the link. */
void link_fault(struct link *link, const char *why);

/* Whether a suspicion would be taken down now: the other end is another machine, and none is. */
bool link_can_suspect(const struct link *link);
/* All users may read `why`, in reports; the name of the stream only goes to the log. */
void link_suspect(struct link *link, uint32_t number, const char *why, const char *stream);
/* The other end says that this subscription is over. */
void link_acquit(struct link *link, uint32_t number);

/* --- for kinds -------------------------------------------------------------------------------- */

/* The lower-numbered domain awaits HELLO, the other one sends it. */
void link_connected(struct link *link);
void link_message(struct link *link, const union gid_wire_message *message,
		int fds[static GID_WIRE_FDS_MAX]);
void link_lost(struct link *link, const char *why);
/* Counts a fault for which somebody else closes the link. */
void link_note_fault(struct link *link, const char *why);
/*
 * Time has passed, during which this gidd ran: drops the link if the greeting, or the answer to a
 * request, takes too long.
 */
void link_tick(struct link *link, uint64_t passed_us);
/* Before a PING, after its PONG: both may drop the link. */
void link_inspect(struct link *link);
void link_pong(struct link *link, uint64_t ping_time);

/* Kinds find each other by lying in one section of the program. */
#define LINK_KIND(kind)                                                                            \
	static const struct link_kind kind;                                                        \
	static const struct link_kind *const kind##_entry                                          \
			__attribute__((section("gidd_link_kinds"), used, retain)) = &kind;         \
	static const struct link_kind kind

/* What a link of that kind may have. NULL: this gidd was not built with it. */
const struct config_link_keys *link_kind_keys(const char *name);

#endif
