// SPDX-License-Identifier: MIT
/**
 * The timeline: one line of text for each thing that happens to a frame, which `gid-timeline` makes
 * figures of. docs/timeline.md has the format.
 *
 * libgid writes by itself what it knows of: that a frame is captured, submitted, received, released
 * and free again. It does so where $GID_TIMELINE names a file, or where the options of a producer
 * or consumer bring a timeline. What else happens to a frame (a commit, a refresh that shows it)
 * its program adds.
 *
 * The life of it: gid_timeline_open() gives a reference, which may go into any number of producers'
 * and consumers, each of which takes one of its own; gid_timeline_unref() gives it back, and the
 * last one closes the file.
 *
 * Without a timeline a point costs one branch. With one it costs a write(), which appends a whole
 * line: any number of threads and processes may share a file.
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
	GID_TIMELINE_RELEASED, /**< the consumer reads it no more */
	GID_TIMELINE_FREED,    /**< all consumers let go of it */
};

/** What happened, to which frame. */
struct gid_timeline_point {
	enum gid_timeline_event event;
	uint64_t time;	    /**< when it happened, ns of the writer's CLOCK_MONOTONIC */
	gid_id gid;	    /**< the frame's; GID_NONE: nothing is written */
	const char *stream; /**< the frame's, or NULL: then `sequence` is not known either */
	uint64_t sequence;
	uint32_t domain;      /**< number of the writer's domain: whose clock it is */
	uint32_t reserved0;   /**< 0 */
	uint64_t reserved[4]; /**< 0 */
};

#define GID_TIMELINE_LINE_MAX 384u /**< bytes of a line, with its newline and a terminating NUL */

/**
 * Writes the line of a point, as by the writer `by` (the rules for names of streams), and returns
 * its length. Pure.
 */
size_t gid_timeline_format(const struct gid_timeline_point *point, const char *by,
		char line[GID_TIMELINE_LINE_MAX]);

/**
 * Opens the file `path` to append to, made where there is none; NULL: the one that $GID_TIMELINE
 * names. Lines are written as by `by` (NULL: the program's name; characters that no name may have
 * become `-`). Returns 0 and a reference; 0 and NULL where `path` is NULL and there is no
 * $GID_TIMELINE; -ENOTSUP where it is neither a file nor a device, and what open() says.
 */
int gid_timeline_open(const char *path, const char *by, struct gid_timeline **timeline);

/** Take NULL. From any thread. */
struct gid_timeline *gid_timeline_ref(struct gid_timeline *timeline);
void gid_timeline_unref(struct gid_timeline *timeline);

/**
 * Appends the point. What cannot be written (the disk is full) is lost. From any thread. Where
 * there may be no timeline, ask before the point is put together: `if (timeline != NULL)`.
 */
void gid_timeline_write(struct gid_timeline *timeline, const struct gid_timeline_point *point);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
