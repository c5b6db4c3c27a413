// SPDX-License-Identifier: MIT
/**
 * The timeline: a log with one line of text (a point) for each thing that happens to a frame.
 * `gid-timeline` computes figures from it. docs/timeline.md describes the format.
 *
 * libgid itself writes the points that it knows: a frame is captured, submitted, received, released
 * and free again. It writes them if $GID_TIMELINE names a file, or if the options of a producer or
 * consumer have a timeline. The program writes all other points, such as a commit or the refresh
 * that shows the frame. For each producer and consumer that has a timeline libgid also writes the
 * number and the name of its domain.
 *
 * Lifecycle: gid_timeline_open() returns a reference. It may be put into the options of any number
 * of producers and consumers; each of them takes a reference of its own. gid_timeline_unref() gives
 * a reference back. The last one closes the file.
 *
 * Without a timeline a point costs one branch. With a timeline it costs one write(), which appends
 * a whole line. So any number of threads and processes may share a file.
 */
#ifndef GID_TIMELINE_H
#define GID_TIMELINE_H

#include <gid/gid.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct gid_timeline;

enum gid_timeline_event {
	GID_TIMELINE_CAPTURE,  /**< the picture came to be */
	GID_TIMELINE_SUBMIT,   /**< sent by its producer */
	GID_TIMELINE_RECEIVE,  /**< a consumer has it */
	GID_TIMELINE_COMMIT,   /**< given to the compositor, or taken by it */
	GID_TIMELINE_SHOWN,    /**< the refresh that shows it */
	GID_TIMELINE_RELEASED, /**< the consumer released it */
	GID_TIMELINE_FREED,    /**< all consumers have released it */
};

/** What happened, to which frame. */
struct gid_timeline_point {
	enum gid_timeline_event event;
	uint64_t time;	    /**< when it happened, ns of the writer's CLOCK_MONOTONIC */
	gid_id gid;	    /**< the frame's; GID_NONE: nothing is written */
	const char *stream; /**< the frame's; NULL: it and `sequence` are not known */
	uint64_t sequence;
	uint32_t domain;      /**< number of the writer's domain: whose clock it is */
	uint32_t reserved0;   /**< 0 */
	uint64_t reserved[4]; /**< 0 */
};

#define GID_TIMELINE_LINE_MAX 384u /**< bytes of a line, with its newline and a terminating NUL */

/**
 * Formats a point as a line and returns its length. `by` names the writer, with the characters that
 * names of streams may have. Pure.
 */
size_t gid_timeline_format(const struct gid_timeline_point *point, const char *by,
		char line[GID_TIMELINE_LINE_MAX]);

/**
 * Opens the file `path` for appending, and creates it if it does not exist. If `path` is NULL, the
 * file is the one that $GID_TIMELINE names. `by` names the writer in each line; NULL: the program's
 * name. Characters that a name may not have become `-`.
 * Returns 0 and a reference; 0 and NULL if `path` is NULL and $GID_TIMELINE is not set; -ENOTSUP if
 * it is neither a file nor a device; or the error of open().
 */
int gid_timeline_open(const char *path, const char *by, struct gid_timeline **timeline);

/** Both accept NULL, and may be called from any thread. */
struct gid_timeline *gid_timeline_ref(struct gid_timeline *timeline);
void gid_timeline_unref(struct gid_timeline *timeline);

/**
 * Appends the point. If it cannot be written (the disk is full), it is lost. May be called from any
 * thread. If there may be no timeline, test `timeline != NULL` before you fill in the point.
 */
void gid_timeline_write(struct gid_timeline *timeline, const struct gid_timeline_point *point);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
