// SPDX-License-Identifier: MIT
/** A domain that makes slabs and one that reads them, both in this process. */
#ifndef GID_TESTS_SLAB_PAIR_H
#define GID_TESTS_SLAB_PAIR_H

#include <drm_fourcc.h>

#include "cockpit.h"
#include "tap.h"

static struct gid_domain *owner, *reader;
static struct gid_layout layout; /* 64x48 BGRx, three pages */

static inline struct gid_slab *make(uint32_t slots) {
	struct gid_slab *slab = NULL;
	int error = gid_slab_create(owner, &layout, 0, slots, "video/x-raw", &slab);
	if (error < 0) {
		tap_ok(false, "a slab is made: %s", gid_domain_error(owner));
	}
	return slab;
}

static inline bool slab_pair_init(void) {
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 64, 48, 64);
	return tap_ok(cockpit_init() && gid_domain_connect("open", &owner) == 0 &&
					gid_domain_connect("cluster", &reader) == 0,
			"two domains run");
}

/* What main() returns. */
static inline int slab_pair_finish(void) {
	gid_domain_destroy(owner);
	gid_domain_destroy(reader);
	cockpit_finish();
	return tap_finish();
}

#endif
