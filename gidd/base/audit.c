// SPDX-License-Identifier: MIT
#include "audit.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Keeps the order of the loads: a counter that is loaded first cannot be ahead of one that is
 * loaded later.
 */
static uint64_t load(const uint64_t *word) {
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static bool goes_on(uint64_t *seen, uint64_t now) {
	bool forward = now >= *seen;
	*seen = now;
	return forward;
}

const char *audit_ring(const struct gid_wire_ring *ring, uint64_t seen[static 2]) {
	uint64_t floor = load(&ring->floor), tail = load(&ring->tail);
	uint32_t entries = __atomic_load_n(&ring->entries, __ATOMIC_RELAXED);
	uint32_t closed = __atomic_load_n(&ring->closed, __ATOMIC_RELAXED);
	if (load(&ring->magic) != GID_RING_MAGIC || !gid_wire_are_entries(entries) || closed > 1) {
		return "is not a ring";
	}
	if (floor > tail) {
		return "has its floor above its tail";
	}
	bool forward = goes_on(&seen[0], floor);
	return goes_on(&seen[1], tail) && forward ? NULL : "goes back";
}

const char *audit_page(const struct gid_wire_page *page, uint64_t seen[static 2]) {
	uint64_t head = load(&page->head), releases = load(&page->release_tail);
	uint64_t magic = load(&page->magic);
	if (magic != GID_RING_MAGIC && (magic != 0 || head != 0 || releases != 0)) {
		return "is not a page";
	}
	bool forward = goes_on(&seen[0], head);
	return goes_on(&seen[1], releases) && forward ? NULL : "goes back";
}
