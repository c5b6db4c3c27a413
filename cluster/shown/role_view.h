// SPDX-License-Identifier: MIT
/**
 * One role on the display: what its stream brings, whether that may be shown, and what is shown.
 *
 * stream_reader.c brings the frames and has them examined, role_view.c decides, by role.c, and
 * shown_picture.c shows.
 */
#ifndef CLUSTER_ROLE_VIEW_H
#define CLUSTER_ROLE_VIEW_H

#include "cluster_config.h"
#include "saved_state.h"
#include "seldom_log.h"
#include "shown_picture.h"

#define HISTORY_TRANSITIONS 64

struct transition {
	enum role_state from, to;
	enum role_reason reason;
	uint64_t due;	     /* CLOCK_MONOTONIC ns: when there was that reason for it */
	uint64_t decided;    /* `due` or later, if we had no processor */
	uint64_t last_frame; /* when the last good frame before it came; 0: never */
	uint32_t commit;     /* the output's, which will bring what the state demands */
	uint64_t shown;	     /* when the output showed that; 0: not yet */
};

/* What happened to a role, for people and tests. */
struct history {
	struct transition transitions[HISTORY_TRANSITIONS]; /* a ring */
	uint64_t transition_count;
	uint64_t forgotten;	  /* the number of transitions of earlier processes */
	uint64_t fallback_max_ns; /* the longest from `due` to the fallback in place of frames */
	uint64_t frames, shown_frames, refused_frames;
	uint64_t read_back, differed; /* how often what the device showed was compared; and was not
				       * what it was to be */
	uint64_t converted_frames;    /* of those shown: from another format */
};

struct role_view {
	const struct role_config *config;
	struct screen *screen;
	struct role role;
	struct stream_reader reader;
	struct shown_picture shown;
	struct history history;
	struct log_budget log_budget, place_log_budget; /* neither costs the other a line */
	/* Of the newest protected frame: when it was sent, by its producer's clock, and when it
	 * came, by ours; 0: there was none. */
	uint64_t newest_sent, newest_came;
	enum gid_hidden hidden; /* why, as the stream said last; see role_view_is_hidden() */
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

/* What is said of the role's state. */
const char *role_view_text(const struct role_view *view);

/* There is an output, another one than before: its commits are counted anew. */
void role_view_attach_output(struct role_view *view);

/* Time passed. */
void role_view_tick(struct role_view *view, uint64_t now);

/*
 * The output is about to show `composed`: is our region there, with the very pixels that we mean?
 * Returns false where not; then something else is to be shown, and must be composed first.
 */
bool role_view_check(struct role_view *view, const struct pixels *composed, uint64_t now);

/* What is shown goes to the role's plane, if that is what we mean. */
void role_view_update_plane(struct role_view *view, uint64_t now);

/* What the device showed of the frame that was to be read back. */
void role_view_read_back(struct role_view *view, const struct pixels *device, uint64_t now);

/* The output shows its commit of this number since `when`. */
void role_view_presented(struct role_view *view, uint32_t commit, uint64_t when);

/* The `index`th transition from the first; NULL for one that is forgotten or did not happen. */
struct transition *history_get(struct history *history, uint64_t index);

#endif
