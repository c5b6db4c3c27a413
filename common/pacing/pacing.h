// SPDX-License-Identifier: MIT
/**
 * When to repaint: the repaint window of an output, learned from the frames it has shown.
 *
 * A compositor repaints a while before each refresh: the repaint window. What clients commit after
 * the repaint began waits for the next refresh, so the window should be short; a repaint that is
 * not done in time is shown a whole refresh late, so it must not be too short. gid_pacing_next()
 * finds the shortest window at which no more frames than stated miss their refresh.
 *
 * It is a pure function: of its state and the frame it is given, with no clock, no memory of its
 * own, no I/O. The Weston module calls it for real frames, `gid-timeline simulate` for simulated
 * ones. docs/pacing.md explains the method and compares it with what other compositors do.
 *
 * Times are ns of CLOCK_MONOTONIC, windows whole ms, as Weston wants them. A state belongs to one
 * output and one thread at a time.
 */
#ifndef GID_PACING_H
#define GID_PACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GID_PACING_NONE INT64_MIN /**< a time that is not known */
#define GID_PACING_CLASSES 8	  /**< content classes 0..7; 0: after a pause */
#define GID_PACING_NEED_BINS 160  /**< of a refresh interval / 128 each */
#define GID_PACING_PHASE_BINS 64  /**< of a refresh interval / 64 each */

/** Where the window comes from. */
enum gid_pacing_mode {
	GID_PACING_LEARNING, /**< too few frames seen: Weston's own window, or more after a miss */
	GID_PACING_LEARNED,  /**< the shortest that keeps the miss rate */
	GID_PACING_NOTHING_LOST, /**< longer than need be, as no producer delivers in that time */
	GID_PACING_FULL,	 /**< the repaint costs more than the longest window */
	GID_PACING_FREE_RUNNING, /**< no refresh to wait for (headless, VRR): repaint at once */
	GID_PACING_UNSURE,	 /**< no usable refresh interval: Weston's own window */
};

/** What the window must keep to. */
struct gid_pacing_config {
	double miss_rate; /**< of frames that may miss their refresh, 0.00001 to 0.1; usual: 0.001
			   */
	int32_t fallback_ms; /**< the window while nothing better is known; Weston's own is 7 */
};

/** A frame that was shown: all that is known of it when the compositor hears so. */
struct gid_pacing_frame {
	int64_t refresh_ns; /**< the output's refresh interval */
	int64_t due_ns;	    /**< the refresh it was meant for: when its window ended */
	int32_t window_ms;  /**< the window it was scheduled with */
	int64_t done_ns; /**< when its repaint was posted, or its GPU work ended if that is later */
	int64_t shown_ns; /**< the refresh that showed it */
	/** When the newest content came of a producer that runs on a clock of its own (a camera, a
	 * film), or GID_PACING_NONE. Not of clients that draw upon the frame callback: their
	 * commits follow the window. */
	int64_t arrival_ns;
	/** 1 to GID_PACING_CLASSES - 1: frames of a class cost about the same, or are followed by
	 * frames that do. How content is classed is the caller's; 1 for all is right, if slower. */
	uint32_t content_class;
};

/** How much of a window frames needed, as weights over bins: what came after one content class. */
struct gid_pacing_need {
	double total;
	float weights[GID_PACING_NEED_BINS];
};

/** All that is known of an output. Made by gid_pacing_init(); read it, but do not write. */
struct gid_pacing {
	struct gid_pacing_config config;
	enum gid_pacing_mode mode;
	int32_t window_ms;  /**< as last returned */
	uint64_t frames;    /**< judged since the start, or since the refresh interval changed */
	uint64_t missed;    /**< of those */
	uint64_t avoidable; /**< of those: a longer window would have shown them in time */
	double beyond; /**< weight, as that of a need, of the frames that no window makes in time */
	int64_t refresh_ns;
	double margin_ns;	/**< what a repaint must be done before its refresh */
	double saved;		/**< misses that the stated rate would still allow */
	double off_grid;	/**< share of late frames that were shown between two refreshes */
	uint32_t content_class; /**< of the frame before */
	struct gid_pacing_need all;
	struct gid_pacing_need after[GID_PACING_CLASSES];
	double arrivals;
	float phases[GID_PACING_PHASE_BINS]; /**< arrivals by their time before a refresh */
};

/** The size of the state in bytes, for callers that cannot see its declaration. */
extern const size_t gid_pacing_size;

/** Starts anew. A config out of range is brought into it. */
void gid_pacing_init(struct gid_pacing *pacing, const struct gid_pacing_config *config);

/**
 * Learns from `frame`, the last one that the output has shown, and returns the window in ms for
 * the next repaint, from 1 to the refresh interval less 1 ms. `frame` is NULL where the compositor
 * starts to repaint after a pause. Frames whose times make no sense teach nothing.
 */
int32_t gid_pacing_next(struct gid_pacing *pacing, const struct gid_pacing_frame *frame);

/** A mode in a few words, for logs. Never NULL. */
const char *gid_pacing_mode_name(enum gid_pacing_mode mode);

#ifdef __cplusplus
}
#endif

#endif
