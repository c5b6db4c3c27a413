// SPDX-License-Identifier: MIT
#include "slabs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "access.h"
#include "client.h"
#include "closer.h"
#include "descriptor.h"
#include "link.h"
#include "log.h"
#include "quota.h"
#include "shm_range.h"
#include "shm_window.h"
#include "slab_book.h"
#include "streams.h"

/* Slabs of other domains that a client may wait for. It waits for each, or asks for a few at once.
 */
#define REQUESTS_MAX 64u
/* As long as the clients of a gidd that came back may take to register again. */
#define REVALIDATE_AFTER_US (UINT64_C(5) * 1000 * 1000)

/* --- finding and numbering -------------------------------------------------------------------- */

void slab_init(struct gidd *gidd) {
	TAILQ_INIT(&gidd->slabs);
	TAILQ_INIT(&gidd->slab_requests);
	/*
	 * Clients that outlive a gidd export again under their old numbers. A new gidd must not
	 * have given those to others meanwhile, and does not know them: it begins elsewhere.
	 */
	uint32_t seed = 0;
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed)) {
		seed = (uint32_t)getpid() * 2654435761u;
	}
	gidd->slab_first = seed % GID_SLAB_MAX;
}

struct slab *slab_find(struct gidd *gidd, uint32_t key) {
	struct slab *slab;
	TAILQ_FOREACH(slab, &gidd->slabs, entry) {
		if (gid_slab_key(slab_gid(slab)) == key) {
			return slab;
		}
	}
	return NULL;
}

static struct slab *find_own(struct gidd *gidd, uint32_t number) {
	return slab_find(gidd, gid_slab_key(gid_make(gidd->self->number, number, 0, 0)));
}

static uint32_t nth_number(const struct gidd *gidd, uint64_t n) {
	return (uint32_t)(1 + (gidd->slab_first + n) % GID_SLAB_MAX);
}

/* A number that this run has not given before, as long as there is one. */
static uint32_t new_number(struct gidd *gidd) {
	uint32_t number;
	do {
		number = nth_number(gidd, gidd->slab_issued++);
	} while (find_own(gidd, number) != NULL || slab_book_expects(gidd->slab_book, number));
	return number;
}

/* Whether a client that was there before this gidd may have its old number back. */
static bool may_return(struct gidd *gidd, uint32_t number) {
	uint32_t place = (number - 1 + GID_SLAB_MAX - gidd->slab_first) % GID_SLAB_MAX;
	return place >= gidd->slab_issued && find_own(gidd, number) == NULL;
}

/* --- who has them ----------------------------------------------------------------------------- */

static struct import *find_import(const struct slab *slab, const struct peer *peer) {
	struct import *import;
	TAILQ_FOREACH(import, &slab->importers, of_slab) {
		if (import->peer == peer) {
			return import;
		}
	}
	return NULL;
}

static int add_import(struct slab *slab, struct peer *peer) {
	if (find_import(slab, peer) != NULL) {
		return 0;
	}
	struct import *import = calloc(1, sizeof(*import));
	if (import == NULL) {
		return -ENOMEM;
	}
	import->slab = slab;
	import->peer = peer;
	TAILQ_INSERT_TAIL(&slab->importers, import, of_slab);
	TAILQ_INSERT_TAIL(&peer->imports, import, of_peer);
	return 0;
}

static void remove_import(struct import *import) {
	TAILQ_REMOVE(&import->slab->importers, import, of_slab);
	TAILQ_REMOVE(&import->peer->imports, import, of_peer);
	free(import);
}

static void send_revoked(struct peer *peer, const struct slab *slab) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_REVOKED, 0);
	message.revoked.gid = slab_gid(slab);
	peer_send(peer, &message, NULL, 0);
}

/* --- life ------------------------------------------------------------------------------------- */

static struct slab *slab_create(struct gidd *gidd, const struct gid_wire_imported *description) {
	struct slab *slab = calloc(1, sizeof(*slab));
	if (slab == NULL) {
		return NULL;
	}
	slab->description.imported = *description;
	slab->fd = -1;
	TAILQ_INIT(&slab->importers);
	TAILQ_INSERT_TAIL(&gidd->slabs, slab, entry);
	return slab;
}

bool slab_is_granted(const struct slab *slab, uint32_t domain) {
	const struct import *import;
	TAILQ_FOREACH(import, &slab->importers, of_slab) {
		if (domain_set_has(&import->lent, domain)) {
			return true;
		}
	}
	return domain_set_has(&slab->grants, domain);
}

static void slab_destroy(struct gidd *gidd, struct slab *slab) {
	struct import *import;
	while ((import = TAILQ_FIRST(&slab->importers)) != NULL) {
		send_revoked(import->peer, slab);
		remove_import(import);
	}
	if (slab->owner != NULL) {
		struct link *link;
		TAILQ_FOREACH(link, &gidd->links, entry) {
			if (slab->inherited && slab_is_granted(slab, link->peer.domain)) {
				send_revoked(&link->peer, slab);
			}
		}
		slab_book_remove(gidd->slab_book, slab->description.imported.slab);
		TAILQ_REMOVE(&slab->owner->slabs, slab, owner_entry);
		quota_give(slab->owner, QUOTA_SLABS, 1);
		quota_give(slab->owner, QUOTA_MEMORY, slab->charged);
		gid_closer_close(slab->fd);
	}
	TAILQ_REMOVE(&gidd->slabs, slab, entry);
	free(slab);
}

void slab_destroy_all_of(struct client *client) {
	struct slab *slab;
	while ((slab = TAILQ_FIRST(&client->slabs)) != NULL) {
		slab_destroy(client->peer.gidd, slab);
	}
}

/* --- export ----------------------------------------------------------------------------------- */

static void describe(struct gid_wire_imported *description, uint32_t domain,
		const struct gid_wire_export *request) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_IMPORTED, 0);
	message.imported.domain = domain;
	message.imported.slab = request->slab;
	message.imported.memory = request->memory;
	message.imported.slot_count = request->slot_count;
	message.imported.offset = request->offset;
	message.imported.slot_size = request->slot_size;
	message.imported.generations = request->generations;
	message.imported.description_size = request->description_size;
	message.imported.layout = request->layout;
	memcpy(message.imported.description, request->description, sizeof(request->description));
	*description = message.imported;
}

/* A range has one slab, whose table is ended with it. */
static int use_range(struct client *client, const struct gid_wire_imported *slab, uint32_t window,
		uint64_t end, const char **why) {
	struct gid_wire_allocated range;
	struct gidd *gidd = client->peer.gidd;
	shm_range_find(gidd, window, slab->offset, end - slab->offset, &range);
	if (slab_is_in(client, &range)) {
		*why = "a slab is in this memory already: ask for other memory";
		return -EBUSY;
	}
	shm_range_set_table(gidd, window, slab->generations, end);
	return 0;
}

/* Checks the memory of a client's slab. Of our own windows readers get a descriptor of ours. */
static int check_memory(struct client *client, const struct gid_wire_imported *slab, bool again,
		int *fd, uint64_t *bytes, uint32_t *window, const char **why) {
	*window = 0;
	if (slab->memory != GID_MEMORY_WINDOW) {
		return descriptor_take_slab(fd, slab, bytes, why);
	}
	*bytes = descriptor_slab_end(slab) - slab->offset;
	int error = shm_range_check(client, *fd, slab->offset, *bytes, again, why);
	if (error == 0) {
		struct gidd *gidd = client->peer.gidd;
		*window = shm_window_of(gidd, gidd->self->number, *fd)->number;
		error = use_range(client, slab, *window, slab->offset + *bytes, why);
	}
	if (error == 0 && shm_range_make_read_only(client->peer.gidd, fd) < 0) {
		*why = "gidd has no descriptor left";
		error = -EMFILE;
	}
	return error;
}

void slab_export(struct client *client, const struct gid_wire_export *request, int *fd) {
	struct gidd *gidd = client->peer.gidd;
	uint32_t serial = request->header.serial;
	struct gid_wire_imported description;
	uint64_t bytes;
	uint32_t window;
	const char *wrong;
	char why[192];

	describe(&description, gidd->self->number, request);
	int error = check_memory(
			client, &description, request->slab != 0, fd, &bytes, &window, &wrong);
	if (error < 0) {
		peer_log(&client->peer, LOG_LEVEL_WARNING, "export refused: %s", wrong);
		peer_result(&client->peer, serial, error, 0, "%s", wrong);
		return;
	}
	if (request->slab != 0 && !may_return(gidd, request->slab)) {
		peer_result(&client->peer, serial, -EEXIST, 0, "another slab has number %u now",
				request->slab);
		return;
	}
	if (request->slab != 0 &&
			!slab_book_may_return(gidd->slab_book, request->slab, client->uid)) {
		peer_log(&client->peer, LOG_LEVEL_WARNING,
				"may not have slab number %u: no program of its user had it",
				request->slab);
		peer_result(&client->peer, serial, -EEXIST, 0,
				"no program of uid %u had slab number %u", (unsigned)client->uid,
				request->slab);
		return;
	}
	error = quota_take(client, QUOTA_SLABS, 1, why);
	if (error < 0) {
		goto error_quota;
	}
	uint64_t charged = request->memory == GID_MEMORY_WINDOW ? 0 : bytes;
	error = quota_take(client, QUOTA_MEMORY, charged, why);
	if (error < 0) {
		goto error_slabs;
	}
	if (request->slab == 0) {
		description.slab = new_number(gidd);
	}
	struct slab *slab = slab_create(gidd, &description);
	if (slab == NULL) {
		error = -ENOMEM;
		snprintf(why, sizeof(why), "gidd is out of memory");
		goto error_memory;
	}
	slab->owner = client;
	slab->bytes = bytes;
	slab->window = window;
	slab->charged = charged;
	slab->inherited = request->slab != 0;
	slab->fd = *fd;
	*fd = -1;
	TAILQ_INSERT_TAIL(&client->slabs, slab, owner_entry);
	slab_book_put(gidd->slab_book, description.slab, client->uid);
	peer_result(&client->peer, serial, 0, description.slab, "%s", "");
	return;

error_memory:
	quota_give(client, QUOTA_MEMORY, charged);
error_slabs:
	quota_give(client, QUOTA_SLABS, 1);
error_quota:
	peer_log(&client->peer, LOG_LEVEL_WARNING, "export refused: %s", why);
	peer_refuse(&client->peer, serial, error, "%s", why);
}

static struct slab *find_owned(struct client *client, uint32_t number) {
	struct slab *slab = find_own(client->peer.gidd, number);
	return slab != NULL && slab->owner == client ? slab : NULL;
}

void slab_unexport(struct client *client, const struct gid_wire_unexport *request) {
	struct slab *slab = find_owned(client, request->slab);
	if (slab == NULL) {
		peer_result(&client->peer, request->header.serial, -ENOENT, 0,
				"this client has no slab %u", request->slab);
		return;
	}
	slab_destroy(client->peer.gidd, slab);
	peer_result(&client->peer, request->header.serial, 0, 0, "%s", "");
}

static bool lies_in(const struct slab *slab, uint32_t window, uint64_t offset, uint64_t size) {
	const struct gid_wire_imported *info = &slab->description.imported;
	return info->memory == GID_MEMORY_WINDOW && slab->window == window &&
			info->offset >= offset && info->offset - offset < size;
}

bool slab_is_in(const struct client *client, const struct gid_wire_allocated *range) {
	uint64_t offset = gid_wire_window_offset(range->offset);
	uint32_t window = gid_wire_window_number(range->offset);
	const struct slab *slab;
	TAILQ_FOREACH(slab, &client->slabs, owner_entry) {
		if (lies_in(slab, window, offset, range->size)) {
			return true;
		}
	}
	return false;
}

/* --- grants ----------------------------------------------------------------------------------- */

/* The domain had the grant, and may have it no more. */
static void revoke_grant(struct gidd *gidd, struct slab *slab, uint32_t domain) {
	struct link *link = link_find(gidd, domain);
	if (link == NULL || slab_is_granted(slab, domain)) {
		return;
	}
	struct import *import = find_import(slab, &link->peer);
	if (import != NULL) {
		remove_import(import);
	}
	if (import != NULL || slab->inherited) {
		send_revoked(&link->peer, slab);
	}
}

static void take_back(struct gidd *gidd, struct slab *slab, uint32_t domain) {
	struct import *import;
	domain_set_put(&slab->grants, domain, false);
	TAILQ_FOREACH(import, &slab->importers, of_slab) {
		domain_set_put(&import->lent, domain, false);
	}
	revoke_grant(gidd, slab, domain);
}

static void set_owner_grant(
		struct gidd *gidd, struct slab *slab, const struct gid_wire_grant *request) {
	bool had = slab_is_granted(slab, request->domain);
	domain_set_put(&slab->withheld, request->domain, request->allow == 0);
	if (request->allow != 0) {
		domain_set_put(&slab->grants, request->domain, true);
	} else if (had) {
		take_back(gidd, slab, request->domain);
	}
}

static int set_loan(
		struct gidd *gidd, struct import *import, const struct gid_wire_grant *request) {
	struct slab *slab = import->slab;
	bool had = slab_is_granted(slab, request->domain);
	if (request->allow != 0 && domain_set_has(&slab->withheld, request->domain)) {
		return -EPERM;
	}
	domain_set_put(&import->lent, request->domain, request->allow != 0);
	if (had && request->allow == 0) {
		revoke_grant(gidd, slab, request->domain);
	}
	return 0;
}

static void end_loans(struct import *import) {
	struct domain_set lent = import->lent;
	import->lent = (struct domain_set){0};
	for (uint32_t domain = 1; domain <= GID_DOMAIN_MAX; domain++) {
		if (domain_set_has(&lent, domain)) {
			revoke_grant(import->peer->gidd, import->slab, domain);
		}
	}
}

void slab_grant(struct client *client, const struct gid_wire_grant *request) {
	struct gidd *gidd = client->peer.gidd;
	uint32_t serial = request->header.serial;
	struct slab *slab = find_own(gidd, request->slab);
	struct import *import = slab == NULL ? NULL : find_import(slab, &client->peer);
	if (slab == NULL || (slab->owner != client && import == NULL)) {
		peer_result(&client->peer, serial, -ENOENT, 0, "this client has no slab %u",
				request->slab);
		return;
	}
	const struct config_domain *reader = config_domain_by_number(gidd->config, request->domain);
	if (reader == NULL || !access_may_import(gidd->config, gidd->self, reader)) {
		peer_refuse(&client->peer, serial, -EPERM,
				"the cockpit's configuration has no [share %s %s]",
				gidd->self->name, reader == NULL ? "…" : reader->name);
		return;
	}
	struct link *link = link_find(gidd, request->domain);
	if (link != NULL && request->allow != 0 &&
			!link_can_carry(&link->peer, slab->fd, slab->description.imported.offset)) {
		peer_result(&client->peer, serial, -ENOTSUP, 0,
				"domain %s is another machine, which cannot see this memory: copy "
				"it into a slab that gidway made for that stream",
				reader->name);
		return;
	}
	int error = 0;
	if (slab->owner == client) {
		set_owner_grant(gidd, slab, request);
	} else {
		error = set_loan(gidd, import, request);
	}
	peer_result(&client->peer, serial, error, 0, "%s",
			error == 0 ? "" : "the slab's owner does not let this domain read it");
}

uint32_t slab_revoke_unshared(struct gidd *gidd) {
	const struct config_domain *reader;
	struct slab *slab;
	uint32_t revoked = 0;
	TAILQ_FOREACH(slab, &gidd->slabs, entry) {
		TAILQ_FOREACH(reader, &gidd->config->domains, entry) {
			if (slab->owner != NULL && slab_is_granted(slab, reader->number) &&
					!access_may_import(gidd->config, gidd->self, reader)) {
				take_back(gidd, slab, reader->number);
				revoked++;
			}
		}
	}
	return revoked;
}

/* --- memory that must be left ------------------------------------------------------------------
 */

void slab_evict(struct slab *slab) {
	slab->evicting = true;
	send_revoked(&slab->owner->peer, slab);
}

void slab_evict_range(struct client *client, uint32_t window, uint64_t offset, uint64_t size) {
	struct slab *slab;
	TAILQ_FOREACH(slab, &client->slabs, owner_entry) {
		if (lies_in(slab, window, offset, size)) {
			slab_evict(slab);
		}
	}
}

static bool was_lent_to_withdrawn(const struct gidd *gidd, const struct slab *slab) {
	const struct config_domain *reader;
	TAILQ_FOREACH(reader, &gidd->config->domains, entry) {
		if (slab_is_granted(slab, reader->number) &&
				stream_is_withdrawn(slab->owner, reader)) {
			return true;
		}
	}
	return false;
}

uint32_t slab_evict_withdrawn(struct gidd *gidd) {
	struct slab *slab;
	uint32_t count = 0;
	TAILQ_FOREACH(slab, &gidd->slabs, entry) {
		bool in_window = slab->description.imported.memory == GID_MEMORY_WINDOW;
		if (slab->owner != NULL && !in_window && !slab->evicting &&
				was_lent_to_withdrawn(gidd, slab)) {
			slab_evict(slab);
			count++;
		}
	}
	return count;
}

void slab_end_eviction(struct gidd *gidd) {
	struct slab *slab, *next;
	for (slab = TAILQ_FIRST(&gidd->slabs); slab != NULL; slab = next) {
		next = TAILQ_NEXT(slab, entry);
		if (slab->evicting) {
			send_revoked(&slab->owner->peer, slab); /* so that it knows, too late */
			slab_destroy(gidd, slab);
		}
	}
}

/* --- import of ours --------------------------------------------------------------------------- */

void slab_refuse(struct peer *peer, uint32_t serial) {
	peer_refuse(peer, serial, -ENOENT, "%s",
			"no such slab can be read here: it is unknown, not granted, or was revoked");
}

void slab_import(struct peer *peer, const struct gid_wire_import *request) {
	struct slab *slab = slab_find(peer->gidd, gid_slab_key(request->gid));
	bool own = peer->domain == peer->gidd->self->number;
	if (slab == NULL || slab->owner == NULL || (!own && !slab_is_granted(slab, peer->domain)) ||
			add_import(slab, peer) < 0) {
		slab_refuse(peer, request->header.serial);
		return;
	}
	union gid_wire_message answer = slab->description;
	answer.header.serial = request->header.serial;
	peer_send(peer, &answer, &slab->fd, 1);
}

/* --- import of other domains' ----------------------------------------------------------------- */

static bool is_of(const struct slab *slab, uint32_t domain) {
	return slab->owner == NULL && gid_domain_of(slab_gid(slab)) == domain;
}

/*
 * Whether a domain's memory that somebody here has, with that much more, is what its memory= and
 * slabs= allow. Its own gidd sees to that; but that one may have been taken over, and what is
 * mapped here costs us. What is unconfirmed may be gone by now, so it counts by half.
 */
static bool is_within_limits(struct gidd *gidd, const struct config_domain *owner,
		const struct slab *old, uint64_t bytes) {
	uint64_t most_bytes = owner->quota[QUOTA_MEMORY], most_slabs = owner->quota[QUOTA_SLABS];
	uint64_t all_bytes = bytes, all_slabs = 1, sure_bytes = bytes, sure_slabs = 1;
	const struct slab *slab;
	TAILQ_FOREACH(slab, &gidd->slabs, entry) {
		if (!is_of(slab, owner->number) || slab == old) {
			continue;
		}
		all_slabs++;
		sure_slabs += !slab->unconfirmed;
		if (__builtin_add_overflow(all_bytes, slab->bytes, &all_bytes) ||
				__builtin_add_overflow(sure_bytes,
						slab->unconfirmed ? 0 : slab->bytes, &sure_bytes)) {
			return false;
		}
	}
	return sure_bytes <= most_bytes && sure_slabs <= most_slabs &&
			all_bytes / 2 <= most_bytes && all_slabs / 2 <= most_slabs;
}

static void refuse_over_limits(
		struct peer *peer, uint32_t serial, const struct config_domain *owner) {
	char why[192];
	snprintf(why, sizeof(why),
			"domain %s shares more than memory=%llu and slabs=%llu of it allow: its "
			"gidd has another configuration, or was taken over",
			owner->name, (unsigned long long)owner->quota[QUOTA_MEMORY],
			(unsigned long long)owner->quota[QUOTA_SLABS]);
	peer_log(peer, LOG_LEVEL_WARNING, "import refused: %s", why);
	peer_result(peer, serial, -EDQUOT, 0, "%s", why);
}

/* The slab of another domain goes to a client that asked for it. */
static void pass_on(struct peer *peer, uint32_t serial, const struct gid_wire_imported *answer,
		int fd, uint64_t bytes) {
	struct gidd *gidd = peer->gidd;
	const struct config_domain *owner = config_domain_by_number(gidd->config, answer->domain);
	gid_id gid = gid_make(answer->domain, answer->slab, 0, 0);
	struct slab *slab = slab_find(gidd, gid_slab_key(gid));
	uint64_t inode = descriptor_inode(fd);
	bool same = slab != NULL && slab->inode == inode &&
			slab->description.imported.offset == answer->offset;
	if (!is_within_limits(gidd, owner, slab, bytes)) {
		refuse_over_limits(peer, serial, owner);
		return;
	}
	if (slab != NULL && slab->owner == NULL && !same) {
		slab_destroy(gidd, slab); /* the number names other memory now */
		slab = NULL;
	}
	if (slab == NULL) {
		slab = slab_create(gidd, answer);
	}
	if (slab == NULL || slab->owner != NULL || add_import(slab, peer) < 0) {
		slab_refuse(peer, serial);
		return;
	}
	slab->description.imported = *answer;
	slab->bytes = bytes;
	slab->inode = inode;
	slab->unconfirmed = false;
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_IMPORTED, serial);
	message.imported = *answer;
	message.header.serial = serial;
	peer_send(peer, &message, &fd, 1);
}

/* Answers come in order: after the last one, nothing is in doubt. */
static void log_revalidated(const struct gidd *gidd, uint32_t domain) {
	const struct slab *slab;
	TAILQ_FOREACH(slab, &gidd->slabs, entry) {
		if (slab->unconfirmed && gid_domain_of(slab_gid(slab)) == domain) {
			return;
		}
	}
	log_line(log_domain(domain), LOG_LEVEL_INFO, "domain %u: slabs revalidated", domain);
}

/* What the other domain said: the slab's memory by inode and offset; 0: there is no such slab. */
static void revalidate(struct gidd *gidd, gid_id gid, uint64_t inode, uint64_t offset) {
	struct slab *slab = slab_find(gidd, gid_slab_key(gid));
	if (slab != NULL && slab->owner == NULL) {
		if (inode != 0 && inode == slab->inode &&
				offset == slab->description.imported.offset) {
			slab->unconfirmed = false;
		} else {
			slab_destroy(gidd, slab);
		}
	}
	log_revalidated(gidd, gid_domain_of(gid));
}

/* A slab of another domain that its gidd was asked for, and has not answered yet. */
struct slab_request {
	TAILQ_ENTRY(slab_request) entry;
	struct peer *peer; /* who is to have it; NULL: it is asked for again, whether it is there */
	uint32_t serial;   /* of the peer's request */
	gid_id gid;
};

static void request_destroy(struct gidd *gidd, struct slab_request *request) {
	TAILQ_REMOVE(&gidd->slab_requests, request, entry);
	free(request);
}

static uint32_t count_requests(const struct gidd *gidd, const struct peer *peer) {
	const struct slab_request *request;
	uint32_t count = 0;
	TAILQ_FOREACH(request, &gidd->slab_requests, entry) {
		count += request->peer == peer;
	}
	return count;
}

/* What is wrong with the answer, or NULL; `*bytes` is what its memory counts. */
static const char *check_answer(struct gidd *gidd, const struct slab_request *request,
		const struct gid_wire_imported *answer, int *fd, uint64_t *bytes) {
	const char *why = NULL;
	gid_id gid = gid_make(answer->domain, answer->slab, 0, 0);
	if (gid_slab_key(gid) != gid_slab_key(request->gid)) {
		return "it answers with another slab than it was asked for";
	}
	if (answer->memory == GID_MEMORY_WINDOW) {
		*bytes = descriptor_slab_end(answer) - answer->offset;
		shm_window_check_read(gidd, answer->domain, *fd, answer->offset, *bytes, &why);
	} else {
		descriptor_take_slab(fd, answer, bytes, &why);
	}
	return why;
}

static void refuse_down(struct peer *peer, uint32_t serial, const struct link *link) {
	peer_result(peer, serial, -ENOTCONN, 0,
			"the link to domain %s is down: is its gidd running?", link->remote->name);
}

static const char *handle_answer(struct link *link, const union gid_wire_message *answer,
		int fds[static GID_WIRE_FDS_MAX], void *data) {
	struct gidd *gidd = link->peer.gidd;
	struct slab_request *request = data;
	bool imported = answer != NULL && answer->header.type == GID_WIRE_IMPORTED;
	uint64_t bytes = 0;
	const char *why = imported ? check_answer(gidd, request, &answer->imported, &fds[0], &bytes)
				   : NULL;
	if (answer != NULL && !imported && answer->result.error == 0) {
		why = "its answer to an import has no slab";
	}
	if (why != NULL) {
		return why;
	}
	struct peer *peer = request->peer;
	if (answer == NULL && peer != NULL) {
		refuse_down(peer, request->serial, link);
	} else if (imported && peer != NULL) {
		pass_on(peer, request->serial, &answer->imported, fds[0], bytes);
	} else if (peer != NULL) {
		slab_refuse(peer, request->serial);
	} else if (imported) {
		revalidate(gidd, request->gid, descriptor_inode(fds[0]), answer->imported.offset);
	} else if (answer != NULL) {
		revalidate(gidd, request->gid, 0, 0);
	}
	request_destroy(gidd, request);
	return NULL;
}

static int ask(struct link *link, struct peer *peer, uint32_t serial, gid_id gid) {
	struct gidd *gidd = link->peer.gidd;
	union gid_wire_message message;
	struct slab_request *request = calloc(1, sizeof(*request));
	if (request == NULL) {
		return -ENOMEM;
	}
	*request = (struct slab_request){.peer = peer, .serial = serial, .gid = gid};
	TAILQ_INSERT_TAIL(&gidd->slab_requests, request, entry);
	gid_wire_begin(&message, GID_WIRE_IMPORT, 0);
	message.import.gid = gid;
	int error = link_request(link, &message, NULL, 0, handle_answer, request);
	if (error < 0) {
		request_destroy(gidd, request);
	}
	return error;
}

void slab_import_foreign(struct peer *peer, const struct gid_wire_import *request) {
	struct gidd *gidd = peer->gidd;
	struct link *link = link_find(gidd, gid_domain_of(request->gid));
	uint32_t serial = request->header.serial;
	if (link == NULL || !client_may_import(peer->client)) {
		slab_refuse(peer, serial);
		return;
	}
	int error = count_requests(gidd, peer) >= REQUESTS_MAX
			? -EAGAIN
			: ask(link, peer, serial, request->gid);
	if (error == -ENOTCONN) {
		refuse_down(peer, serial, link);
	} else if (error < 0) {
		peer_result(peer, serial, -EAGAIN, 0,
				"domain %s has not answered what was asked before",
				link->remote->name);
	}
}

void slab_revoked(struct peer *link, const struct gid_wire_revoked *revoked) {
	if (gid_domain_of(revoked->gid) != link->domain) {
		peer_violation(link, "it revokes a slab that is not its own");
		return;
	}
	struct slab *slab = slab_find(link->gidd, gid_slab_key(revoked->gid));
	if (slab != NULL) {
		slab_destroy(link->gidd, slab);
	}
}

void slab_destroy_of_domain(struct gidd *gidd, uint32_t domain) {
	struct slab *slab, *next;
	for (slab = TAILQ_FIRST(&gidd->slabs); slab != NULL; slab = next) {
		next = TAILQ_NEXT(slab, entry);
		if (slab->owner == NULL && gid_domain_of(slab_gid(slab)) == domain) {
			slab_destroy(gidd, slab);
		}
	}
}

/* Whether its gidd will still give us a slab: then it must not think that nobody here has it. */
static bool is_asked_for(const struct gidd *gidd, gid_id gid) {
	const struct slab_request *request;
	TAILQ_FOREACH(request, &gidd->slab_requests, entry) {
		if (gid_slab_key(request->gid) == gid_slab_key(gid)) {
			return true;
		}
	}
	return false;
}

/* Nobody here has the slab of another domain any more. */
static void send_unimported(struct gidd *gidd, gid_id gid) {
	struct link *link = link_find(gidd, gid_domain_of(gid));
	union gid_wire_message message;
	if (link != NULL && link->state == LINK_UP && !is_asked_for(gidd, gid)) {
		gid_wire_begin(&message, GID_WIRE_UNIMPORT, 0);
		message.import.gid = gid;
		peer_send(&link->peer, &message, NULL, 0);
	}
}

static void let_go(struct import *import) {
	struct slab *slab = import->slab;
	struct gidd *gidd = import->peer->gidd;
	end_loans(import);
	remove_import(import);
	if (slab->owner == NULL && TAILQ_EMPTY(&slab->importers)) {
		send_unimported(gidd, slab_gid(slab));
		slab_destroy(gidd, slab);
	}
}

void slab_refuse_requests(struct peer *peer) {
	struct slab_request *request, *next;
	for (request = TAILQ_FIRST(&peer->gidd->slab_requests); request != NULL; request = next) {
		next = TAILQ_NEXT(request, entry);
		if (request->peer == peer) {
			slab_refuse(peer, request->serial);
			link_cancel(peer->gidd, request);
			request_destroy(peer->gidd, request);
		}
	}
}

void slab_take_import(struct import *import) {
	send_revoked(import->peer, import->slab);
	let_go(import);
}

void slab_forget_importer(struct peer *peer) {
	struct gidd *gidd = peer->gidd;
	struct slab_request *request, *next;
	for (request = TAILQ_FIRST(&gidd->slab_requests); request != NULL; request = next) {
		next = TAILQ_NEXT(request, entry);
		if (request->peer == peer) {
			link_cancel(gidd, request);
			request_destroy(gidd, request);
		}
	}
	struct import *import;
	while ((import = TAILQ_FIRST(&peer->imports)) != NULL) {
		let_go(import);
	}
}

void slab_unimport(struct peer *peer, const struct gid_wire_import *request) {
	struct slab *slab = slab_find(peer->gidd, gid_slab_key(request->gid));
	struct import *import = slab == NULL ? NULL : find_import(slab, peer);
	if (import != NULL) {
		let_go(import);
	}
}

/* --- again, after the link was lost ----------------------------------------------------------- */

void slab_mark_unconfirmed(struct gidd *gidd, uint32_t domain) {
	struct slab *slab;
	gidd->revalidations[domain] = sd_event_source_disable_unref(gidd->revalidations[domain]);
	TAILQ_FOREACH(slab, &gidd->slabs, entry) {
		if (is_of(slab, domain)) {
			slab->unconfirmed = true;
		}
	}
}

static int handle_revalidate(sd_event_source *source, uint64_t now, void *data) {
	struct link *link = data;
	struct gidd *gidd = link->peer.gidd;
	uint32_t domain = link->peer.domain;
	struct slab *slab;
	gidd->revalidations[domain] = sd_event_source_disable_unref(gidd->revalidations[domain]);
	TAILQ_FOREACH(slab, &gidd->slabs, entry) {
		if (is_of(slab, domain) && slab->unconfirmed &&
				ask(link, NULL, 0, slab_gid(slab)) < 0) {
			link_drop(link, "there is no room to ask it for what was imported before");
			break;
		}
	}
	return 0;
}

void slab_revalidate_domain(struct link *link) {
	struct gidd *gidd = link->peer.gidd;
	sd_event_add_time_relative(gidd->event, &gidd->revalidations[link->peer.domain],
			CLOCK_MONOTONIC, REVALIDATE_AFTER_US, 0, handle_revalidate, link);
}
