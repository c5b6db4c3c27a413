// SPDX-License-Identifier: MIT
/**
 * What players hear of the stream before its first frame: that it is one, of video, and the only one
 * of this source. The streaming thread's.
 */
#ifndef GST_GID_ANNOUNCEMENT_H
#define GST_GID_ANNOUNCEMENT_H

#include <gst/base/gstbasesrc.h>

G_BEGIN_DECLS

typedef struct
{
  GstBaseSrc *src;
  GstStream *stream; /* NULL: none yet */
  gboolean is_made; /* since the start */
} GstGidAnnouncement;

void gst_gid_announcement_init (GstGidAnnouncement *self, GstBaseSrc *src);
void gst_gid_announcement_start (GstGidAnnouncement *self);
void gst_gid_announcement_finish (GstGidAnnouncement *self);

/** Behind the stream's name, and before it is waited for what comes: players do not wait for it. */
void gst_gid_announcement_make (GstGidAnnouncement *self);

G_END_DECLS

#endif
