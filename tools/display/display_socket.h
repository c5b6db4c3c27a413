// SPDX-License-Identifier: MIT
/** Where a domain's gid-cluster tells its status, as gid-cluster(1) describes. */
#ifndef TOOLS_DISPLAY_SOCKET_H
#define TOOLS_DISPLAY_SOCKET_H

/*
 * Connects to the display of the domain, by $GID_RUNTIME_DIR where that is set, and waits for a
 * second at most. All that can be read is one JSON object. Returns a descriptor that the caller
 * closes, whose calls wait for as long at most; or -errno: there is no display.
 */
int display_socket_connect(const char *domain);

/* Likewise to one that was given another socket. */
int display_socket_connect_at(const char *path);

#endif
