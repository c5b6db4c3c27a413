// SPDX-License-Identifier: MIT
#include "gstgidfiller.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "common/gstgid.h"
#include "common/gstgidpicture.h"
#include "gstgidimport.h"
#include "gstgidstill.h"

#define GST_CAT_DEFAULT gst_gid_debug

/* Limits of the interval between two pictures, whatever the producer says; and the default. */
#define INTERVAL_MIN (4 * GST_MSECOND)
#define INTERVAL_MAX GST_SECOND
#define INTERVAL_UNKNOWN (100 * GST_MSECOND)

G_DEFINE_ENUM_TYPE (GstGidFill, gst_gid_fill,
    { GST_GID_FILL_NONE, "Nothing, wait for the stream", "none" },
    { GST_GID_FILL_LAST, "The last picture", "last" },
    { GST_GID_FILL_BLACK, "A black picture", "black" },
    { GST_GID_FILL_FILE, "The picture of fill-location", "file" })

/* --- start and stop --------------------------------------------------------------------------- */

void
gst_gid_filler_init (GstGidFiller *self, GstElement *element)
{
  self->element = element;
}

static void
warn_of_file (GstGidFiller *self, const gchar *why)
{
  GST_ELEMENT_WARNING (self->element, RESOURCE, OPEN_READ,
      ("A black picture is filled in for the stream, not that of fill-location=%s: %s",
          self->file ? self->file : "", why),
      ("see fill="));
}

/* Checked at the start, because the file may be needed much later. */
static void
check_file (GstGidFiller *self)
{
  if (self->file == NULL)
    warn_of_file (self, "fill=file takes it");
  else if (g_access (self->file, R_OK) < 0)
    warn_of_file (self, g_strerror (errno));
}

void
gst_gid_filler_start (GstGidFiller *self, gboolean live)
{
  GST_OBJECT_LOCK (self->element);
  self->fill = self->wanted;
  self->file = g_strdup (self->wanted_file);
  GST_OBJECT_UNLOCK (self->element);
  self->frames = 0;
  self->when = self->pts = GST_CLOCK_TIME_NONE;
  self->is_away = self->is_filling = self->failed = FALSE;
  if (live && self->fill == GST_GID_FILL_FILE)
    check_file (self);
  if (live || self->fill == GST_GID_FILL_NONE)
    return;
  self->fill = GST_GID_FILL_NONE;
  GST_ELEMENT_WARNING (self->element, RESOURCE, SETTINGS,
      ("Nothing is filled in for the stream with is-live=false: timestamps are the producer's, and "
       "it has none for pictures that it did not send."),
      ("see fill="));
}

void
gst_gid_filler_forget (GstGidFiller *self)
{
  gst_clear_buffer (&self->last);
  gst_clear_buffer (&self->picture);
  self->failed = FALSE;
}

void
gst_gid_filler_stop (GstGidFiller *self)
{
  gst_gid_filler_forget (self);
  g_clear_pointer (&self->file, g_free);
}

/* --- messages --------------------------------------------------------------------------------- */

static void
post_filling (GstGidFiller *self, gboolean active)
{
  GEnumClass *class = g_type_class_ref (GST_TYPE_GID_FILL);

  self->is_filling = active;
  gst_element_post_message (self->element,
      gst_message_new_element (GST_OBJECT_CAST (self->element),
          gst_structure_new ("gid-fill", "active", G_TYPE_BOOLEAN, active, "fill", G_TYPE_STRING,
              g_enum_get_value (class, (gint) self->fill)->value_nick, NULL)));
  g_type_class_unref (class);
}

void
gst_gid_filler_set_away (GstGidFiller *self)
{
  self->is_away = TRUE;
}

gboolean
gst_gid_filler_is_due (const GstGidFiller *self)
{
  return self->fill != GST_GID_FILL_NONE && self->is_away;
}

/*
 * Makes timestamps increase, also after a pause, or for a frame that was sent while pictures were
 * filled in.
 */
static void
set_behind (GstGidFiller *self, GstBuffer *buffer)
{
  if (GST_CLOCK_TIME_IS_VALID (self->pts) && GST_BUFFER_PTS_IS_VALID (buffer))
    GST_BUFFER_PTS (buffer) = MAX (GST_BUFFER_PTS (buffer), self->pts + 1);
}

void
gst_gid_filler_note_picture (GstGidFiller *self, GstBuffer *buffer, GstClockTime when)
{
  if (self->fill == GST_GID_FILL_NONE)
    return;
  if (self->is_filling)
    post_filling (self, FALSE);
  set_behind (self, buffer);
  self->is_away = FALSE;
  self->pts = GST_CLOCK_TIME_NONE;
  self->when = when;
  if (self->fill == GST_GID_FILL_LAST) {
    gst_clear_buffer (&self->picture);
    gst_buffer_replace (&self->last, buffer);
  }
}

void
gst_gid_filler_note_filled (GstGidFiller *self, GstGidReader *reader, GstBuffer *buffer)
{
  set_behind (self, buffer);
  self->pts = GST_BUFFER_PTS (buffer);
  gst_gid_domain_lock (reader->domain);
  self->frames++;
  gst_gid_domain_unlock (reader->domain);
  if (!self->is_filling)
    post_filling (self, TRUE);
}

/* --- timing ----------------------------------------------------------------------------------- */

/* By the framerate of the caps, which the producer chooses, or else the observed interval. */
static GstClockTime
choose_interval (const GstCaps *caps, GstClockTime seen)
{
  GstClockTime interval = seen > 0 ? seen : INTERVAL_UNKNOWN;
  gint n, d;

  if (gst_structure_get_fraction (gst_caps_get_structure (caps, 0), "framerate", &n, &d) && n > 0)
    interval = gst_util_uint64_scale_int (GST_SECOND, d, n);
  return CLAMP (interval, INTERVAL_MIN, INTERVAL_MAX);
}

GstClockTime
gst_gid_filler_get_due (GstGidFiller *self, const GstCaps *caps, GstClockTime interval)
{
  if (self->fill == GST_GID_FILL_NONE || !self->is_away || self->failed || caps == NULL
      || !GST_CLOCK_TIME_IS_VALID (self->when))
    return GST_CLOCK_TIME_NONE;
  self->interval = choose_interval (caps, interval);
  return self->when + self->interval;
}

/* --- pictures --------------------------------------------------------------------------------- */

/*
 * Converts from a BGRx picture of zeroes. Its pages are only read, so the kernel backs them all
 * with its zero page.
 */
static gboolean
paint_black (GstBuffer *to, GstVideoInfo *info)
{
  GstVideoConverter *converter;
  GstVideoFrame source, target;
  GstBuffer *black;
  GstVideoInfo plain;
  gboolean painted = FALSE;

  gst_video_info_set_format (
      &plain, GST_VIDEO_FORMAT_BGRx, GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info));
  /* GstVideoConverter can change neither of these */
  GST_VIDEO_INFO_INTERLACE_MODE (&plain) = GST_VIDEO_INFO_INTERLACE_MODE (info);
  GST_VIDEO_INFO_FPS_N (&plain) = GST_VIDEO_INFO_FPS_N (info);
  GST_VIDEO_INFO_FPS_D (&plain) = GST_VIDEO_INFO_FPS_D (info);
  converter = gst_video_converter_new (&plain, info, NULL);
  if (converter == NULL)
    return FALSE;
  black = gst_buffer_new_wrapped (g_malloc0 (plain.size), plain.size);
  if (gst_video_frame_map (&source, &plain, black, GST_MAP_READ)) {
    if (gst_video_frame_map (&target, info, to, GST_MAP_WRITE)) {
      gst_video_converter_frame (converter, &source, &target);
      gst_video_frame_unmap (&target);
      painted = TRUE;
    }
    gst_video_frame_unmap (&source);
  }
  gst_buffer_unref (black);
  gst_video_converter_free (converter);
  return painted;
}

/*
 * Copies the last picture of the stream. Returns 0; -EAGAIN: it is not known yet whether its memory
 * still has that picture; -ESTALE: it has not, or cannot be copied.
 */
static int
copy_last (GstGidFiller *self, GstBuffer *to, const GstGidFormat *format)
{
  int ret;

  if (self->last == NULL || !gst_gid_picture_copy (to, self->last, format))
    return -ESTALE;
  ret = gst_gid_import_check_memory (gst_buffer_peek_memory (self->last, 0));
  if (ret == 0)
    gst_clear_buffer (&self->last);
  return ret;
}

static gboolean
paint_file (GstGidFiller *self, GstBuffer *to, const GstVideoInfo *info)
{
  GError *error = NULL;

  if (self->file == NULL || gst_gid_still_paint (self->file, to, info, &error))
    return self->file != NULL;
  warn_of_file (self, error->message);
  g_error_free (error);
  return FALSE;
}

/* Returns NULL if there is no picture yet, or, with `failed` set, none with these caps. */
static GstBuffer *
make_picture (GstGidFiller *self, const GstCaps *caps, GstGidCopier *copier)
{
  GstGidFormat format;
  GstBuffer *picture = NULL;
  int ret = -ESTALE;

  if (gst_gid_format_from_caps (&format, caps) && !format.dmabuf)
    picture = gst_gid_copier_allocate (copier, GST_VIDEO_INFO_SIZE (&format.info));
  if (picture && self->fill == GST_GID_FILL_LAST)
    ret = copy_last (self, picture, &format);
  if (picture && self->fill == GST_GID_FILL_FILE && paint_file (self, picture, &format.info))
    ret = 0;
  if (picture && ret == -ESTALE && paint_black (picture, &format.info))
    ret = 0;
  if (ret == 0)
    return picture;
  gst_clear_buffer (&picture);
  self->failed = ret != -EAGAIN;
  if (self->failed)
    GST_ELEMENT_WARNING (self->element, STREAM, FORMAT,
        ("Nothing is filled in for the stream: its pictures are in a form that cannot be copied."),
        ("%" GST_PTR_FORMAT, caps));
  return NULL;
}

GstBuffer *
gst_gid_filler_make (
    GstGidFiller *self, const GstCaps *caps, GstGidCopier *copier, GstClockTime when)
{
  GstBuffer *buffer;

  self->when = when;
  if (self->picture == NULL)
    self->picture = make_picture (self, caps, copier);
  if (self->picture == NULL)
    return NULL;
  self->picture = gst_gid_copier_refit (copier, self->picture);
  /*
   * another buffer with the same memory, which no element can write as `picture` also refers to it
   */
  buffer = gst_buffer_copy (self->picture);
  GST_BUFFER_DURATION (buffer) = self->interval;
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
  return buffer;
}
