// SPDX-License-Identifier: MIT
/**
 * Descriptors on their way: sent, and not yet taken by who they were sent to. With more of them
 * than gidd may have open the kernel refuses to send any (unix(7), ETOOMANYREFS), to whomever. So
 * each connection, each giver with all of his, and all together may have some.
 *
 * What is in the queue of a peer stays there when the connection is over, until he takes it or
 * closes his end. So long it counts, and the socket stays open, for only by that it can be asked.
 *
 * Used by gidd's thread.
 */
#ifndef GIDD_UNTAKEN_H
#define GIDD_UNTAKEN_H

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

struct untaken; /* of one connection */

/* `giver` as in closer.h: who is charged. NULL: no memory. The socket stays the caller's. */
struct untaken *untaken_create(sd_event *event, int socket, uint64_t giver);

/* Whether so many more may be sent there now; if not, perhaps later. */
bool untaken_may_add(struct untaken *untaken, uint32_t count);
/* So many were sent. */
void untaken_add(struct untaken *untaken, uint32_t count);

/*
 * The same for those that wait for that in gidd, which are open there: whether so many more may,
 * and that they do, or no longer.
 */
bool untaken_may_queue(const struct untaken *untaken, uint32_t count);
void untaken_queue(struct untaken *untaken, uint32_t count);
void untaken_unqueue(struct untaken *untaken, uint32_t count);

/* The connection is over. Takes the socket, to be closed as gid_closer_hang_up() does, and frees.
 */
void untaken_hang_up(struct untaken *untaken);

/* How many connections of this giver are over, and have something of that in their queues. */
uint32_t untaken_left_of(uint64_t giver);

/* Whether something in the peer's queue is not read yet. */
bool untaken_is_unread(int socket);

/* Closes the sockets of before, read or not: gidd ends. */
void untaken_finish(void);

#endif
