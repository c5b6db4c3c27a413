// SPDX-License-Identifier: MIT
/**
 * Doorbells: the two ends of a stream socketpair. A byte says "look", and never how often. A ring
 * never blocks, whatever the other side does with its end, and the hang-up of one end tells the
 * other that its peer is gone, while gidd is away, too. No descriptors go through it: they would be
 * a trap, for the last close of a file may block. (An eventfd could do neither: who holds one can
 * make it blocking and fill it.)
 *
 * Whoever made the pair has had both ends, and may have kept the one that it gave away. It can keep
 * that locked in the kernel for good, by a system call that does not end. So who took an end over
 * never reads it, and sets no option of it: it is watched for edges, and helper threads empty it.
 *
 * Where the other side is on another machine, the socket ends at gidd, which passes rings on. gidd
 * may give eventfds that go past it, one to hear and one to ring. The hang-up stays the socket's.
 */
#ifndef GID_DOORBELL_H
#define GID_DOORBELL_H

#include <stdbool.h>
#include <stdint.h>

struct gid_doorbell {
	int fd;		/* -1: none */
	uint64_t heard; /* bytes that ever came, as far as we saw them */
	bool taken;	/* the end came from the other side */
	uint64_t giver; /* the other side, which is charged for its end, as in closer.h; 0: whoever
			   closes it */
	bool emptying;	/* a helper was asked to empty it, and has not done so as far as we know */
	uint64_t full;	/* since when nearly nothing more fits in; 0: that is not so */
	int waiting;	/* bytes, when we last looked */
	/* eventfds past gidd, -1: none. Nobody reads them: they are watched for edges. */
	int hear, ring;
	uint32_t idle; /* rings of `hear` without news, one after the other */
	uint64_t news; /* the count of news at the last ring of `hear` */
};

#define GID_DOORBELL_NONE ((struct gid_doorbell){.fd = -1, .hear = -1, .ring = -1})

/* Makes a pair: ours, and the end that the other side gets. */
int gid_doorbell_create(struct gid_doorbell *ours, int *theirs);

/*
 * Takes over an end that came from the other side, `giver`: it is to be watched for edges. What was
 * rung before is one of them. It stays the caller's on -EPROTO: it is none.
 */
int gid_doorbell_take(struct gid_doorbell *bell, int fd, uint64_t giver);

/* Hangs up. */
void gid_doorbell_finish(struct gid_doorbell *bell);
/* The same, but that nobody hears of it as long as others have a copy of the end. */
void gid_doorbell_let_go(struct gid_doorbell *bell);

void gid_doorbell_ring(const struct gid_doorbell *bell);

/*
 * Silences the bell after a sleep. `sleeps` is how often we let ourselves be rung for: at most one
 * byte for each. Returns 0, -EPIPE: the other side hung up; -EPROTO: it rings without being asked,
 * or keeps its end from being emptied. Of an end that was taken also 1: there may soon be no room
 * for a ring; or 2: a helper empties it, and may read away a ring before anybody saw that. Then the
 * caller has to look by itself, and call this again after GID_DOORBELL_POLL_NS.
 */
int gid_doorbell_silence(struct gid_doorbell *bell, uint64_t sleeps);

#define GID_DOORBELL_POLL_NS UINT64_C(5000000)

/*
 * To be called when `hear` was rung. `news` counts all that ever was a reason to ring, including
 * what was found without the bell. If it did not change since the last ring, this ring had no
 * reason. Returns false after so many of those that gidd should listen in our place.
 */
bool gid_doorbell_bears(struct gid_doorbell *bell, uint64_t news);

/*
 * Rings an eventfd that others have, too, and could have made one that blocks, and full. (They
 * would have to do so between the calls in here to stop us.)
 */
void gid_doorbell_signal(int fd);

#endif
