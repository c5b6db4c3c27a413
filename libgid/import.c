// SPDX-License-Identifier: MIT
/**
 * Imports, from a gid to memory. gidd is asked once for each slab. Slabs without a reference rest
 * for a while, still mapped, for the next import. When gidd comes back all are checked again.
 */
#include "import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "closer.h"
#include "memory_pages.h"
#include "slab_object.h"
#include "socket.h"

/*
 * Slabs at rest keep their mappings: a consumer may give each frame back before it takes the next.
 */
#define RESTING_MAX 64u

/* What one domain may have us map: far more than a cockpit needs, far less than would hurt. */
#define BYTES_MAX (UINT64_C(4) << 30)
#define SLABS_MAX 1024u
/* No quota of the configuration. */
#define TOO_MUCH "this program has 4 GiB or 1024 slabs of that domain already: release frames"

#define REVALIDATE_NS 5000000000ull
#define REVALIDATE_EVERY_NS 250000000ull

struct gid_imports {
	struct gid_endpoint endpoint; /* first */
	struct gid_domain *domain;
	struct gid_fetch *fetches;
	struct gid_slab *oldest, *newest; /* at rest, by when their last reference went */
	uint32_t resting;
	struct gid_timer revalidate; /* armed while slabs are not revalidated */
	uint64_t revalidate_until;
};

/* A request to gidd for a slab, and all imports that wait for it. */
struct gid_fetch {
	struct gid_fetch *next;
	struct gid_domain *domain;
	uint32_t key;
	bool answered; /* its slab is being made, or the waiters are being told */
	struct gid_waiter {
		struct gid_waiter *next;
		gid_id gid;
		gid_imported_func done;
		void *data;
	} *waiters, **waiters_end;
};

/* --- at rest ---------------------------------------------------------------------------------- */

/* Tells gidd that we have the slab no longer; unless we are just asking for it again. */
static void send_unimport(struct gid_domain *domain, gid_id gid) {
	union gid_wire_message message;
	for (struct gid_fetch *f = domain->imports->fetches; f != NULL; f = f->next) {
		if (f->key == gid_slab_key(gid) && !f->answered) {
			return;
		}
	}
	gid_wire_begin(&message, GID_WIRE_UNIMPORT, 0);
	message.import.gid = gid;
	gid_domain_hint(domain, &message);
}

/* A slab at rest gets a reference again. */
static void wake(struct gid_slab *slab) {
	struct gid_imports *imports = slab->domain->imports;
	*(slab->older != NULL ? &slab->older->newer : &imports->oldest) = slab->newer;
	*(slab->newer != NULL ? &slab->newer->older : &imports->newest) = slab->older;
	slab->older = slab->newer = NULL;
	imports->resting--;
}

/* Takes the slab, used or at rest, out of the tables: the next import asks gidd. */
static void unregister(struct gid_slab *slab) {
	if (!slab->known) {
		return;
	}
	if (slab->references == 0) {
		wake(slab);
	}
	gid_table_remove(&slab->domain->imported_slabs, gid_slab_key(slab->info.gid));
	gid_domain_request_cancel(slab->domain, slab);
	slab->known = false;
}

static void free_resting(struct gid_slab *slab) {
	unregister(slab);
	gid_slab_free(slab);
}

/* Frees a slab at rest, and tells gidd. */
static void drop_resting(struct gid_slab *slab) {
	send_unimport(slab->domain, slab->info.gid);
	free_resting(slab);
}

/* The last reference is gone: the slab stays mapped for the next import. May free an older one. */
static void rest(struct gid_slab *slab) {
	struct gid_imports *imports = slab->domain->imports;
	slab->older = imports->newest;
	*(slab->older != NULL ? &slab->older->newer : &imports->oldest) = slab;
	imports->newest = slab;
	if (++imports->resting > RESTING_MAX) {
		drop_resting(imports->oldest);
	}
}

static void unused(struct gid_slab *slab) {
	if (slab->known) {
		rest(slab);
	} else {
		gid_slab_free(slab);
	}
}

static const struct gid_slab_kind imported_slab = {
		.wake = wake,
		.unused = unused,
		.forget = unregister,
		.take_back = gid_slab_end_loans,
};

/* --- asking ----------------------------------------------------------------------------------- */

/* Unknown, not granted, revoked, no such slot: one answer, so that asking tells nothing. */
static int fail_unknown(struct gid_domain *domain, gid_id gid) {
	char text[GID_TEXT_MAX];
	return gid_domain_fail(domain, -ENOENT, "gid %s: %s", gid_format(gid, text),
			gid_strerror(-ENOENT));
}

static int fail_asking(struct gid_domain *domain, int error, gid_id gid) {
	return error == -ENOENT ? fail_unknown(domain, gid) : error;
}

/* Begins the question for a gid's slab. */
static void put_import(union gid_wire_message *message, gid_id gid) {
	gid_wire_begin(message, GID_WIRE_IMPORT, 0);
	message->import.gid = gid;
}

/* Where the slab ends in its memory. gid_wire_check() has checked that nothing overflows. */
static uint64_t end_of(const struct gid_wire_imported *imported) {
	uint64_t end = imported->offset + imported->slot_count * imported->slot_size;
	uint64_t table = imported->slot_count * sizeof(uint32_t);
	return imported->generations == 0 ? end : imported->generations + table;
}

/*
 * gidd checked it as well; but where the owner is our own domain, that gidd belongs to the owner.
 */
static int check_memory(const struct gid_wire_imported *imported, int fd) {
	bool ours = imported->generations != 0;
	int error;
	switch (imported->memory) {
	case GID_MEMORY_MEMFD:
		error = gid_memory_check(fd, end_of(imported), ours);
		return error < 0 ? error : gid_memory_check_present(fd);
	case GID_MEMORY_DMABUF:
		error = gid_memory_check_dmabuf(fd);
		return error == -ENOSYS ? 0 : error; /* without /proc we rely on gidd's check */
	default:
		return gid_memory_check_range(fd, end_of(imported));
	}
}

static void free_oldest_of(struct gid_domain *domain, uint32_t owner) {
	struct gid_slab *slab = domain->imports->oldest;
	while (slab != NULL && gid_domain_of(slab->info.gid) != owner) {
		slab = slab->newer;
	}
	if (slab != NULL) {
		drop_resting(slab);
	}
}

/* Charges the slab's bytes to its owner, freeing slabs of his that rest if needed. 0 or -EDQUOT. */
static int charge(struct gid_slab *slab) {
	uint32_t owner = gid_domain_of(slab->info.gid);
	struct gid_imported_of *of = &slab->domain->imported_of[owner];
	uint64_t bytes = slab->view_size;
	uint32_t resting;
	if (gid_closer_held(owner) > BYTES_MAX) {
		return -EDQUOT; /* it makes and revokes slabs faster than we can unmap them */
	}
	do {
		if (bytes <= BYTES_MAX && of->bytes <= BYTES_MAX - bytes && of->slabs < SLABS_MAX) {
			of->bytes += bytes;
			of->slabs++;
			slab->charged = bytes;
			return 0;
		}
		resting = slab->domain->imports->resting;
		free_oldest_of(slab->domain, owner);
	} while (slab->domain->imports->resting < resting);
	return -EDQUOT;
}

static int map_generations(
		struct gid_slab *slab, const struct gid_wire_imported *imported, int fd) {
	const size_t size = imported->slot_count * sizeof(uint32_t);
	const void *data;
	int error = imported->memory == GID_MEMORY_MEMFD
			? gid_memory_check_pages(fd, imported->generations, size, NULL)
			: 0;
	if (error == 0) {
		error = gid_memory_map(fd, imported->generations, size, &data);
	}
	if (error == 0) {
		slab->generations = data;
		slab->generations_size = size;
	}
	return error;
}

/* Maps the slab without touching a page: that is done when a caller asks for the view of a slot. */
static int map_slab(struct gid_slab *slab, const struct gid_wire_imported *imported, int fd) {
	uint64_t bytes = imported->slot_count * imported->slot_size;
	if (bytes > SIZE_MAX) {
		return -EDQUOT;
	}
	slab->view_size = (size_t)bytes;
	int error = check_memory(imported, fd);
	if (error == 0) {
		error = charge(slab);
	}
	if (error == 0 && imported->memory == GID_MEMORY_MEMFD) {
		slab->touched = calloc((imported->slot_count + 7) / 8, 1);
		error = slab->touched == NULL ? -ENOMEM : 0;
	}
	if (error < 0) {
		return error;
	}
	const void *data;
	error = gid_memory_map_untouched(fd, imported->offset, slab->view_size, &data);
	if (error < 0) {
		/* Not every dma-buf can be read by a CPU. */
		return imported->memory == GID_MEMORY_DMABUF ? 0 : error;
	}
	slab->view = data;
	return imported->generations != 0 ? map_generations(slab, imported, fd) : 0;
}

/*
 * Makes a slab of gidd's answer. Takes the descriptor in any case. The slab has no reference yet.
 */
static int adopt(struct gid_domain *domain, uint32_t key, const struct gid_wire_imported *imported,
		int fd, struct gid_slab **adopted) {
	gid_id gid = gid_make(imported->domain, imported->slab, 0, 0);
	struct gid_slab *slab =
			gid_slab_key(gid) == key ? gid_slab_new(domain, &imported_slab) : NULL;
	if (slab == NULL) {
		gid_socket_close_fds(&fd, 1);
		int error = gid_slab_key(gid) == key ? -ENOMEM : -EPROTO;
		return gid_domain_fail(domain, error, "%s", gid_strerror(error));
	}
	slab->references = 0;
	memcpy(slab->description, imported->description, imported->description_size);
	slab->info.gid = gid;
	slab->info.memory = imported->memory;
	slab->info.slot_count = imported->slot_count;
	slab->info.slot_size = imported->slot_size;
	slab->info.offset = imported->offset;
	slab->info.imported = true;
	slab->info.fd = fd;
	gid_wire_get_layout(&slab->info.layout, &imported->layout);
	int error = map_slab(slab, imported, fd);
	if (error == 0) {
		error = gid_table_add(&domain->imported_slabs, key, slab);
	}
	if (error < 0) {
		send_unimport(slab->domain, slab->info.gid);
		gid_slab_free(slab);
		return gid_domain_fail(domain, error, "cannot use slab %u of domain %u: %s",
				imported->slab, imported->domain,
				error == -EDQUOT ? TOO_MUCH : gid_strerror(error));
	}
	slab->known = true;
	rest(slab);
	*adopted = slab;
	return 0;
}

static int use(struct gid_domain *domain, struct gid_slab *known, gid_id gid,
		struct gid_slab **slab) {
	if (gid_slot_of(gid) >= known->info.slot_count) {
		return fail_unknown(domain, gid);
	}
	*slab = gid_slab_ref(known);
	return 0;
}

int gid_slab_import(struct gid_domain *domain, gid_id gid, struct gid_slab **slab) {
	struct gid_slab *known = gid_table_find(&domain->imported_slabs, gid_slab_key(gid));
	if (known != NULL) {
		return use(domain, known, gid, slab);
	}
	int error = gid_domain_check_sealed(domain);
	if (error < 0) {
		return error;
	}
	union gid_wire_message message, answer;
	int fds[GID_WIRE_FDS_MAX];
	put_import(&message, gid);
	error = gid_domain_request(domain, &message, NULL, 0, &answer, fds);
	if (error < 0) {
		return fail_asking(domain, error, gid);
	}
	error = adopt(domain, gid_slab_key(gid), &answer.imported, fds[0], &known);
	return error < 0 ? error : use(domain, known, gid, slab);
}

/* --- asking without waiting ------------------------------------------------------------------- */

static void complete_fetch(struct gid_fetch *fetch, int error) {
	struct gid_domain *domain = fetch->domain;
	while (fetch->waiters != NULL) {
		struct gid_waiter waiter = *fetch->waiters;
		free(fetch->waiters);
		fetch->waiters = waiter.next;
		/* Looked up each time: a callback may end what the last one was given. */
		struct gid_slab *slab = NULL;
		struct gid_slab *known = gid_table_find(&domain->imported_slabs, fetch->key);
		int result = error < 0		? fail_asking(domain, error, waiter.gid)
				: known == NULL ? fail_unknown(domain, waiter.gid)
						: use(domain, known, waiter.gid, &slab);
		waiter.done(waiter.data, waiter.gid, result, slab);
	}
}

static void fetched(void *data, int error, const union gid_wire_message *answer,
		int fds[GID_WIRE_FDS_MAX]) {
	struct gid_fetch *fetch = data;
	struct gid_imports *imports = fetch->domain->imports;
	fetch->answered = true;
	if (error == 0 && gid_table_find(&fetch->domain->imported_slabs, fetch->key) == NULL) {
		struct gid_slab *slab;
		error = adopt(fetch->domain, fetch->key, &answer->imported, fds[0], &slab);
		fds[0] = -1;
	}
	complete_fetch(fetch, error);
	struct gid_fetch **at = &imports->fetches;
	while (*at != fetch) {
		at = &(*at)->next;
	}
	*at = fetch->next;
	free(fetch);
}

/* Finds the request for a slab that is under way, or sends one. */
static int begin_fetch(struct gid_domain *domain, gid_id gid, struct gid_fetch **result) {
	struct gid_imports *imports = domain->imports;
	for (struct gid_fetch *f = imports->fetches; f != NULL; f = f->next) {
		if (f->key == gid_slab_key(gid) && !f->answered) {
			*result = f;
			return 0;
		}
	}
	struct gid_fetch *fetch = calloc(1, sizeof(*fetch));
	if (fetch == NULL) {
		return gid_domain_fail(domain, -ENOMEM, "%s", gid_strerror(-ENOMEM));
	}
	union gid_wire_message message;
	put_import(&message, gid);
	int error = gid_domain_request_async(domain, &message, NULL, 0, fetched, fetch);
	if (error < 0) {
		free(fetch);
		return error;
	}
	fetch->domain = domain;
	fetch->key = gid_slab_key(gid);
	fetch->waiters_end = &fetch->waiters;
	fetch->next = imports->fetches;
	imports->fetches = fetch;
	*result = fetch;
	return 0;
}

int gid_slab_import_async(struct gid_domain *domain, gid_id gid, gid_imported_func done, void *data,
		struct gid_slab **slab) {
	struct gid_slab *known = gid_table_find(&domain->imported_slabs, gid_slab_key(gid));
	if (known != NULL) {
		return use(domain, known, gid, slab);
	}
	int error = gid_domain_check_sealed(domain);
	if (error < 0) {
		return error;
	}
	struct gid_waiter *waiter = malloc(sizeof(*waiter));
	if (waiter == NULL) {
		return gid_domain_fail(domain, -ENOMEM, "%s", gid_strerror(-ENOMEM));
	}
	struct gid_fetch *fetch;
	error = begin_fetch(domain, gid, &fetch);
	if (error < 0) {
		free(waiter);
		return error;
	}
	*waiter = (struct gid_waiter){NULL, gid, done, data};
	*fetch->waiters_end = waiter;
	fetch->waiters_end = &waiter->next;
	return -EINPROGRESS;
}

static void drop_waiters(struct gid_fetch *fetch, bool all, const void *data) {
	struct gid_waiter **at = &fetch->waiters;
	while (*at != NULL) {
		struct gid_waiter *waiter = *at;
		if (all || waiter->data == data) {
			*at = waiter->next;
			free(waiter);
		} else {
			at = &waiter->next;
		}
	}
	fetch->waiters_end = at;
}

void gid_slab_import_cancel(struct gid_domain *domain, void *data) {
	for (struct gid_fetch *f = domain->imports->fetches; f != NULL; f = f->next) {
		drop_waiters(f, false, data);
	}
}

/* --- losing ----------------------------------------------------------------------------------- */

/* The slab was revoked: forgets it, tells its listeners, and gives up its memory. */
static void revoke(struct gid_slab *slab) {
	if (slab->references == 0) {
		free_resting(slab);
		return;
	}
	unregister(slab);
	slab->info.revoked = true;
	slab->references++; /* a listener may give back the last one */
	while (slab->listeners != NULL) {
		struct gid_slab_listener listener = *slab->listeners;
		free(slab->listeners);
		slab->listeners = listener.next;
		listener.func(listener.data, slab);
	}
	gid_slab_blank(slab);
	gid_slab_unref(slab);
}

int gid_slab_on_revoked(struct gid_slab *slab, gid_revoked_func func, void *data) {
	if (func == NULL) {
		struct gid_slab_listener **at = &slab->listeners;
		while (*at != NULL) {
			struct gid_slab_listener *listener = *at;
			if (listener->data == data) {
				*at = listener->next;
				free(listener);
			} else {
				at = &listener->next;
			}
		}
		return 0;
	}
	if (!slab->info.imported || slab->info.revoked) {
		return slab->info.imported ? -ENOENT : -EINVAL;
	}
	struct gid_slab_listener *listener = malloc(sizeof(*listener));
	if (listener == NULL) {
		return -ENOMEM;
	}
	*listener = (struct gid_slab_listener){slab->listeners, func, data};
	slab->listeners = listener;
	return 0;
}

/*
 * An answer that nobody waits for any more: gives the slab back, as gidd would count it until the
 * connection ends.
 */
static void let_go(struct gid_domain *domain, const struct gid_wire_imported *imported) {
	gid_id gid = gid_make(imported->domain, imported->slab, 0, 0);
	if (gid_table_find(&domain->imported_slabs, gid_slab_key(gid)) == NULL) {
		send_unimport(domain, gid);
	}
}

/* The slab's owner took back what we had lent. The next frame asks anew, and hears why not. */
static void end_loan(struct gid_domain *domain, const struct gid_wire_grant *grant) {
	gid_id gid = gid_make(domain->number, grant->slab, 0, 0);
	struct gid_slab *slab = gid_table_find(&domain->imported_slabs, gid_slab_key(gid));
	if (slab != NULL && grant->allow == 0) {
		gid_slab_set_granted(slab, grant->domain, false);
	}
}

/* Our own slab of that number, or that had it before it moved: gid_table_find() has both. */
static const struct gid_slab *find_exported(struct gid_domain *domain, gid_id gid) {
	return gid_domain_of(gid) == domain->number
			? gid_table_find(&domain->own_slabs, gid_slab_of(gid))
			: NULL;
}

static bool take_message(struct gid_endpoint *endpoint, const union gid_wire_message *message,
		int fds[GID_WIRE_FDS_MAX]) {
	struct gid_imports *imports = (struct gid_imports *)endpoint;
	if (message->header.type == GID_WIRE_IMPORTED) {
		let_go(imports->domain, &message->imported);
		return true;
	}
	if (message->header.type == GID_WIRE_GRANT) {
		end_loan(imports->domain, &message->grant);
		return true;
	}
	if (message->header.type != GID_WIRE_REVOKED) {
		return false;
	}
	const gid_id gid = message->revoked.gid;
	const struct gid_slab *own = find_exported(imports->domain, gid);
	struct gid_slab *slab = gid_table_find(&imports->domain->imported_slabs, gid_slab_key(gid));
	/* Under a number that our own slab has left only who imported it loses something. */
	if (own != NULL && (slab == NULL || gid_slab_of(own->info.gid) == gid_slab_of(gid))) {
		return false; /* our own: export.c */
	}
	if (slab != NULL) {
		revoke(slab);
	}
	return true;
}

/* --- after a restart of gidd ------------------------------------------------------------------ */

/*
 * gidd then knows neither what we imported nor, before their owners are back, what there is to
 * import: so each import is asked for again until it is found. Meanwhile the old mapping serves on.
 */

/* Another process may have exported something else under the same number meanwhile. */
static bool is_same_memory(int fd, int other) {
	struct stat a, b;
	return fstat(fd, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
			a.st_ino == b.st_ino;
}

static void revalidated(void *data, int error, const union gid_wire_message *answer,
		int fds[GID_WIRE_FDS_MAX]) {
	struct gid_slab *slab = data;
	struct gid_domain *domain = slab->domain;
	if (error < 0) {
		slab->revalidate = GID_REVALIDATE_ASK;
	} else if (slab->info.offset == answer->imported.offset &&
			is_same_memory(slab->info.fd, fds[0])) {
		slab->revalidate = GID_REVALIDATE_DONE;
		gid_slab_grant_again(slab);
	} else {
		revoke(slab);
		let_go(domain, &answer->imported); /* what has its number now */
	}
}

static struct gid_slab *find_unconfirmed(struct gid_domain *domain) {
	struct gid_slab *slab = domain->slabs;
	while (slab != NULL && (!slab->known || slab->revalidate == GID_REVALIDATE_DONE)) {
		slab = slab->next;
	}
	return slab;
}

static void revalidate_due(void *data) {
	struct gid_imports *imports = data;
	struct gid_domain *domain = imports->domain;
	struct gid_slab *slab;
	uint64_t now = gid_clock_now();
	while (now >= imports->revalidate_until && (slab = find_unconfirmed(domain)) != NULL) {
		revoke(slab);
	}
	for (slab = domain->slabs; slab != NULL; slab = slab->next) {
		union gid_wire_message message;
		if (!slab->known || slab->revalidate != GID_REVALIDATE_ASK) {
			continue;
		}
		put_import(&message, slab->info.gid);
		if (gid_domain_request_async(domain, &message, NULL, 0, revalidated, slab) == 0) {
			slab->revalidate = GID_REVALIDATE_ASKED;
		}
	}
	/* Where gidd went away again its return begins this anew. */
	if (domain->state == GID_CONNECTION_UP && find_unconfirmed(domain) != NULL) {
		gid_loop_arm(&domain->loop, &imports->revalidate, now + REVALIDATE_EVERY_NS);
	}
}

/* gidd is back: are our imports still ours to read? Those that are not in 5 s are revoked. */
static void revalidate_all(struct gid_endpoint *endpoint) {
	struct gid_imports *imports = (struct gid_imports *)endpoint;
	while (imports->oldest != NULL) {
		revoke(imports->oldest);
	}
	for (struct gid_slab *slab = imports->domain->slabs; slab != NULL; slab = slab->next) {
		slab->revalidate = GID_REVALIDATE_ASK;
	}
	imports->revalidate_until = gid_clock_now() + REVALIDATE_NS;
	revalidate_due(imports);
}

/* --- the set of imports ----------------------------------------------------------------------- */

int gid_imports_init(struct gid_domain *domain) {
	struct gid_imports *imports = calloc(1, sizeof(*imports));
	if (imports == NULL) {
		return -ENOMEM;
	}
	imports->domain = domain;
	imports->endpoint = (struct gid_endpoint){
			.kind = GID_ENDPOINT_SLAB,
			.message = take_message,
			.reconnected = revalidate_all,
	};
	imports->revalidate = (struct gid_timer){
			.expired = revalidate_due,
			.data = imports,
	};
	domain->imports = imports;
	gid_endpoint_add(domain, &imports->endpoint);
	return 0;
}

void gid_imports_finish(struct gid_domain *domain) {
	struct gid_imports *imports = domain->imports;
	if (imports == NULL) {
		return;
	}
	while (imports->fetches != NULL) {
		struct gid_fetch *fetch = imports->fetches;
		imports->fetches = fetch->next;
		drop_waiters(fetch, true, NULL);
		free(fetch);
	}
	gid_loop_disarm(&domain->loop, &imports->revalidate);
	gid_endpoint_remove(domain, &imports->endpoint);
	free(imports);
	domain->imports = NULL;
}
