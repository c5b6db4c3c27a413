// SPDX-License-Identifier: MIT
/** Why frames are copied, and what a consumer copies, for people. */
#include <gid/stream.h>

#include "consumer.h"

const char *gid_copy_reason_name(uint32_t reason) {
	static const char *const names[] = {
			[GID_COPY_UNSAID] = "unsaid",
			[GID_COPY_STARTUP] = "startup",
			[GID_COPY_PADDED_WIDTH] = "padded-width",
			[GID_COPY_DECODER_MEMORY] = "decoder-memory",
			[GID_COPY_UPSTREAM_MEMORY] = "upstream-memory",
			[GID_COPY_SPLIT_MEMORY] = "split-memory",
			[GID_COPY_UNSEALED_MEMORY] = "unsealed-memory",
			[GID_COPY_OTHER_MACHINE] = "other-machine",
			[GID_COPY_PLAIN_LAYOUT] = "plain-layout",
			[GID_COPY_HELD] = "held",
			[GID_COPY_CANVAS_SLOTS] = "canvas-slots",
			[GID_COPY_COMPOSED] = "composed",
	};
	return reason < sizeof(names) / sizeof(names[0]) ? names[reason] : NULL;
}

void gid_consumer_count_copy(
		struct gid_consumer *consumer, enum gid_copy_reason reason, uint64_t bytes) {
	struct gid_wire_page *page = consumer->ring.page;
	if (consumer->shared == NULL || page == NULL) {
		return; /* there is nobody to look */
	}
	uint64_t *why = &page->copy_reasons[reason < GID_COPY_REASONS_MAX ? reason
									  : GID_COPY_UNSAID];
	__atomic_store_n(&page->copied_frames, page->copied_frames + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&page->copied_bytes, page->copied_bytes + bytes, __ATOMIC_RELAXED);
	__atomic_store_n(why, *why + 1, __ATOMIC_RELAXED);
}
