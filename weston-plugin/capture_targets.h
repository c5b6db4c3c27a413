// SPDX-License-Identifier: MIT
/**
 * Where Weston writes the pictures of an output: slots of a slab, each of which is a wl_buffer,
 * too. Of memory that cannot be mapped twice, as some devices', the picture is copied into its
 * slot.
 */
#ifndef GID_WESTON_CAPTURE_TARGETS_H
#define GID_WESTON_CAPTURE_TARGETS_H

#include <gid/stream.h>

#include "capture_part.h"
#include "hidden_client.h"
#include "output_capture.h"
#include "pool.h"

/* What a consumer can have, the one that is shown, and those that are written. */
#define CAPTURE_TARGETS 6

struct capture_targets;

enum capture_target_state {
	CAPTURE_TARGET_FREE,
	CAPTURE_TARGET_WRITTEN, /* Weston has not drawn it, or not answered, yet */
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
	gid_id mapped; /* as which the slot's memory was last put behind the buffer */
	bool is_slot;  /* the buffer is the slot */
	struct capture_part part;
	pixman_image_t *image; /* the buffer's memory; NULL: it was not asked for */
	struct gid_box stale;  /* what changed since the buffer was written */
	uint64_t copied;       /* bytes, of its picture */
	struct gid_frame frame;
	bool whole; /* to be sent even if nothing changed */
};

struct capture_targets_events {
	/* Weston has answered. */
	void (*answered)(void *data, struct capture_target *target, bool taken);
	/* From gid_domain_dispatch(): there is memory, for the first time or once more, or why not.
	 * What was sent is lost. The callee may destroy them. */
	void (*made)(void *data, struct capture_targets *targets, int error);
};

/* All of one form. */
struct capture_targets {
	struct wl_list link;   /* the owner's */
	struct gid_slab *slab; /* NULL: forgotten */
	struct gid_layout layout;
	uint32_t fourcc; /* Weston's */
	struct hidden_client *hidden;
	struct output_capture *capture;
	const struct capture_targets_events *events;
	void *data;
	uint32_t taken;	  /* slots that are not free */
	uint64_t emptied; /* gid_slab_emptied() when one was taken last */
	struct capture_target target[CAPTURE_TARGETS];
};

/*
 * `fourcc` is Weston's; what its alpha is says nothing. Returns 0, and `made` is called; or -errno.
 * `events` outlive it.
 */
int capture_targets_create(struct capture_targets **created, struct gid_domain *domain,
		const char *stream, struct hidden_client *hidden, struct output_capture *capture,
		uint32_t fourcc, int32_t width, int32_t height,
		const struct capture_targets_events *events, void *data);

/* Accepts NULL. Frames that are in the stream keep their memory. */
void capture_targets_destroy(struct capture_targets *targets);

/*
 * A free slot for the picture of this repaint, which `asks` Weston for it. NULL: all are taken, or
 * not yet; or gidd took the memory, and is asked for other one.
 */
struct capture_target *capture_targets_write(struct capture_targets *targets, bool asks);

/* Within a repaint, once it is drawn: what changed is in the buffer, or Weston will write all of
 * it. */
void capture_target_draw(struct capture_target *target);

/* So that the buffer can be drawn into. Returns whether there is memory for that. */
bool capture_target_make_image(struct capture_target *target, pixman_format_code_t format);

/* Whether its buffer has still what was written there last. */
bool capture_target_is_intact(const struct capture_target *target);

/*
 * The picture is in the slot from now on, and the frame has its gid. Returns how many bytes were
 * copied for it.
 */
uint64_t capture_target_finish(struct capture_target *target);

/* The slot is free again. */
void capture_target_give(struct capture_target *target);

/* So are all of those that were sent and that nobody has any more. */
void capture_targets_update(struct capture_targets *targets);

/* The slab is given back; what Weston has not answered yet is still written, for nobody. */
void capture_targets_forget(struct capture_targets *targets);

#endif
