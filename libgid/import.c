// SPDX-License-Identifier: MIT
/** From a gid to memory: imports, asked for once and then known. */
#include "import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "slab_object.h"
#include "socket.h"

/* Slabs at rest keep their mappings; a consumer may give each frame back before it takes the next.
 */
#define RESTING_MAX 64u

/* One gidd is asked for, and who wants to know. */
struct gid_fetch {
	struct gid_fetch *next;
	struct gid_domain *domain;
	uint32_t key;
	bool answered; /* the waiters are being told */
	struct gid_waiter {
		struct gid_waiter *next;
		gid_id gid;
		gid_imported_func done;
		void *data;
	} *waiters, **waiters_end;
};

/* --- at rest ---------------------------------------------------------------------------------- */

void gid_import_wake(struct gid_slab *slab) {
	struct gid_imports *imports = slab->domain->imports;
	*(slab->older != NULL ? &slab->older->newer : &imports->oldest) = slab->newer;
	*(slab->newer != NULL ? &slab->newer->older : &imports->newest) = slab->older;
	slab->older = slab->newer = NULL;
	imports->resting--;
}

void gid_import_forget(struct gid_slab *slab) {
	if (!slab->known) {
		return;
	}
	if (slab->references == 0) {
		gid_import_wake(slab);
	}
	gid_table_remove(&slab->domain->imports->known, gid_slab_key(slab->info.gid));
	gid_domain_request_cancel(slab->domain, slab);
	slab->known = false;
}

static void free_resting(struct gid_slab *slab) {
	gid_import_forget(slab);
	gid_slab_free(slab);
}

void gid_import_rest(struct gid_slab *slab) {
	struct gid_imports *imports = slab->domain->imports;
	slab->older = imports->newest;
	*(slab->older != NULL ? &slab->older->newer : &imports->oldest) = slab;
	imports->newest = slab;
	if (++imports->resting > RESTING_MAX) {
		free_resting(imports->oldest);
	}
}

/* --- asking ----------------------------------------------------------------------------------- */

/* Unknown, not granted, revoked, no such slot: one answer, so that asking tells nothing. */
static int fail_unknown(struct gid_domain *domain, gid_id gid) {
	char text[GID_TEXT_MAX];
	return gid_domain_fail(
		domain, -ENOENT, "gid %s: %s", gid_format(gid, text), gid_strerror(-ENOENT));
}

static int fail_asking(struct gid_domain *domain, int error, gid_id gid) {
	return error == -ENOENT ? fail_unknown(domain, gid) : error;
}

void gid_import_put(union gid_wire_message *message, gid_id gid) {
	gid_wire_begin(message, GID_WIRE_IMPORT, 0);
	message->import.gid = gid;
}

/* What the memory must hold, which gid_wire_check() saw to be in range. */
static uint64_t end_of(const struct gid_wire_imported *imported) {
	uint64_t end = imported->offset + imported->slot_count * imported->slot_size;
	uint64_t table = imported->slot_count * sizeof(uint32_t);
	return imported->generations == 0 ? end : imported->generations + table;
}

static int map_slab(struct gid_slab *slab, const struct gid_wire_imported *imported, int fd) {
	bool ours = imported->generations != 0;
	int error = 0;
	if (imported->memory == GID_MEMORY_MEMFD) {
		error = gid_memory_check(fd, end_of(imported), ours);
	} else if (imported->memory == GID_MEMORY_WINDOW) {
		error = gid_memory_check_range(fd, end_of(imported));
	}
	if (error < 0) {
		return error;
	}
	const void *data;
	slab->view_size = (size_t)(imported->slot_count * imported->slot_size);
	error = gid_memory_map(fd, imported->offset, slab->view_size, &data);
	if (error < 0) {
		/* Not every dma-buf can be read by a CPU. */
		return imported->memory == GID_MEMORY_DMABUF ? 0 : error;
	}
	slab->view = data;
	if (ours) {
		size_t size = imported->slot_count * sizeof(uint32_t);
		error = gid_memory_map(fd, imported->generations, size, &data);
		if (error < 0) {
			return error;
		}
		slab->generations = data;
		slab->generations_size = size;
	}
	return 0;
}

/* Takes the descriptor, whatever comes of it. The slab has no reference yet. */
static int adopt(struct gid_domain *domain, uint32_t key, const struct gid_wire_imported *imported,
	int fd, struct gid_slab **adopted) {
	gid_id gid = gid_make(imported->domain, imported->slab, 0, 0);
	struct gid_slab *slab = gid_slab_key(gid) == key ? gid_slab_new(domain) : NULL;
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
		error = gid_table_add(&domain->imports->known, key, slab);
	}
	if (error < 0) {
		gid_slab_free(slab);
		return gid_domain_fail(domain, error, "cannot use slab %u of domain %u: %s",
			imported->slab, imported->domain, gid_strerror(error));
	}
	slab->known = true;
	gid_import_rest(slab);
	*adopted = slab;
	return 0;
}

static int use(
	struct gid_domain *domain, struct gid_slab *known, gid_id gid, struct gid_slab **slab) {
	if (gid_slot_of(gid) >= known->info.slot_count) {
		return fail_unknown(domain, gid);
	}
	*slab = gid_slab_ref(known);
	return 0;
}

int gid_slab_import(struct gid_domain *domain, gid_id gid, struct gid_slab **slab) {
	struct gid_slab *known = gid_table_find(&domain->imports->known, gid_slab_key(gid));
	if (known != NULL) {
		return use(domain, known, gid, slab);
	}
	union gid_wire_message message, answer;
	int fds[GID_WIRE_FDS_MAX];
	gid_import_put(&message, gid);
	int error = gid_domain_request(domain, &message, NULL, 0, &answer, fds);
	if (error < 0) {
		return fail_asking(domain, error, gid);
	}
	error = adopt(domain, gid_slab_key(gid), &answer.imported, fds[0], &known);
	return error < 0 ? error : use(domain, known, gid, slab);
}

/* --- asking without waiting ------------------------------------------------------------------- */

static void tell_waiters(struct gid_fetch *fetch, int error) {
	struct gid_domain *domain = fetch->domain;
	while (fetch->waiters != NULL) {
		struct gid_waiter waiter = *fetch->waiters;
		free(fetch->waiters);
		fetch->waiters = waiter.next;
		/* Looked up each time: a callback may end what the last one was given. */
		struct gid_slab *slab = NULL;
		struct gid_slab *known = gid_table_find(&domain->imports->known, fetch->key);
		int result = error < 0	? fail_asking(domain, error, waiter.gid)
			: known == NULL ? fail_unknown(domain, waiter.gid)
					: use(domain, known, waiter.gid, &slab);
		waiter.done(waiter.data, waiter.gid, result, slab);
	}
}

static void fetched(
	void *data, int error, const union gid_wire_message *answer, int fds[GID_WIRE_FDS_MAX]) {
	struct gid_fetch *fetch = data;
	struct gid_imports *imports = fetch->domain->imports;
	if (error == 0 && gid_table_find(&imports->known, fetch->key) == NULL) {
		struct gid_slab *slab;
		error = adopt(fetch->domain, fetch->key, &answer->imported, fds[0], &slab);
		fds[0] = -1;
	}
	fetch->answered = true;
	tell_waiters(fetch, error);
	struct gid_fetch **at = &imports->fetches;
	while (*at != fetch) {
		at = &(*at)->next;
	}
	*at = fetch->next;
	free(fetch);
}

/* The fetch of a slab that is under way, or one that begins now. */
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
	gid_import_put(&message, gid);
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
	struct gid_slab *known = gid_table_find(&domain->imports->known, gid_slab_key(gid));
	if (known != NULL) {
		return use(domain, known, gid, slab);
	}
	struct gid_waiter *waiter = malloc(sizeof(*waiter));
	if (waiter == NULL) {
		return gid_domain_fail(domain, -ENOMEM, "%s", gid_strerror(-ENOMEM));
	}
	struct gid_fetch *fetch;
	int error = begin_fetch(domain, gid, &fetch);
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

void gid_import_revoke(struct gid_slab *slab) {
	if (slab->references == 0) {
		free_resting(slab);
		return;
	}
	gid_import_forget(slab);
	slab->info.revoked = true;
	slab->references++; /* a listener may give back the last one */
	while (slab->listeners != NULL) {
		struct gid_slab_listener listener = *slab->listeners;
		free(slab->listeners);
		slab->listeners = listener.next;
		listener.func(listener.data, slab);
	}
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

static bool hear(struct gid_endpoint *endpoint, const union gid_wire_message *message,
	int fds[GID_WIRE_FDS_MAX]) {
	struct gid_imports *imports = (struct gid_imports *)endpoint;
	if (message->header.type != GID_WIRE_REVOKED) {
		return false;
	}
	struct gid_slab *slab = gid_table_find(&imports->known, gid_slab_key(message->revoked.gid));
	if (slab != NULL) {
		gid_import_revoke(slab);
	}
	return true;
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
		.message = hear,
		.reconnected = gid_imports_confirm,
	};
	imports->confirm = (struct gid_timer){
		.expired = gid_imports_confirm_due,
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
	gid_loop_disarm(&domain->loop, &imports->confirm);
	gid_endpoint_remove(domain, &imports->endpoint);
	gid_table_finish(&imports->known);
	free(imports);
	domain->imports = NULL;
}
