// SPDX-License-Identifier: MIT
/**
 * One role on the display: what its stream brings, whether that may be shown, and what is shown.
 *
 * stream_reader.c brings the frames and has them examined, role_view.c decides and shows.
 */
#ifndef CLUSTER_ROLE_VIEW_H
#define CLUSTER_ROLE_VIEW_H

#include <wlr/types/wlr_scene.h>

#include "cluster_config.h"
#include "history.h"
#include "lent_frame.h"
#include "log_budget.h"
#include "own_picture.h"
#include "role_plane.h"
#include "saved_state.h"
#include "stream_reader.h"

struct screen;

struct role_view {
	const struct role_config *config;
	struct screen *screen;
	struct role role;
	struct stream_reader reader;
	struct wlr_scene_buffer *node;
	struct role_plane plane; /* the node is off while the role is on it */
	struct own_picture *fallback;
	struct own_picture *shown; /* on the display: a frame's picture, or the fallback */
	struct own_picture *
			last; /* of the frame that the output showed; NULL: the fallback is there */
	bool shows_frame;
	struct gid_frame frame;	 /* with shows_frame */
	struct lent_frame *lent; /* that frame itself, where a plane may show it; else NULL */
	struct wl_list lents;	 /* lent_frame::link */
	struct history history;
	struct log_budget log_budget;
	struct gid_timeline *timeline; /* NULL: none */
	enum gid_hidden hidden;	       /* why, as the stream said last; see role_view_is_hidden() */
	uint32_t awaited_commit;       /* the output's, which will bring what changed; 0: none */
	/* The colour of our region as it is to be displayed, and as it was to be in the frame that
	 * is read back; 0: not known. */
	uint64_t displayed, awaited;
};

/* Begins, without a domain to read from. `timeline`: NULL for none. */
int role_view_init(struct role_view *view, const struct role_config *config, struct screen *screen,
		struct wl_event_loop *loop, struct gid_timeline *timeline);
void role_view_finish(struct role_view *view);

/* Goes on where the process before this one ended. Right after role_view_init(). */
void role_view_resume(struct role_view *view, const struct saved_role *saved, uint64_t now);

/* What the process after this one is to know. */
struct saved_role role_view_save(const struct role_view *view, uint64_t now);

/* Whether the producer hides the surface, and `hidden` says why: then nothing else is to be said.
 */
bool role_view_is_hidden(const struct role_view *view);

/* Why, as a word for programs; "" where nothing is said. */
const char *role_view_hidden_name(const struct role_view *view);

/* How it is made sure that what is displayed is what is meant: one word, for programs. */
const char *role_view_checked_by(const struct role_view *view);

/* What is said of the role's state. */
const char *role_view_text(const struct role_view *view);

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
