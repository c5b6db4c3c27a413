// SPDX-License-Identifier: MIT
/**
 * What a client says of its zwp_linux_dmabuf_v1 buffer, beside what the kernel says of the
 * descriptors, and whether that is a picture that can be lent by one gid. Pure.
 */
#ifndef GID_WESTON_DMABUF_CLAIM_H
#define GID_WESTON_DMABUF_CLAIM_H

#include "refusal.h"
#include <stdbool.h>

/* What a descriptor is, as the kernel says. */
struct dmabuf_facts {
	bool is_dmabuf;
	bool is_unknown; /* there is no /proc, which would say it */
	uint64_t size;	 /* bytes, which never change */
	uint64_t inode;	 /* one for each dma-buf, whoever has descriptors of it */
};

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
 * Returns whether it can be lent: as `layout`, which begins `offset` bytes into the dma-buf.
 * Otherwise says why not.
 */
bool dmabuf_claim_check(const struct dmabuf_claim *claim, struct gid_layout *layout,
		uint64_t *offset, struct refusal *refusal);

#endif
