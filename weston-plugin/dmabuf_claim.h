// SPDX-License-Identifier: MIT
/**
 * What a client declares of its zwp_linux_dmabuf_v1 buffer, what the kernel reports of the
 * descriptors, and whether the picture can be lent under one gid. Pure functions.
 */
#ifndef GID_WESTON_DMABUF_CLAIM_H
#define GID_WESTON_DMABUF_CLAIM_H

#include "dmabuf_facts.h"
#include "refusal.h"

struct dmabuf_claim {
	int32_t width, height;
	uint32_t fourcc;
	uint32_t flags; /* of zwp_linux_buffer_params_v1 */
	uint64_t modifier;
	int32_t plane_count;
	struct {
		uint32_t offset, stride;
		struct dmabuf_facts facts;
	} planes[GID_PLANES_MAX];
};

/*
 * Returns whether it can be lent: as `layout`, which begins `offset` bytes into the dma-buf. If
 * not, sets `refusal`.
 */
bool dmabuf_claim_check(const struct dmabuf_claim *claim, struct gid_layout *layout,
		uint64_t *offset, struct refusal *refusal);

#endif
