// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "client.h"
#include "log.h"
#include "server.h"

#define BACKLOG 64
#define ACCEPT_PAUSE_US 100000

static int listen_on(const char *path, int type, unsigned mode) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(address.sun_path)) {
		return -ENAMETOOLONG;
	}
	strcpy(address.sun_path, path);
	int fd = socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		return -errno;
	}
	int error = 0;
	unlink(path);
	/* Nobody gets in between making the socket and setting its mode: they cannot connect yet.
	 */
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || chmod(path, mode) < 0 ||
		listen(fd, BACKLOG) < 0) {
		error = -errno;
		close(fd);
	}
	return error < 0 ? error : fd;
}

int server_listen(const char *path, unsigned mode) {
	return listen_on(path, SOCK_SEQPACKET, mode);
}

int server_listen_stream(const char *path, unsigned mode) {
	return listen_on(path, SOCK_STREAM, mode);
}

/* --- the folder ------------------------------------------------------------------------------- */

static int make_folder(const char *path) {
	if (mkdir(path, 0755) < 0 && errno != EEXIST) {
		log_error("cannot make %s: %s", path, strerror(errno));
		return -errno;
	}
	return 0;
}

static int take_lock(struct server *server) {
	char path[128];
	snprintf(path, sizeof(path), "%s/gidd.lock", server->folder);
	server->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (server->lock < 0) {
		log_error("cannot open %s: %s", path, strerror(errno));
		return -errno;
	}
	if (flock(server->lock, LOCK_EX | LOCK_NB) < 0) {
		log_error("another gidd runs for domain %s: it holds %s", server->gidd->self->name,
			path);
		return -EBUSY;
	}
	return 0;
}

/* --- the socket ------------------------------------------------------------------------------- */

/* Whoever may connect is in the domain: its user alone, or a group. */
static int set_group(struct gidd *gidd, const char *path) {
	const char *name = gidd->self->group;
	if (name == NULL) {
		return 0;
	}
	struct group *group = getgrnam(name);
	if (group == NULL || chown(path, (uid_t)-1, group->gr_gid) < 0) {
		log_error("group=%s of domain %s: %s", name, gidd->self->name,
			group == NULL ? "there is no such group" : strerror(errno));
		return -EINVAL;
	}
	return 0;
}

static int listen_on_own(struct server *server) {
	char path[128];
	snprintf(path, sizeof(path), "%s/gidd.sock", server->folder);
	server->fd = server_listen(path, server->gidd->self->group != NULL ? 0660 : 0600);
	if (server->fd < 0) {
		log_error("cannot listen on %s: %s", path, strerror(-server->fd));
		return server->fd;
	}
	return set_group(server->gidd, path);
}

static int listen_on_given(struct server *server, int count) {
	int fd = SD_LISTEN_FDS_START;
	if (count != 1 || sd_is_socket_unix(fd, SOCK_SEQPACKET, 1, NULL, 0) <= 0) {
		log_error(
			"the socket unit must have one ListenSequentialPacket=, and nothing else");
		return -EINVAL;
	}
	fcntl(fd, F_SETFL, O_NONBLOCK);
	server->fd = fd;
	server->activated = true;
	return 0;
}

static int handle_pause(sd_event_source *source, uint64_t now, void *data) {
	struct server *server = data;
	sd_event_source_set_enabled(server->io, SD_EVENT_ON);
	server->pause = sd_event_source_disable_unref(server->pause);
	return 0;
}

static int handle_connection(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct server *server = data;
	int client = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (client >= 0) {
		client_create(server->gidd, client);
		return 0;
	}
	if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
		log_error("cannot take another client: %s", strerror(errno));
		if (sd_event_add_time_relative(server->gidd->event, &server->pause, CLOCK_MONOTONIC,
			    ACCEPT_PAUSE_US, 0, handle_pause, server) >= 0) {
			sd_event_source_set_enabled(server->io, SD_EVENT_OFF);
		}
	}
	return 0;
}

int server_init(struct server *server, struct gidd *gidd) {
	*server = (struct server){.gidd = gidd, .lock = -1, .fd = -1};
	int length = snprintf(
		server->folder, sizeof(server->folder), "%s/%s", gidd->runtime, gidd->self->name);
	if (length < 0 || (size_t)length + sizeof("/gidd.sock") > sizeof(server->folder)) {
		log_error(
			"the path %s/%s is too long for a socket", gidd->runtime, gidd->self->name);
		return -ENAMETOOLONG;
	}
	int given = sd_listen_fds(1);
	int error = make_folder(gidd->runtime);
	if (error == 0) {
		error = make_folder(server->folder);
	}
	if (error == 0) {
		error = take_lock(server);
	}
	if (error == 0) {
		error = given > 0 ? listen_on_given(server, given) : listen_on_own(server);
	}
	if (error == 0) {
		error = sd_event_add_io(
			gidd->event, &server->io, server->fd, EPOLLIN, handle_connection, server);
	}
	if (error < 0) {
		server_finish(server);
		return error;
	}
	return 0;
}

void server_finish(struct server *server) {
	server->io = sd_event_source_disable_unref(server->io);
	server->pause = sd_event_source_disable_unref(server->pause);
	if (server->fd >= 0) {
		if (!server->activated) {
			char path[128];
			snprintf(path, sizeof(path), "%s/gidd.sock", server->folder);
			unlink(path);
		}
		close(server->fd);
		server->fd = -1;
	}
	if (server->lock >= 0) {
		close(server->lock);
		server->lock = -1;
	}
}
