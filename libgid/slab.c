// SPDX-License-Identifier: MIT
/** The slab as an object: references, what it is, its memory to read. */
#include "slab_object.h"

#include <stdlib.h>
#include <unistd.h>

#include "import.h"

struct gid_slab *gid_slab_new(struct gid_domain *domain) {
	struct gid_slab *slab = calloc(1, sizeof(*slab));
	if (slab == NULL) {
		return NULL;
	}
	slab->domain = domain;
	slab->references = 1;
	slab->info.fd = -1;
	slab->info.description = slab->description;
	slab->own.fd = -1;
	slab->next = domain->slabs;
	if (slab->next != NULL) {
		slab->next->prev = slab;
	}
	domain->slabs = slab;
	return slab;
}

/* Gives back memory and descriptor. What it was can still be asked for. */
static void close_memory(struct gid_slab *slab) {
	if (slab->generations_size > 0) {
		gid_memory_unmap(slab->generations, slab->generations_size);
	}
	if (slab->own.data != NULL) {
		gid_memory_put(&slab->own);
	} else {
		gid_memory_unmap(slab->view, slab->view_size);
		if (slab->info.fd >= 0) {
			close(slab->info.fd);
		}
	}
	slab->generations = NULL;
	slab->generations_size = 0;
	slab->view = NULL;
	slab->info.fd = -1;
}

static void detach(struct gid_slab *slab) {
	struct gid_domain *domain = slab->domain;
	if (slab->prev != NULL) {
		slab->prev->next = slab->next;
	} else {
		domain->slabs = slab->next;
	}
	if (slab->next != NULL) {
		slab->next->prev = slab->prev;
	}
	slab->domain = NULL;
}

void gid_slab_free(struct gid_slab *slab) {
	if (slab->domain != NULL) {
		detach(slab);
	}
	close_memory(slab);
	while (slab->listeners != NULL) {
		struct gid_slab_listener *listener = slab->listeners;
		slab->listeners = listener->next;
		free(listener);
	}
	free(slab->slots);
	free(slab);
}

void gid_slab_detach_all(struct gid_domain *domain) {
	while (domain->slabs != NULL) {
		struct gid_slab *slab = domain->slabs;
		if (slab->info.imported) {
			gid_import_forget(slab);
		} else {
			gid_slab_unregister(slab);
		}
		slab->info.revoked = true;
		close_memory(slab);
		detach(slab);
		if (slab->references == 0) {
			gid_slab_free(slab);
		}
	}
}

struct gid_slab *gid_slab_ref(struct gid_slab *slab) {
	if (slab->references == 0) {
		gid_import_wake(slab);
	}
	slab->references++;
	return slab;
}

void gid_slab_unref(struct gid_slab *slab) {
	if (slab == NULL || --slab->references > 0) {
		return;
	}
	if (slab->known) {
		gid_import_rest(slab);
	} else {
		gid_slab_retract(slab);
		gid_slab_free(slab);
	}
}

void gid_slab_get_info(const struct gid_slab *slab, struct gid_slab_info *info) {
	*info = slab->info;
}

gid_id gid_slab_gid(const struct gid_slab *slab, uint32_t slot) {
	if (slot >= slab->info.slot_count) {
		return GID_NONE;
	}
	return slab->info.gid | slot << 16 | gid_slab_generation(slab, slot);
}

const void *gid_slab_view(const struct gid_slab *slab, uint32_t slot) {
	if (slab->view == NULL || slot >= slab->info.slot_count) {
		return NULL;
	}
	return slab->view + slot * slab->info.slot_size;
}

bool gid_slab_is_current(const struct gid_slab *slab, gid_id gid) {
	uint32_t slot = gid_slot_of(gid);
	return !slab->info.revoked && gid_slab_key(gid) == gid_slab_key(slab->info.gid) &&
		slot < slab->info.slot_count &&
		gid_generation_of(gid) == gid_slab_generation(slab, slot);
}
