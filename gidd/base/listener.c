// SPDX-License-Identifier: MIT
#include "listener.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "log.h"
#include "socket.h"

#define BACKLOG 64
#define PAUSE_US 100000

static int handle_pause(sd_event_source *source, uint64_t now, void *data) {
	struct listener *listener = data;
	sd_event_source_set_enabled(listener->io, SD_EVENT_ON);
	listener->pause = sd_event_source_disable_unref(listener->pause);
	return 0;
}

/* A waiting connection keeps the socket readable: without a pause the event loop would spin. */
static void rest(struct listener *listener) {
	log_error("cannot accept connections at %s: %s", listener->path, strerror(errno));
	if (sd_event_add_time_relative(sd_event_source_get_event(listener->io), &listener->pause,
			    CLOCK_MONOTONIC, PAUSE_US, 0, handle_pause, listener) >= 0) {
		sd_event_source_set_enabled(listener->io, SD_EVENT_OFF);
	}
}

static int handle_io(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct listener *listener = data;
	int peer = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (peer >= 0) {
		listener->accepted(listener->data, peer);
	} else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
		rest(listener);
	}
	return 0;
}

int listener_adopt(struct listener *listener, sd_event *event, int fd, listener_accepted accepted,
		void *data) {
	*listener = (struct listener){.fd = fd, .accepted = accepted, .data = data};
	/*
	 * Accepted sockets inherit the setting, so a refused one has no descriptors in its queue.
	 */
	gid_socket_refuse_rights(fd);
	int error = fcntl(fd, F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
	if (error == 0) {
		error = sd_event_add_io(event, &listener->io, fd, EPOLLIN, handle_io, listener);
	}
	if (error < 0) {
		listener_close(listener);
		return error;
	}
	return 0;
}

int listener_find_user(const struct config_domain *domain, uid_t *user) {
	*user = geteuid();
	if (domain->user == NULL) {
		return 0;
	}
	const struct passwd *entry = getpwnam(domain->user);
	if (entry == NULL) {
		log_error("user=%s of domain %s: there is no such user", domain->user,
				domain->name);
		return -EINVAL;
	}
	*user = entry->pw_uid;
	return 0;
}

struct acl_entry {
	uint16_t tag, rights;
	uint32_t id;
};

/*
 * Sets an access control list in the kernel's format: the owner, `access->user` and
 * `access->group`.
 */
static int let_in(const char *path, const struct listener_access *access) {
	enum { OWNER = 0x01, USER = 0x02, OWN_GROUP = 0x04, GROUP = 0x08, MASK = 0x10, ALL = 0x20 };
	const uint16_t none = 0, both = 6;
	struct {
		uint32_t version;
		struct acl_entry entries[6];
	} list = {.version = 2};
	struct acl_entry *end = list.entries;
	*end++ = (struct acl_entry){OWNER, both, UINT32_MAX};
	if (access->user != (uid_t)-1) {
		*end++ = (struct acl_entry){USER, both, access->user};
	}
	*end++ = (struct acl_entry){OWN_GROUP, none, UINT32_MAX};
	if (access->group != (gid_t)-1) {
		*end++ = (struct acl_entry){GROUP, both, access->group};
	}
	*end++ = (struct acl_entry){MASK, both, UINT32_MAX};
	*end++ = (struct acl_entry){ALL, none, UINT32_MAX};
	return setxattr(path, "system.posix_acl_access", &list,
			(size_t)((char *)end - (char *)&list), 0);
}

static int give_to(const char *path, const struct listener_access *access) {
	if (access->user == (uid_t)-1 && access->group == (gid_t)-1) {
		return 0;
	}
	int error = chown(path, access->user, access->group);
	/* Only root can change the owner. The owner can still set an access control list. */
	return error < 0 && errno == EPERM ? let_in(path, access) : error;
}

/* Nobody can connect before listen(): the rights are set by then. */
static int bind_and_listen(
		int fd, const struct sockaddr_un *address, const struct listener_access *access) {
	const char *path = address->sun_path;
	unlink(path);
	if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ||
			chmod(path, access->mode) < 0 || give_to(path, access) < 0 ||
			listen(fd, BACKLOG) < 0) {
		return -errno;
	}
	return 0;
}

int listener_open(struct listener *listener, sd_event *event, const char *path, int type,
		const struct listener_access *access, listener_accepted accepted, void *data) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	listener->fd = -1;
	if (strlen(path) >= sizeof(address.sun_path)) {
		return -ENAMETOOLONG;
	}
	strcpy(address.sun_path, path);
	int fd = socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		return -errno;
	}
	int error = bind_and_listen(fd, &address, access);
	if (error < 0) {
		close(fd);
		return error;
	}
	error = listener_adopt(listener, event, fd, accepted, data);
	if (error == 0) {
		strcpy(listener->path, path);
	}
	return error;
}

void listener_close(struct listener *listener) {
	listener->io = sd_event_source_disable_unref(listener->io);
	listener->pause = sd_event_source_disable_unref(listener->pause);
	if (listener->fd >= 0) {
		if (listener->path[0] != '\0') {
			unlink(listener->path);
		}
		close(listener->fd);
		listener->fd = -1;
	}
}
