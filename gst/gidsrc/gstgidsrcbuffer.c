// SPDX-License-Identifier: MIT
#include <errno.h>

#include "common/gstgid.h"
#include "common/gstgidpicture.h"
#include "gstgidsrc.h"

#define GST_CAT_DEFAULT gst_gid_debug

static GstGidReader *
get_reader (GstGidSrc *self)
{
  return gst_gid_subscription_get_reader (&self->subscription);
}

/* Whether downstream lists such caps. Elements with ANY caps may want to access the pixels. */
static gboolean
names_caps (GstGidSrc *self, const GstCaps *caps)
{
  GstCaps *taken = gst_pad_peer_query_caps (GST_BASE_SRC_PAD (self), NULL);
  gboolean named = taken && !gst_caps_is_any (taken) && gst_caps_can_intersect (taken, caps);

  gst_clear_caps (&taken);
  return named;
}

/*
 * Reports an invalid frame of the producer. Frames that were reclaimed, and errors on this side,
 * are reported elsewhere.
 */
static void
tell_unusable (GstGidSrc *self, const gchar *why)
{
  if (gst_gid_sequence_tell_unusable (&self->sequence))
    GST_ELEMENT_WARNING (self, STREAM, WRONG_TYPE,
        ("A frame of the stream \"%s\" cannot be shown, and is left out: %s.",
            gst_gid_subscription_get_name (&self->subscription), why),
        ("The program that sends it has a fault. `lost` of the statistics counts all such frames"));
}

static GstGidImport *
find_import (GstGidSrc *self, const GstGidArrival *arrival)
{
  GstGidImport *import;
  int ret;

  if (arrival->slab)
    ret = gst_gid_imports_find_slab (self->imports, get_reader (self), arrival->slab, &import);
  else
    ret = gst_gid_imports_find (self->imports, get_reader (self), arrival->frame.gid, &import);
  if (ret < 0) {
    gchar text[GID_TEXT_MAX];

    GST_WARNING_OBJECT (
        self, "cannot import %s: %s", gid_format (arrival->frame.gid, text), gid_strerror (ret));
    if (ret == -EPROTO) /* other errors: the memory has been freed, or was not to be had */
      tell_unusable (self, "its memory is described in a way that makes no sense");
    return NULL;
  }
  if (import->format.dmabuf && import->caps != self->caps
      && gst_gid_format_is_linear (&import->format) && !names_caps (self, import->caps))
    gst_gid_import_set_raw (import);
  /* so that equal caps of several slabs are the same object */
  if (self->caps && self->caps != import->caps && gst_caps_is_equal (self->caps, import->caps))
    gst_caps_replace (&import->caps, self->caps);
  return import;
}

/* Converts a time of CLOCK_MONOTONIC to running time. */
static GstClockTime
running_time (GstGidSrc *self, guint64 time)
{
  GstClock *clock = NULL;
  GstClockTimeDiff offset = 0;
  GstClockTime base;

  GST_OBJECT_LOCK (self);
  if (GST_ELEMENT_CLOCK (self) == NULL) {
    GST_OBJECT_UNLOCK (self);
    return GST_CLOCK_TIME_NONE;
  }
  base = GST_ELEMENT_CAST (self)->base_time;
  if (!g_atomic_int_get (&self->monotonic))
    clock = gst_object_ref (GST_ELEMENT_CLOCK (self));
  GST_OBJECT_UNLOCK (self);

  if (clock)
    offset = gst_gid_clock_offset (clock);
  gst_clear_object (&clock);
  return MAX ((GstClockTimeDiff) (time - base) - offset, 0);
}

/* The furthest plausible presentation time: more than any pipeline's latency. */
#define FAR (10 * GST_SECOND)

/*
 * The monotonic time at which the frame should be shown, as its producer says. Limited to FAR,
 * because sinks would wait for any time. So are the timestamps of a film that is sent as fast as
 * possible: they follow each other as the frames do.
 */
static GstClockTime
when_shown (const struct gid_frame *frame)
{
  GstClockTime now = gid_clock_now ();

  if (frame->present_time != GID_TIME_NONE)
    return MIN (frame->present_time, now + FAR);
  return MIN (frame->submit_time, now);
}

/* The presentation time of frames of a film can be so much later than the time they were sent. */
#define AHEAD GST_SECOND

/*
 * The PTS for a live source. Running time stands still in a pause, but the producer does not: the
 * last frame sent in the pause is shown now. A film may also be so late that its frames were due
 * before this pipeline played: these get the time at which they were sent. Encoders and muxers need
 * timestamps that increase.
 */
static GstClockTime
live_pts (GstGidSrc *self, const GstGidArrival *arrival)
{
  const struct gid_frame *frame = &arrival->frame;
  GstClockTime pts = running_time (self, when_shown (frame)), last = self->last_pts;
  GstClockTime ahead = arrival->unasked ? AHEAD : 0;

  /* a flush may have reset the running time */
  if (GST_CLOCK_TIME_IS_VALID (pts) && GST_CLOCK_TIME_IS_VALID (last) && pts <= last
      && last < running_time (self, gid_clock_now ()) + ahead)
    pts = MAX (last + 1, running_time (self, MIN (frame->submit_time, gid_clock_now ())));
  return pts;
}

static void
set_times (GstGidSrc *self, GstBuffer *buffer, const GstGidArrival *arrival, GstGidMetas *metas)
{
  const struct gid_frame *frame = &arrival->frame;

  GST_BUFFER_DURATION (buffer) = frame->duration;
  GST_BUFFER_OFFSET (buffer) = frame->offset;
  GST_BUFFER_OFFSET_END (buffer) = frame->offset_end;
  gst_gid_metas_set_submit (metas, buffer, frame->submit_time);
  if (!self->live) {
    GST_BUFFER_PTS (buffer) = frame->pts;
    GST_BUFFER_DTS (buffer) = frame->dts;
    gst_gid_segments_follow (&self->segments, buffer);
    gst_gid_metas_set_media (metas, buffer, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE);
    return;
  }
  GST_BUFFER_PTS (buffer) = live_pts (self, arrival);
  gst_gid_metas_set_media (metas, buffer, frame->pts, frame->duration);
}

/* Whether the picture can be cropped by moving the offsets of its planes. */
static gboolean
move_offsets (
    const struct gid_box *crop, const struct gid_layout *layout, gsize offset[GST_VIDEO_MAX_PLANES])
{
  const struct gid_format_info *format = gid_format_find (layout->fourcc);

  /* for other modifiers only the driver knows where rows and planes are */
  if (layout->modifier != GST_GID_LINEAR)
    return FALSE;
  for (guint i = 0; i < layout->plane_count; i++) {
    if (crop->x % format->planes[i].hsub || crop->y % format->planes[i].vsub)
      return FALSE;
  }
  for (guint i = 0; i < layout->plane_count; i++) {
    offset[i] += (gsize) (crop->y / format->planes[i].vsub) * layout->planes[i].stride
        + (gsize) crop->x / format->planes[i].hsub * format->planes[i].bytes;
  }
  return TRUE;
}

/*
 * An element that changes the picture makes a copy of the memory, and may write whole rows there,
 * as videobalance does. The last row of the crop then extends beyond the end of the picture.
 * Extends the memory by that; FALSE: the slot is too small.
 */
static gboolean
has_whole_rows (GstBuffer *buffer, const struct gid_box *crop, const struct gid_layout *layout,
    const gsize offset[GST_VIDEO_MAX_PLANES])
{
  const struct gid_format_info *format = gid_format_find (layout->fourcc);
  GstMemory *mem = gst_buffer_peek_memory (buffer, 0);
  gsize end = mem->size;

  for (guint i = 0; i < layout->plane_count; i++) {
    guint vsub = format->planes[i].vsub, rows = (crop->height + vsub - 1) / vsub;

    end = MAX (end, offset[i] + (gsize) rows * layout->planes[i].stride);
  }
  if (end > mem->maxsize - mem->offset)
    return FALSE;
  mem->size = end;
  return TRUE;
}

/*
 * Sets GstVideoMeta and GstVideoCropMeta. Returns FALSE if a copy is needed for downstream to
 * understand where the picture is.
 */
static gboolean
describe (GstGidSrc *self, GstBuffer *buffer, const struct gid_frame *frame,
    const GstGidImport *import, GstGidMetas *metas)
{
  const struct gid_layout *layout = &import->info.layout;
  const GstVideoInfo *info = &import->format.info;
  const struct gid_box *crop = &frame->crop;
  gboolean cropped = crop->width > 0 && crop->height > 0
      && (crop->x || crop->y || crop->width != (gint) layout->width
          || crop->height != (gint) layout->height);
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 }, of_part[GST_VIDEO_MAX_PLANES];
  gint stride[GST_VIDEO_MAX_PLANES] = { 0 };
  guint width = layout->width, height = layout->height;
  gboolean ok = TRUE;

  for (guint i = 0; i < layout->plane_count; i++) {
    offset[i] = layout->planes[i].offset;
    stride[i] = layout->planes[i].stride;
  }
  if (cropped && !self->has_crop_meta) {
    memcpy (of_part, offset, sizeof offset);
    ok = move_offsets (crop, layout, of_part) && has_whole_rows (buffer, crop, layout, of_part);
    if (ok) {
      memcpy (offset, of_part, sizeof offset);
      width = crop->width;
      height = crop->height;
    }
  }
  if ((cropped && self->has_crop_meta) || !ok) {
    GstVideoCropMeta *meta = gst_buffer_add_video_crop_meta (buffer);

    meta->x = crop->x;
    meta->y = crop->y;
    meta->width = crop->width;
    meta->height = crop->height;
  }
  /* in alternate interlacing, caps and meta have the height of the whole frame */
  if (height == gst_gid_format_height (&import->format))
    height = GST_VIDEO_INFO_HEIGHT (info);
  gst_gid_metas_set_video (metas, buffer, GST_VIDEO_INFO_FORMAT (info), width, height,
      layout->plane_count, offset, stride);
  return ok && (self->has_video_meta || (import->is_plain && !cropped));
}

/*
 * Posts an error with both the stream's caps and those of downstream: no other element knows both.
 */
static void
post_not_negotiated (GstGidSrc *self)
{
  GstCaps *taken = gst_pad_peer_query_caps (GST_BASE_SRC_PAD (self), NULL);
  gchar *is = gst_caps_to_string (self->caps);
  gchar *wanted = taken ? gst_caps_to_string (taken) : g_strdup ("nothing");

  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
      ("The stream \"%s\" is %s, which the next element does not take. Put a videoconvert (for "
       "another size a videoscale, for another rate a videorate) behind gidsrc.",
          gst_gid_subscription_get_name (&self->subscription), is),
      ("it takes %s", wanted));
  g_free (wanted);
  g_free (is);
  gst_clear_caps (&taken);
}

static void
set_caps (GstGidSrc *self, GstCaps *caps)
{
  gst_caps_replace (&self->caps, caps);
  gst_gid_copier_clear (&self->copier);
  gst_gid_filler_forget (&self->filler);
}

/*
 * Negotiates if the caps have changed, or downstream wants to renegotiate, for example because a
 * branch was added to a tee. GstBaseSrc checks that only before create(), which may wait for a
 * frame for long.
 */
static GstFlowReturn
negotiate (GstGidSrc *self, GstGidImport *import)
{
  gboolean same =
      self->caps == import->caps || (self->caps && gst_caps_is_equal (self->caps, import->caps));

  if (same && !gst_pad_needs_reconfigure (GST_BASE_SRC_PAD (self)))
    return GST_FLOW_OK;
  if (!same)
    set_caps (self, import->caps);
  /* otherwise only pushing the next buffer would tell whether downstream accepts the caps */
  if (gst_base_src_negotiate (GST_BASE_SRC_CAST (self))
      && gst_pad_peer_query_accept_caps (GST_BASE_SRC_PAD (self), self->caps))
    return GST_FLOW_OK;
  if (GST_PAD_IS_FLUSHING (GST_BASE_SRC_PAD (self)))
    return GST_FLOW_FLUSHING;
  post_not_negotiated (self);
  return GST_FLOW_ERROR;
}

/* For elements downstream that do not support GstVideoMeta. */
static GstFlowReturn
copy_plain (GstGidSrc *self, GstBuffer **buffer, const GstGidImport *import)
{
  gsize size = GST_VIDEO_INFO_SIZE (&import->format.info);
  GstBuffer *copy;

  if (import->format.dmabuf)
    return GST_FLOW_OK;
  if (!gst_gid_copier_count (&self->copier, GST_GID_COPY_PLAIN_LAYOUT, size))
    return GST_FLOW_ERROR;
  copy = gst_gid_copier_acquire_plain (&self->copier, import->caps, size);
  if (copy == NULL || !gst_gid_picture_copy (copy, *buffer, &import->format)) {
    gst_clear_buffer (&copy);
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("A frame could not be mapped to be copied."),
        ("%" GST_PTR_FORMAT, *buffer));
    return GST_FLOW_ERROR;
  }
  gst_buffer_replace (buffer, copy);
  gst_buffer_unref (copy);
  return GST_FLOW_OK;
}

/*
 * Whether downstream already shows this frame. If a picture was filled in since then, it is shown
 * again.
 */
static gboolean
is_there_already (GstGidSrc *self, const struct gid_frame *frame)
{
  return !gst_gid_filler_is_due (&self->filler)
      && gst_gid_sequence_is_again (&self->sequence, frame);
}

/* Counts a frame of which nothing can be shown. */
static GstFlowReturn
drop_frame (GstGidSrc *self, const struct gid_frame *frame)
{
  gst_gid_sequence_note_lost (&self->sequence, frame);
  return GST_FLOW_OK;
}

/*
 * Whether to copy this frame, because downstream holds too many frames, or the lease is too short
 * to be renewed.
 */
static gboolean
holds_enough (GstGidSrc *self, const GstGidImport *import)
{
  GstGidReader *reader = get_reader (self);
  struct gid_consumer_stats stats;
  gboolean enough;

  gst_gid_domain_lock (reader->domain);
  gid_consumer_get_stats (reader->consumer, &stats);
  enough = gst_gid_reader_is_too_late (&stats)
      || gst_gid_credit_is_lent (&self->credit, &stats, reader->interval, import->info.slot_size);
  gst_gid_domain_unlock (reader->domain);
  return enough;
}

/*
 * Returns a copy of the frame, and releases the frame. NULL if it cannot be copied now, or, with
 * `*stale` set, was reclaimed meanwhile. Does not count the copy.
 */
static GstBuffer *
copy_frame (
    GstGidSrc *self, const GstGidImport *import, const struct gid_frame *frame, gboolean *stale)
{
  GstGidReader *reader = get_reader (self);
  GstBuffer *copy;
  gboolean copied;

  if (import->format.dmabuf)
    return NULL; /* downstream accepts nothing else */
  copy = gst_gid_copier_acquire (&self->copier, gst_gid_copier_size_of (&import->info));
  if (copy == NULL)
    return NULL;
  gst_gid_domain_lock (reader->domain);
  copied = gst_gid_copier_copy_slot (reader, import->slab, frame, copy, stale);
  gst_gid_domain_unlock (reader->domain);
  if (!copied)
    gst_clear_buffer (&copy);
  return copy;
}

/*
 * Makes a buffer of the frame: the copy it was received as, a new copy if downstream holds enough
 * frames, or the slot itself, which is released when the buffer is freed. NULL with GST_FLOW_OK: it
 * was reclaimed before it could be read, or its memory cannot be read. `*metas` is NULL for a copy.
 */
static GstFlowReturn
wrap (GstGidSrc *self, GstGidArrival *arrival, GstGidImport *import, GstBuffer **buffer,
    GstGidMetas **metas)
{
  const struct gid_frame *frame = &arrival->frame;
  GstGidReader *reader = get_reader (self);
  gboolean stale = FALSE, is_hollow = FALSE;

  *metas = NULL;
  *buffer = g_steal_pointer (&arrival->copy);
  if (*buffer)
    *buffer = gst_gid_copier_refit (&self->copier, *buffer);
  else if (holds_enough (self, import))
    *buffer = copy_frame (self, import, frame, &stale);
  if (*buffer) {
    gst_buffer_set_size (*buffer, MIN (import->size, gst_buffer_get_size (*buffer)));
    return gst_gid_copier_count_held (&self->copier, reader, import->size) ? GST_FLOW_OK
                                                                           : GST_FLOW_ERROR;
  }
  gst_gid_domain_lock (reader->domain);
  gst_gid_backlog_set_dmabuf (&self->backlog, import->format.dmabuf);
  if (!stale && gid_consumer_holds (reader->consumer, frame, import->slab, NULL) != -ESTALE) {
    *buffer = gst_gid_import_take (import, frame, gst_gid_copier_get_kind (&self->copier), metas);
    is_hollow = *buffer == NULL;
  }
  gst_gid_domain_unlock (reader->domain);
  if (is_hollow)
    tell_unusable (self, "its memory has holes");
  return GST_FLOW_OK;
}

static void
read_metadata (GstGidSrc *self, GstGidArrival *arrival, const struct gid_slab *slab)
{
  GstGidReader *reader = get_reader (self);

  if (arrival->frame.metadata == GID_NONE)
    return;
  gst_gid_domain_lock (reader->domain);
  arrival->metadata = gst_gid_extras_read (&self->extras, reader->consumer, &arrival->frame, slab);
  gst_gid_domain_unlock (reader->domain);
}

/* Reports missed or lost frames, with the cause and what to do. */
static void
post_missing (GstGidSrc *self, guint64 missed, guint64 lost)
{
  const gchar *stream = gst_gid_subscription_get_name (&self->subscription);
  struct gid_consumer_stats stats;

  gst_gid_subscription_get_stats (&self->subscription, &stats);
  if (missed == 0)
    gst_gid_post_loss (self, "`lost` of the statistics counts all such frames",
        "%" G_GUINT64_FORMAT " frames of the stream \"%s\" were lost: they were taken back before "
        "they were read, or cannot be shown.",
        lost, stream);
  else if (gst_gid_credit_drops_old (&self->credit))
    gst_gid_post_loss (self, "drop-old=false has frames wait here, up to max-size-bytes=",
        "%" G_GUINT64_FORMAT " frames of the stream \"%s\" were missed: downstream is slower than "
        "they come, and drop-old=true then gives it the newest.",
        missed, stream);
  else if (stats.patient)
    gst_gid_post_loss (self, "lease= of the producer's gidsink says how long it waits for us",
        "%" G_GUINT64_FORMAT " frames of the stream \"%s\" were missed: this program took none for "
        "longer than its producer waits.",
        missed, stream);
  else
    gst_gid_post_loss (self,
        "leaky=false of the producer's gidsink waits for us; max-size-bytes= says how much can "
        "wait here",
        "%" G_GUINT64_FORMAT " frames of the stream \"%s\" were missed: downstream is slower than "
        "they come, or its producer had no memory for them.",
        missed, stream);
}

void
gst_gid_src_tell_missing (GstGidSrc *self, gboolean at_end)
{
  gboolean first = !gst_gid_sequence_was_told (&self->sequence);
  guint64 missed, lost;

  /* this is what the user has asked for */
  if (gst_gid_credit_drops_old (&self->credit) && self->live)
    return;
  if (!gst_gid_sequence_tell_missing (&self->sequence, at_end, &missed, &lost))
    return;
  if (first)
    post_missing (self, missed, lost);
  else
    gst_gid_post_loss (self, "the statistics count them",
        "In all, %" G_GUINT64_FORMAT
        " frames of the stream \"%s\" were missed, and %" G_GUINT64_FORMAT " lost.",
        missed, gst_gid_subscription_get_name (&self->subscription), lost);
}

static GstFlowReturn
make_buffer (GstGidSrc *self, GstGidArrival *arrival, GstBuffer **out, gboolean *used)
{
  const struct gid_frame *frame = &arrival->frame;
  GstGidImport *import = find_import (self, arrival);
  GstGidMetas *metas, of_copy = { 0 };
  GstFlowReturn ret;
  GstBuffer *buffer = NULL, *wrapped;

  if (import && !gst_gid_import_set_shown (import, frame)) {
    tell_unusable (self, "its crop lies outside of the picture");
    import = NULL;
  }
  if (import == NULL)
    return drop_frame (self, frame);
  if (arrival->slab == NULL)
    read_metadata (self, arrival, import->slab);
  ret = negotiate (self, import);
  if (ret == GST_FLOW_OK)
    ret = wrap (self, arrival, import, &buffer, &metas);
  *used = buffer != NULL;
  if (ret == GST_FLOW_OK && buffer == NULL)
    return drop_frame (self, frame);
  if (ret == GST_FLOW_OK && metas == NULL)
    metas = &of_copy;
  wrapped = buffer;
  if (ret == GST_FLOW_OK && !describe (self, buffer, frame, import, metas))
    ret = copy_plain (self, &buffer, import);
  if (ret != GST_FLOW_OK) {
    gst_clear_buffer (&buffer);
    return ret;
  }
  if (buffer != wrapped) {
    of_copy = (GstGidMetas) { 0 };
    metas = &of_copy;
  }
  gst_gid_frame_apply_flags (frame, buffer);
  set_times (self, buffer, arrival, metas);
  gst_gid_sequence_note_frame (&self->sequence, frame, buffer, self->live);
  gst_gid_orientation_follow (&self->orientation, frame->transform);
  gst_gid_extras_apply (&self->extras, arrival->note, frame->note_size, arrival->metadata,
      gst_gid_subscription_get_name (&self->subscription), buffer);
  gst_gid_filler_note_picture (&self->filler, buffer, when_shown (frame));
  self->last_pts = GST_BUFFER_PTS (buffer);
  *out = buffer;
  return GST_FLOW_OK;
}

GstFlowReturn
gst_gid_src_make_buffer (GstGidSrc *self, GstGidArrival *arrival, GstBuffer **out)
{
  gboolean used = FALSE;
  GstFlowReturn ret;

  *out = NULL;
  if (is_there_already (self, &arrival->frame))
    ret = GST_FLOW_OK;
  else
    ret = make_buffer (self, arrival, out, &used);
  gst_gid_src_tell_missing (self, FALSE);
  if (!used || arrival->slab)
    gst_gid_arrival_finish (arrival, get_reader (self));
  g_clear_pointer (&arrival->metadata, g_byte_array_unref);
  return ret;
}

/* --- pictures that are filled in -------------------------------------------------------------- */

/* After a delay longer than this, continue from now, without catching up. */
#define LATE (100 * GST_MSECOND)

/*
 * The time of the picture that is due now; GST_CLOCK_TIME_NONE: none is, and the streaming thread
 * is woken for the next one.
 */
static GstClockTime
filler_time (GstGidSrc *self)
{
  GstGidReader *reader = get_reader (self);
  GstClockTime now = gid_clock_now (), due;

  gst_gid_domain_lock (reader->domain);
  due = gst_gid_filler_get_due (&self->filler, self->caps, reader->interval);
  if (GST_CLOCK_TIME_IS_VALID (due) && due > now) {
    gst_gid_reader_wake_at (reader, due);
    due = GST_CLOCK_TIME_NONE;
  }
  gst_gid_domain_unlock (reader->domain);
  if (GST_CLOCK_TIME_IS_VALID (due) && now - due > LATE)
    due = now;
  return due;
}

GstBuffer *
gst_gid_src_make_filler (GstGidSrc *self)
{
  GstBuffer *buffer = NULL;
  GstClockTime when;

  while (buffer == NULL && GST_CLOCK_TIME_IS_VALID (when = filler_time (self)))
    buffer = gst_gid_filler_make (&self->filler, self->caps, &self->copier, when);
  if (buffer) {
    GST_BUFFER_PTS (buffer) = running_time (self, when);
    gst_gid_filler_note_filled (&self->filler, get_reader (self), buffer);
    self->last_pts = GST_BUFFER_PTS (buffer);
  }
  return buffer;
}
