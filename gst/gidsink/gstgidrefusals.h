// SPDX-License-Identifier: MIT
/** Counts and reports frames that libgid refuses to send. */
#ifndef GST_GID_REFUSALS_H
#define GST_GID_REFUSALS_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  GstElement *element;
  guint64 count; /* the object lock */

  /* streaming thread, or when there is none */
  guint64 told, posted; /* how many were reported to the user, and to the application */
  gint64 posted_at;
  int error; /* of the last one */
} GstGidRefusals;

void gst_gid_refusals_init (GstGidRefusals *self, GstElement *element);
void gst_gid_refusals_start (GstGidRefusals *self);

/** A frame was refused with libgid's error: counts it, and reports the first one. */
void gst_gid_refusals_note (GstGidRefusals *self, const gchar *stream, int error);

/** At the end of the stream: reports the total, if it was more than one. */
void gst_gid_refusals_sum_up (GstGidRefusals *self, const gchar *stream);

/** Call with the object lock held. */
static inline guint64
gst_gid_refusals_get_count (const GstGidRefusals *self)
{
  return self->count;
}

G_END_DECLS

#endif
