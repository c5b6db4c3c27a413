// SPDX-License-Identifier: MIT
/**
 * Sends segments if timestamps are the producer's own (is-live=false). Running time is 0 at the
 * first frame, as behind a demuxer. It continues if the video restarts, or jumps to another
 * position, as needed for recording. Used by the streaming thread only.
 */
#ifndef GST_GID_SEGMENTS_H
#define GST_GID_SEGMENTS_H

#include <gst/base/gstbasesrc.h>

G_BEGIN_DECLS

typedef struct
{
  GstBaseSrc *src;
  GstClockTime last, end; /* of the last buffer with a timestamp */
} GstGidSegments;

void gst_gid_segments_init (GstGidSegments *self, GstBaseSrc *src);
void gst_gid_segments_start (GstGidSegments *self);

/** The next frame belongs to another video, or to another position of it. */
void gst_gid_segments_interrupt (GstGidSegments *self);

/** Call for each buffer. Sends a new segment if its timestamp is less than the last one. */
void gst_gid_segments_follow (GstGidSegments *self, const GstBuffer *buffer);

G_END_DECLS

#endif
