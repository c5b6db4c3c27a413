// SPDX-License-Identifier: MIT
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "client.h"
#include "folder.h"
#include "gidd.h"
#include "log.h"
#include "slab_book.h"
#include "trusted_path.h"

/* --- the folder ------------------------------------------------------------------------------- */

/* Root of a user namespace is an ordinary user outside: it can do no harm as root. */
static bool is_root_of_machine(void) {
	FILE *map = geteuid() == 0 ? fopen("/proc/self/uid_map", "re") : NULL;
	unsigned here, outside, count;
	bool is_root = map == NULL && geteuid() == 0;
	while (map != NULL && fscanf(map, "%u %u %u", &here, &outside, &count) == 3) {
		is_root = is_root || (here == 0 && outside == 0);
	}
	if (map != NULL) {
		fclose(map);
	}
	return is_root;
}

/* Other users must not be able to rename the folder, or one above it. */
static int check_above(const char *runtime) {
	char real[PATH_MAX], part[PATH_MAX];
	if (!is_root_of_machine() ||
			(path_is_trusted(runtime, part, sizeof(part)) &&
					realpath(runtime, real) != NULL &&
					path_is_trusted(real, part, sizeof(part)))) {
		return 0;
	}
	log_error("%s: others than root may change %s, and could lead root elsewhere: take another "
		  "folder with runtime= or GID_RUNTIME_DIR, or run gidd as the user whose it is",
			runtime, part);
	return -EPERM;
}

/*
 * Whoever can replace the socket can impersonate gidd to its clients. Whoever can replace the
 * folder could make gidd, as root, give away any file.
 */
static int check_runtime(const char *runtime) {
	struct stat status;
	if ((mkdir(runtime, 0755) < 0 && errno != EEXIST) || stat(runtime, &status) < 0) {
		int error = -errno;
		log_error("cannot make %s: %s", runtime, strerror(-error));
		return error;
	}
	if ((status.st_mode & (S_IWOTH | S_ISVTX)) == S_IWOTH) {
		log_error("anybody may write to %s: chmod o-w it, or take another folder with "
			  "runtime= or GID_RUNTIME_DIR",
				runtime);
		return -EPERM;
	}
	if (geteuid() == 0 && status.st_uid != 0) {
		log_error("%s belongs to the user %u, who could lead root elsewhere: take a folder "
			  "of root's with runtime= or GID_RUNTIME_DIR, or run gidd as that user",
				runtime, (unsigned)status.st_uid);
		return -EPERM;
	}
	return check_above(runtime);
}

/* `own` holds the lock. gidd creates it, even where systemd created the domain's folder as root. */
static int make_folders(const struct server *server, char *own, size_t size) {
	int error = check_runtime(server->gidd->runtime);
	if (error == 0) {
		error = folder_make(server->folder, 0755);
	}
	if (error == 0) {
		snprintf(own, size, "%s/link", server->folder);
		error = folder_make(own, 0711);
	}
	return error;
}

static int take_lock(struct server *server) {
	char own[112], path[128];
	int error = make_folders(server, own, sizeof(own));
	if (error < 0) {
		return error;
	}
	snprintf(path, sizeof(path), "%s/gidd.lock", own);
	server->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (server->lock < 0) {
		error = -errno; /* the log may change errno */
		log_error("cannot open %s: %s", path, strerror(-error));
		return error;
	}
	if (flock(server->lock, LOCK_EX | LOCK_NB) < 0) {
		log_error("another gidd runs for domain %s: it holds %s", server->gidd->self->name,
				path);
		return -EBUSY;
	}
	return 0;
}

/* --- the socket ------------------------------------------------------------------------------- */

static void handle_connection(void *data, int fd) {
	client_create(data, fd);
}

/* Who may connect belongs to the domain: its user alone, or a group. */
static int find_group(const struct config_domain *domain, struct listener_access *access) {
	*access = (struct listener_access){.mode = 0600, .user = -1, .group = -1};
	if (domain->group == NULL) {
		return 0;
	}
	const struct group *group = getgrnam(domain->group);
	if (group == NULL) {
		log_error("group=%s of domain %s: there is no such group", domain->group,
				domain->name);
		return -EINVAL;
	}
	access->mode = 0660;
	access->group = group->gr_gid;
	return 0;
}

static int listen_on_own(struct server *server) {
	struct gidd *gidd = server->gidd;
	struct listener_access access;
	char path[128];
	int error = find_group(gidd->self, &access);
	if (error < 0) {
		return error;
	}
	snprintf(path, sizeof(path), "%s/gidd.sock", server->folder);
	error = listener_open(&server->listener, gidd->event, path, SOCK_SEQPACKET, &access,
			handle_connection, gidd);
	if (error < 0) {
		log_error("cannot listen on %s%s%s: %s", path,
				gidd->self->group == NULL ? "" : " for group ",
				gidd->self->group == NULL ? "" : gidd->self->group,
				strerror(-error));
	}
	return error;
}

static int listen_on_given(struct server *server, int count) {
	int fd = SD_LISTEN_FDS_START;
	if (count != 1 || sd_is_socket_unix(fd, SOCK_SEQPACKET, 1, NULL, 0) <= 0) {
		log_error("the socket unit must have one ListenSequentialPacket=, and nothing else");
		return -EINVAL;
	}
	return listener_adopt(&server->listener, server->gidd->event, fd, handle_connection,
			server->gidd);
}

int server_init(struct server *server, struct gidd *gidd) {
	*server = (struct server){.gidd = gidd, .lock = -1, .listener.fd = -1};
	int length = snprintf(server->folder, sizeof(server->folder), "%s/%s", gidd->runtime,
			gidd->self->name);
	if (length < 0 || (size_t)length + sizeof("/gidd.sock") > sizeof(server->folder)) {
		log_error("%s/%s: %s", gidd->runtime, gidd->self->name,
				gid_strerror(-ENAMETOOLONG));
		return -ENAMETOOLONG;
	}
	int given = sd_listen_fds(1);
	int error = take_lock(server);
	if (error == 0) {
		gidd->slab_book = slab_book_open(server->lock);
		error = given > 0 ? listen_on_given(server, given) : listen_on_own(server);
	}
	if (error < 0) {
		server_finish(server);
		return error;
	}
	return 0;
}

void server_finish(struct server *server) {
	listener_close(&server->listener);
	slab_book_close(server->gidd->slab_book);
	server->gidd->slab_book = NULL;
	if (server->lock >= 0) {
		close(server->lock);
		server->lock = -1;
	}
}
