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
#include <wayland-server-core.h>

/* For this process, from now on. Returns 0 or -errno: Weston does some of it itself. */
int client_descriptors_guard(void);

/*
 * Whether Weston reads a descriptor for `data`: its clipboard does for the source by which it will
 * offer a text, until it has all of that.
 */
bool client_descriptors_are_read_for(const void *data);

/* For what it began to read last. Only to be compared. */
const void *client_descriptors_last_read(void);

/* Emitted when it reads no more, with that data, which may be about to be freed: within Weston's
 * own code, none of which is to be called then. */
extern struct wl_signal client_descriptors_read_end;

/* Whether it is a descriptor that libwayland gets. Asks no file system, and never waits. */
bool client_descriptor_is_harmless(int fd);

#endif
