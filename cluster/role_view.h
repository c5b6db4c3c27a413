// SPDX-License-Identifier: MIT
/**
 * One role on the display: what its stream brings, whether that may be shown, and what is shown.
 *
 * role_stream.c brings the frames, role_view.c decides and shows.
 */
#ifndef CLUSTER_ROLE_VIEW_H
#define CLUSTER_ROLE_VIEW_H

#include "cluster_config.h"
#include "held_frame.h"
#include "history.h"
#include "kept.h"
#include "log_budget.h"
#include "own_picture.h"
#include "role_plane.h"
#include <wlr/types/wlr_scene.h>

struct screen;

#define ROLE_VIEW_VERDICTS 64

/* Whether a picture, known by its `colour`, is one that may be shown. */
struct verdict {
	bool known, allowed;
	uint64_t colour;
};

struct role_view {
	const struct role_config *config;
	struct screen *screen;
	struct role role;
	struct wlr_scene_buffer *node;
	struct role_plane plane; /* the node is off while the role is on it */
	struct own_picture *fallback;
	struct held_frame *shown; /* the frame on the display, NULL: the fallback is */
	struct wl_list held;	  /* held_frame::link */
	struct verdict verdicts[ROLE_VIEW_VERDICTS];
	uint64_t judge_again; /* no new picture is judged before */
	struct history history;
	struct log_budget log_budget;
	struct gid_timeline *timeline; /* NULL: none */
	uint32_t domain;	       /* the number of our own */
	enum gid_hidden hidden;	       /* why, as the stream said last; see role_view_is_hidden() */
	uint32_t awaited_commit;       /* the output's, which will bring what changed; 0: none */
	/* The colour of our region as it is to be displayed, and as it was to be in the frame that
	 * is read back; 0: not known. */
	uint64_t displayed, awaited;
	uint64_t composed; /* the colour of the frame on the output; 0: the fallback is */
};

int role_view_init(struct role_view *view, const struct role_config *config, struct screen *screen,
		uint64_t now);
void role_view_finish(struct role_view *view);

/* Goes on where the process before this one ended. Right after role_view_init(). */
void role_view_resume(struct role_view *view, const struct kept_role *kept, uint64_t now);

/* What the process after this one is to know. */
struct kept_role role_view_keep(const struct role_view *view, uint64_t now);

/*
 * A frame arrived, and its memory: takes both, the frame of `consumer` and the reference. `slab` is
 * NULL where the memory may not be read.
 */
void role_view_frame(struct role_view *view, struct gid_consumer *consumer,
		const struct gid_frame *frame, struct gid_slab *slab, uint64_t now);

/* Whether the producer hides the surface, and `hidden` says why: then nothing else is to be said.
 */
bool role_view_is_hidden(const struct role_view *view);

/* How it is made sure that what is displayed is what is meant: one word, for programs. */
const char *role_view_checked_by(const struct role_view *view);

/* What is said of the role's state. */
const char *role_view_text(const struct role_view *view);

/* The stream is gone, and why. */
void role_view_lost(struct role_view *view, enum role_reason reason, uint64_t now);

/* Time passed. */
void role_view_tick(struct role_view *view, uint64_t now);

/*
 * The output is about to show `composed`: is our region there, with the very pixels that we mean?
 * Returns false where not; then something else is to be shown, and must be composed first.
 */
bool role_view_check(struct role_view *view, const struct pixels *composed, uint64_t now);

/* Where the role is now: on its plane, or composed. */
void role_view_settle(struct role_view *view);

/* What is shown goes to the role's plane, if that is what we mean. */
void role_view_fill(struct role_view *view, uint64_t now);

/* The output's frame that is on its way will be read back; here is what the device showed. */
void role_view_await(struct role_view *view);
void role_view_read_back(struct role_view *view, const struct pixels *shown, uint64_t now);

/* The screen has an output, another one than before: its commits are counted anew. */
void role_view_appeared(struct role_view *view);

/* The output shows its commit of this number since `when`. */
void role_view_presented(struct role_view *view, uint32_t commit, uint64_t when);

#endif
