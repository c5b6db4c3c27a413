// SPDX-License-Identifier: MIT
#ifndef GID_VIEW_STATS_H
#define GID_VIEW_STATS_H

#include <gid/stream.h>

#include "common/histogram.h"
#include "converter.h"

/* What became of the frames of a stream. Each counts in one of shown, or the four kinds of drop. */
struct stats {
	uint64_t received;	  // frames with a picture
	uint64_t shown;		  // the compositor says so; where it is not asked: committed
	uint64_t superseded;	  // a newer one came before the compositor wanted one
	uint64_t discarded;	  // committed, but never on the screen
	uint64_t failed;	  // the compositor could not get it
	struct histogram latency; // submit → shown
	struct histogram
			capture_latency; // capture → shown, of frames that say when they came to be
};

/*
 * Writes everything as a JSON object; a reader sees the old file or the new one, never half of one.
 * Frames that never arrived (`missed`) and the producer's copies come from `consumer`, which may be
 * NULL, and our own from `converter`. Returns 0 or -errno.
 */
int stats_write(const struct stats *stats, const struct gid_consumer *consumer,
		const struct converter *converter, const char *owner, const char *stream,
		const char *path);

#endif
