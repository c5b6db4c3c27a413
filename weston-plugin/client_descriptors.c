// SPDX-License-Identifier: MIT
#include "client_descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <libweston/libweston.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "closer.h"
#include "dmabuf_facts.h"
#include "library_call.h"
#include "message_frames.h"
#include "socket.h"

/* More than so many of one client's wait to be closed: it is hung up on. */
#define OF_ONE_MAX 64u
/* Of all. Until there are fewer, nobody is read from who is new, or sent such a descriptor. */
#define OF_ALL_MAX 256u
/* Descriptors of connections; those of higher numbers are always new. */
#define CONNECTIONS 4096
/* Less than that is unmapped at once. */
#define QUICK_SIZE GID_CLOSER_QUICK

enum connection_state {
	CONNECTION_NEW = 0,
	CONNECTION_GOOD, /* was read from, and sent nothing but what is harmless */
	CONNECTION_BAD,
};

/* By their descriptors. */
static struct connection {
	enum connection_state state;
	struct message_frames frames;
} connections[CONNECTIONS];
static struct weston_log_pacer pacer, long_pacer;
static int read_last = -1; /* the connection */

/* --- what a descriptor is --------------------------------------------------------------------- */

/* The names of what is no file in a file system. One that is has a name that begins with a slash.
 */
static bool has_harmless_name(int fd) {
	static const char *const names[] = {"pipe:[", "anon_inode:sync_file",
			"anon_inode:syncobj_file", "anon_inode:[eventfd]"};
	char path[32], name[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ssize_t length = readlink(path, name, sizeof(name) - 1);
	name[length > 0 ? length : 0] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strncmp(name, names[i], strlen(names[i])) == 0) {
			return true;
		}
	}
	return false;
}

static bool is_dmabuf(int fd) {
	struct dmabuf_facts facts;
	dmabuf_facts_read(&facts, fd);
	return facts.is_dmabuf;
}

bool client_descriptor_is_harmless(int fd) {
	return fcntl(fd, F_GET_SEALS) >= 0 || has_harmless_name(fd) || is_dmabuf(fd);
}

/* --- receiving -------------------------------------------------------------------------------- */

/* Room for all that can come: what has no room the kernel would close within recvmsg(). */
union control {
	char bytes[CMSG_SPACE(GID_SOCKET_RIGHTS_MAX * sizeof(int))];
	struct cmsghdr align;
};

static struct connection *connection_of(int socket) {
	return socket >= 0 && socket < CONNECTIONS ? &connections[socket] : NULL;
}

static enum connection_state state_of(int socket) {
	const struct connection *connection = connection_of(socket);
	return connection != NULL ? connection->state : CONNECTION_NEW;
}

static void set_state(int socket, enum connection_state state) {
	struct connection *connection = connection_of(socket);
	if (connection != NULL) {
		connection->state = state;
	}
}

/* The descriptor may be another connection's next. */
static void forget_connection(int socket) {
	struct connection *connection = connection_of(socket);
	if (connection != NULL) {
		*connection = (struct connection){0};
	}
}

/* Whether libwayland has room for each message that the bytes begin. */
static bool has_room(int socket, const struct msghdr *message, size_t received) {
	struct connection *connection = connection_of(socket);
	for (size_t i = 0; connection != NULL && received > 0 && i < message->msg_iovlen; i++) {
		const struct iovec *part = &message->msg_iov[i];
		size_t size = received < part->iov_len ? received : part->iov_len;
		if (!message_frames_take(&connection->frames, part->iov_base, size)) {
			return false;
		}
		received -= size;
	}
	return true;
}

/* Who gives: the closer's name for a connection. */
static uint64_t giver_of(int socket) {
	return (uint64_t)socket + 1;
}

static uint32_t collect(struct msghdr *message, int *fds) {
	uint32_t count = 0;
	for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header != NULL;
			header = CMSG_NXTHDR(message, header)) {
		if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
			size_t bytes = header->cmsg_len - CMSG_LEN(0);
			memcpy(fds + count, CMSG_DATA(header), bytes);
			count += (uint32_t)(bytes / sizeof(int));
		}
	}
	return count;
}

/* Returns what takes its place, or -1. */
static int replace(int socket, int fd) {
	weston_log_paced(&pacer, 10, 60000,
			"gid: a client sent a descriptor that is neither memory (memfd, tmpfs), a "
			"dma-buf, a pipe nor a fence: it is taken for /dev/null\n");
	set_state(socket, CONNECTION_BAD);
	gid_closer_close(fd);
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

/* Puts those into the caller's message for which it has room. */
static void hand_over(struct msghdr *message, const int *fds, uint32_t count) {
	size_t room = message->msg_control != NULL && message->msg_controllen > CMSG_LEN(0)
			? (message->msg_controllen - CMSG_LEN(0)) / sizeof(int)
			: 0;
	uint32_t fit = count < room ? count : (uint32_t)room;
	for (uint32_t i = fit; i < count; i++) {
		gid_closer_close(fds[i]);
	}
	if (fit < count) {
		message->msg_flags |= MSG_CTRUNC;
	}
	if (fit == 0) {
		message->msg_controllen = 0;
		return;
	}
	struct cmsghdr *header = message->msg_control;
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(fit * sizeof(int));
	memcpy(CMSG_DATA(header), fds, fit * sizeof(int));
	message->msg_controllen = header->cmsg_len;
}

static ssize_t refuse_message(const int *fds, uint32_t count) {
	weston_log_paced(&long_pacer, 10, 60000,
			"gid: a client began a message of more than %u bytes, for which libwayland "
			"has no room: it is hung up on\n",
			MESSAGE_MAX);
	for (uint32_t i = 0; i < count; i++) {
		gid_closer_close(fds[i]);
	}
	errno = EMSGSIZE;
	return -1;
}

/* Others' descriptors must find room, also while somebody sends such without end. */
static bool may_be_read(int socket) {
	return gid_closer_pending_of(giver_of(socket)) <= OF_ONE_MAX &&
			(state_of(socket) == CONNECTION_GOOD || gid_closer_pending() <= OF_ALL_MAX);
}

static ssize_t receive(int socket, struct msghdr *message, int flags) {
	union control control;
	int fds[GID_SOCKET_RIGHTS_MAX];
	struct msghdr whole = *message;
	whole.msg_control = control.bytes;
	whole.msg_controllen = sizeof(control.bytes);
	ssize_t received = recvmsg(socket, &whole, flags);
	if (received < 0) {
		return received;
	}
	if (state_of(socket) == CONNECTION_NEW) {
		set_state(socket, CONNECTION_GOOD);
	}
	uint32_t count = collect(&whole, fds), kept = 0;
	if (!has_room(socket, &whole, (size_t)received)) {
		return refuse_message(fds, count);
	}
	for (uint32_t i = 0; i < count; i++) {
		int fd = client_descriptor_is_harmless(fds[i]) ? fds[i] : replace(socket, fds[i]);
		if (fd >= 0) {
			fds[kept++] = fd;
		}
	}
	message->msg_flags = whole.msg_flags;
	message->msg_namelen = whole.msg_namelen;
	hand_over(message, fds, kept);
	return received;
}

/* For libwayland's recvmsg(), which is only called for connections. */
static ssize_t guarded_recvmsg(int socket, struct msghdr *message, int flags) {
	if (!may_be_read(socket)) {
		errno = ECONNRESET;
		return -1;
	}
	uint64_t before = gid_closer_charge(giver_of(socket));
	ssize_t received = receive(socket, message, flags);
	read_last = socket;
	int error = errno;
	gid_closer_charge(before);
	errno = error;
	return received;
}

/* --- closing ---------------------------------------------------------------------------------- */

/* What nobody read waits in a socket, and is closed with it. */
static bool is_socket(int fd) {
	int type;
	socklen_t size = sizeof(type);
	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

/*
 * For libwayland's munmap(): of pools, whose size their clients chose. To free a gigabyte takes
 * longer than a frame.
 */
static int guarded_munmap(void *data, size_t size) {
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	if (size < QUICK_SIZE) {
		return munmap(data, size);
	}
	gid_closer_unmap(data, (size + page - 1) & ~(page - 1), 0);
	return 0;
}

/*
 * For libwayland's close(). Pipes, too, wait: for who reads or writes with memory that never comes.
 * What is no connection comes of the message that was read last.
 */
static int guarded_close(int fd) {
	bool is_connection = is_socket(fd);
	uint64_t before = gid_closer_charge(giver_of(is_connection ? fd : read_last));
	if (is_connection) {
		forget_connection(fd);
	}
	gid_closer_close(fd);
	gid_closer_charge(before);
	return 0;
}

/* --- life ------------------------------------------------------------------------------------- */

/* Room for those that wait. */
static void raise_limit(void) {
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < CONNECTIONS) {
		limit.rlim_cur = limit.rlim_max < CONNECTIONS ? limit.rlim_max : CONNECTIONS;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int client_descriptors_guard(void) {
	static const struct {
		const char *name;
		library_function guarded;
	} calls[] = {
			{"recvmsg", (library_function)guarded_recvmsg},
			{"close", (library_function)guarded_close},
			{"munmap", (library_function)guarded_munmap},
	};
	int error = 0;
	raise_limit();
	for (size_t i = 0; error == 0 && i < sizeof(calls) / sizeof(calls[0]); i++) {
		error = library_call_replace((library_function)wl_client_create, calls[i].name,
				calls[i].guarded);
	}
	return error;
}
