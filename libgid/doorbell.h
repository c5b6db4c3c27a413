// SPDX-License-Identifier: MIT
/**
 * Doorbells: the two ends of a stream socketpair. A byte says "look", and never how often. A ring
 * never blocks, whatever the other side does with its end, and the hang-up of one end tells the
 * other that its peer is gone, while gidd is away, too. No descriptors go through it: they would be
 * a trap, for the last close of a file may block. (An eventfd could do neither: who holds one can
 * make it blocking and fill it.)
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
	uint64_t heard; /* bytes ever read */
	/* eventfds past gidd, -1: none. Nobody reads them: they are watched for edges. */
	int hear, ring;
	uint32_t idle; /* how often `hear` was rung since there was something new */
};

#define GID_DOORBELL_NONE ((struct gid_doorbell){.fd = -1, .hear = -1, .ring = -1})

/* Makes a pair: ours, and the end that the other side gets. */
int gid_doorbell_create(struct gid_doorbell *ours, int *theirs);

/*
 * Takes over an end that came from the other side, and what was rung before. It stays the caller's
 * on -EPROTO: it is none, or something else than rings waits in it.
 */
int gid_doorbell_take(struct gid_doorbell *bell, int fd);

void gid_doorbell_finish(struct gid_doorbell *bell);

void gid_doorbell_ring(const struct gid_doorbell *bell);

/*
 * Silences the bell after a sleep. `sleeps` is how often we let ourselves be rung for: at most one
 * byte for each. Returns 0, -EPIPE: the other side hung up; -EPROTO: it rings without being asked.
 */
int gid_doorbell_silence(struct gid_doorbell *bell, uint64_t sleeps);

/*
 * It was rung past gidd, and there was something new, or not. Returns false where it was rung for
 * nothing so often that gidd should hear in our place.
 */
bool gid_doorbell_bears(struct gid_doorbell *bell, bool news);

/*
 * Rings an eventfd that others have, too, and could have made one that blocks, and full. (They
 * would have to do so between the calls in here to stop us.)
 */
void gid_doorbell_signal(int fd);

#endif
