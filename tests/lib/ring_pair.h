// SPDX-License-Identifier: MIT
/** Both ends of a ring in one process, over memory that either can be written in. */
#ifndef GID_TESTS_RING_PAIR_H
#define GID_TESTS_RING_PAIR_H

#include <stdlib.h>
#include <string.h>

#include "ring.h"

struct ring_pair {
	struct gid_wire_ring *ring;
	struct gid_wire_page *page;
	struct gid_ring_producer producer;
	struct gid_ring_consumer consumer;
};

/* Zeroes with the alignment of the shared memory, for free(). */
static inline void *ring_memory(size_t size) {
	void *memory = aligned_alloc(64, (size + 63) / 64 * 64);
	memset(memory, 0, size);
	return memory;
}

static inline void ring_pair_init(struct ring_pair *pair, uint32_t credit) {
	pair->ring = ring_memory(sizeof(*pair->ring));
	pair->page = ring_memory(sizeof(*pair->page));
	gid_ring_producer_init(&pair->producer, pair->ring, pair->page, credit);
	gid_ring_consumer_init(&pair->consumer, pair->ring, pair->page);
}

static inline void ring_pair_finish(struct ring_pair *pair) {
	free(pair->ring);
	free(pair->page);
}

/* A frame that tells by itself whether it came whole. */
static inline void fill_frame(struct gid_wire_frame *frame, gid_id gid, uint64_t sequence) {
	memset(frame, 0, sizeof(*frame));
	frame->gid = gid;
	frame->sequence = sequence;
	frame->capture_time = sequence * 3;
	frame->pts = sequence * 5;
	frame->duration = sequence * 7;
	frame->content_hash = sequence * 11;
	frame->offset_end = sequence * 13;
	frame->more = 1;
}

/* Likewise a picture that is all on its first line, the next one of many. */
static inline struct gid_wire_entry make_line(const void *first, uint32_t number) {
	uint64_t sequence = *(const uint64_t *)first + number;
	return (struct gid_wire_entry){
			.gid = gid_make(1, 1, sequence % 64, 0),
			.sequence = sequence,
			.capture_time = sequence * 3,
			.pts = sequence * 5,
	};
}

#endif
