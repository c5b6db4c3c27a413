// SPDX-License-Identifier: MIT
#include "false_domain.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

#define PENDING_MAX 64
#define LISTENERS_MAX 256
#define OWN_MAX 4
#define OWN_FIRST 100u /* slab number; of those that the compositor makes itself */
#define OWN_SLOTS_MAX 8u
#define OWN_BYTES_MAX ((uint64_t)1 << 20)

struct listener {
	gid_revoked_func func;
	void *data;
};

struct gid_slab {
	uint32_t refs;
	struct gid_slab_info info;
	uint8_t *memory;
	uint32_t holders[OWN_SLOTS_MAX];
	bool taken[OWN_SLOTS_MAX];
	struct listener listeners[LISTENERS_MAX];
	size_t listener_count;
	bool asked; /* one of our own: its memory is not there yet */
	gid_exported_func made;
	void *made_data;
};

struct import {
	gid_imported_func func;
	void *data;
	gid_id gid;
};

struct gid_domain {
	int fd;
	bool exists, connected, lost;
	bool lost_memory; /* as gid/domain.h has it when it is destroyed */
};

static struct gid_slab slabs[FALSE_SLABS];
static struct gid_slab *own[OWN_MAX];
static struct import pending[PENDING_MAX];
static size_t pending_count;
static enum false_fate fate;
static struct gid_domain domain = {.fd = -1};

/* --- the domain ------------------------------------------------------------------------------- */

int gid_domain_connect(const char *name, struct gid_domain **connected) {
	demand(!domain.exists);
	domain.exists = true;
	*connected = &domain;
	return 0;
}

const char *gid_domain_connect_error(void) {
	return "none";
}

void gid_domain_destroy(struct gid_domain *destroyed) {
	if (destroyed == NULL) {
		return;
	}
	demand(destroyed == &domain && domain.exists && pending_count == 0);
	domain.exists = false;
	domain.lost_memory = true;
}

uint64_t gid_domain_sealed_since(const struct gid_domain *of) {
	return 0;
}

uint32_t gid_domain_number(const struct gid_domain *of) {
	return 1;
}

const char *gid_domain_name(const struct gid_domain *of) {
	return "open";
}

int gid_domain_get_fd(const struct gid_domain *of) {
	return of->fd;
}

static void own_answer(struct gid_slab *slab) {
	slab->asked = false;
	slab->info.revoked = fate == FATE_IN_VAIN;
	slab->made(slab->made_data, slab->info.revoked ? -EDQUOT : 0, slab);
}

static struct gid_slab *own_find_asked(void) {
	for (uint32_t i = 0; i < OWN_MAX; i++) {
		if (own[i] != NULL && own[i]->asked) {
			return own[i];
		}
	}
	return NULL;
}

int gid_domain_dispatch(struct gid_domain *dispatched) {
	eventfd_t count;
	eventfd_read(dispatched->fd, &count);
	struct gid_slab *slab = fate == FATE_LATER ? NULL : own_find_asked();
	if (slab != NULL) {
		own_answer(slab);
		eventfd_write(dispatched->fd, 1); /* there may be others */
	}
	return dispatched->lost ? -EPROTO : 0;
}

bool gid_domain_is_connected(const struct gid_domain *of) {
	return of->connected;
}

const char *gid_domain_error(const struct gid_domain *of) {
	return "none";
}

/* --- slabs ------------------------------------------------------------------------------------ */

struct gid_slab *false_slab_find(gid_id gid) {
	uint32_t number = gid_slab_of(gid);
	struct gid_slab *slab = NULL;
	if (number < FALSE_SLABS) {
		slab = &slabs[number];
	} else if (number >= OWN_FIRST && number < OWN_FIRST + OWN_MAX) {
		slab = own[number - OWN_FIRST];
	}
	return slab != NULL && !slab->info.revoked && gid_slot_of(gid) < slab->info.slot_count
			? slab
			: NULL;
}

int gid_slab_import_async(struct gid_domain *of, gid_id gid, gid_imported_func done, void *data,
		struct gid_slab **slab) {
	*slab = NULL;
	if (fate == FATE_LATER && pending_count < PENDING_MAX) {
		pending[pending_count++] = (struct import){done, data, gid};
		return -EINPROGRESS;
	}
	*slab = fate == FATE_IN_VAIN ? NULL : false_slab_find(gid);
	if (*slab == NULL) {
		return -ENOENT;
	}
	(*slab)->refs++;
	return 0;
}

void gid_slab_import_cancel(struct gid_domain *of, void *data) {
	size_t kept = 0;
	for (size_t i = 0; i < pending_count; i++) {
		if (pending[i].data != data) {
			pending[kept++] = pending[i];
		}
	}
	pending_count = kept;
}

struct gid_slab *gid_slab_ref(struct gid_slab *slab) {
	demand(slab != NULL && slab->refs > 0);
	slab->refs++;
	return slab;
}

static void own_destroy(struct gid_slab *slab) {
	for (uint32_t i = 0; i < OWN_MAX; i++) {
		if (own[i] == slab) {
			own[i] = NULL;
			free(slab->memory);
			free(slab);
			return;
		}
	}
}

void gid_slab_unref(struct gid_slab *slab) {
	if (slab != NULL) {
		demand(slab->refs > 0);
		slab->refs--;
		if (slab->refs == 0) {
			own_destroy(slab);
		}
	}
}

/* For dma-bufs, of which no client of a target has any. */
int gid_slab_export_async(struct gid_domain *of, int fd, uint64_t offset,
		const struct gid_layout *layout, const char *description, gid_exported_func done,
		void *data, struct gid_slab **slab) {
	(void)of, (void)fd, (void)offset, (void)layout, (void)description, (void)done, (void)data;
	*slab = NULL;
	demand(false);
	return -EBADF;
}

static int own_ask(struct gid_slab *slab) {
	slab->asked = true;
	eventfd_write(domain.fd, 1);
	return -EINPROGRESS;
}

int gid_slab_create_async(struct gid_domain *of, const char *stream,
		const struct gid_layout *layout, uint64_t slot_size, uint32_t slot_count,
		const char *description, gid_exported_func done, void *data,
		struct gid_slab **slab) {
	uint64_t size = gid_layout_size(layout);
	demand(slot_count <= OWN_SLOTS_MAX && gid_layout_check(layout, UINT64_MAX) == 0);
	*slab = NULL;
	if (size > OWN_BYTES_MAX / slot_count) {
		return -EDQUOT;
	}
	for (uint32_t i = 0; i < OWN_MAX; i++) {
		if (own[i] == NULL) {
			struct gid_slab *made = calloc(1, sizeof(*made));
			made->refs = 1;
			made->memory = calloc(slot_count, size);
			made->info = (struct gid_slab_info){
					.gid = gid_make(1, OWN_FIRST + i, 0, 0),
					.memory = GID_MEMORY_MEMFD,
					.layout = *layout,
					.slot_count = slot_count,
					.slot_size = size,
					.fd = -1,
					.revoked = true,
					.description = "",
			};
			made->made = done;
			made->made_data = data;
			*slab = own[i] = made;
			own_ask(made);
			return 0;
		}
	}
	return -EDQUOT;
}

gid_id gid_slab_gid(const struct gid_slab *slab, uint32_t slot) {
	demand(slot < slab->info.slot_count);
	return gid_make(1, gid_slab_of(slab->info.gid), slot, 0);
}

void *gid_slab_data(const struct gid_slab *slab, uint32_t slot) {
	demand(slot < slab->info.slot_count && slab->taken[slot]);
	return slab->memory + slot * slab->info.slot_size;
}

const void *gid_slab_view(const struct gid_slab *slab, uint32_t slot) {
	demand(slab != NULL && slab->refs > 0 && slot < slab->info.slot_count);
	return domain.lost_memory ? NULL : slab->memory + slot * slab->info.slot_size;
}

/* Where frames come from others, too, it is that of false_consumer.c. */
__attribute__((weak)) const void *gid_slab_view_untouched(
		const struct gid_slab *slab, uint32_t slot) {
	return gid_slab_view(slab, slot);
}

uint32_t gid_slab_holders(const struct gid_slab *slab, uint32_t slot) {
	demand(slab->refs > 0 && slot < slab->info.slot_count);
	return slab->holders[slot];
}

int gid_slab_renew(struct gid_slab *slab) {
	if (slab->asked) {
		return -EINPROGRESS;
	}
	if (slab->info.revoked && fate == FATE_IN_VAIN) {
		return -EAGAIN;
	}
	return slab->info.revoked ? own_ask(slab) : 0;
}

int gid_slab_take(struct gid_slab *slab) {
	if (slab->info.revoked) {
		return -EAGAIN;
	}
	for (uint32_t i = 0; i < slab->info.slot_count; i++) {
		if (!slab->taken[i] && slab->holders[i] == 0) {
			slab->taken[i] = true;
			return (int)i;
		}
	}
	return -EAGAIN;
}

void gid_slab_give(struct gid_slab *slab, uint32_t slot) {
	demand(slab->refs > 0 && slot < slab->info.slot_count);
	slab->taken[slot] = false;
}

void false_slab_hold(struct gid_slab *slab, uint32_t slot) {
	gid_slab_ref(slab);
	slab->holders[slot]++;
}

void false_slab_release(struct gid_slab *slab, uint32_t slot) {
	demand(slab->holders[slot] > 0);
	slab->holders[slot]--;
	gid_slab_unref(slab);
}

int gid_slab_on_revoked(struct gid_slab *slab, gid_revoked_func func, void *data) {
	demand(slab != NULL && slab->refs > 0);
	size_t kept = 0;
	for (size_t i = 0; i < slab->listener_count; i++) {
		if (slab->listeners[i].data != data) {
			slab->listeners[kept++] = slab->listeners[i];
		}
	}
	slab->listener_count = kept;
	if (func != NULL) {
		demand(kept < LISTENERS_MAX);
		slab->listeners[slab->listener_count++] = (struct listener){func, data};
	}
	return 0;
}

void gid_slab_get_info(const struct gid_slab *slab, struct gid_slab_info *info) {
	demand(slab != NULL && slab->refs > 0);
	*info = slab->info;
}

int gid_slab_get_dmabuf(struct gid_slab *slab, uint64_t *offset) {
	demand(slab != NULL && slab->refs > 0);
	if (slab->info.memory != GID_MEMORY_DMABUF) {
		return -ENOTSUP;
	}
	*offset = slab->info.offset;
	return slab->info.fd;
}

bool gid_slab_is_current(const struct gid_slab *slab, gid_id gid) {
	return !slab->info.revoked && gid_generation_of(gid) == 0;
}

/* --- what the target does --------------------------------------------------------------------- */

void false_domain_set_fate(enum false_fate wanted) {
	fate = wanted;
}

void false_domain_answer(uint32_t which) {
	struct gid_slab *asked = own_find_asked();
	if (asked != NULL) {
		own_answer(asked);
	}
	if (pending_count == 0) {
		return;
	}
	size_t index = which % pending_count;
	struct import import = pending[index];
	memmove(&pending[index], &pending[index + 1],
			(pending_count - index - 1) * sizeof(pending[0]));
	pending_count--;
	struct gid_slab *slab = fate == FATE_IN_VAIN ? NULL : false_slab_find(import.gid);
	if (slab != NULL) {
		slab->refs++;
	}
	import.func(import.data, import.gid, slab != NULL ? 0 : -ENOENT, slab);
}

void false_domain_revoke(uint32_t number) {
	struct gid_slab *slab = &slabs[number];
	slab->info.revoked = true;
	while (slab->listener_count > 0) { /* each is called once */
		struct listener listener = slab->listeners[--slab->listener_count];
		listener.func(listener.data, slab);
	}
}

void false_domain_set_connected(bool connected) {
	domain.connected = connected;
	eventfd_write(domain.fd, 1);
}

void false_domain_lose(void) {
	domain.lost = true;
	eventfd_write(domain.fd, 1);
}

/* Memory that only its maker can write, as all of gidway's. It is made once. */
static void slab_make_memory(struct gid_slab *slab, uint64_t size) {
	int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	demand(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
	slab->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	demand(slab->memory != MAP_FAILED);
	memset(slab->memory, 0, size); /* pages that were never written are refused */
	demand(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE) == 0);
	slab->info.fd = fd;
}

void false_domain_reset(void) {
	for (uint32_t i = 0; i < FALSE_SLABS; i++) {
		struct gid_slab *slab = &slabs[i];
		uint64_t slot_size = i == 0 ? 4096 : 65536;
		if (slab->memory == NULL) {
			slab_make_memory(slab, slot_size * FALSE_SLOTS);
		}
		*slab = (struct gid_slab){.memory = slab->memory,
				.info = {
						.gid = gid_make(1, i, 0, 0),
						.memory = i == FALSE_SLABS - 1 ? GID_MEMORY_DMABUF
									       : GID_MEMORY_MEMFD,
						.slot_count = FALSE_SLOTS,
						.slot_size = slot_size,
						.fd = slab->info.fd,
						.imported = true,
						.description = "",
				}};
		demand(gid_layout_init(&slab->info.layout, DRM_FORMAT_XRGB8888, FALSE_SIZE,
				       FALSE_SIZE, FALSE_STRIDE) == 0);
	}
	pending_count = 0;
	fate = FATE_AT_ONCE;
	if (domain.fd < 0) {
		domain.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	}
	domain = (struct gid_domain){.fd = domain.fd, .connected = true};
}

void false_domain_demand_empty(void) {
	demand(pending_count == 0);
	for (uint32_t i = 0; i < FALSE_SLABS; i++) {
		demand(slabs[i].refs == 0 && slabs[i].listener_count == 0);
	}
	for (uint32_t i = 0; i < OWN_MAX; i++) {
		demand(own[i] == NULL);
	}
}
