// SPDX-License-Identifier: MIT
/**
 * One layer on the display: a stream that is shown below the safety roles. Its content is not
 * checked; but its picture is marked when its producer is gone, or silent for too long.
 */
#ifndef CLUSTER_LAYER_H
#define CLUSTER_LAYER_H

#include "cluster_config.h"
#include "seldom_log.h"
#include "shown_picture.h"

struct screen;

enum layer_state {
	LAYER_WAITING, /* nothing came yet */
	LAYER_LIVE,    /* the newest picture is shown */
	LAYER_STALE,   /* the last picture is older than it may be, and marked */
	LAYER_HIDDEN,  /* the producer hides it */
};

struct layer {
	const struct layer_config *config;
	struct screen *screen;
	struct stream_reader reader;
	struct shown_picture shown;
	struct gid_box place; /* of the newest picture, in the layer's own box */
	enum layer_state state;
	const char *reason; /* one word, for programs */
	uint64_t since;	    /* when the state was entered */
	uint64_t last_frame;
	const char *over;    /* the word why no more frames can come; NULL: they can */
	const char *refused; /* the word why a picture was not shown last; "": none was not */
	uint64_t frames, shown_frames, refused_frames;
	struct log_budget log_budget;
};

/* Begins, without a domain to read from. `timeline`: NULL for none. Returns 0 or -errno. */
int layer_init(struct layer *layer, const struct layer_config *config, struct screen *screen,
		struct wl_event_loop *loop, struct gid_timeline *timeline);
void layer_finish(struct layer *layer);

/* Time passed. */
void layer_tick(struct layer *layer, uint64_t now);

/* The output shows its commit of this number since `when`. */
void layer_presented(struct layer *layer, uint32_t commit, uint64_t when);

const char *layer_state_name(enum layer_state state); /* one word, for programs */

#endif
