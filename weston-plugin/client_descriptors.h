// SPDX-License-Identifier: MIT
/**
 * Keeps the compositor's thread from blocking on descriptors that clients send. Closing one may
 * take as long as its sender likes: a file of a FUSE file system, a TCP socket that lingers, a unix
 * socket with such descriptors in its queue. libwayland and Weston close them in the thread that
 * forwards the safety surfaces of others, some even within recvmsg().
 *
 * So libwayland only gets descriptors that cannot block: memory (memfd, tmpfs), dma-bufs, pipes and
 * fences. Any other is replaced by /dev/null. Closer threads close those, and connections that
 * ended. They also free the memory of large wl_shm pools.
 *
 * Pipes can block, too, for as long as their client likes: the kernel locks a pipe while a thread
 * reads or writes it, even with memory that never arrives. So closer threads close pipes. Helper
 * threads read and write them for Weston's clipboard, which keeps the last copied text after its
 * program has ended. Xwayland's clipboard is not Weston's, and has its own thread for that.
 *
 * libwayland also gets no more of a message than it has room for (message_frames.h).
 */
#ifndef GID_WESTON_CLIENT_DESCRIPTORS_H
#define GID_WESTON_CLIENT_DESCRIPTORS_H

#include <stdbool.h>
#include <wayland-server-core.h>

/*
 * Takes effect for this process, from now on. Returns 0; or -errno, if Weston goes on making some
 * of these calls itself.
 */
int client_descriptors_guard(void);

/*
 * Whether Weston's event loop reads a descriptor with this data. Its clipboard does so with the
 * data source that will offer a text, until it has the whole text.
 */
bool client_descriptors_are_read_for(const void *data);

/* The data of the event source that began last. Only to be compared. */
const void *client_descriptors_last_read(void);

/*
 * Emitted with that data when Weston stops reading. The data may be about to be freed, and this
 * runs within Weston's own code: call none of it.
 */
extern struct wl_signal client_descriptors_read_end;

/* Whether libwayland gets such a descriptor. Asks no file system, and never blocks. */
bool client_descriptor_is_harmless(int fd);

#endif
