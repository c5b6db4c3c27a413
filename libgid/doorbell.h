// SPDX-License-Identifier: MIT
/**
 * The wake-up between the two ends of a subscription: a connected pair of stream sockets. It says
 * "look", never "how many". Each ring names its own MSG_DONTWAIT, so that the other side cannot make
 * it block (the flags of an eventfd would be shared with it), and the hang-up of an end tells that
 * its process died, even while no gidd is there.
 */
#ifndef GID_DOORBELL_H
#define GID_DOORBELL_H

#include <stdbool.h>

/* Makes the two ends. */
int gid_doorbell_create(int ends[static 2]);

/* Whether a descriptor from a peer can be an end: -EBADF where it is no connected stream socket. */
int gid_doorbell_check(int end);

/* Wakes the other side. -EPIPE: it is gone. A ring that it did not hear yet is enough. */
int gid_doorbell_ring(int end);

/* Takes all rings in. Returns -EPIPE when the other side hung up, else 0. */
int gid_doorbell_answer(int end);

#endif
