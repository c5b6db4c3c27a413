// SPDX-License-Identifier: MIT
#ifndef GID_VIEW_STATS_H
#define GID_VIEW_STATS_H

#include <gid/stream.h>

#include "common/histogram.h"
#include "converter.h"

/*
 * Counts of a stream's frames. Each received frame counts in shown, superseded, discarded or
 * failed.
 */
struct stats {
	uint64_t received;		  // frames with a picture
	uint64_t shown;			  // presented; committed, if no feedback was requested
	uint64_t superseded;		  // a newer one arrived before the next frame callback
	uint64_t discarded;		  // committed, but never presented
	uint64_t failed;		  // the compositor could not import it
	struct histogram latency;	  // submit → shown
	struct histogram capture_latency; // capture → shown, of frames with a capture time
};

/*
 * Writes all counts as a JSON object. It replaces the old file atomically. The count of frames that
 * never arrived (`missed`) and the producer's copies come from `consumer`, which may be NULL, our
 * own copies from `converter`. Returns 0 or -errno.
 */
int stats_write(const struct stats *stats, const struct gid_consumer *consumer,
		const struct converter *converter, const char *owner, const char *stream,
		const char *path);

#endif
