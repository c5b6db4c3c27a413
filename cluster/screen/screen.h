// SPDX-License-Identifier: MIT
/**
 * One output: composes its pictures, has what was composed checked before it is shown, shows it,
 * and counts. It knows nothing of other outputs, and none of them can change what it shows.
 */
#ifndef CLUSTER_SCREEN_H
#define CLUSTER_SCREEN_H

#include <wlr/types/wlr_output.h>

#include "cluster_config.h"
#include "device.h"
#include "frame_bound.h"
#include "owed_frame.h"
#include "own_picture.h"
#include "pace.h"
#include "pixels.h"
#include "readback.h"
#include "refreshes.h"
#include "samples.h"
#include "screen_composition.h"

struct kms_output;
struct publisher;
struct screen;

enum screen_plan {
	SCREEN_PLANES,	 /* as many as there are */
	SCREEN_COMPOSED, /* all in one picture, for it is copied */
	SCREEN_REFUSED,	 /* likewise, for the device has refused what it took before */
};

struct screen_hooks {
	/* The screen has an output, the first one or again; and it is about to lose it. */
	void (*attached)(void *data, struct screen *screen);
	void (*detaching)(void *data, struct screen *screen);
	/*
	 * Pictures can be on planes of `kms`, on none (`composed`), or are to leave theirs for
	 * good, because the device has refused a frame with them (`refused`).
	 */
	void (*plan)(void *data, struct screen *screen, struct kms_output *kms,
			enum screen_plan plan);
	/* A frame is about to be composed. */
	void (*begin)(void *data, struct screen *screen, uint64_t now);
	/* Puts on planes what has changed there, if it may be shown. */
	void (*update_planes)(void *data, struct screen *screen, uint64_t now);
	/*
	 * The frame that is given to the device now will be read back as the device shows it; and
	 * here it is.
	 */
	void (*expects_readback)(void *data, struct screen *screen);
	void (*read_back)(void *data, struct screen *screen, const struct pixels *shown,
			uint64_t now);
	/* Returns whether `composed` may be shown; if not, it is composed once more. */
	bool (*check)(void *data, struct screen *screen, const struct pixels *composed,
			uint64_t now);
	void (*presented)(void *data, struct screen *screen, uint32_t commit, uint64_t when);
};

struct screen_stats {
	uint64_t started, frames, missed;
	uint64_t composed; /* of the frames: others changed only what is on planes of its own */
	uint64_t last, longest_gap_ns; /* from one frame on the screen to the next in a row */
	uint64_t skipped;	       /* refreshes without a frame, between two in a row */
	/* From when a frame was to begin until it was given, or there was none to give. */
	struct samples late;
	/*
	 * A frame, from its begin until the device has it: of all the sum, and of each the slowest
	 * and the last ones. By the clock, of a processor, and the difference: waiting for one, but
	 * for the frames in which the thread slept itself.
	 */
	uint64_t compose_ns, compose_max_ns, cpu_max_ns, wait_max_ns;
	struct samples compose, cpu, wait;
	uint64_t over_bound; /* frames that took more of a processor than the bound */
	uint64_t slept;	     /* frames in which the thread gave its processor away */
};

struct screen {
	/* Given by the creator, and outlive the screen: */
	struct device *device;
	const struct cluster_config *whole;
	const struct output_config *config; /* a part of that */
	const struct screen_hooks *hooks;
	void *data; /* of the hooks */
	/* Its own: */
	struct composition *composition; /* its own: from (0, 0) on */
	struct wlr_output *output;	 /* NULL: there is none now */
	struct kms_output *kms;		 /* the same output; NULL: it has no planes for us */
	bool to_plan;			 /* planes are to be found for pictures */
	bool copied;			 /* all is in one picture, because somebody copies that */
	uint64_t copied_until;		 /* or has done so a moment ago */
	struct readback readback;
	struct part *background;     /* below everything, of the output's size; NULL: none yet */
	struct wlr_buffer *front;    /* what was shown last, locked */
	struct publisher *publisher; /* of what it shows; NULL: nobody may see it */
	struct wl_event_source *publisher_source;
	bool unpublished;	/* `front` is newer than what the publisher has */
	struct owed_frame owed; /* by this output */
	struct screen_stats stats;
	struct frame_bound bound;   /* of its frames, for this output; 0: not known */
	struct refreshes refreshes; /* of a virtual screen */
	struct frame_clock clock;
	struct pace pace;
	int timer; /* for the next frame */
	struct wl_event_source *timer_source;
	struct wl_listener frame, present, request_state, output_destroy;
};

/*
 * Of a screen that has what its creator gives. Returns 0 or -ENOMEM; the screen is to be finished
 * in either case.
 */
int screen_init(struct screen *screen, struct wl_event_loop *loop);
void screen_finish(struct screen *screen);

/* Whether the screen has no output, and the configuration means this one or any. */
bool screen_matches(const struct screen *screen, const struct wlr_output *output);

/* Whether all of this place is on the output; also while there is none, which hides all alike. */
bool screen_has_place(const struct screen *screen, const struct gid_box *box);

/* Shows the screen on the output, or leaves that dark, with the reason in the log. */
void screen_attach_output(struct screen *screen, struct wlr_output *output);

/*
 * Measures once more how long its frame takes at the worst: `bound` becomes less, or stays. Of
 * other renderers than pixman nobody knows it: what they do is their driver's business.
 */
void screen_measure(struct screen *screen);

/* What a frame of each screen takes at the worst, together, in ns; 0: not known. */
void screen_set_worst_frame(struct screen *screen, uint64_t ns);

/*
 * From now on what it shows is sent as the stream that the configuration names, if it does; with
 * planes all is composed while somebody reads that. Returns 0 or -ENOMEM.
 */
int screen_publish(struct screen *screen, struct wl_event_loop *loop, const char *domain);

/* Something on a plane is to change with the next frame, and nothing else says so. */
void screen_schedule_frame(struct screen *screen);

/* Time passed, about a refresh: a frame may be due that is only there to be read back. */
void screen_tick(struct screen *screen, uint64_t now);

/*
 * Whether its device shows nothing any more of what it is to show: what is seen is old, and would
 * be taken for what is. To be asked all the time; `passed`: ns since the last time, of this
 * thread's own.
 */
bool screen_is_stuck(struct screen *screen, uint64_t passed);

/* Whether what it shows is read back now and then. */
bool screen_is_read_back(const struct screen *screen);

/* The number of the commit that will be next. Never 0. */
uint32_t screen_next_commit(const struct screen *screen);

/* How long a picture stays at least, in ns. */
uint64_t screen_refresh_ns(const struct screen *screen);

/*
 * How long before a refresh composing begins, in ns; at most a whole refresh. 0: that cannot be
 * told, for the device has none.
 */
uint64_t screen_window_ns(const struct screen *screen);

#endif
