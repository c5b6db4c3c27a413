// SPDX-License-Identifier: MIT
#include "hub_restore.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "closer.h"
#include "socket.h"

#define BUS "org.freedesktop.DBus"
#define STATE "org.qemu.VMState1"
#define QEMU ":1.0" /* names on this bus that the caller does not choose */
#define HUB ":1.1"
#define ID "org.gidway" /* identifies this state in a saved machine */
#define IS_RUNNING 2u	/* a reply of StartServiceByName */
#define AT_ONCE_MAX 64	/* messages: more than a QEMU sends, or leaves unread, at one time */
/* The longest honest message is that of a saved state, with one byte. sd-bus would take 128 MiB. */
#define MESSAGE_MAX 65536u
#define PIECE 4096u /* the size of one read */

/* --- the bus ---------------------------------------------------------------------------------- */

static int handle_hello(sd_bus_message *call, void *data, sd_bus_error *error) {
	return sd_bus_reply_method_return(call, "s", QEMU);
}

/* This bus sends no signals. */
static int handle_match(sd_bus_message *call, void *data, sd_bus_error *error) {
	return sd_bus_reply_method_return(call, "");
}

static int handle_start(sd_bus_message *call, void *data, sd_bus_error *error) {
	return sd_bus_reply_method_return(call, "u", IS_RUNNING);
}

static int handle_owner(sd_bus_message *call, void *data, sd_bus_error *error) {
	const char *name;
	int ret = sd_bus_message_read(call, "s", &name);
	return ret < 0 ? ret
		       : sd_bus_reply_method_return(call, "s", strcmp(name, BUS) == 0 ? BUS : HUB);
}

static int handle_queued_owners(sd_bus_message *call, void *data, sd_bus_error *error) {
	return sd_bus_reply_method_return(call, "as", 1, HUB);
}

static const sd_bus_vtable bus_calls[] = {
		SD_BUS_VTABLE_START(0),
		SD_BUS_METHOD("Hello", "", "s", handle_hello, SD_BUS_VTABLE_UNPRIVILEGED),
		SD_BUS_METHOD("AddMatch", "s", "", handle_match, SD_BUS_VTABLE_UNPRIVILEGED),
		SD_BUS_METHOD("RemoveMatch", "s", "", handle_match, SD_BUS_VTABLE_UNPRIVILEGED),
		SD_BUS_METHOD("StartServiceByName", "su", "u", handle_start,
				SD_BUS_VTABLE_UNPRIVILEGED),
		SD_BUS_METHOD("GetNameOwner", "s", "s", handle_owner, SD_BUS_VTABLE_UNPRIVILEGED),
		SD_BUS_METHOD("ListQueuedOwners", "s", "as", handle_queued_owners,
				SD_BUS_VTABLE_UNPRIVILEGED),
		SD_BUS_VTABLE_END,
};

/* --- the state -------------------------------------------------------------------------------- */

static int get_id(sd_bus *bus, const char *path, const char *interface, const char *property,
		sd_bus_message *reply, void *data, sd_bus_error *error) {
	return sd_bus_message_append(reply, "s", ID);
}

/* The saved byte means nothing. Because it exists, QEMU calls Load when it restores the machine. */
static int handle_save(sd_bus_message *call, void *data, sd_bus_error *error) {
	sd_bus_message *reply = NULL;
	int ret = sd_bus_message_new_method_return(call, &reply);
	if (ret >= 0) {
		ret = sd_bus_message_append_array(reply, 'y', "", 1);
	}
	if (ret >= 0) {
		ret = sd_bus_send(NULL, reply, NULL);
	}
	sd_bus_message_unref(reply);
	return ret;
}

static int handle_load(sd_bus_message *call, void *data, sd_bus_error *error) {
	struct hub_restore *restore = data;
	if (restore->loaded) {
		return -EBUSY; /* QEMU waits for the answer to its first call */
	}
	restore->loaded = true;
	int ret = restore->restored(restore->data);
	return ret < 0 ? ret : sd_bus_reply_method_return(call, "");
}

static const sd_bus_vtable state_calls[] = {
		SD_BUS_VTABLE_START(0),
		SD_BUS_PROPERTY("Id", "s", get_id, 0, SD_BUS_VTABLE_PROPERTY_CONST),
		SD_BUS_METHOD("Save", "", "ay", handle_save, SD_BUS_VTABLE_UNPRIVILEGED),
		SD_BUS_METHOD("Load", "ay", "", handle_load, SD_BUS_VTABLE_UNPRIVILEGED),
		SD_BUS_VTABLE_END,
};

/* Called for each complete message of any kind. */
static int handle_any(sd_bus_message *message, void *data, sd_bus_error *error) {
	struct hub_restore *restore = data;
	restore->unheard = 0;
	return 0;
}

/* --- connections ------------------------------------------------------------------------------ */

/* Unread data can hold descriptors: a helper thread closes the last copy of the socket. */
static void hang_up(struct hub_restore *restore) {
	int fd = restore->io != NULL ? sd_event_source_get_io_fd(restore->io) : -1;
	if (restore->io != NULL) {
		close(restore->feed);
	}
	restore->io = sd_event_source_disable_unref(restore->io);
	restore->bus = sd_bus_close_unref(restore->bus);
	gid_closer_hang_up(fd);
}

/* Runs the bus for at most `*left` steps. Returns 0, its error, or -EPROTO: too many steps. */
static int process(struct hub_restore *restore, unsigned *left) {
	int ret = 1;
	while (ret > 0 && *left > 0) {
		ret = sd_bus_process(restore->bus, NULL);
		(*left)--;
	}
	return ret > 0 ? -EPROTO : ret;
}

/*
 * Feeds the next piece of input to the bus. A message without an end blocks nobody, and only little
 * of it is kept. Returns whether there was input, or -errno.
 */
static int feed(struct hub_restore *restore, int fd, unsigned *left) {
	char bytes[PIECE];
	ssize_t size = gid_socket_read(fd, bytes, sizeof(bytes));
	if (size == -EAGAIN) {
		return 0;
	}
	if (size <= 0) {
		return size == 0 ? -EPIPE : (int)size;
	}
	if (send(restore->feed, bytes, (size_t)size, MSG_DONTWAIT | MSG_NOSIGNAL) != size) {
		return -ENOBUFS;
	}
	restore->unheard += (size_t)size;
	int ret = process(restore, left);
	return ret < 0 ? ret : restore->unheard > MESSAGE_MAX ? -EMSGSIZE : 1;
}

/*
 * Not by sd_bus_attach_event(): if a greeting and its next message arrive together, that leaves the
 * second unread until more comes.
 */
static int handle_io(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct hub_restore *restore = data;
	unsigned left = AT_ONCE_MAX;
	uint64_t unread = 0;
	restore->loaded = false;
	int ret = process(restore, &left); /* there may be room for answers */
	for (unsigned i = 0; i < MESSAGE_MAX / PIECE && ret >= 0; i++) {
		ret = feed(restore, fd, &left);
		if (ret == 0) {
			break;
		}
	}
	if (ret >= 0) {
		ret = sd_bus_get_n_queued_write(restore->bus, &unread);
	}
	/* QEMU waits for each answer. */
	bool is_right = ret >= 0 && unread <= AT_ONCE_MAX;
	int wanted = is_right ? sd_bus_get_events(restore->bus) : -EPROTO;
	if (wanted < 0) {
		hang_up(restore);
	} else {
		sd_event_source_set_io_events(source, EPOLLIN | ((uint32_t)wanted & EPOLLOUT));
	}
	return 0;
}

/*
 * Creates the bus. Its output goes to a copy of the socket, its input comes from feed(). So it
 * cannot check the credentials of the peer, which the listener has checked already.
 */
static int make_bus(struct hub_restore *restore, int fd, sd_bus **bus) {
	int pair[2], ret = sd_bus_new(bus);
	if (ret < 0) {
		return ret;
	}
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0) {
		return -errno;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) {
		ret = -errno;
		close(copy);
		return ret;
	}
	ret = sd_bus_set_fd(*bus, pair[1], copy);
	if (ret < 0) {
		close(copy);
		close(pair[0]);
		close(pair[1]);
		return ret;
	}
	restore->feed = pair[0];
	return 0;
}

/* Takes ownership of `fd`, even if it fails. */
static int serve(struct hub_restore *restore, sd_event *event, int fd) {
	sd_id128_t id;
	sd_bus *bus = NULL;
	int ret = sd_id128_randomize(&id);
	if (ret >= 0) {
		ret = make_bus(restore, fd, &bus);
	}
	if (ret < 0) {
		goto error_bus;
	}
	if ((ret = sd_bus_set_server(bus, true, id)) < 0 ||
			(ret = sd_bus_set_anonymous(bus, true)) < 0 ||
			(ret = sd_bus_negotiate_fds(bus, false)) < 0 ||
			(ret = sd_bus_add_filter(bus, NULL, handle_any, restore)) < 0 ||
			(ret = sd_bus_add_object_vtable(bus, NULL, "/org/freedesktop/DBus", BUS,
					 bus_calls, restore)) < 0 ||
			(ret = sd_bus_add_object_vtable(bus, NULL, "/org/qemu/VMState1", STATE,
					 state_calls, restore)) < 0 ||
			(ret = sd_bus_start(bus)) < 0 ||
			(ret = sd_event_add_io(event, &restore->io, fd, EPOLLIN | EPOLLOUT,
					 handle_io, restore)) < 0) {
		goto error_feed;
	}
	restore->bus = bus;
	restore->unheard = 0;
	return 0;

error_feed:
	close(restore->feed);
error_bus:
	sd_bus_close_unref(bus);
	gid_closer_hang_up(fd);
	return ret;
}

/* A machine has the socket to itself: a new connection replaces the old one. */
static void handle_connection(void *data, int fd) {
	struct hub_restore *restore = data;
	hang_up(restore);
	int error = serve(restore, sd_event_source_get_event(restore->listener.io), fd);
	if (error < 0) {
		log_line(restore->source, LOG_LEVEL_WARNING, "hub: %s: %s", restore->listener.path,
				strerror(-error));
	}
}

int hub_restore_open(struct hub_restore *restore, sd_event *event, const char *path,
		const struct listener_access *access, log_source source, hub_restored restored,
		void *data) {
	restore->source = source;
	restore->restored = restored;
	restore->data = data;
	return listener_open(&restore->listener, event, path, SOCK_STREAM, access,
			handle_connection, restore);
}

void hub_restore_close(struct hub_restore *restore) {
	listener_close(&restore->listener);
	hang_up(restore);
}
