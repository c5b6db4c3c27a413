// SPDX-License-Identifier: MIT
/**
 * The two ends of a subscription's ring: pure algorithms over two pieces of shared memory, without
 * system calls, allocation, locks or waiting.
 *
 * Each piece has one writer: `struct gid_wire_ring` the producer, `struct gid_wire_page` the
 * consumer. An end keeps in its own memory all state that it decides by. What it reads of the
 * other's memory may change at any time, and is checked. -EPROTO from any function here means that
 * the other end broke the rules below: the subscription is to be ended, nothing else is touched.
 *
 * Entry `k` of a ring has its place at `k % entries` and this life:
 *
 *     sent       the producer writes the entry, then tail = k + 1
 *     claimed    the consumer sets head = k + 1, copies the entry, loads floor again
 *     released   the consumer puts k among the releases
 *
 * One store of tail can send several entries, and one store of head can claim several: each of
 * them is then in the same state as if it had come by itself.
 *
 * An entry that is not claimed can be reclaimed ("taken back"): the producer sets floor = k + 1 and
 * loads head. If head shows that k was claimed, the producer waits for the release; if not, the
 * entry is free at once. Both sides store, then load what the other stores, all sequentially
 * consistent: so at least one sees the other (Dekker). A consumer that sees the floor above what it
 * claimed gives the entry back unread. One that skips to a floor above its head gives back the last
 * entry below it, for the producer cannot tell that from a claim. Releases of entries that are not
 * in flight are ignored.
 *
 * Entries are released in any order. A place that is still held when its turn comes is skipped: no
 * entry gets that index, and the place keeps the old entry. The consumer sees that by the index at
 * the place: it is that of the old entry (or of the next one there, if the old one was released
 * since).
 *
 * The words of an entry are stored with release and loaded with acquire order: a consumer that
 * loads a word of the entry that came later to the same place also sees the floor that rose before
 * it. (On x86 these are plain moves.)
 *
 * An entry that was claimed can be taken by force: the producer sets the bit of its place in
 * `taken`, and then lets go of the slot. A later entry at the place is written first, and then the
 * bit is cleared. So a consumer that copies what an entry names, and afterwards finds the bit clear
 * and then the entry's index still at its place, has copied what was sent.
 *
 * Sleeping: an end makes its `asleep` odd, then looks for news once more. The other end publishes
 * its news, then loads `asleep`, and rings if that is odd and not the value that it rang for last:
 * there is one ring for each sleep. A producer rings only where there is something unclaimed: the
 * consumer saw all else before it fell asleep, and a ring for that would use up the only one.
 */
#ifndef GID_RING_H
#define GID_RING_H

#include "wire_ring.h"

/* --- the producer's end ----------------------------------------------------------------------- */

#define GID_RING_NO_INDEX UINT64_MAX /* no entry has that one */

/*
 * What the producer remembers of an entry. Its size is a power of two: there is one for each place.
 */
struct gid_ring_sent {
	uint64_t index;	   /* of the entry in flight at this place; GID_RING_NO_INDEX: none */
	gid_id gid;	   /* GID_NONE: no picture, holds no slot and takes no credit */
	uint64_t time;	   /* when it was sent, ns */
	uint64_t outdated; /* when something else came after it, ns */
};

static inline bool gid_ring_is_out(const struct gid_ring_sent *sent) {
	return sent->index != GID_RING_NO_INDEX;
}

struct gid_ring_producer {
	struct gid_wire_ring *ring;
	const struct gid_wire_page *page;
	uint32_t pictures;  /* in flight */
	uint32_t credit;    /* pictures that may be in flight, unread and held together */
	uint32_t in_flight; /* with those that have no picture */
	uint32_t entries;   /* places that are used */
	uint64_t tail, floor, asleep, taken;
	uint64_t published;    /* the tail that the consumer knows */
	uint64_t head;	       /* as last seen */
	uint64_t release_tail; /* likewise */
	uint64_t released;     /* releases collected */
	uint64_t rung;	       /* the consumer's `asleep` that was last rung for */
	uint64_t renewed;      /* the consumer's, as last seen */
	struct gid_ring_sent sent[GID_RING_ENTRIES];
};

/* `ring` is zeroed and ours, `page` the consumer's. Both outlive the end. */
void gid_ring_producer_init(struct gid_ring_producer *end, struct gid_wire_ring *ring,
		const struct gid_wire_page *page, uint32_t credit);

/* Whether a picture can be put in. */
static inline bool gid_ring_has_room(const struct gid_ring_producer *end);

/*
 * Puts an entry in (its index is set here) with its note, of as many bytes as it says. Returns 1,
 * or 0 where there is no credit, or for an entry without picture no free place.
 */
int gid_ring_send(struct gid_ring_producer *end, const struct gid_wire_frame *frame,
		const void *note, uint64_t now);

/*
 * gid_ring_send() in two steps: the consumer does not see the entry before gid_ring_publish(). In
 * between nothing else may be done with the ring but gid_ring_put(), gid_ring_outdate() and what
 * changes nothing.
 */
static inline int gid_ring_put(struct gid_ring_producer *end, const struct gid_wire_frame *frame,
		const void *note, uint64_t now);
static inline void gid_ring_publish(struct gid_ring_producer *end);

/*
 * gid_ring_publish() without its fence, for all but the last of several rings. gid_ring_publish()
 * is an exchange, which costs as much as all the rest of sending, and orders all stores before it.
 * So whether this consumer is to be woken may only be asked after another ring was published.
 */
static inline void gid_ring_show(struct gid_ring_producer *end);

/*
 * gid_ring_put() for a picture that fits in an entry's first line; the index in `line` is ignored.
 * The second function puts up to `count` of them, of which `make` makes each by its number, and
 * returns how many there was room for.
 */
static inline int gid_ring_put_line(
		struct gid_ring_producer *end, struct gid_wire_entry line, uint64_t now);
typedef struct gid_wire_entry gid_ring_line_func(const void *data, uint32_t number);
static inline uint32_t gid_ring_put_lines(struct gid_ring_producer *end, uint32_t count,
		gid_ring_line_func *make, const void *data, uint64_t now);

/*
 * Whether the consumer is to be woken. To be asked after everything that it should see was
 * published.
 */
static inline bool gid_ring_should_wake_consumer(struct gid_ring_producer *end);

/* Called for each entry that was released. */
typedef void gid_ring_back_func(void *data, const struct gid_ring_sent *sent);

/*
 * Collects all entries that the consumer has released by now: 0 or -EPROTO. `back` must not use the
 * ring.
 */
static inline int gid_ring_collect_all(
		struct gid_ring_producer *end, gid_ring_back_func *back, void *data);

/* Collects the next one: 1, 0 where there is none, -EPROTO. */
static inline int gid_ring_collect(struct gid_ring_producer *end, struct gid_ring_sent *released);

/* Whether the consumer has said, since this was asked last, that it uses what it holds. */
bool gid_ring_was_renewed(struct gid_ring_producer *end);

/* How many pictures could be sent now. */
static inline uint32_t gid_ring_room(const struct gid_ring_producer *end);

/*
 * What the consumer told of its display: a consistent copy, whose values are unchecked. False: it
 * told nothing, or is just changing it.
 */
bool gid_ring_get_shown(const struct gid_ring_producer *end, struct gid_shown *shown);

/*
 * The formats that the consumer told that it can show: a consistent copy, whose values are
 * unchecked. Returns their number, up to GID_SHOWABLE_MAX; -ENODATA: it told nothing, or is just
 * changing it.
 */
int gid_ring_get_showable(const struct gid_ring_producer *end,
		struct gid_showable showable[static GID_SHOWABLE_MAX]);

/* Gives the entry that was put last its check, before it is published. */
void gid_ring_put_check(struct gid_ring_producer *end, const struct gid_wire_check *check);

/* How many entries the consumer did not claim yet. */
uint32_t gid_ring_unread(const struct gid_ring_producer *end);

/* Loads what the consumer has claimed: entries below `end->head`. 0 or -EPROTO. */
static inline int gid_ring_poll_claims(struct gid_ring_producer *end);

/* The oldest picture that the consumer did not claim yet: 1, 0 where there is none, -EPROTO. */
int gid_ring_oldest_unread(struct gid_ring_producer *end, struct gid_ring_sent *oldest);

/*
 * Marks the entries from `first` on as outdated since `now`: the producer has sent something else.
 */
void gid_ring_outdate_all(struct gid_ring_producer *end, uint64_t first, uint64_t now);

static inline void gid_ring_outdate(struct gid_ring_producer *end, uint64_t first, uint64_t now) {
	if (first + 1 == end->tail) {
		/* Nearly always: the newest one, or it is back and that says nothing. */
		end->sent[first & (end->entries - 1)].outdated = now;
	} else if (first < end->tail) {
		gid_ring_outdate_all(end, first, now);
	}
}

/* The oldest entry in flight, claimed or not. */
bool gid_ring_oldest(struct gid_ring_producer *end, struct gid_ring_sent *oldest);

/*
 * Reclaims an entry below `below` that the consumer has not claimed. To be called until it returns
 * 0; 1: `taken` is free; -EPROTO. What is left below `below` then was claimed.
 */
int gid_ring_take_back(struct gid_ring_producer *end, uint64_t below, struct gid_ring_sent *taken);

/*
 * Reclaims an entry that was claimed: the consumer may be reading it. False: it is not in flight.
 */
bool gid_ring_take_by_force(
		struct gid_ring_producer *end, uint64_t index, struct gid_ring_sent *taken);

/*
 * At the end of the subscription: marks all published entries below `below` as taken, for good.
 * That includes entries that were released long ago: a consumer whose machine is restored to an
 * earlier state believes that it still holds them.
 */
void gid_ring_disown(struct gid_ring_producer *end, uint64_t below);

/* The index behind the last picture in flight: entries from there on may outlive the stream. */
uint64_t gid_ring_last_words(const struct gid_ring_producer *end);

/* Says that the stream ended in good order. */
void gid_ring_close(struct gid_ring_producer *end);

/* Announces that this end sleeps (again). True: there are releases already, so it must not. */
bool gid_ring_producer_sleep(struct gid_ring_producer *end);
void gid_ring_producer_wake(struct gid_ring_producer *end);

/* --- the consumer's end ----------------------------------------------------------------------- */

struct gid_ring_consumer {
	const struct gid_wire_ring *ring;
	struct gid_wire_page *page;
	uint64_t head, release_tail, asleep;
	uint64_t tail; /* as last seen */
	uint64_t rung; /* the producer's `asleep` that was last rung for */
	uint64_t shown_count, showable_count, renewed;
	uint32_t held, entries;
	uint64_t held_until[GID_RING_ENTRIES]; /* index + 1 of the entry held at a place, else 0 */
	struct gid_wire_note notes[GID_BURST_MAX]; /* of the entries received last, in order */
};

/*
 * `ring` is the producer's, `page` is zeroed and ours. Both outlive the end. -EPROTO: it is none
 * with a number of entries that a ring can have.
 */
int gid_ring_consumer_init(struct gid_ring_consumer *end, const struct gid_wire_ring *ring,
		struct gid_wire_page *page);

/* Claims the entries that come next, up to `most`, from `*first` on: how many, 0 or -EPROTO. */
static inline int gid_ring_claim(struct gid_ring_consumer *end, uint32_t most, uint64_t *first);

/*
 * Copies the first line of the entry at `line`, each word by one load; the index was checked.
 * False: the first line is not all of the entry.
 */
typedef bool gid_ring_copy_func(void *data, const struct gid_wire_entry *line);

/*
 * Takes a claimed entry by its first line. True: it is held now. False: it is one of the few that
 * gid_ring_keep() has to take, and the copy means nothing.
 */
static inline bool gid_ring_take(struct gid_ring_consumer *end, uint64_t index,
		gid_ring_copy_func *copy, void *data);

/*
 * Copies a claimed entry, with its second line if it has one, and with its note, to
 * `notes[number]`. Then loads the floor: an entry that was reclaimed meanwhile goes back unread.
 * Returns 1: it is held now; 0; -EPROTO.
 */
int gid_ring_keep(struct gid_ring_consumer *end, uint64_t index, struct gid_wire_frame *copy,
		uint32_t number);

/*
 * Takes the next entries, up to `most`, which is at most GID_BURST_MAX, by one claim. Returns how
 * many, 0 where there is none, -EPROTO. After each `copy`, `next` is called with the index of the
 * entry that is held now. For an entry that `copy` cannot take, `take_hard` does all of that, as
 * gid_ring_keep().
 */
typedef void gid_ring_next_func(void *data, uint64_t index);
typedef int gid_ring_take_hard_func(
		void *data, struct gid_ring_consumer *end, uint64_t index, uint32_t number);
static inline int gid_ring_receive_each(struct gid_ring_consumer *end, uint32_t most,
		gid_ring_copy_func *copy, gid_ring_next_func *next,
		gid_ring_take_hard_func *take_hard, void *data);

/* The same with plain copies of the entries. */
static inline int gid_ring_receive_burst(
		struct gid_ring_consumer *end, struct gid_wire_frame *copies, uint32_t most);
static inline int gid_ring_receive(struct gid_ring_consumer *end, struct gid_wire_frame *copy);

/*
 * Gives an entry back. Returns 0, or -EINVAL: it is not held (any more: an entry that was taken
 * back by force is forgotten when another comes to its place).
 */
static inline int gid_ring_release(struct gid_ring_consumer *end, uint64_t index);

/*
 * gid_ring_release() in two steps: the producer does not see it before gid_ring_publish_releases().
 */
static inline int gid_ring_put_back(struct gid_ring_consumer *end, uint64_t index);
static inline void gid_ring_publish_releases(struct gid_ring_consumer *end);

/*
 * gid_ring_put_back() for `count` entries. `index_of` gives the index of each by its number,
 * UINT64_MAX for none. Returns how many went back; `unheld` is called for each of the others.
 */
typedef uint64_t gid_ring_index_func(const void *data, uint32_t number);
typedef void gid_ring_unheld_func(void *data, uint32_t number);
static inline uint32_t gid_ring_put_back_each(struct gid_ring_consumer *end, uint32_t count,
		gid_ring_index_func *index_of, gid_ring_unheld_func *unheld, void *data);

/* Says that what is held is used. */
void gid_ring_renew(struct gid_ring_consumer *end);

/*
 * Whether a held entry is still ours, so that what it names did not change until now. False also
 * where it was released.
 */
bool gid_ring_is_held(const struct gid_ring_consumer *end, uint64_t index);

/*
 * Copies a held entry once more, with its check. Returns 0; -ENODATA: it has none; -ESTALE: it is
 * not held.
 */
int gid_ring_get_check(const struct gid_ring_consumer *end, uint64_t index,
		struct gid_wire_frame *copy, struct gid_wire_check *check);

/* How many entries are there to be received, at most: some may have no picture, or be reclaimed. */
uint32_t gid_ring_readable(const struct gid_ring_consumer *end);

void gid_ring_tell_shown(struct gid_ring_consumer *end, const struct gid_shown *shown);

/* `number` is at most GID_SHOWABLE_MAX. */
void gid_ring_tell_showable(struct gid_ring_consumer *end, const struct gid_showable *showable,
		uint32_t number);

/* Whether the producer is to be woken. To be asked after releases were published. */
static inline bool gid_ring_should_wake_producer(struct gid_ring_consumer *end);

/* Whether gid_ring_receive() may have something, or find something wrong. Costs two loads. */
bool gid_ring_is_readable(const struct gid_ring_consumer *end);

/* Announces that this end sleeps (again). True: there is an entry already, so it must not. */
bool gid_ring_consumer_sleep(struct gid_ring_consumer *end);
void gid_ring_consumer_wake(struct gid_ring_consumer *end);

#include "ring_frame.h"

#endif
