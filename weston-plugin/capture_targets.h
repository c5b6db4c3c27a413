// SPDX-License-Identifier: MIT
/**
 * Where Weston writes the captures of an output: slots of a slab, each of which is also the memory
 * of a wl_buffer. Memory that cannot be mapped twice, as that of some devices, gets a copy.
 */
#ifndef GID_WESTON_CAPTURE_TARGETS_H
#define GID_WESTON_CAPTURE_TARGETS_H

#include <gid/stream.h>

#include "capture_part.h"
#include "hidden_client.h"
#include "output_capture.h"
#include "pool.h"

/* Those that consumers hold, the one that is shown, and those that are being written. */
#define CAPTURE_TARGETS 6

struct capture_targets;

enum capture_target_state {
	CAPTURE_TARGET_FREE,
	CAPTURE_TARGET_WRITTEN, /* Weston did not draw it, or not answer, yet */
	CAPTURE_TARGET_KEPT,	/* its picture was not sent yet */
	CAPTURE_TARGET_SENT,
};

/* One slot. */
struct capture_target {
	enum capture_target_state state;
	struct capture_targets *targets;
	uint32_t slot;
	struct pool pool;
	struct wl_resource *buffer;
	struct output_shot *shot;
	struct wl_listener buffer_destroy;
	gid_id mapped; /* the gid of the slot's memory that the buffer has mapped */
	bool is_slot;  /* the buffer's memory is the slot's */
	struct capture_part part;
	pixman_image_t *image; /* over the buffer's memory; NULL: not needed yet */
	struct gid_box stale;  /* the damage since the buffer was written */
	uint64_t copied;       /* bytes that were copied for its picture */
	struct gid_frame frame;
	bool whole; /* to be sent even without damage */
};

struct capture_targets_events {
	/* Weston has answered the request for a capture. */
	void (*answered)(void *data, struct capture_target *target, bool taken);
	/*
	 * From gid_domain_dispatch(): the slab has memory, for the first time or again; or `error`.
	 * What was sent is lost. The callback may destroy the targets.
	 */
	void (*made)(void *data, struct capture_targets *targets, int error);
};

/* All slots of one size and format. */
struct capture_targets {
	struct wl_list link;   /* of the owner's list */
	struct gid_slab *slab; /* NULL: given back */
	struct gid_layout layout;
	uint32_t fourcc; /* as Weston has it */
	struct hidden_client *hidden;
	struct output_capture *capture;
	const struct capture_targets_events *events;
	void *data;
	uint32_t taken;	  /* slots that are not free */
	uint64_t emptied; /* gid_slab_emptied() when a slot was last taken */
	struct capture_target target[CAPTURE_TARGETS];
};

/*
 * `fourcc` is Weston's format, whose alpha channel has no meaning. Returns 0, and `made` is called
 * later; or -errno. `events` must outlive the targets.
 */
int capture_targets_create(struct capture_targets **created, struct gid_domain *domain,
		const char *stream, struct hidden_client *hidden, struct output_capture *capture,
		uint32_t fourcc, int32_t width, int32_t height,
		const struct capture_targets_events *events, void *data);

/* Accepts NULL. Frames that are in the stream keep their memory. */
void capture_targets_destroy(struct capture_targets *targets);

/*
 * Takes a free slot for the picture of this repaint. `asks`: also requests a capture from Weston.
 * Returns NULL if no slot is free, or none is yet; or if gidd took the memory back, and new memory
 * was requested.
 */
struct capture_target *capture_targets_write(struct capture_targets *targets, bool asks);

/*
 * To be called within a repaint, after the renderer: copies the damage to the buffer, unless Weston
 * is going to write all of it.
 */
void capture_target_draw(struct capture_target *target);

/* Makes `image`, with which the buffer can be drawn into. Returns false without memory. */
bool capture_target_make_image(struct capture_target *target, pixman_format_code_t format);

/* Whether the buffer still has what was last written to it. */
bool capture_target_is_intact(const struct capture_target *target);

/*
 * Completes the picture in the slot, and gives the frame its gid. Returns how many bytes were
 * copied for it.
 */
uint64_t capture_target_finish(struct capture_target *target);

/* Makes the slot free again. */
void capture_target_give(struct capture_target *target);

/* Makes the slots free that were sent, and that no consumer holds any more. */
void capture_targets_update(struct capture_targets *targets);

/* Gives the slab back. Captures that Weston did not answer yet are still written, but not used. */
void capture_targets_forget(struct capture_targets *targets);

#endif
