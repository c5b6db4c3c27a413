// SPDX-License-Identifier: MIT
/**
 * Helper threads for what may take long, on behalf of threads that must not wait: they close
 * descriptors that came from others, and unmap memory. The last close of a file may block for as
 * long as its giver likes: a TCP socket that lingers, a file of a FUSE file system, a unix socket
 * in whose queue such descriptors wait. Unmapping a gigabyte takes longer than a frame.
 */
#ifndef GID_CLOSER_H
#define GID_CLOSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Up to so many bytes of memory are unmapped, or freed with their last descriptor, by the caller
 * itself; more by a helper. It is little, as a stranger can have all of his slabs end at one
 * moment.
 */
#define GID_CLOSER_QUICK ((size_t)256 << 10)

/*
 * Starts a helper that closes, if there is none yet, and may fail. It stays. For those who will
 * need one at a time when their user may have as many threads as he may: to start it then would
 * fail.
 */
void gid_closer_prepare(void);

/* Whether there is one. If not, what waits to be closed or emptied waits for us, not for its giver.
 */
bool gid_closer_has_helper(void);

/*
 * Takes the descriptor. Memory (a memfd) is closed at once where there is little of it, and else as
 * memory is unmapped; all other files by a helper thread, of which there are a few at most,
 * with the scheduling of ordinary programs and all signals blocked. Where all of them are stuck the
 * descriptors wait for one, and count against the limit of open files. From any thread.
 */
void gid_closer_close(int fd);

/*
 * Takes a copy of a stream socket's descriptor. A helper reads and drops what waits there, and
 * closes the copy. Reading may block for as long as anybody else who has the socket likes. `whose`
 * names the request for the next two functions, one at a time; NULL: nobody asks.
 */
void gid_closer_empty(int socket, const void *whose);

/*
 * Whether that is not done yet: the helper may still consume what comes now. Tries to start a
 * helper where none could be started before.
 */
bool gid_closer_is_emptying(const void *whose);

/* Forgets the name: nobody asks any more, and the address may be used again. */
void gid_closer_disown(const void *whose);

/*
 * Shuts a socket down, so that its peer hears at once that it is over, and closes it as
 * gid_closer_close() does. Nobody else may have a copy of it. With no descriptor in its queue it
 * does not wait for others of its giver.
 */
void gid_closer_hang_up(int socket);

/*
 * Charges what the calling thread closes from now on to a giver: a number of the caller's choice, 0
 * for nobody in particular. Only a few helpers at a time work for one giver, so that a giver whose
 * files never close does not keep others' from being closed. Returns who was charged before.
 */
uint64_t gid_closer_charge(uint64_t giver);

/* How many descriptors are with helper threads, or wait for one: a sign of an attack. */
uint32_t gid_closer_pending(void);

/* How many of these are charged to this giver, including its connections. */
uint32_t gid_closer_pending_of(uint64_t giver);

/*
 * Whether a giver's descriptors do not get fewer: each helper that may work for this giver has been
 * at one close for longer than a close takes. Helpers that are only late, as on a busy machine,
 * have not begun.
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
 * While this is on, by anybody, no helper is started and nothing is allocated for closing: the
 * helpers that it takes are started when it is turned on. Counts: each `true` needs its `false`.
 * From any thread.
 */
void gid_closer_settle(bool on);

/* How many bytes of stacks these helpers have, and how many they are. */
size_t gid_closer_settled_stacks(uint32_t *helpers);

/* How many bytes of a domain's memory are still to be unmapped. */
uint64_t gid_closer_held(uint32_t owner);

#endif
