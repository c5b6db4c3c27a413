// SPDX-License-Identifier: MIT
#include "client_descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <libweston/libweston.h>
#include <stdarg.h>
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
#include "text_pipe.h"

/* A client with more descriptors than this that wait to be closed is disconnected. */
#define OF_ONE_MAX 64u
/*
 * The same for all clients together. Above it, connections that are new, or have sent such
 * descriptors, are disconnected.
 */
#define OF_ALL_MAX 256u
/* Descriptors that are tracked: a connection with a higher number always counts as new. */
#define DESCRIPTORS 4096
/* Smaller mappings are unmapped at once. */
#define QUICK_SIZE GID_CLOSER_QUICK

enum connection_state {
	CONNECTION_NEW = 0,
	CONNECTION_GOOD, /* was read from, and has only sent harmless descriptors */
	CONNECTION_BAD,
};

/* By file descriptor. */
static struct connection {
	enum connection_state state;
	struct message_frames frames;
} connections[DESCRIPTORS];
/* By file descriptor: the connection that sent it, or has the other end of the pipe. 0: none. */
static uint64_t givers[DESCRIPTORS];
/* By file descriptor: the data of Weston's event source that reads it. NULL: there is none. */
static void *read_for[DESCRIPTORS];
static const void *last_read;
struct wl_signal client_descriptors_read_end;
static uint64_t handled; /* the connection that was read last, whose requests are being handled */
static struct weston_log_pacer pacer, long_pacer, busy_pacer, other_pacer;

/* --- what a descriptor is --------------------------------------------------------------------- */

/* These are names of what lies in no file system. The name of a file in one begins with a slash. */
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

/* --- connections ------------------------------------------------------------------------------ */

static struct connection *connection_of(int socket) {
	return socket >= 0 && socket < DESCRIPTORS ? &connections[socket] : NULL;
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

/* The number of the descriptor may become another connection's. */
static void forget_connection(int socket) {
	struct connection *connection = connection_of(socket);
	if (connection != NULL) {
		*connection = (struct connection){0};
	}
}

/* --- which connection sent it ----------------------------------------------------------------- */

/* The closer's number for a connection. */
static uint64_t connection_giver(int socket) {
	return (uint64_t)socket + 1;
}

static uint64_t giver_of(int fd) {
	return fd >= 0 && fd < DESCRIPTORS ? givers[fd] : 0;
}

static void set_giver(int fd, uint64_t giver) {
	if (fd >= 0 && fd < DESCRIPTORS) {
		givers[fd] = giver;
	}
}

/* --- what Weston reads ------------------------------------------------------------------------ */

static void begin_read(int fd, void *data) {
	if (fd >= 0 && fd < DESCRIPTORS) {
		read_for[fd] = data;
		last_read = data;
	}
}

static void end_read(int fd) {
	void *data = fd >= 0 && fd < DESCRIPTORS ? read_for[fd] : NULL;
	if (data != NULL) {
		read_for[fd] = NULL;
		wl_signal_emit(&client_descriptors_read_end, data);
	}
}

const void *client_descriptors_last_read(void) {
	return last_read;
}

bool client_descriptors_are_read_for(const void *data) {
	for (size_t fd = 0; fd < DESCRIPTORS; fd++) {
		if (read_for[fd] == data) {
			return data != NULL;
		}
	}
	return false;
}

/* --- receiving -------------------------------------------------------------------------------- */

/* Room for all descriptors that can arrive: the kernel closes any others within recvmsg(). */
union control {
	char bytes[CMSG_SPACE(GID_SOCKET_RIGHTS_MAX * sizeof(int))];
	struct cmsghdr align;
};

/* Whether libwayland has room for each request that begins in these bytes. */
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

/* Returns the descriptor that replaces it, or -1. */
static int replace(int socket, int fd) {
	weston_log_paced(&pacer, 10, 60000,
			"gid: a client sent a descriptor that is neither memory (memfd, tmpfs), a "
			"dma-buf, a pipe nor a fence: it is taken for /dev/null\n");
	set_state(socket, CONNECTION_BAD);
	gid_closer_close(fd);
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

/* Puts as many descriptors into the caller's message as it has room for, and closes the others. */
static void hand_over(struct msghdr *message, const int *fds, uint32_t count) {
	size_t room = message->msg_control != NULL && message->msg_controllen > CMSG_LEN(0)
			? (message->msg_controllen - CMSG_LEN(0)) / sizeof(int)
			: 0;
	uint32_t fit = count < room ? count : (uint32_t)room;
	for (uint32_t i = 0; i < fit; i++) {
		/*
		 * Closing anything but a pipe does not block, and an honest client may close many
		 * at once.
		 */
		set_giver(fds[i], text_pipe_is(fds[i]) ? handled : 0);
	}
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

/*
 * Descriptors of other clients must be closed in time, too, while one client sends these without
 * end.
 */
static bool may_be_read(int socket) {
	return gid_closer_pending_of(connection_giver(socket)) <= OF_ONE_MAX &&
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

/* Replaces libwayland's recvmsg(), which is only called for connections. */
static ssize_t guarded_recvmsg(int socket, struct msghdr *message, int flags) {
	if (!may_be_read(socket)) {
		errno = ECONNRESET;
		return -1;
	}
	handled = connection_giver(socket);
	uint64_t before = gid_closer_charge(handled);
	ssize_t received = receive(socket, message, flags);
	int error = errno;
	gid_closer_charge(before);
	errno = error;
	return received;
}

/* --- closing ---------------------------------------------------------------------------------- */

/* Descriptors that were not received stay in the queue of a socket, and are closed with it. */
static bool is_socket(int fd) {
	int type;
	socklen_t size = sizeof(type);
	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

/*
 * Replaces libwayland's munmap() of pools, whose size clients choose. Unmapping a gigabyte takes
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
 * Replaces close() in libwayland and in libweston. Closer threads also close pipes: that blocks
 * while a thread reads or writes the pipe with memory that never arrives.
 */
static int guarded_close(int fd) {
	bool is_connection = is_socket(fd);
	uint64_t giver = is_connection ? connection_giver(fd) : giver_of(fd);
	uint64_t before = gid_closer_charge(giver);
	if (is_connection) {
		forget_connection(fd);
	}
	set_giver(fd, 0);
	end_read(fd);
	gid_closer_close(fd);
	gid_closer_charge(before);
	return 0;
}

/*
 * Replaces libwayland's fcntl(). libwayland duplicates a descriptor that it sends on to another
 * client. It closes the duplicate while it handles any connection, so it is charged to the first
 * sender.
 */
static int guarded_fcntl(int fd, int command, ...) {
	va_list arguments;
	va_start(arguments, command);
	long argument = va_arg(arguments, long);
	va_end(arguments);
	int result = fcntl(fd, command, argument);
	if (command == F_DUPFD_CLOEXEC) {
		set_giver(result, giver_of(fd));
	}
	return result;
}

/* --- what libweston does with descriptors ----------------------------------------------------- */

/*
 * Replaces libweston's pipe2(). Its clipboard makes a pipe for what a client copied, and sends that
 * client the other end.
 */
static int guarded_pipe2(int ends[2], int flags) {
	int result = pipe2(ends, flags);
	for (int i = 0; i < 2 && result == 0; i++) {
		set_giver(ends[i], handled);
	}
	return result;
}

/* Puts `ours` in the place of `fd`. A helper thread closes what was there. */
static bool take_number(int fd, int ours) {
	/* A duplicate, so that dup3() does not close the last descriptor of it. */
	int theirs = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	bool taken = theirs >= 0 && dup3(ours, fd, O_CLOEXEC) >= 0;
	close(ours);
	if (theirs >= 0) {
		uint64_t before = gid_closer_charge(giver_of(fd));
		gid_closer_close(theirs);
		gid_closer_charge(before);
	}
	if (taken) {
		set_giver(fd, 0);
	}
	return taken;
}

/*
 * Puts a helper thread's pipe in the place of a client's. If there is none to write to, a socket
 * that cannot be written takes that place.
 */
static bool put_helper_between(int fd, bool reads) {
	int ours = reads ? text_pipe_source(fd) : text_pipe_sink(fd);
	if (reads && ours == -EINVAL) {
		return true; /* it is no pipe, so no client has its other end */
	}
	if (ours < 0) {
		weston_log_paced(&busy_pacer, 10, 60000, "gid: Weston %s: %s\n",
				reads ? "does not keep what a client copied"
				      : "does not write what it kept to a client",
				ours == -EINVAL ? "that gave no pipe" : strerror(-ours));
		ours = reads ? -1 : socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	}
	return ours >= 0 && take_number(fd, ours);
}

/*
 * Replaces libweston's wl_event_loop_add_fd(). Descriptors to write are those of its clipboard; so
 * are those to read, if a client has the other end. In read() Weston would block while a client has
 * locked the pipe. In write() it would also block while the client does not read, and die of a
 * signal if the client has closed its end.
 */
static struct wl_event_source *guarded_add_fd(struct wl_event_loop *loop, int fd, uint32_t mask,
		wl_event_loop_fd_func_t func, void *data) {
	bool reads = (mask & WL_EVENT_READABLE) != 0;
	if ((!reads || giver_of(fd) != 0) && !put_helper_between(fd, reads)) {
		return NULL;
	}
	struct wl_event_source *source = wl_event_loop_add_fd(loop, fd, mask, func, data);
	if (source != NULL && reads) {
		begin_read(fd, data);
	}
	return source;
}

/*
 * Replaces libweston's lseek(), which asks for the size of a dma-buf, and whether a colour profile
 * is a file. Anything but a dma-buf gets size 0, so its client is refused. The size of memory is
 * not asked for: that blocks while a thread reads there with memory that never arrives. A
 * descriptor without size, such as a pipe, would pass for a dma-buf of unknown size, and reach the
 * driver of the renderer.
 */
static off_t guarded_lseek(int fd, off_t offset, int whence) {
	if (whence == SEEK_END && !is_dmabuf(fd)) {
		weston_log_paced(&other_pacer, 10, 60000,
				"gid: a client offered as a dma-buf what is none: it is refused\n");
		return 0;
	}
	return fcntl(fd, F_GET_SEALS) >= 0 ? 0 : lseek(fd, offset, whence);
}

/* --- installation ----------------------------------------------------------------------------- */

/* Makes room for descriptors that wait to be closed. */
static void raise_limit(void) {
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < DESCRIPTORS) {
		limit.rlim_cur = limit.rlim_max < DESCRIPTORS ? limit.rlim_max : DESCRIPTORS;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int client_descriptors_guard(void) {
	static const struct {
		library_function of;
		const char *name;
		library_function guarded;
	} calls[] = {
			{(library_function)wl_client_create, "recvmsg",
					(library_function)guarded_recvmsg},
			{(library_function)wl_client_create, "close",
					(library_function)guarded_close},
			{(library_function)wl_client_create, "fcntl64",
					(library_function)guarded_fcntl},
			{(library_function)wl_client_create, "munmap",
					(library_function)guarded_munmap},
			{(library_function)weston_log, "close", (library_function)guarded_close},
			{(library_function)weston_log, "pipe2", (library_function)guarded_pipe2},
			{(library_function)weston_log, "lseek64", (library_function)guarded_lseek},
			{(library_function)weston_log, "wl_event_loop_add_fd",
					(library_function)guarded_add_fd},
	};
	int error = 0;
	wl_signal_init(&client_descriptors_read_end);
	raise_limit();
	gid_closer_prepare();
	if (!gid_closer_has_helper()) {
		weston_log("gid: no thread can be started: the user may have no more of them "
			   "(ulimit -u). What clients give stays open until one can\n");
	}
	for (size_t i = 0; error == 0 && i < sizeof(calls) / sizeof(calls[0]); i++) {
		error = library_call_replace(calls[i].of, calls[i].name, calls[i].guarded);
	}
	return error;
}
