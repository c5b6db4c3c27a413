// SPDX-License-Identifier: MIT
/**
 * One role on the display: what its stream brings, whether that may be shown, and what is shown.
 *
 * subscription.c brings the frames, watch.c decides and shows.
 */
#ifndef CLUSTER_WATCH_H
#define CLUSTER_WATCH_H

#include "config.h"
#include "history.h"
#include "picture.h"
#include "received.h"
#include <wlr/types/wlr_scene.h>

struct display;

struct watch {
	const struct role_config *config;
	struct display *display;
	struct role role;
	struct wlr_scene_buffer *node;
	struct picture *fallback;
	struct received *shown; /* the frame on the display, NULL: the fallback is */
	struct wl_list held;	/* received::link */
	struct history history;
	struct gid_timeline *timeline; /* NULL: none */
	uint32_t domain;	       /* the number of our own */
	uint32_t awaited_commit;       /* the output's, which will bring what changed; 0: none */
};

int watch_init(struct watch *watch, const struct role_config *config, struct display *display,
	struct wlr_scene_tree *tree, uint64_t now);
void watch_finish(struct watch *watch);

/*
 * A frame arrived, and its memory: takes both, the frame of `consumer` and the reference. `slab` is
 * NULL where the memory may not be read.
 */
void watch_frame(struct watch *watch, struct gid_consumer *consumer, const struct gid_frame *frame,
	struct gid_slab *slab, uint64_t now);

/* The stream is gone, and why. */
void watch_lost(struct watch *watch, enum role_reason reason, uint64_t now);

/* Time passed. */
void watch_tick(struct watch *watch, uint64_t now);

/*
 * The output is about to show `composed`: is our region there, with the very pixels that we mean?
 * Returns false where not; then something else is to be shown, and must be composed first.
 */
bool watch_check(struct watch *watch, const struct pixels *composed, uint64_t now);

/* The output shows its commit of this number since `when`. */
void watch_presented(struct watch *watch, uint32_t commit, uint64_t when);

#endif
