// SPDX-License-Identifier: MIT
/**
 * Doorbells: the two ends of a stream socketpair. A byte says "look", and never how often. A ring
 * never blocks, whatever the other side does with its end, and the hang-up of one end tells the
 * other that its peer is gone, while gidd is away, too. No descriptors go through it: they would be
 * a trap, for the last close of a file may block. (An eventfd could do neither: who holds one can
 * make it blocking and fill it.)
 */
#ifndef GID_DOORBELL_H
#define GID_DOORBELL_H

#include <stdint.h>

struct gid_doorbell {
	int fd;		/* -1: none */
	uint64_t heard; /* bytes ever read */
};

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

#endif
