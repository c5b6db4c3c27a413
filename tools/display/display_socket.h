// SPDX-License-Identifier: MIT
/** Where a domain's gid-cluster tells its status, as gid-cluster(1) describes. */
#ifndef TOOLS_DISPLAY_SOCKET_H
#define TOOLS_DISPLAY_SOCKET_H

/*
 * Connects to the display of the domain, by $GID_RUNTIME_DIR where that is set. All that can be
 * read is one JSON object. `flags` 0: waits for a second at most, and so do the calls of the
 * descriptor; SOCK_NONBLOCK: neither waits. Returns a descriptor that the caller closes; or
 * -EAGAIN: others wait there; -ENOENT, -ECONNREFUSED: there is no display; or another -errno.
 */
int display_socket_connect(const char *domain, int flags);

/* Likewise to one that was given another socket. */
int display_socket_connect_at(const char *path, int flags);

#endif
