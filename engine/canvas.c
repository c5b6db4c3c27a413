// SPDX-License-Identifier: MIT
#include "canvas.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What each reader may have in any case; with fewer slots others wait for it. */
#define CREDIT_LEAST 8u

/* One slot is drawn into, and one has to be free for the next picture: all others are for readers.
 */
static uint32_t credit_for(uint32_t slot_count) {
	uint32_t credit = slot_count > CREDIT_LEAST + 2 ? slot_count - 2 : CREDIT_LEAST;
	return credit < GID_CREDIT_MAX ? credit : GID_CREDIT_MAX;
}

int canvas_init(struct canvas *canvas, struct gid_domain *domain, const char *stream,
		uint32_t slot_count, uint64_t lease_ns) {
	*canvas = (struct canvas){.domain = domain, .slot_count = slot_count, .front = -1};
	snprintf(canvas->stream, sizeof(canvas->stream), "%s", stream);
	const struct gid_producer_options options = {
			.size = sizeof(options),
			.lease_ns = lease_ns,
			.credit_max = credit_for(slot_count),
			.keeps_shown = true,
	};
	return gid_producer_create(domain, stream, &options, &canvas->producer);
}

/* Not wiped: readers keep the pictures that they have of it. */
static void destroy_slots(struct canvas *canvas) {
	for (uint32_t i = 0; i <= canvas->slot_count; i++) {
		gid_slab_destroy(canvas->slots[i], false);
		canvas->slots[i] = NULL;
	}
}

void canvas_finish(struct canvas *canvas) {
	gid_producer_destroy(canvas->producer);
	destroy_slots(canvas);
}

static int make_slot(
		struct canvas *canvas, const struct gid_layout *layout, struct gid_slab **slot) {
	return gid_slab_create_for_stream(canvas->domain, canvas->stream, layout, 0, 1, NULL, slot);
}

/* What two boxes have; an empty one stands for everything. */
static struct gid_box unite(struct gid_box one, struct gid_box other) {
	const int32_t left = one.x < other.x ? one.x : other.x;
	const int32_t top = one.y < other.y ? one.y : other.y;
	const int32_t right = one.x + one.width, bottom = one.y + one.height;
	const int32_t others_right = other.x + other.width, others_bottom = other.y + other.height;
	if (one.width == 0 || other.width == 0) {
		return (struct gid_box){0};
	}
	return (struct gid_box){left, top, (right > others_right ? right : others_right) - left,
			(bottom > others_bottom ? bottom : others_bottom) - top};
}

/* Damage is what changed since the last picture that was sent: it adds up where some were not. */
static struct gid_box add_unsent(const struct canvas *canvas, struct gid_box damage) {
	return canvas->has_unsent ? unite(canvas->unsent, damage) : damage;
}

/* Another picture takes the place of the one that waits. */
static void leave_out(struct canvas *canvas) {
	if (canvas->waits || canvas->is_aside) {
		canvas->unsent = add_unsent(canvas, canvas->waiting.damage);
		canvas->has_unsent = true;
		canvas->not_presented++;
		canvas->waits = canvas->is_aside = false;
	}
}

static void swap_with_spare(struct canvas *canvas) {
	struct gid_slab **spare = &canvas->slots[canvas->slot_count];
	struct gid_slab *back = canvas->slots[canvas->back];
	canvas->slots[canvas->back] = *spare;
	*spare = back;
}

/*
 * Something is drawn while a picture waits: that one is kept until the next is finished, as its
 * list may be refused. The back slot has any pixels then.
 */
static int set_aside(struct canvas *canvas) {
	struct gid_slab **spare = &canvas->slots[canvas->slot_count];
	int ret = *spare == NULL ? make_slot(canvas, &canvas->layout, spare) : 0;
	if (ret == 0) {
		swap_with_spare(canvas);
		canvas->waits = false;
		canvas->is_aside = true;
	}
	return ret;
}

static void copy_to_back(struct canvas *canvas, uint32_t from) {
	memcpy(gid_slab_data(canvas->slots[canvas->back], 0), gid_slab_data(canvas->slots[from], 0),
			gid_layout_size(&canvas->layout));
	canvas->copied += (uint64_t)canvas->layout.width * canvas->layout.height;
}

static void clear(struct canvas *canvas, uint32_t slot) {
	if (canvas->slots[slot] != NULL) { /* a new slot is black already */
		memset(gid_slab_data(canvas->slots[slot], 0), 0, gid_layout_size(&canvas->layout));
	}
}

int canvas_resize(struct canvas *canvas, uint32_t fourcc, uint32_t width, uint32_t height,
		uint64_t memory) {
	struct gid_layout layout;
	struct gid_slab *slot;
	void *pixels;
	int ret;
	if (canvas->has_size && canvas->layout.fourcc == fourcc && canvas->layout.width == width &&
			canvas->layout.height == height) {
		ret = canvas->waits ? canvas_begin(canvas, &pixels) : 0; /* it is kept */
		if (ret < 0) {
			return ret;
		}
		clear(canvas, canvas->back);
		canvas->stale = false;
		return 0;
	}
	ret = gid_layout_init(&layout, fourcc, width, height, 64);
	if (ret < 0) {
		return ret;
	}
	if (gid_layout_size(&layout) > memory / canvas->slot_count) {
		return -EDQUOT;
	}
	ret = make_slot(canvas, &layout, &slot);
	if (ret < 0) {
		return ret;
	}
	leave_out(canvas);
	destroy_slots(canvas);
	canvas->slots[0] = slot;
	canvas->layout = layout;
	canvas->has_size = true;
	canvas->front = -1;
	canvas->back = 0;
	canvas->stale = false;
	canvas->unsent = (struct gid_box){0}; /* everything: it may lie outside now */
	return 0;
}

bool canvas_slab_is_lost(const struct gid_slab *slab) {
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	return info.revoked || gid_slab_emptied(slab) > 0;
}

bool canvas_is_lost(const struct canvas *canvas) {
	for (uint32_t i = 0; i <= canvas->slot_count; i++) {
		if (canvas->slots[i] != NULL && canvas_slab_is_lost(canvas->slots[i])) {
			return true;
		}
	}
	return false;
}

void canvas_drop(struct canvas *canvas) {
	struct gid_frame frame = GID_FRAME_INIT;
	if (!canvas->has_size) {
		return;
	}
	frame.flags = GID_FRAME_HIDDEN;
	gid_producer_send(canvas->producer, &frame);
	destroy_slots(canvas);
	canvas->has_size = false;
	canvas->front = -1;
	canvas->waits = canvas->is_aside = canvas->has_unsent = false;
}

int canvas_begin(struct canvas *canvas, void **slot) {
	struct gid_slab **back = &canvas->slots[canvas->back];
	if (!canvas->has_size) {
		return -ENODATA;
	}
	int ret = *back == NULL ? make_slot(canvas, &canvas->layout, back) : 0;
	if (ret < 0) {
		return ret;
	}
	if (canvas->stale) {
		copy_to_back(canvas, (uint32_t)canvas->front);
		canvas->stale = false;
	}
	if (canvas->waits) {
		if (set_aside(canvas) < 0) {
			leave_out(canvas); /* it is drawn over */
		} else if (!canvas->waiting_discards) {
			copy_to_back(canvas, canvas->slot_count);
		}
	}
	*slot = gid_slab_data(*back, 0);
	return 0;
}

/* A slot that nobody reads, other than the back one, or one that is not made yet; or -1. */
static int find_free(struct canvas *canvas) {
	int unmade = -1;
	for (uint32_t i = 0; i < canvas->slot_count; i++) {
		if (i == canvas->back) {
			continue;
		}
		if (canvas->slots[i] == NULL) {
			unmade = unmade < 0 ? (int)i : unmade;
		} else if (gid_slab_holders(canvas->slots[i], 0) == 0) {
			return (int)i;
		}
	}
	return unmade;
}

/* Finds a free slot; if there is none, reclaims frames that nobody has read yet. */
static int make_free(struct canvas *canvas) {
	int slot = find_free(canvas);
	if (slot < 0) {
		gid_producer_dispatch(canvas->producer);
		slot = find_free(canvas);
	}
	while (slot < 0 && gid_producer_reclaim(canvas->producer, false) == 1) {
		slot = find_free(canvas);
	}
	return slot;
}

int canvas_present(struct canvas *canvas, const struct gid_frame *frame, bool discard) {
	if (!canvas->has_size) {
		return -ENODATA;
	}
	struct gid_frame sent = *frame;
	void *slot;
	leave_out(canvas);
	int next = make_free(canvas);
	if (next < 0) {
		canvas->waits = true;
		canvas->waiting = *frame;
		canvas->waiting_discards = discard;
		return 0;
	}
	/* Nothing may have been drawn since the last picture. */
	int ret = canvas_begin(canvas, &slot);
	if (ret == 0) {
		sent.gid = gid_slab_gid(canvas->slots[canvas->back], 0);
		sent.damage = add_unsent(canvas, frame->damage);
		ret = gid_producer_send(canvas->producer, &sent);
	}
	if (ret < 0) {
		return ret;
	}
	canvas->front = (int)canvas->back;
	canvas->back = (uint32_t)next;
	canvas->stale = !discard;
	canvas->has_unsent = false;
	canvas->presented++;
	return 0;
}

void canvas_revert(struct canvas *canvas) {
	if (!canvas->has_size) {
		return;
	}
	if (canvas->is_aside) {
		swap_with_spare(canvas);
		canvas->is_aside = false;
		canvas->waits = true;
	} else if (canvas->front >= 0) {
		canvas->stale = true;
	} else {
		clear(canvas, canvas->back);
	}
}

void canvas_dispatch(struct canvas *canvas) {
	gid_producer_dispatch(canvas->producer);
	if (canvas->waits) {
		struct gid_frame frame = canvas->waiting;
		canvas->waits = false;
		canvas_present(canvas, &frame, canvas->waiting_discards);
	}
}
