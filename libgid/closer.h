// SPDX-License-Identifier: MIT
/**
 * Does for threads that must not wait what takes its time: closes descriptors that came from
 * others, and unmaps memory. The last close of a file may block for as long as who gave it likes: a
 * TCP socket that lingers, a file of a FUSE file system, a unix socket in whose queue such
 * descriptors wait. To unmap a gigabyte takes longer than a frame.
 */
#ifndef GID_CLOSER_H
#define GID_CLOSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Of memory so many bytes are unmapped, or freed with their last descriptor, at once, and what is
 * more by a helper. It is little, for whoever made them has all slabs at rest go at one moment.
 */
#define GID_CLOSER_QUICK ((size_t)256 << 10)

/*
 * Takes the descriptor. Memory (a memfd) is closed at once where there is little of it, and else
 * where memory is unmapped; all other files by a helper thread, of which there are a few at most,
 * with the scheduling of ordinary programs and all signals blocked. Where all of them are stuck the
 * descriptors wait for one, and count against the limit of open files. From any thread.
 */
void gid_closer_close(int fd);

/*
 * Takes a copy of a stream socket's descriptor. A helper reads what waits there, for nothing, and
 * closes the copy. Reading may block for as long as anybody else who has the socket likes. `whose`
 * is only compared, and is one such socket's at a time; NULL: nobody asks.
 */
void gid_closer_empty(int socket, const void *whose);

/* Whether a helper has not done that yet: it may read away what comes now. */
bool gid_closer_is_emptying(const void *whose);

/* Nobody asks any more, and what comes to be at that address is another. */
void gid_closer_disown(const void *whose);

/*
 * Closes a socket of which nobody else has a copy as gid_closer_close() does: its peer hears at
 * once that it is over. With no descriptor in its queue it does not wait for others of its giver.
 */
void gid_closer_hang_up(int socket);

/*
 * What the calling thread closes from now on is somebody's: a number of the caller's choice, 0 for
 * nobody's in particular. No more than a few helpers work at the same time at what one of them
 * gave, so that descriptors of others are closed though his never are. Returns who was it before.
 */
uint64_t gid_closer_charge(uint64_t giver);

/* How many descriptors are with helper threads, or wait for one: a sign of an attack. */
uint32_t gid_closer_pending(void);

/* How many of these are what this one gave, his own connections among them. */
uint32_t gid_closer_pending_of(uint64_t giver);

/*
 * Whether they do not get fewer: each helper that may work at what this one gave has been at one
 * close for longer than a close takes. Helpers that are only late, as on a busy machine, have not
 * begun.
 */
bool gid_closer_is_stuck(uint64_t giver);

/*
 * Takes whole pages that are mapped. A helper thread of their own unmaps them, piece by piece; the
 * caller itself, where there can be none. For a real-time thread the helper takes the lowest
 * real-time priority meanwhile, if it may: nobody else in the process can map anything until a
 * piece is done. `owner`: the domain whose memory it is. From any thread.
 */
void gid_closer_unmap(void *data, size_t size, uint32_t owner);

/*
 * From now on no helper is started and nothing is allocated for what is to be closed, until whoever
 * said so takes it back, and all others who did: the helpers that it takes are started now. From
 * any thread.
 */
void gid_closer_settle(bool on);

/* How many bytes of stacks these helpers have, and how many they are. */
size_t gid_closer_settled_stacks(uint32_t *helpers);

/* How many bytes of a domain's memory are still to be unmapped. */
uint64_t gid_closer_held(uint32_t owner);

#endif
