// SPDX-License-Identifier: MIT
/** Packets with descriptors over unix SOCK_SEQPACKET sockets. Knows nothing of messages. */
#ifndef GID_SOCKET_H
#define GID_SOCKET_H

#include <gid/gid.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GID_SOCKET_FDS_MAX 2u /* descriptors beside one packet */

/*
 * A connected, non-blocking, close-on-exec socket, or -errno. Waits until `deadline`
 * (gid_clock_now() time) where the listener's queue is full: -ETIMEDOUT.
 */
int gid_socket_connect(const char *path, uint64_t deadline);

/*
 * Sends one packet; the descriptors stay the caller's. Never blocks: -EAGAIN where the queue is
 * full. -EPIPE, -ECONNRESET: the peer is gone.
 */
int gid_socket_send(int fd, const void *data, size_t size, const int *fds, uint32_t fd_count);

/* The most descriptors that Linux takes with one packet (SCM_MAX_FD). */
#define GID_SOCKET_RIGHTS_MAX 253u

/*
 * From now on nobody can send descriptors to the socket, where the kernel has that (Linux 6.16):
 * whether it has. Elsewhere gid_socket_read() sees to those that come.
 */
bool gid_socket_refuse_rights(int fd);

/* From now on they are taken, on a socket that refused them. */
void gid_socket_accept_rights(int fd);

/*
 * Reads bytes where no descriptor is due. Never blocks, whatever came with them: returns the number
 * of bytes, 0 at the end, -EPROTO: descriptors came with them, which are closed elsewhere; -EAGAIN,
 * or what else recvmsg() says.
 */
ssize_t gid_socket_read(int fd, void *data, size_t size);

/*
 * Receives one packet into `data`. Returns its size, 0 at the end of the connection, -EAGAIN, or
 * -EPROTO for a packet that is larger than `size` or has more than GID_SOCKET_FDS_MAX descriptors,
 * or descriptors and no bytes; or -EMFILE where this process can have no more descriptors, which is
 * not the sender's fault. That packet is lost and all its descriptors are closed. Else the
 * caller owns `fds[0]` to `fds[*fd_count - 1]`, which are close-on-exec; the rest are -1. Never
 * blocks.
 */
ssize_t gid_socket_receive(int fd, void *data, size_t size, int fds[static GID_SOCKET_FDS_MAX],
		uint32_t *fd_count);

/* Waits for poll() `events` until `deadline`. Returns what happened, or 0 at the deadline. */
int gid_socket_wait(int fd, short events, uint64_t deadline);

/* Closes descriptors of others, those that are >= 0, as closer.h says, and sets them to -1. */
void gid_socket_close_fds(int *fds, uint32_t fd_count);

#endif
