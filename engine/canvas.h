// SPDX-License-Identifier: MIT
/**
 * A canvas: slots of the engine's own memory, one of which is drawn into, and the stream in which
 * finished pictures are sent. Nobody else writes this memory. Each slot is a slab of its own, made
 * when it is needed: the first picture waits for one slot, not for all of them.
 */
#ifndef ENGINE_CANVAS_H
#define ENGINE_CANVAS_H

#include <gid/stream.h>

#define CANVAS_SLOTS_MAX 64u

struct canvas {
	struct gid_domain *domain;
	struct gid_producer *producer;
	char stream[GID_NAME_MAX + 1]; /* its name */
	/* NULL: not made yet. Behind those that are sent is a spare one, see `is_aside`. */
	struct gid_slab *slots[CANVAS_SLOTS_MAX + 1];
	uint32_t slot_count; /* at most, without the spare one */
	struct gid_layout layout;
	bool has_size; /* `layout` is set */
	uint32_t back; /* the slot that is drawn into */
	int front;     /* the slot that was presented last, or -1 */
	bool stale;    /* the back slot has to begin with the pixels of the front */
	/* `waiting` is finished, but is sent when there is a free slot for the next picture */
	bool waits;
	bool is_aside; /* it did, and the spare slot has it while the next one is drawn */
	bool waiting_discards;
	struct gid_frame waiting;
	bool has_unsent;       /* pictures were left out since the last one that was sent, */
	struct gid_box unsent; /* in which this changed */
	uint64_t presented, not_presented; /* pictures */
	uint64_t copied;		   /* pixels that were copied to begin slots */
};

/* Publishes the stream. Returns 0, or what gid_producer_create() returns. */
int canvas_init(struct canvas *canvas, struct gid_domain *domain, const char *stream,
		uint32_t slot_count, uint64_t lease_ns);
void canvas_finish(struct canvas *canvas);

/*
 * Gives the canvas a size and format, black. Returns 0; -EDQUOT: its slots would have more than
 * `memory` bytes; -EINVAL; or what gid_slab_create() returns. After an error it is as it was.
 */
int canvas_resize(struct canvas *canvas, uint32_t fourcc, uint32_t width, uint32_t height,
		uint64_t memory);

/* Whether the slab was revoked, or lost its content: see gid_slab_renew(), gid_slab_emptied(). */
bool canvas_slab_is_lost(const struct gid_slab *slab);

/* Whether that happened to one of the canvas's slabs. */
bool canvas_is_lost(const struct canvas *canvas);

/* Destroys the slots, and tells readers that there is nothing to show. */
void canvas_drop(struct canvas *canvas);

/*
 * The slot to draw into, which has the pixels of the picture in work. Returns 0; -ENODATA: it has
 * no size yet; or what gid_slab_create() returns.
 */
int canvas_begin(struct canvas *canvas, void **slot);

/*
 * The picture in work is finished. The next one begins with the same pixels, or, with `discard`,
 * with undefined ones. `frame` says everything but the gid. If those who show the canvas hold all
 * slots, the picture is sent as soon as one is free, if nothing else is drawn until then.
 * Returns 0, or what canvas_begin() and gid_producer_send() return.
 */
int canvas_present(struct canvas *canvas, const struct gid_frame *frame, bool discard);

/* Discards what was drawn since the last picture that was finished. */
void canvas_revert(struct canvas *canvas);

/* To be called when the producer's descriptor is readable, and from time to time. */
void canvas_dispatch(struct canvas *canvas);

#endif
