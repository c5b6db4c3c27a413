// SPDX-License-Identifier: MIT
/**
 * Counts descriptors in flight: sent, but not yet received by the peer. With more of them than gidd
 * may have open the kernel refuses to send any, to anybody (unix(7), ETOOMANYREFS). So each
 * connection, each giver with all his connections, and all together have a limit.
 *
 * What is in a peer's queue stays there after the end of the connection, until he reads it or
 * closes his end. It counts for that time, and the socket stays open, as the kernel can only be
 * asked by that.
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

/* Whether so many more may be sent to it now; if not, they can wait. */
bool untaken_may_add(struct untaken *untaken, uint32_t count);
/* So many were sent. */
void untaken_add(struct untaken *untaken, uint32_t count);

/*
 * The same for descriptors that wait in gidd's own queue: whether so many more may wait; that they
 * do; and that they do no longer.
 */
bool untaken_may_queue(const struct untaken *untaken, uint32_t count);
void untaken_queue(struct untaken *untaken, uint32_t count);
void untaken_unqueue(struct untaken *untaken, uint32_t count);

/* The connection is over. Takes the socket, to be closed as gid_closer_hang_up() does, and frees.
 */
void untaken_hang_up(struct untaken *untaken);

/* How many connections of this giver are over but still have descriptors in their queues. */
uint32_t untaken_left_of(uint64_t giver);

/* Whether something in the peer's queue is not read yet. */
bool untaken_is_unread(int socket);

/* gidd ends: closes all such sockets, read or not. */
void untaken_finish(void);

#endif
