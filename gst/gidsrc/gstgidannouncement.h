// SPDX-License-Identifier: MIT
/**
 * Sends the stream collection of a player's source before its first frame: one video stream. Used
 * by the streaming thread only, and before there is one.
 */
#ifndef GST_GID_ANNOUNCEMENT_H
#define GST_GID_ANNOUNCEMENT_H

#include <gst/base/gstbasesrc.h>

G_BEGIN_DECLS

typedef struct
{
  GstBaseSrc *src;
  gboolean is_wanted; /* by a player */
  GstStream *stream; /* NULL: none yet */
  gboolean is_made; /* sent since start() */
} GstGidAnnouncement;

void gst_gid_announcement_init (GstGidAnnouncement *self, GstBaseSrc *src);
/** A player made the source, of a URI. */
void gst_gid_announcement_want (GstGidAnnouncement *self);
void gst_gid_announcement_start (GstGidAnnouncement *self);
void gst_gid_announcement_finish (GstGidAnnouncement *self);

/**
 * Sends the collection, if it is wanted and was not sent yet. Call after the stream-start event and before
 * waiting for a frame, because players do not wait for it.
 */
void gst_gid_announcement_make (GstGidAnnouncement *self);

G_END_DECLS

#endif
