// SPDX-License-Identifier: MIT
/*
 * Allocates 50 MB of ordinary memory and a slab of 50 MB every 500 ms, touches every page, and
 * gives nothing back. What it is refused (by its limit, by gidd's quota) it asks for again.
 */
#include <drm_fourcc.h>
#include <errno.h>
#include <gid/domain.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ending.h"

#define STEP_BYTES (50u << 20)
#define STEP_MS 500
#define SLAB_WIDTH 4096u
#define SLAB_HEIGHT 3200u /* of 4 bytes: 50 MB */

static bool leak_memory(void) {
	char *memory = malloc(STEP_BYTES);
	if (memory == NULL) {
		return false;
	}
	memset(memory, 0xa5, STEP_BYTES);
	/* The optimizer may not find out that nobody reads it. */
	__asm__ volatile("" : : "r"(memory) : "memory");
	return true;
}

static bool leak_slab(struct gid_domain *domain) {
	struct gid_layout layout;
	struct gid_slab *slab;
	return gid_layout_init(&layout, DRM_FORMAT_XRGB8888, SLAB_WIDTH, SLAB_HEIGHT, 64) == 0 &&
			gid_slab_create(domain, &layout, 0, 1, NULL, &slab) == 0;
}

int main(void) {
	struct gid_domain *domain;
	if (gid_domain_connect(NULL, &domain) < 0) {
		fprintf(stderr, "hostile-leak: %s\n", gid_domain_connect_error());
		return EXIT_FAILURE;
	}
	ending_init();
	uint64_t steps = 0, slabs = 0, refused = 0, refused_slabs = 0;
	while (!ending) {
		*(leak_memory() ? &steps : &refused) += 1;
		*(leak_slab(domain) ? &slabs : &refused_slabs) += 1;
		if (refused == 1 || refused_slabs == 1) {
			fprintf(stderr, "hostile-leak: refused\n");
		}
		nanosleep(&(struct timespec){.tv_nsec = STEP_MS * 1000000}, NULL);
		gid_domain_dispatch(domain);
	}
	printf("{\"allocated_mb\": %" PRIu64 ", \"refused\": %" PRIu64 ", \"slabs\": %" PRIu64
	       ", \"refused_slabs\": %" PRIu64 "}\n",
			steps * 50, refused, slabs, refused_slabs);
	gid_domain_destroy(domain);
	return EXIT_SUCCESS;
}
