// SPDX-License-Identifier: MIT
/** Frames that libgid does not take: they are counted, and told. */
#ifndef GST_GID_REFUSALS_H
#define GST_GID_REFUSALS_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  GstElement *element;
  guint64 count; /* the element's lock */

  /* the streaming thread's, or when there is none */
  guint64 told, posted; /* of these: to people, to programs */
  gint64 posted_at;
  int error; /* of the last one */
} GstGidRefusals;

void gst_gid_refusals_init (GstGidRefusals *self, GstElement *element);
void gst_gid_refusals_start (GstGidRefusals *self);

/** A frame of the stream was not sent, for libgid's `error`: tells of it, if that is the first. */
void gst_gid_refusals_note (GstGidRefusals *self, const gchar *stream, int error);

/** The stream ends: tells of all, where there were more than the first. */
void gst_gid_refusals_sum_up (GstGidRefusals *self, const gchar *stream);

/** With the element's lock held. */
static inline guint64
gst_gid_refusals_get_count (const GstGidRefusals *self)
{
  return self->count;
}

G_END_DECLS

#endif
