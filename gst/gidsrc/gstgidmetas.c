// SPDX-License-Identifier: MIT
#include "gstgidmetas.h"

/* --- timestamps ------------------------------------------------------------------------------- */

static GstStaticCaps submit_caps = GST_STATIC_CAPS ("timestamp/x-gid-submit");
static GstStaticCaps media_caps = GST_STATIC_CAPS ("timestamp/x-gid-media");

/* Whether it is the timestamp with these caps: only gidsrc uses them, so the pointers are equal. */
static gboolean
is_time (GstMeta *meta, const GstStaticCaps *caps)
{
  return meta->info == GST_REFERENCE_TIMESTAMP_META_INFO
      && ((GstReferenceTimestampMeta *) meta)->reference == caps->caps;
}

static void
set_time (GstReferenceTimestampMeta **meta, GstBuffer *buffer, GstStaticCaps *what,
    GstClockTime time, GstClockTime duration)
{
  if (time == GST_CLOCK_TIME_NONE) {
    if (*meta)
      gst_buffer_remove_meta (buffer, (GstMeta *) g_steal_pointer (meta));
  } else if (*meta) {
    (*meta)->timestamp = time;
    (*meta)->duration = duration;
  } else {
    GstCaps *caps = gst_static_caps_get (what);

    *meta = gst_buffer_add_reference_timestamp_meta (buffer, caps, time, duration);
    gst_caps_unref (caps);
  }
}

void
gst_gid_metas_set_submit (GstGidMetas *metas, GstBuffer *buffer, GstClockTime time)
{
  set_time (&metas->submit, buffer, &submit_caps, time, GST_CLOCK_TIME_NONE);
}

void
gst_gid_metas_set_media (
    GstGidMetas *metas, GstBuffer *buffer, GstClockTime time, GstClockTime duration)
{
  set_time (&metas->media, buffer, &media_caps, time, duration);
}

/* --- video ------------------------------------------------------------------------------------ */

void
gst_gid_metas_set_video (GstGidMetas *metas, GstBuffer *buffer, GstVideoFormat format, guint width,
    guint height, guint n_planes, const gsize offset[GST_VIDEO_MAX_PLANES],
    const gint stride[GST_VIDEO_MAX_PLANES])
{
  GstVideoMeta *meta = metas->video;

  if (meta == NULL) {
    metas->video = gst_buffer_add_video_meta_full (
        buffer, GST_VIDEO_FRAME_FLAG_NONE, format, width, height, n_planes, offset, stride);
    return;
  }
  /* set all fields: downstream may have cropped in place */
  meta->flags = GST_VIDEO_FRAME_FLAG_NONE;
  meta->format = format;
  meta->id = 0;
  meta->width = width;
  meta->height = height;
  meta->n_planes = n_planes;
  memcpy (meta->offset, offset, sizeof (meta->offset));
  memcpy (meta->stride, stride, sizeof (meta->stride));
  gst_video_alignment_reset (&meta->alignment);
}

/* --- cleaning --------------------------------------------------------------------------------- */

typedef struct
{
  GstGidMetas *metas;
  gboolean clean;
} Cleaning;

static gboolean
sort_out (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  Cleaning *cleaning = data;
  GstGidMetas *metas = cleaning->metas;

  if (GST_META_FLAG_IS_SET (*meta, GST_META_FLAG_LOCKED)) {
    cleaning->clean = FALSE;
  } else if (metas->video == NULL && (*meta)->info == GST_VIDEO_META_INFO) {
    metas->video = (GstVideoMeta *) *meta;
  } else if (metas->submit == NULL && is_time (*meta, &submit_caps)) {
    metas->submit = (GstReferenceTimestampMeta *) *meta;
  } else if (metas->media == NULL && is_time (*meta, &media_caps)) {
    metas->media = (GstReferenceTimestampMeta *) *meta;
  } else {
    *meta = NULL;
  }
  return TRUE;
}

gboolean
gst_gid_metas_clean (GstGidMetas *metas, GstBuffer *buffer)
{
  Cleaning cleaning = { metas, TRUE };

  *metas = (GstGidMetas) { 0 };
  gst_buffer_foreach_meta (buffer, sort_out, &cleaning);
  return cleaning.clean;
}
