// SPDX-License-Identifier: MIT
/**
 * A subscription, from the time that a peer asks for it until either side ends it. Once it is live
 * frames flow through shared memory, past gidd, whatever becomes of gidd and its links.
 *
 * Functions named for a message take it from a peer, and answer it. Descriptors are taken over by
 * setting them to -1 in the caller's array.
 */
#ifndef GIDD_SUBSCRIPTIONS_H
#define GIDD_SUBSCRIPTIONS_H

#include "gidd.h"
#include "subscription_bells.h"
#include "wire_ring.h"

struct link;

/* A stream of this domain; its subscriptions are those whose producer was asked. */
struct stream {
	TAILQ_ENTRY(stream) entry, owner_entry;
	struct client *owner;
	uint32_t number;
	char name[GID_NAME_MAX + 1];
	struct subscriptions subscriptions;
};

enum subscription_state {
	SUBSCRIPTION_WAITING, /* for its stream, or for the link to its domain */
	SUBSCRIPTION_ASKED,   /* the producer, or the other domain's gidd, was asked */
	SUBSCRIPTION_LIVE,
};

struct subscription {
	TAILQ_ENTRY(subscription) entry, consumer_entry, stream_entry;
	uint32_t number; /* ours, without GID_WIRE_LOWER_SIDE */
	enum subscription_state state;

	struct peer *consumer; /* NULL: live, but its link was lost since, or never knew it */
	uint32_t consumer_domain;
	uint32_t consumer_number; /* the consumer's, on its connection */
	uint32_t serial;	  /* of its request */
	bool answered;
	bool is_put_off; /* its stream exists, but its producer is asked later */

	uint32_t domain;       /* whose stream it is */
	struct stream *stream; /* of this domain; NULL while waiting */
	/* The producer's own number, if the producer told us of it; 0: it uses ours. */
	uint32_t producer_number;
	bool producer_pays; /* charged to its producer, as its consumer is not known */
	struct peer *via;   /* the link to another domain; NULL while that is down */
	char name[GID_NAME_MAX + 1];
	uint32_t credit, flags;

	uint64_t window_offset; /* of the page, where it is in a window */
	uint64_t page_inode;	/* of live ones that are older than this gidd */
	int fds[2];		/* consumer's page, producer's end of the doorbell; -1 once live */
	uint64_t giver;		/* of that end: who is charged when it is closed */
	bool is_away;		/* another gidd of this kernel was given them, too */
	uint64_t over_us;	/* when it ended */
	const struct gid_wire_page *page;
	const struct gid_wire_ring *ring; /* NULL until live */
	bool has_producers_ring; /* `ring` is what its producer gave; else what its consumer gave */
	/* The time limit for its consumer, of which only the producer told. */
	sd_event_source *patience;
	uint64_t seen[2]; /* of the other machine's counters, by audit */
	/* Of its end in this domain, where the other one is on another machine. */
	uint64_t rung;	     /* the sleep that it was rung for */
	uint64_t woken;	     /* how often it was rung */
	uint64_t news;	     /* what there was when it was looked at */
	uint32_t idle_rings; /* since that was new */
	uint64_t rang;	     /* the sleep of its other end that was last rung for, */
	uint64_t rang_news;  /* with what there was for it then, */
	uint32_t rings;	     /* and how often */
	struct subscription_bells bells;
};

/* The same for a stream that is not there and one that may not be read. */
#define SUBSCRIPTION_NO_STREAM                                                                     \
	"no such stream can be read here: check its name and domain, and streams= of [share]"

/* `entry` is the queue's link; the loop's body may destroy `subscription`. */
#define SUBSCRIPTION_FOREACH_SAFE(subscription, queue, entry)                                      \
	for (struct subscription *next_ = TAILQ_FIRST(queue); ((subscription) = next_) != NULL &&  \
			((next_ = TAILQ_NEXT(next_, entry)), true);)

/* --- for streams.c ---------------------------------------------------------------------------- */

/*
 * A new one, waiting, that nobody consumes yet. The descriptor of its page stays the caller's.
 * NULL: there is no memory.
 */
struct subscription *subscription_create(struct gidd *gidd, const struct config_domain *owner,
		const char *name, int page_fd, uint64_t window_offset);
/* Who asked for it, and is charged for it already. */
void subscription_set_consumer(struct subscription *subscription, struct peer *consumer,
		const struct gid_wire_subscribe *request);
void subscription_destroy(struct gidd *gidd, struct subscription *subscription);
/*
 * Its descriptors go to another gidd of this kernel. What waits in the doorbell is closed with the
 * last copy of it, and is the consumer's user's, not that gidd's: our copy stays open for longer.
 */
void subscription_lend(struct gidd *gidd, struct subscription *subscription);
/* Whether so many of that user's doorbells are to be closed that others of his are lent later. */
bool subscription_has_many_over(const struct gidd *gidd, uint64_t giver);
/* Closes them all: gidd ends. */
void subscription_finish_over(struct gidd *gidd);
/* The link to its stream is lost, and it is not live: it is asked for anew when that is back. */
void subscription_await_link(struct subscription *subscription);
/*
 * Only its producer has told of it, not yet its consumer in this domain: if some users may not read
 * everything, it ends if the consumer does not come soon.
 */
void subscription_await_consumer(struct gidd *gidd, struct subscription *subscription);
/*
 * Ends a subscription to another domain's stream of which only the consumer told, if its user may
 * not read everything: nobody confirms which ring it is, and rings name memory. Returns whether it
 * did.
 */
bool subscription_end_if_doubtful(struct gidd *gidd, struct subscription *subscription);
/* Longer names than people give are cut off. */
#define SUBSCRIPTION_WHY_MAX 384u
/*
 * Whether its consumer may read the stream: 0, or the error, with the sentence that the consumer
 * is told.
 */
int subscription_check_reader(struct peer *consumer, const struct config_domain *owner,
		const char *stream, char why[static SUBSCRIPTION_WHY_MAX]);

/* The one that the client, its producer, told us of under that number, or NULL. */
struct subscription *subscription_find_by_producer(struct peer *peer, uint32_t number);
/* The number by which the link's other end knows one whose stream is there. */
uint32_t subscription_number_on_link(
		const struct subscription *subscription, const struct peer *link);
/* Whether the number is the consumer's to give, and new. */
bool subscription_number_is_valid(struct peer *consumer, uint32_t number);

/*
 * Whether a page or ring of that size is what its sender says: a sealed memfd of `window_offset` 0,
 * or a part of the window of its domain. The descriptor is a read-only one then, or of ours.
 */
int subscription_check_memory(struct peer *sender, uint64_t window_offset, uint64_t size, int *fd,
		const char **why);

/* Charges its credit to the client, or to the domain's share: 0, -EDQUOT and why. */
int subscription_take_quota(struct peer *consumer, uint32_t credit, char why[static 192]);
void subscription_give_quota(struct peer *consumer, uint32_t credit);
/*
 * The frames that a domain may hold, by what the configuration shares with it. Those that a
 * `producer` tells of count apart for each: what it says is nothing that others have to pay for.
 * NULL: those that were asked for.
 */
int subscription_check_held(struct gidd *gidd, uint32_t reader, const struct client *producer,
		uint32_t credit, char why[static 192]);

/* Answers its consumer's request, once; and tells one of the sides that it is over. */
void subscription_answer(
		struct subscription *subscription, int error, uint32_t value, const char *why);
void subscription_send_consumer_end(struct subscription *subscription, int reason, const char *why);
void subscription_send_producer_end(struct subscription *subscription, int reason);
void subscription_send_end(struct peer *peer, uint32_t number, int reason);

/* --- what clients and links say, and what happens --------------------------------------------- */

/* ACCEPT from the producer or the link. */
void subscription_accept(struct peer *peer, const struct gid_wire_subscribed *accept, int *ring_fd);
/* SUBSCRIPTION_END from either side. */
void subscription_ended(struct peer *peer, const struct gid_wire_subscription_end *end);

/* More is known of the other machine's clock: for all clients that read its streams. */
void subscription_send_clock(struct link *link);
/* The other machine rang: rings the clients that sleep and have news, of that number; 0: of any. */
void subscription_rung(struct link *link, uint32_t number);
/*
 * A client of ours wants to ring the other machine: whether the other end sleeps and has something
 * new to see. True a few times for each sleep at most, however often the client rings.
 */
bool subscription_should_ring(struct link *link, uint32_t number);
/* Checks all memory that the link's other end writes, see audit.h. */
void subscription_inspect_all(struct link *link);

/* HEARING of a client; VECTOR of another machine; and now and then, for storms of rings. */
void subscription_hearing(struct peer *client, const struct gid_wire_hearing *hearing);
void subscription_vector(struct link *link, const struct gid_wire_vector *vector);
void subscription_poll_bells(struct link *link);

/* The client is gone: as a consumer. */
void subscription_forget_consumer(struct peer *peer);
/* The configuration has changed. Returns how many it does not allow any more, and which are over.
 */
uint32_t subscription_end_unshared(struct gidd *gidd);

#endif
