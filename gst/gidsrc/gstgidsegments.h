// SPDX-License-Identifier: MIT
/**
 * Running time where timestamps are the producer's. It begins with the first frame, as behind a
 * demuxer, whatever the film's time is then. Where a film begins again, or another place of it is
 * gone to, a recording goes on. The streaming thread's.
 */
#ifndef GST_GID_SEGMENTS_H
#define GST_GID_SEGMENTS_H

#include <gst/base/gstbasesrc.h>

G_BEGIN_DECLS

typedef struct
{
  GstBaseSrc *src;
  GstClockTime last, end; /* of the last buffer that had a time */
} GstGidSegments;

void gst_gid_segments_init (GstGidSegments *self, GstBaseSrc *src);
void gst_gid_segments_start (GstGidSegments *self);

/** What comes next is another film, or another place of it. */
void gst_gid_segments_interrupt (GstGidSegments *self);

/** The buffer is the next one. Where its time goes back, a segment begins with it. */
void gst_gid_segments_follow (GstGidSegments *self, const GstBuffer *buffer);

G_END_DECLS

#endif
