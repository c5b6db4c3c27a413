// SPDX-License-Identifier: MIT
/*
 * The server of the guests' doorbell devices. It speaks QEMU's ivshmem protocol
 * (docs/specs/ivshmem-spec of QEMU), version 0: numbers of 8 bytes, some with a descriptor. Each
 * ordered pair of domains has its own eventfd, created once. Therefore
 *
 *   - a machine gets only the eventfds by which it may ring others; each is its own vector at
 *     the other machine, which so knows who rings;
 *   - each machine also has a pool of vectors, of which every other machine rings an equal part.
 *     One serves one subscription, whose clients have the eventfds. No machine can ring the part
 *     of another;
 *   - nobody is told of machines that come and go. The protocol wants that; but QEMU 10 aborts
 *     when a number is given to a second peer, and here a peer is a domain.
 *
 * The protocol wants one memory that all peers share. Here each machine gets its own, which tells
 * what its vectors mean. A machine has nothing to send: one that does is disconnected.
 */
#include "ivshmem_server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "closer.h"
#include "doorbell.h"
#include "folder.h"
#include "gidd.h"
#include "listener.h"
#include "log.h"
#include "random_number.h"
#include "socket.h"

#define PROTOCOL_VERSION 0
#define MEMORY_SIZE 4096 /* the size of a PCI BAR is a power of two */

/*
 * A vector of a pool. A client of the host may keep its eventfd forever, so a bell that one user
 * had never goes to another user.
 */
struct bell {
	int fd;
	bool taken, was_given;
	uid_t user;
};

/* A domain that can be rung: a guest, or the host itself. */
struct seat {
	TAILQ_ENTRY(seat) entry;
	struct ivshmem_server *server;
	const struct config_domain *domain;
	/* The domains that ring it: each by the vector of the same index. */
	uint32_t count;
	uint8_t from[GID_DOMAIN_MAX];
	int fds[GID_DOMAIN_MAX];
	/* `pool` bells for each of these domains, in the same order. */
	uint32_t pool;
	struct bell bells[GID_BELLS_POOL];
	/* Of guests only. */
	int memory;
	struct listener listener;
	int connection;
	uint32_t said; /* how many of count_numbers() were sent */
	sd_event_source *connection_io;
};

struct ivshmem_server {
	struct gidd *gidd;
	uint64_t cookie;
	TAILQ_HEAD(, seat) seats;
	struct seat *self; /* the host's own; NULL: it shares nothing with its guests */
};

static struct seat *find_seat(const struct ivshmem_server *server, uint32_t domain) {
	struct seat *seat;
	TAILQ_FOREACH(seat, &server->seats, entry) {
		if (seat->domain->number == domain) {
			return seat;
		}
	}
	return NULL;
}

/* The index of the domain that rings the seat, or -1. */
static int find_place(const struct seat *seat, uint32_t from) {
	for (uint32_t i = 0; seat != NULL && i < seat->count; i++) {
		if (seat->from[i] == from) {
			return (int)i;
		}
	}
	return -1;
}

/* The part of the seat's pool that the other domain rings, or NULL. */
static struct bell *find_bells(struct seat *seat, uint32_t from) {
	int place = find_place(seat, from);
	return place < 0 ? NULL : &seat->bells[(size_t)place * seat->pool];
}

/* The eventfd by which `from` rings `to`: its general one (index 0), or one of the pool; or -1. */
static int find_fd(
		const struct ivshmem_server *server, uint32_t from, uint32_t to, uint32_t index) {
	struct seat *seat = find_seat(server, to);
	int place = find_place(seat, from);
	if (place < 0 || index > seat->pool) {
		return -1;
	}
	return index == 0 ? seat->fds[place] : find_bells(seat, from)[index - 1].fd;
}

/* --- what a machine is sent ------------------------------------------------------------------- */

/* The number of vectors by which others may ring the domain; 0: it has no seat. */
static uint32_t count_vectors(const struct ivshmem_server *server, uint32_t domain) {
	const struct seat *seat = find_seat(server, domain);
	return seat == NULL ? 0 : 1 + seat->pool;
}

/*
 * All numbers to send: the machine's own number, the vectors by which it rings others, and its own.
 */
static uint32_t count_numbers(const struct seat *seat) {
	uint32_t count = 3 + seat->count + seat->count * seat->pool;
	for (uint32_t i = 0; i < seat->count; i++) {
		count += count_vectors(seat->server, seat->from[i]);
	}
	return count;
}

static int64_t choose_number(const struct seat *seat, uint32_t index, int *fd) {
	uint32_t self = seat->domain->number;
	*fd = -1;
	if (index < 2) {
		return index == 0 ? PROTOCOL_VERSION : (int64_t)self;
	}
	index -= 2;
	if (index == 0) {
		*fd = seat->memory;
		return -1;
	}
	index -= 1;
	for (uint32_t i = 0; i < seat->count; i++) {
		uint32_t bells = count_vectors(seat->server, seat->from[i]);
		if (index < bells) {
			*fd = find_fd(seat->server, self, seat->from[i], index);
			return seat->from[i];
		}
		index -= bells;
	}
	*fd = index < seat->count ? seat->fds[index] : seat->bells[index - seat->count].fd;
	return self;
}

static bool send_number(int connection, int64_t number, int fd) {
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec iov = {&number, sizeof(number)};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.header = (struct cmsghdr){
				.cmsg_len = CMSG_LEN(sizeof(int)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS,
		};
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	return sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(number);
}

static void disconnect(struct seat *seat) {
	seat->connection_io = sd_event_source_disable_unref(seat->connection_io);
	gid_closer_hang_up(seat->connection);
	seat->connection = -1;
}

/* Sends as much as the socket takes now. */
static void go_on(struct seat *seat) {
	uint32_t all = count_numbers(seat);
	while (seat->said < all) {
		int fd;
		int64_t number = choose_number(seat, seat->said, &fd);
		if (!send_number(seat->connection, number, fd)) {
			break;
		}
		seat->said++;
	}
	if (seat->said < all && errno != EAGAIN) {
		disconnect(seat);
		return;
	}
	sd_event_source_set_io_events(
			seat->connection_io, EPOLLIN | (seat->said < all ? EPOLLOUT : 0));
	if (seat->said == all) {
		log_line(log_domain(seat->domain->number), LOG_LEVEL_INFO,
				"doorbells: domain %s has its device", seat->domain->name);
	}
}

/* --- connections ------------------------------------------------------------------------------ */

static int handle_connected(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct seat *seat = data;
	char byte;
	ssize_t got = (events & EPOLLIN) != 0 ? gid_socket_read(fd, &byte, 1) : 0;
	if (got > 0 || got == -EPROTO) {
		log_line(log_domain(seat->domain->number), LOG_LEVEL_WARNING,
				"doorbells: the machine of domain %s sent a message that is not "
				"allowed",
				seat->domain->name);
		disconnect(seat);
	} else if ((events & ~(uint32_t)EPOLLOUT) != 0) {
		disconnect(seat);
	} else {
		go_on(seat);
	}
	return 0;
}

static void handle_connection(void *data, int fd) {
	struct seat *seat = data;
	/* A machine has the socket to itself: a new connection replaces the old one. */
	disconnect(seat);
	gid_socket_refuse_rights(fd);
	seat->connection = fd;
	seat->said = 0;
	if (sd_event_add_io(seat->server->gidd->event, &seat->connection_io, fd, EPOLLIN,
			    handle_connected, seat) < 0) {
		disconnect(seat);
		return;
	}
	go_on(seat);
}

static int listen_for(struct seat *seat) {
	struct listener_access access = {.mode = 0600, .group = -1};
	const struct gidd *gidd = seat->server->gidd;
	char folder[112], path[128];
	int folder_size = snprintf(folder, sizeof(folder), "%s/bell", gidd->runtime);
	int size = snprintf(path, sizeof(path), "%s/%s.sock", folder, seat->domain->name);
	if ((size_t)folder_size >= sizeof(folder) || (size_t)size >= sizeof(path)) {
		return -ENAMETOOLONG;
	}
	int error = folder_make(folder, 0711);
	if (error < 0) {
		return error;
	}
	/* The machine runs as the domain's user. */
	error = listener_find_user(seat->domain, &access.user);
	if (error < 0) {
		return error;
	}
	if (access.user == geteuid()) {
		access.user = -1;
	}
	return listener_open(&seat->listener, gidd->event, path, SOCK_STREAM, &access,
			handle_connection, seat);
}

/* --- seats ------------------------------------------------------------------------------------ */

static int make_memory(struct seat *seat) {
	struct gid_wire_bells bells = {
			.magic = GID_BELLS_MAGIC,
			.version = GID_BELLS_VERSION,
			.domain = seat->domain->number,
			.cookie = seat->server->cookie,
			.count = seat->count,
			.pool = seat->pool,
	};
	memcpy(bells.domains, seat->from, seat->count);
	seat->memory = memfd_create("gidway-bells", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (seat->memory < 0 || ftruncate(seat->memory, MEMORY_SIZE) < 0 ||
			pwrite(seat->memory, &bells, sizeof(bells), 0) != sizeof(bells) ||
			fcntl(seat->memory, F_ADD_SEALS,
					F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
		return -errno;
	}
	return 0;
}

static int add_bell(struct seat *seat, const struct config_domain *from) {
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0) {
		return -errno;
	}
	seat->from[seat->count] = (uint8_t)from->number;
	seat->fds[seat->count++] = fd;
	return 0;
}

static int make_pool(struct seat *seat) {
	seat->pool = seat->count == 0 ? 0 : GID_BELLS_POOL / seat->count;
	for (uint32_t i = 0; i < seat->count * seat->pool; i++) {
		seat->bells[i].fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (seat->bells[i].fd < 0) {
			return -errno;
		}
	}
	return 0;
}

static int seat_open(struct ivshmem_server *server, const struct config_domain *domain) {
	const struct config *config = server->gidd->config;
	struct seat *seat = calloc(1, sizeof(*seat));
	if (seat == NULL) {
		return -ENOMEM;
	}
	*seat = (struct seat){
			.server = server,
			.domain = domain,
			.memory = -1,
			.listener = {.fd = -1},
			.connection = -1,
	};
	for (uint32_t i = 0; i < GID_BELLS_POOL; i++) {
		seat->bells[i].fd = -1;
	}
	TAILQ_INSERT_TAIL(&server->seats, seat, entry);
	const struct config_domain *other;
	int error = 0;
	TAILQ_FOREACH(other, &config->domains, entry) {
		if (error == 0 && config_is_remote(config, domain, other) &&
				config_has_doorbell(config, other)) {
			error = add_bell(seat, other);
		}
	}
	if (error == 0) {
		error = make_pool(seat);
	}
	if (error == 0 && domain->kind == KIND_GUEST) {
		error = make_memory(seat);
	}
	if (error == 0 && domain->kind == KIND_GUEST) {
		error = listen_for(seat);
	}
	if (error < 0) {
		log_error("doorbells: none for domain %s in %s/bell: %s", domain->name,
				server->gidd->runtime, strerror(-error));
	}
	return error < 0 ? error : 0;
}

static void seat_close(struct seat *seat) {
	TAILQ_REMOVE(&seat->server->seats, seat, entry);
	disconnect(seat);
	listener_close(&seat->listener);
	gid_socket_close_fds(&seat->memory, 1);
	gid_socket_close_fds(seat->fds, seat->count);
	for (uint32_t i = 0; i < GID_BELLS_POOL; i++) {
		gid_socket_close_fds(&seat->bells[i].fd, 1);
	}
	free(seat);
}

/* --- the host's own doorbell ------------------------------------------------------------------ */

/*
 * The guest's QEMU holds the same file description and could block it. A compromised QEMU has
 * easier ways to harm the host than this.
 */
static int server_ring(void *data, uint32_t domain) {
	const struct ivshmem_server *server = data;
	int fd = find_fd(server, server->gidd->self->number, domain, 0);
	if (fd < 0) {
		return -ENOENT;
	}
	gid_doorbell_signal(fd);
	return 0;
}

static bool may_have(const struct bell *bell, uid_t user) {
	return !bell->was_given || bell->user == user;
}

static void give(struct bell *bell, uid_t user) {
	bell->was_given = true;
	bell->user = user;
}

/* Prefers a free bell that the user had before. */
static int server_take(void *data, uint32_t domain, uid_t user, struct doorbell_vector *vector) {
	struct ivshmem_server *server = data;
	struct seat *self = server->self;
	struct bell *bells = find_bells(self, domain), *free_one = NULL;
	for (uint32_t i = 0; bells != NULL && i < self->pool; i++) {
		if (!bells[i].taken && may_have(&bells[i], user) &&
				(free_one == NULL || bells[i].was_given)) {
			free_one = &bells[i];
		}
	}
	if (free_one == NULL) {
		return -ENOSPC;
	}
	free_one->taken = true;
	give(free_one, user);
	*vector = (struct doorbell_vector){
			.domain = domain,
			.index = 1 + (uint32_t)(free_one - bells),
			.number = self->count + (uint32_t)(free_one - self->bells),
			.fd = free_one->fd,
	};
	return 0;
}

static void server_give_back(void *data, const struct doorbell_vector *vector) {
	const struct ivshmem_server *server = data;
	struct seat *self = server->self;
	self->bells[vector->number - self->count].taken = false;
}

static int server_open_ringer(void *data, uint32_t domain, uint32_t index, uid_t user, int *fd) {
	const struct ivshmem_server *server = data;
	struct seat *seat = find_seat(server, domain);
	struct bell *bells = find_bells(seat, server->gidd->self->number);
	if (bells == NULL || index < 1 || index > seat->pool ||
			!may_have(&bells[index - 1], user)) {
		return -ENOENT;
	}
	give(&bells[index - 1], user);
	*fd = bells[index - 1].fd;
	return 0;
}

static void server_close_ringer(void *data, uint32_t domain, uint32_t index, int fd) {
	/* The machine's QEMU shares the eventfd, so it stays open. */
}

static void server_mute(void *data, uint32_t vector, bool mute) {
	/* Nothing to do: no event source listens any more. */
}

static void server_close(void *data) {
	struct ivshmem_server *server = data;
	struct seat *seat;
	while ((seat = TAILQ_FIRST(&server->seats)) != NULL) {
		seat_close(seat);
	}
	free(server);
}

static const struct doorbell_kind kind = {
		.ring = server_ring,
		.mute = server_mute,
		.close = server_close,
		.take = server_take,
		.give_back = server_give_back,
		.open_ringer = server_open_ringer,
		.close_ringer = server_close_ringer,
};

int ivshmem_server_open(struct gidd *gidd, doorbell_heard heard, struct doorbell **doorbell) {
	struct ivshmem_server *server = calloc(1, sizeof(*server));
	if (server == NULL) {
		return -ENOMEM;
	}
	server->gidd = gidd;
	TAILQ_INIT(&server->seats);
	server->cookie = random_number();
	*doorbell = doorbell_create(gidd, heard, server->cookie, &kind, server);
	if (*doorbell == NULL) {
		free(server);
		return -ENOMEM;
	}
	const struct config_domain *domain;
	int error = 0;
	TAILQ_FOREACH(domain, &gidd->config->domains, entry) {
		if (error == 0 && config_has_window(gidd->config, domain) &&
				config_has_doorbell(gidd->config, domain)) {
			error = seat_open(server, domain);
		}
	}
	const struct seat *self = server->self = find_seat(server, gidd->self->number);
	for (uint32_t i = 0; error == 0 && self != NULL && i < self->count; i++) {
		error = doorbell_listen(*doorbell, i, self->from[i], self->fds[i]);
	}
	if (error < 0) {
		doorbell_destroy(*doorbell);
		*doorbell = NULL;
	}
	return error;
}
