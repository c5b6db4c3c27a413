// SPDX-License-Identifier: MIT
/** The slots of our own slabs: who holds which, which are free, and taking one back by force. */
#include <errno.h>

#include "slab_object.h"

void *gid_slab_data(const struct gid_slab *slab, uint32_t slot) {
	if (slab->own.data == NULL || slot >= slab->info.slot_count) {
		return NULL;
	}
	return (char *)slab->own.data + slot * slab->info.slot_size;
}

uint32_t gid_slab_holders(const struct gid_slab *slab, uint32_t slot) {
	return slab->slots != NULL && slot < slab->info.slot_count ? slab->slots[slot].holders : 0;
}

int gid_slab_take(struct gid_slab *slab) {
	if (slab->slots == NULL || slab->info.revoked || slab->info.imported) {
		return -EAGAIN;
	}
	uint32_t slot = slab->next_slot;
	for (uint32_t i = 0; i < slab->info.slot_count; i++) {
		struct gid_slab_slot *at = &slab->slots[slot];
		uint32_t next = slot + 1 < slab->info.slot_count ? slot + 1 : 0;
		if (!at->taken && at->holders == 0) {
			at->taken = true;
			slab->next_slot = next;
			return (int)slot;
		}
		slot = next;
	}
	return -EAGAIN;
}

void gid_slab_give(struct gid_slab *slab, uint32_t slot) {
	if (slab->slots != NULL && slot < slab->info.slot_count) {
		slab->slots[slot].taken = false;
	}
}

uint32_t gid_slab_hold(struct gid_slab *slab, uint32_t slot) {
	if (slab->info.imported && slab->held++ == 0) {
		gid_slab_ref(slab);
	}
	return ++slab->slots[slot].holders;
}

void gid_slab_advance(struct gid_slab *slab, uint32_t slot) {
	slab->slots[slot].forced = false;
	if (slab->info.imported) {
		gid_slab_end_loans(slab);
	} else if (slab->generations != NULL) {
		__atomic_add_fetch((uint32_t *)&slab->generations[slot], 1, __ATOMIC_SEQ_CST);
	} else {
		gid_slab_retract(slab);
	}
}

uint32_t gid_slab_let_go(struct gid_slab *slab, uint32_t slot) {
	struct gid_slab_slot *at = &slab->slots[slot];
	/* A count of 0 is one of a slab that was exported after the holder's was destroyed. */
	uint32_t left = at->holders == 0 ? 0 : --at->holders;
	if (left == 0 && at->forced) {
		gid_slab_advance(slab, slot);
	}
	if (slab->info.imported && --slab->held == 0) {
		gid_slab_unref(slab);
	}
	return left;
}

uint32_t gid_slab_let_go_by_force(struct gid_slab *slab, uint32_t slot) {
	slab->slots[slot].forced = true;
	return gid_slab_let_go(slab, slot);
}
