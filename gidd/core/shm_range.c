// SPDX-License-Identifier: MIT
#include "shm_range.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gidd.h"
#include "log.h"
#include "memory.h"
#include "quota.h"
#include "shm_window.h"
#include "transport.h"

/* Cleared at a time: this takes a fraction of a millisecond. */
#define PIECE (UINT64_C(1) << 20)
/* Open requests for memory of one client. Our library has one at a time. */
#define DIRTY_MAX 16u
/*
 * For one request: places that a process unknown to this gidd holds locked are skipped one by one,
 * this many in any case, and more within this time. The kernel walks all locks for each, and a
 * process with a descriptor of the window may set as many as it likes.
 */
#define LOCKED_SURE 64u
#define LOCKED_NS (UINT64_C(20) * 1000 * 1000)
/* How long a request for memory waits for the hub to say which domains read which window. */
#define TOLD_US (UINT64_C(1) * 1000 * 1000)

/*
 * To pages of this machine, which maps its own ranges. They can be larger than those of the wire.
 */
static uint64_t round_up(uint64_t size) {
	return gid_memory_round_up(size);
}

/* --- locks ------------------------------------------------------------------------------------ */

/*
 * Whether a process unknown to this gidd holds a part of the range locked; `*behind` is where that
 * part ends.
 */
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

/* Opens a file description of the window that holds a lock on the range. */
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

/* --- tables of generations -------------------------------------------------------------------- */

/*
 * Clears the table: a reader that has not yet heard that the slab is gone sees that its generation
 * is over before it sees other pixels.
 */
static void end_table(const struct shm_window *window, struct shm_range *range) {
	if (range->table != 0) {
		explicit_bzero(window->data + range->table, range->table_end - range->table);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		range->table = 0;
	}
}

/* The range is in use again. If it `returns` to its earlier client its table stays valid. */
static void forget_ended(struct shm_window *window, uint64_t offset, uint64_t size, bool returns) {
	const uint64_t end = offset + size;
	struct shm_range *range;
	while (offset < end &&
			(range = shm_map_ended(&window->map, offset, end - offset)) != NULL) {
		offset = range->offset + range->size;
		if (!returns) {
			end_table(window, range);
		}
		shm_map_forget(&window->map, range);
	}
}

void shm_range_find(struct gidd *gidd, uint32_t number, uint64_t offset, uint64_t size,
		struct gid_wire_allocated *found) {
	const struct shm_window *window = shm_window_at(gidd, gidd->self->number, number);
	const struct shm_range *range =
			window == NULL ? NULL : shm_map_around(&window->map, offset, size);
	*found = (struct gid_wire_allocated){0};
	if (range != NULL) {
		found->offset = gid_wire_window_place(number, range->offset);
		found->size = range->size;
	}
}

void shm_range_set_table(struct gidd *gidd, uint32_t number, uint64_t table, uint64_t end) {
	const struct shm_window *window = shm_window_at(gidd, gidd->self->number, number);
	struct shm_range *range =
			window == NULL ? NULL : shm_map_around(&window->map, table, end - table);
	if (range != NULL) {
		range->table = table;
		range->table_end = end;
	}
}

/* --- memory that a reader has lost ------------------------------------------------------------ */

/*
 * Has the hub clear the range piece by piece: every mapping of it reads zeroes then. Does not use
 * `range` after it returns to the caller, as the caller may remove it.
 */
static void empty(struct gidd *gidd, const struct shm_window *window, struct shm_range *range) {
	struct transport *transport = gidd->transport;
	uint64_t begin = range->offset, end = begin + range->size;
	end_table(window, range);
	if (transport == NULL) {
		return;
	}
	range->pieces = range->session == transport->session ? range->pieces : 0;
	range->session = transport->session;
	range->pieces += (uint32_t)((range->size + GID_WIRE_PUNCH_MAX - 1) / GID_WIRE_PUNCH_MAX);
	for (uint64_t at = begin; at < end; at += GID_WIRE_PUNCH_MAX) {
		uint64_t rest = end - at;
		transport->kind->punch(transport, shm_window_place(window, at),
				rest < GID_WIRE_PUNCH_MAX ? rest : GID_WIRE_PUNCH_MAX);
	}
}

void shm_range_punched(struct gidd *gidd, uint64_t place, uint64_t size) {
	struct shm_window *window =
			shm_window_at(gidd, gidd->self->number, gid_wire_window_number(place));
	uint64_t offset;
	struct shm_range *range = window == NULL || !shm_window_offset(window, place, &offset)
			? NULL
			: shm_map_around(&window->map, offset, size);
	if (range == NULL || range->pieces == 0) {
		return;
	}
	range->pieces--;
	if (range->pieces == 0 && range->client == NULL) {
		shm_map_remove(&window->map, range);
	}
}

static bool is_part(const struct domain_set *part, const struct domain_set *all) {
	struct domain_set both = domain_set_union(part, all);
	return domain_set_is_equal(&both, all);
}

/*
 * Whether the last reading of the configuration took something from one of these domains. A program
 * may send the memory of another one, so that of all of them counts.
 */
static bool some_lost(const struct gidd *gidd, const struct domain_set *readers) {
	const struct client *client;
	TAILQ_FOREACH(client, &gidd->clients, entry) {
		if (domain_set_meets(readers, &client->lost_domains)) {
			return true;
		}
	}
	return false;
}

/*
 * Whether all readers of the window may read what the range holds. Of which stream that of a gidd
 * before this one is, nobody knows: it stays only while no reader has lost any.
 */
static bool may_stay(const struct gidd *gidd, const struct shm_window *window,
		const struct shm_range *range) {
	const struct config *config = gidd->config;
	if (range->adopted) {
		return TAILQ_EMPTY(&config->withdrawals) && !some_lost(gidd, &window->readers);
	}
	if (range->readers == GID_WIRE_READERS_DOMAIN) {
		return true; /* it holds rings and pages of two domains that keep their link */
	}
	struct domain_set readers = range->readers == GID_WIRE_READERS_STREAM
			? config_readers_of_stream(config, gidd->self, range->stream)
			: config_readers_of_any(config, gidd->self);
	return is_part(&window->readers, &readers);
}

uint32_t shm_range_evict_unshared(struct gidd *gidd, shm_range_func *each) {
	struct shm_window *window;
	struct shm_range *range;
	uint32_t count = 0;
	SLIST_FOREACH(window, &gidd->windows[gidd->self->number], entry) {
		TAILQ_FOREACH(range, &window->map.ranges, entry) {
			if (range->left || may_stay(gidd, window, range)) {
				continue;
			}
			range->left = true;
			each(range->client, window->number, range->offset, range->size);
			count++;
		}
	}
	return count;
}

bool shm_range_evict(struct gidd *gidd, uint32_t number, uint64_t offset, uint64_t size) {
	const struct shm_window *window = shm_window_at(gidd, gidd->self->number, number);
	struct shm_range *range =
			window == NULL ? NULL : shm_map_around(&window->map, offset, size);
	if (range != NULL) {
		range->left = true;
	}
	return range != NULL;
}

bool shm_range_empty_evicted(struct gidd *gidd) {
	struct shm_window *window;
	struct shm_range *range, *next;
	bool any = false;
	SLIST_FOREACH(window, &gidd->windows[gidd->self->number], entry) {
		for (range = TAILQ_FIRST(&window->map.ranges); range != NULL; range = next) {
			next = TAILQ_NEXT(range, entry);
			bool lost = gidd->transport != NULL &&
					range->session != gidd->transport->session;
			any = any || range->left;
			if (range->left && (range->pieces == 0 || lost)) {
				empty(gidd, window, range);
			}
		}
	}
	return any;
}

/* --- allocation ------------------------------------------------------------------------------- */

static struct shm_range *take(struct shm_window *window, struct client *client, uint64_t size) {
	uint64_t from = 0, offset, filled = shm_window_filled(client->peer.gidd, window);
	const uint64_t end = gid_clock_now() + LOCKED_NS;
	for (uint32_t i = 0; i < LOCKED_SURE || gid_clock_now() < end; i++) {
		if (!shm_map_find(&window->map, from, size, &offset) || offset > filled ||
				size > filled - offset) {
			return NULL;
		}
		if (!is_locked(window, offset, size, &from)) {
			forget_ended(window, offset, size, false);
			return shm_map_add(&window->map, offset, size, client);
		}
	}
	peer_log(&client->peer, LOG_LEVEL_WARNING,
			"memory refused: programs that this gidd does not know keep too many "
			"places of window %u locked",
			window->number);
	return NULL;
}

/* Charges one piece of a window, of `size` bytes. */
static int take_quotas(struct client *client, uint64_t size, char why[static 192]) {
	int error = quota_take(client, QUOTA_MEMORY, size, why);
	if (error == 0) {
		error = quota_take(client, QUOTA_PIECES, 1, why);
		if (error < 0) {
			quota_give(client, QUOTA_MEMORY, size);
		}
	}
	return error;
}

static void give_quotas(struct client *client, uint64_t size) {
	quota_give(client, QUOTA_MEMORY, size);
	quota_give(client, QUOTA_PIECES, 1);
}

/* `is_gone`: the client closed its connection, and may come back for the range. */
static void give_back(struct shm_window *window, struct shm_range *range, bool is_gone) {
	if (range->dirty) {
		TAILQ_REMOVE(&window->dirty, range, dirty_entry);
	}
	struct gidd *gidd = range->client->peer.gidd;
	give_quotas(range->client, range->size);
	if (range->left) {
		range->client = NULL; /* nobody may get the range before it is cleared */
		empty(gidd, window, range);
	} else if (!is_gone || range->table == 0 || !shm_map_end(&window->map, range)) {
		end_table(window, range);
		shm_map_remove(&window->map, range);
	}
}

/* --- cleaning --------------------------------------------------------------------------------- */

static uint32_t count_dirty(const struct shm_window *window, const struct client *client) {
	const struct shm_range *range;
	uint32_t count = 0;
	TAILQ_FOREACH(range, &window->dirty, dirty_entry) {
		count += range->client == client;
	}
	return count;
}

static void give(struct shm_window *window, struct shm_range *range) {
	struct peer *peer = &range->client->peer;
	union gid_wire_message message;
	TAILQ_REMOVE(&window->dirty, range, dirty_entry);
	range->dirty = false;
	int fd = range->left ? -EAGAIN : open_locked(window, range->offset, range->size);
	if (fd < 0) {
		peer_result(peer, range->serial, fd, 0, "the window: %s", strerror(-fd));
		give_back(window, range, false);
		return;
	}
	gid_wire_begin(&message, GID_WIRE_ALLOCATED, range->serial);
	message.allocated.offset = gid_wire_window_place(window->number, range->offset);
	message.allocated.size = range->size;
	peer_send(peer, &message, &fd, 1);
	close(fd);
}

/* The next range in the queue of another client; without one, the first of the queue. */
static struct shm_range *next_turn(const struct shm_window *window, const struct shm_range *range) {
	struct shm_range *next;
	TAILQ_FOREACH(next, &window->dirty, dirty_entry) {
		if (next->client != range->client) {
			return next;
		}
	}
	return TAILQ_FIRST(&window->dirty);
}

/* Clears a piece of the first range, then moves the range whose turn is next to the front. */
static void clean_piece(struct shm_window *window, struct shm_range *range) {
	uint64_t left = range->size - range->clean;
	size_t piece = (size_t)(left < PIECE ? left : PIECE);
	explicit_bzero(window->data + range->offset + range->clean, piece);
	range->clean += piece;
	struct shm_range *next = next_turn(window, range);
	if (next != range) {
		TAILQ_REMOVE(&window->dirty, next, dirty_entry);
		TAILQ_INSERT_HEAD(&window->dirty, next, dirty_entry);
		TAILQ_REMOVE(&window->dirty, range, dirty_entry);
		TAILQ_INSERT_TAIL(&window->dirty, range, dirty_entry);
	}
	if (range->clean == range->size) {
		give(window, range);
	}
}

/* A timer, as a deferred source would run before all events that come later. */
static int handle_cleaning(sd_event_source *source, uint64_t now, void *data) {
	struct shm_window *window = data;
	struct shm_range *range = TAILQ_FIRST(&window->dirty);
	if (range == NULL) {
		window->cleaning = sd_event_source_disable_unref(source);
		return 0;
	}
	clean_piece(window, range);
	sd_event_source_set_time_relative(source, 0);
	sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	return 0;
}

static int begin_cleaning(const struct gidd *gidd, struct shm_window *window,
		struct shm_range *range, uint32_t serial) {
	if (window->cleaning == NULL) {
		int error = sd_event_add_time_relative(gidd->event, &window->cleaning,
				CLOCK_MONOTONIC, 0, 1, handle_cleaning, window);
		if (error < 0) {
			return error;
		}
	}
	range->dirty = true;
	range->serial = serial;
	TAILQ_INSERT_TAIL(&window->dirty, range, dirty_entry);
	return 0;
}

static struct domain_set find_readers(
		const struct gidd *gidd, const struct gid_wire_alloc *request) {
	const struct config *config = gidd->config;
	if (request->readers == GID_WIRE_READERS_STREAM) {
		return config_readers_of_stream(config, gidd->self, request->name);
	}
	if (request->readers == GID_WIRE_READERS_DOMAIN) {
		return config_reader_alone(config, gidd->self,
				request->domain != 0
						? config_domain_by_number(config, request->domain)
						: config_domain_find(config, request->name));
	}
	return config_readers_of_any(config, gidd->self);
}

/* The window whose readers are those of the request; NULL, after answering, if there is none. */
static struct shm_window *find_window(struct client *client, const struct gid_wire_alloc *request) {
	struct gidd *gidd = client->peer.gidd;
	struct domain_set readers = find_readers(gidd, request);
	struct shm_window *window = NULL;
	int error = -ENOTSUP;
	const char *why = "nobody on another machine may read it: a memfd will do";
	if (!domain_set_is_empty(&readers) && !shm_window_knows_own(gidd)) {
		error = -ENOTCONN;
		why = "the host's gidd has not said who reads which window: does it run?";
	} else if (!domain_set_is_empty(&readers)) {
		window = shm_window_find_for(gidd, &readers);
		bool some = !SLIST_EMPTY(&gidd->windows[gidd->self->number]);
		error = some ? -ENOTSUP : -ENOTCONN;
		why = some ? "the domain has no window for just those who may read it: has the "
			     "configuration changed since the host's gidd and this machine began?"
			   : "the domain's window is not there yet: does the host's gidd run?";
	}
	if (window == NULL) {
		peer_result(&client->peer, request->header.serial, error, 0, "%s", why);
	}
	return window;
}

static void alloc(struct client *client, const struct gid_wire_alloc *request) {
	uint32_t serial = request->header.serial;
	const struct gidd *gidd = client->peer.gidd;
	struct shm_window *window = find_window(client, request);
	uint64_t size = round_up(request->size);
	char why[192];
	if (window == NULL) {
		return;
	}
	if (count_dirty(window, client) >= DIRTY_MAX) {
		peer_result(&client->peer, serial, -EAGAIN, 0,
				"%u requests for memory of this client are open already",
				DIRTY_MAX);
		return;
	}
	int error = take_quotas(client, size, why);
	if (error < 0) {
		peer_log(&client->peer, LOG_LEVEL_WARNING, "memory refused: %s", why);
		peer_result(&client->peer, serial, error, 0, "%s", why);
		return;
	}
	struct shm_range *range = take(window, client, size);
	if (range == NULL) {
		give_quotas(client, size);
		peer_result(&client->peer, serial, -ENOMEM, 0,
				"no %llu bytes in one piece are left of window=%lluM of domain %s",
				(unsigned long long)size, (unsigned long long)window->size >> 20,
				gidd->self->name);
		return;
	}
	range->readers = request->readers;
	memcpy(range->stream, request->name, sizeof(range->stream));
	error = begin_cleaning(gidd, window, range, serial);
	if (error < 0) {
		give_back(window, range, false);
		peer_result(&client->peer, serial, error, 0, "gidd is out of memory");
	}
}

/* --- requests before the hub has told who reads what ------------------------------------------ */

struct shm_waiting {
	struct shm_waiting *next;
	struct client *client;
	struct gid_wire_alloc request;
};

/* In any order: clients match answers by their serials. */
static void answer_waiting(struct gidd *gidd) {
	struct shm_waiting *waiting;
	while ((waiting = gidd->waiting) != NULL) {
		gidd->waiting = waiting->next;
		alloc(waiting->client, &waiting->request);
		free(waiting);
	}
	gidd->patience = sd_event_source_disable_unref(gidd->patience);
}

static int handle_patience(sd_event_source *source, uint64_t now, void *data) {
	answer_waiting(data);
	return 0;
}

static void stop_waiting(struct gidd *gidd, const struct client *client) {
	struct shm_waiting **at = &gidd->waiting;
	while (*at != NULL) {
		struct shm_waiting *waiting = *at;
		if (waiting->client == client) {
			*at = waiting->next;
			free(waiting);
		} else {
			at = &waiting->next;
		}
	}
	if (gidd->waiting == NULL) {
		gidd->patience = sd_event_source_disable_unref(gidd->patience);
	}
}

/* False: the request cannot wait. */
static bool let_wait(struct client *client, const struct gid_wire_alloc *request) {
	struct gidd *gidd = client->peer.gidd;
	struct shm_waiting *waiting;
	uint32_t count = 0;
	for (waiting = gidd->waiting; waiting != NULL; waiting = waiting->next) {
		count += waiting->client == client;
	}
	if (count >= DIRTY_MAX ||
			(gidd->patience == NULL &&
					sd_event_add_time_relative(gidd->event, &gidd->patience,
							CLOCK_MONOTONIC, TOLD_US, 0,
							handle_patience, gidd) < 0)) {
		return false;
	}
	waiting = calloc(1, sizeof(*waiting));
	if (waiting == NULL) {
		return false;
	}
	*waiting = (struct shm_waiting){
			.next = gidd->waiting, .client = client, .request = *request};
	gidd->waiting = waiting;
	return true;
}

void shm_range_own_window(struct gidd *gidd, const struct gid_wire_own_window *window) {
	if (shm_window_set_own(gidd, window) < 0) {
		log_error("no memory for what the hub says of our windows");
	}
	if (shm_window_knows_own(gidd)) {
		answer_waiting(gidd);
	}
}

void shm_range_alloc(struct client *client, const struct gid_wire_alloc *request) {
	struct gidd *gidd = client->peer.gidd;
	struct domain_set readers = find_readers(gidd, request);
	bool early = gidd->transport != NULL && !domain_set_is_empty(&readers) &&
			!shm_window_knows_own(gidd);
	if (!early || !let_wait(client, request)) {
		alloc(client, request);
	}
}

void shm_range_free(struct client *client, const struct gid_wire_allocated *request, bool in_use) {
	struct gidd *gidd = client->peer.gidd;
	struct shm_window *window = shm_window_at(
			gidd, gidd->self->number, gid_wire_window_number(request->offset));
	struct shm_range *range = window == NULL
			? NULL
			: shm_map_at(&window->map, gid_wire_window_offset(request->offset),
					  request->size);
	int error = 0;
	if (range == NULL || range->client != client || range->dirty) {
		error = -ENOENT;
	} else if (in_use) {
		error = -EBUSY;
	} else {
		give_back(window, range, false);
	}
	peer_result(&client->peer, request->header.serial, error, 0, "%s",
			error == 0 ? "" : "this client has no such memory, or a slab is in it");
}

/* A client that only lost its connection still uses its slabs. */
static void free_all_in(struct shm_window *window, const struct client *client) {
	struct shm_range *range, *next;
	for (range = TAILQ_FIRST(&window->map.ranges); range != NULL; range = next) {
		next = TAILQ_NEXT(range, entry);
		if (range->client == client) {
			give_back(window, range, true);
		}
	}
}

void shm_range_free_all_of(struct client *client) {
	struct gidd *gidd = client->peer.gidd;
	struct shm_window *window;
	stop_waiting(gidd, client);
	SLIST_FOREACH(window, &gidd->windows[gidd->self->number], entry) {
		free_all_in(window, client);
	}
}

/* --- checks of what clients claim ------------------------------------------------------------- */

int shm_range_check(struct client *client, int fd, uint64_t offset, uint64_t size, bool adopt,
		const char **why) {
	struct gidd *gidd = client->peer.gidd;
	int error = shm_window_check(gidd, gidd->self->number, fd, offset, size, why);
	if (error < 0) {
		return error;
	}
	struct shm_window *window = shm_window_of(gidd, gidd->self->number, fd);
	struct shm_range *range = shm_map_around(&window->map, offset, size);
	if (range == NULL && adopt) {
		char quota[192];
		uint64_t whole = round_up(size);
		if (take_quotas(client, whole, quota) < 0) {
			*why = "over the limit of memory, or of pieces";
			return -EDQUOT;
		}
		range = shm_map_add(&window->map, offset, whole, client);
		if (range != NULL) {
			forget_ended(window, offset, whole, true);
			range->adopted = true;
		} else {
			give_quotas(client, whole);
		}
	}
	if (range != NULL && range->client == client && range->left) {
		*why = "some may not read this memory any more: ask for other memory";
		return -EACCES;
	}
	if (range == NULL || range->client != client || range->dirty) {
		*why = "the memory was not given to this client";
		return -EACCES;
	}
	return 0;
}

int shm_range_make_read_only(struct gidd *gidd, int *fd) {
	const struct shm_window *window = shm_window_of(gidd, gidd->self->number, *fd);
	int reader = window == NULL ? -1 : fcntl(window->fd, F_DUPFD_CLOEXEC, 0);
	if (reader < 0) {
		return -EMFILE;
	}
	close(*fd);
	*fd = reader;
	return 0;
}
