// SPDX-License-Identifier: MIT
#include "hub_restore.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "closer.h"

#define BUS "org.freedesktop.DBus"
#define STATE "org.qemu.VMState1"
#define QEMU ":1.0" /* the names on this bus that are nobody's own */
#define HUB ":1.1"
#define ID "org.gidway" /* in a saved machine: whose state this is */
#define IS_RUNNING 2u	/* the answer of StartServiceByName */
#define AT_ONCE_MAX 64	/* messages: more than a QEMU ever says, or leaves unread, at once */

/* --- the bus ---------------------------------------------------------------------------------- */

static int handle_hello(sd_bus_message *call, void *data, sd_bus_error *error) {
	return sd_bus_reply_method_return(call, "s", QEMU);
}

/* Nothing is ever signalled here. */
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

/* What is saved says nothing: that it is there at all has QEMU call us when it restores it. */
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
		return -EBUSY; /* QEMU waits for the answer to the first one */
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

/* --- who connects ----------------------------------------------------------------------------- */

/* What waits there unread may hold descriptors: the copy that is closed last is a helper's. */
static void hang_up(struct hub_restore *restore) {
	int fd = restore->io != NULL ? sd_event_source_get_io_fd(restore->io) : -1;
	restore->io = sd_event_source_disable_unref(restore->io);
	restore->bus = sd_bus_close_unref(restore->bus);
	gid_closer_hang_up(fd);
}

/*
 * By ourselves: where a greeting and what follows it come together, sd_bus_attach_event() leaves
 * the latter unread until there is more.
 */
static int handle_io(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct hub_restore *restore = data;
	uint64_t unread = 0;
	int ret = 1;
	restore->loaded = false;
	for (int i = 0; i < AT_ONCE_MAX && ret > 0; i++) {
		ret = sd_bus_process(restore->bus, NULL);
	}
	if (ret == 0) {
		ret = sd_bus_get_n_queued_write(restore->bus, &unread);
	}
	/* QEMU waits for each answer. */
	bool is_right = ret == 0 && unread <= AT_ONCE_MAX;
	int wanted = is_right ? sd_bus_get_events(restore->bus) : -EPROTO;
	if (wanted < 0) {
		hang_up(restore);
	} else {
		sd_event_source_set_io_events(source, (uint32_t)wanted);
	}
	return 0;
}

/* Takes the socket, whatever comes of it: the bus has a copy. */
static int serve(struct hub_restore *restore, sd_event *event, int fd) {
	sd_id128_t id;
	sd_bus *bus = NULL;
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	int ret = copy < 0 ? -errno : sd_id128_randomize(&id);
	if (ret >= 0) {
		ret = sd_bus_new(&bus);
	}
	if (ret >= 0) {
		ret = sd_bus_set_fd(bus, copy, copy);
	}
	if (ret < 0) {
		if (copy >= 0) {
			close(copy);
		}
		goto error_bus;
	}
	if ((ret = sd_bus_set_server(bus, true, id)) < 0 ||
			(ret = sd_bus_negotiate_fds(bus, false)) < 0 ||
			(ret = sd_bus_add_object_vtable(bus, NULL, "/org/freedesktop/DBus", BUS,
					 bus_calls, restore)) < 0 ||
			(ret = sd_bus_add_object_vtable(bus, NULL, "/org/qemu/VMState1", STATE,
					 state_calls, restore)) < 0 ||
			(ret = sd_bus_start(bus)) < 0 || (ret = sd_bus_get_events(bus)) < 0 ||
			(ret = sd_event_add_io(event, &restore->io, fd, (uint32_t)ret, handle_io,
					 restore)) < 0) {
		goto error_bus;
	}
	restore->bus = bus;
	return 0;

error_bus:
	sd_bus_close_unref(bus);
	gid_closer_hang_up(fd);
	return ret;
}

/* A machine has the socket to itself: whoever comes in now has replaced the one before. */
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
