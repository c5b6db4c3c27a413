// SPDX-License-Identifier: MIT
#include "shm_range.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "gidd.h"
#include "log.h"
#include "quota.h"
#include "shm_window.h"

static struct shm_window *own_window(struct client *client) {
	struct gidd *gidd = client->peer.gidd;
	return shm_window_find(gidd, gidd->self->number);
}

static uint64_t round_up(uint64_t size) {
	return (size + SHM_PAGE - 1) & ~(uint64_t)(SHM_PAGE - 1);
}

/* --- locks ------------------------------------------------------------------------------------ */

/* Whether somebody uses a part of it whom this gidd does not know; `*behind` is where that ends. */
static bool is_locked(
		const struct shm_window *window, uint64_t offset, uint64_t size, uint64_t *behind) {
	struct flock lock = {
			.l_type = F_WRLCK,
			.l_whence = SEEK_SET,
			.l_start = (off_t)offset,
			.l_len = (off_t)size,
	};
	if (fcntl(window->writable, F_OFD_GETLK, &lock) < 0 || lock.l_type == F_UNLCK) {
		return false;
	}
	*behind = lock.l_len == 0 ? UINT64_MAX : round_up((uint64_t)(lock.l_start + lock.l_len));
	return true;
}

/* A description of the window that holds the range. */
static int open_locked(const struct shm_window *window, uint64_t offset, uint64_t size) {
	struct flock lock = {
			.l_type = F_RDLCK,
			.l_whence = SEEK_SET,
			.l_start = (off_t)offset,
			.l_len = (off_t)size,
	};
	int fd = open(window->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0) {
		return -errno;
	}
	if (fcntl(fd, F_OFD_SETLK, &lock) < 0) {
		int error = -errno;
		close(fd);
		return error;
	}
	return fd;
}

/* --- dealing out ------------------------------------------------------------------------------ */

static struct shm_range *take(struct shm_window *window, struct client *client, uint64_t size) {
	uint64_t from = 0, offset;
	while (shm_map_find(&window->map, from, size, &offset)) {
		if (!is_locked(window, offset, size, &from)) {
			return shm_map_add(&window->map, offset, size, client);
		}
	}
	return NULL;
}

static void give_back(struct shm_window *window, struct shm_range *range) {
	quota_give(range->client, QUOTA_MEMORY, range->size);
	shm_map_remove(&window->map, range);
}

void shm_range_alloc(struct client *client, const struct gid_wire_alloc *request) {
	uint32_t serial = request->header.serial;
	const struct gidd *gidd = client->peer.gidd;
	struct shm_window *window = own_window(client);
	uint64_t size = round_up(request->size);
	char why[192];
	if (window == NULL) {
		bool has = config_has_window(gidd->config, gidd->self);
		peer_result(&client->peer, serial, has ? -ENOTCONN : -ENOTSUP, 0, "%s",
				has ? "the domain's window is not there yet: does the "
				      "host's gidd run?"
				    : "the domain has no window: it shares with no other machine");
		return;
	}
	int error = quota_take(client, QUOTA_MEMORY, size, why);
	if (error < 0) {
		log_warning("%s: memory refused: %s", client->peer.label, why);
		peer_result(&client->peer, serial, error, 0, "%s", why);
		return;
	}
	struct shm_range *range = take(window, client, size);
	if (range == NULL) {
		quota_give(client, QUOTA_MEMORY, size);
		peer_result(&client->peer, serial, -ENOMEM, 0,
				"no %llu bytes in one piece are left of window=%lluM of domain %s",
				(unsigned long long)size, (unsigned long long)window->size >> 20,
				gidd->self->name);
		return;
	}
	int fd = open_locked(window, range->offset, range->size);
	if (fd < 0) {
		give_back(window, range);
		peer_result(&client->peer, serial, fd, 0, "the window: %s", strerror(-fd));
		return;
	}
	/* Whatever was there before is nobody's business. */
	explicit_bzero(window->data + range->offset, range->size);
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_ALLOCATED, serial);
	message.allocated.offset = range->offset;
	message.allocated.size = range->size;
	peer_send(&client->peer, &message, &fd, 1);
	close(fd);
}

void shm_range_free(struct client *client, const struct gid_wire_allocated *request, bool in_use) {
	struct shm_window *window = own_window(client);
	struct shm_range *range = window == NULL
			? NULL
			: shm_map_at(&window->map, request->offset, request->size);
	int error = 0;
	if (range == NULL || range->client != client) {
		error = -ENOENT;
	} else if (in_use) {
		error = -EBUSY;
	} else {
		give_back(window, range);
	}
	peer_result(&client->peer, request->header.serial, error, 0, "%s",
			error == 0 ? "" : "this client has no such memory, or a slab is in it");
}

void shm_range_free_all_of(struct client *client) {
	struct gidd *gidd = client->peer.gidd;
	struct shm_window *window = gidd->windows[gidd->self->number];
	struct shm_range *range, *next;
	if (window == NULL) {
		return;
	}
	for (range = TAILQ_FIRST(&window->map.ranges); range != NULL; range = next) {
		next = TAILQ_NEXT(range, entry);
		if (range->client == client) {
			give_back(window, range);
		}
	}
}

/* --- what clients say ------------------------------------------------------------------------- */

int shm_range_check(struct client *client, int fd, uint64_t offset, uint64_t size, bool adopt,
		const char **why) {
	struct gidd *gidd = client->peer.gidd;
	int error = shm_window_check(gidd, gidd->self->number, fd, offset, size, why);
	if (error < 0) {
		return error;
	}
	struct shm_window *window = own_window(client);
	struct shm_range *range = shm_map_around(&window->map, offset, size);
	if (range == NULL && adopt) {
		char quota[192];
		uint64_t whole = round_up(size);
		if (quota_take(client, QUOTA_MEMORY, whole, quota) < 0) {
			*why = "over the limit of memory";
			return -EDQUOT;
		}
		range = shm_map_add(&window->map, offset, whole, client);
		if (range == NULL) {
			quota_give(client, QUOTA_MEMORY, whole);
		}
	}
	if (range == NULL || range->client != client) {
		*why = "the memory was not given to this client";
		return -EACCES;
	}
	return 0;
}

int shm_range_make_read_only(struct gidd *gidd, int *fd) {
	const struct shm_window *window = shm_window_find(gidd, gidd->self->number);
	int reader = window == NULL ? -1 : fcntl(window->fd, F_DUPFD_CLOEXEC, 0);
	if (reader < 0) {
		return -EMFILE;
	}
	close(*fd);
	*fd = reader;
	return 0;
}
