// SPDX-License-Identifier: MIT
/**
 * The descriptors that clients send. To close one may take as long as who sent it likes: a file of
 * a FUSE file system, a TCP socket that lingers, a unix socket in whose queue such wait. libwayland
 * and Weston close them in the thread that forwards the safety surfaces of others, some even
 * within recvmsg().
 *
 * So libwayland gets those only that cannot make anybody wait: memory (memfd, tmpfs), dma-bufs,
 * pipes and fences. In the place of any other it finds /dev/null; those, and connections that are
 * over, are closed by threads of their own. So is the memory of large wl_shm pools freed.
 *
 * Pipes can make somebody wait, too, for as long as their client likes: the kernel locks one while
 * a thread reads or writes it, also with memory that never comes. So those are closed by other
 * threads as well, and read and written by them where Weston itself does that: for its clipboard,
 * which keeps what was copied last when its program has gone. Xwayland's, which is not Weston's,
 * does that itself.
 *
 * Nor does libwayland get more of a message than it has room for (message_frames.h).
 */
#ifndef GID_WESTON_CLIENT_DESCRIPTORS_H
#define GID_WESTON_CLIENT_DESCRIPTORS_H

#include <stdbool.h>

/* For this process, from now on. Returns 0 or -errno: Weston does some of it itself. */
int client_descriptors_guard(void);

/* Whether it is a descriptor that libwayland gets. Asks no file system, and never waits. */
bool client_descriptor_is_harmless(int fd);

#endif
