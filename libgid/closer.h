// SPDX-License-Identifier: MIT
/**
 * Closes descriptors that came from others, where nobody waits for it. The last close of a file may
 * block for as long as who gave it likes: a TCP socket that lingers, a file of a FUSE file system,
 * a unix socket in whose queue such descriptors wait.
 */
#ifndef GID_CLOSER_H
#define GID_CLOSER_H

#include <stdint.h>

/*
 * Takes the descriptor. Memory (a memfd) is closed at once, all else by a helper thread, of which
 * there are a few at most, with the scheduling of ordinary programs and all signals blocked. Where
 * all of them are stuck the descriptors wait for one, and count against the limit of open files.
 * From any thread.
 */
void gid_closer_close(int fd);

/* The same for a socket of which nobody else has a copy: its peer hears at once that it is over. */
void gid_closer_hang_up(int socket);

/* How many descriptors are with helper threads, or wait for one: a sign of an attack. */
uint32_t gid_closer_pending(void);

#endif
