// SPDX-License-Identifier: MIT
#include "gstgidslots.h"

#include <gst/allocators/gstdmabuf.h>

#include "common/gstgidcaps.h"
#include "common/gstgidpool.h"

void
gst_gid_slots_init (GstGidSlots *self, GstBaseSink *sink, GstGidPublication *publication)
{
  self->sink = sink;
  self->publication = publication;
}

static void
drop_copy_pool (GstGidSlots *self)
{
  GstBufferPool *pool;

  GST_OBJECT_LOCK (self->sink);
  pool = g_steal_pointer (&self->copy_pool);
  GST_OBJECT_UNLOCK (self->sink);
  if (pool)
    gst_buffer_pool_set_active (pool, FALSE);
  gst_clear_object (&pool);
}

void
gst_gid_slots_clear (GstGidSlots *self)
{
  GstGidAllocator *allocator;

  drop_copy_pool (self);
  GST_OBJECT_LOCK (self->sink);
  allocator = g_steal_pointer (&self->allocator);
  GST_OBJECT_UNLOCK (self->sink);
  gst_clear_object (&allocator);
  gst_clear_object (&self->asked_allocator);
  gst_clear_caps (&self->asked_caps);
  gst_clear_caps (&self->caps);
  g_clear_pointer (&self->description, g_free);
}

void
gst_gid_slots_set_caps (GstGidSlots *self, GstCaps *caps, const GstGidFormat *format)
{
  gchar *lost;

  gst_gid_slots_clear (self);
  self->format_before = self->format;
  self->format = *format;
  self->caps = gst_caps_ref (caps);
  self->description = gst_gid_caps_to_text (caps, GID_DESCRIPTION_MAX, &lost);
  if (lost)
    GST_ELEMENT_WARNING (self->sink, STREAM, NOT_IMPLEMENTED,
        ("Readers do not get these fields of the caps: %s. Fields of simple types travel, %d bytes of "
         "them.",
            lost, GID_DESCRIPTION_MAX),
        ("%" GST_PTR_FORMAT, caps));
  g_free (lost);
}

gboolean
gst_gid_slots_is_late (const GstGidSlots *self, GstBuffer *buffer)
{
  /* If dma-bufs cannot be exported, system memory may follow that is larger than necessary. */
  if (self->format_before.dmabuf && gst_buffer_n_memory (buffer) > 0
      && !gst_is_dmabuf_memory (gst_buffer_peek_memory (buffer, 0)))
    return FALSE;
  return self->format_before.fourcc && !gst_gid_format_may_be_of (&self->format, buffer)
      && gst_gid_format_may_be_of (&self->format_before, buffer);
}

/* --- the allocator for upstream --------------------------------------------------------------- */

static GstGidAllocator *
new_allocator (GstGidSlots *self, const GstCaps *caps, guint limit, gboolean dmabuf)
{
  return gst_gid_allocator_new (gst_gid_publication_get_domain (self->publication),
      gst_gid_publication_get_name (self->publication), caps, limit, dmabuf,
      GST_ELEMENT_CAST (self->sink));
}

/*
 * Elements such as videorate forward ALLOCATION queries whose caps differ from ours in fields other
 * than the format and size. For these the slabs get our caps as description, which the frames will
 * have.
 */
static gboolean
is_same_picture (GstGidSlots *self, const GstCaps *caps)
{
  GstGidFormat asked;

  return self->caps && gst_gid_format_from_caps (&asked, caps)
      && asked.fourcc == self->format.fourcc && asked.modifier == self->format.modifier
      && asked.dmabuf == self->format.dmabuf
      && gst_gid_format_width (&asked) == gst_gid_format_width (&self->format)
      && gst_gid_format_height (&asked) == gst_gid_format_height (&self->format);
}

GstGidAllocator *
gst_gid_slots_get_allocator (GstGidSlots *self, GstCaps *caps)
{
  gboolean dmabuf;
  guint limit;

  GST_OBJECT_LOCK (self->sink);
  limit = self->limit;
  dmabuf = self->dmabuf;
  GST_OBJECT_UNLOCK (self->sink);

  if (is_same_picture (self, caps)) {
    if (self->allocator == NULL) {
      GstGidAllocator *allocator = new_allocator (self, self->caps, limit, dmabuf);

      GST_OBJECT_LOCK (self->sink);
      self->allocator = allocator;
      GST_OBJECT_UNLOCK (self->sink);
    }
    return self->allocator;
  }
  if (self->asked_caps == NULL || !gst_caps_is_equal (self->asked_caps, caps)) {
    gst_clear_object (&self->asked_allocator);
    gst_caps_replace (&self->asked_caps, caps);
    self->asked_allocator = new_allocator (self, caps, limit, dmabuf);
  }
  return self->asked_allocator;
}

/* --- copies ----------------------------------------------------------------------------------- */

/* The caps of copies: for linear dma-bufs, DMA_DRM caps become raw video. */
static GstCaps *
get_copy_caps (GstGidSlots *self)
{
  return self->format.dmabuf ? gst_video_info_to_caps (&self->format.info)
                             : gst_caps_ref (self->caps);
}

/* `window`: without dma-bufs, which other machines cannot access. */
static gboolean
start_copy_pool (GstGidSlots *self, gboolean window)
{
  GstGidAllocator *allocator = gst_object_ref (gst_gid_slots_get_allocator (self, self->caps));
  GstCaps *caps = get_copy_caps (self);
  GstBufferPool *pool;
  GstStructure *config;

  if (self->format.dmabuf || (window && allocator->dmabuf)) {
    guint limit = allocator->limit;

    gst_object_unref (allocator);
    allocator = new_allocator (self, caps, limit, FALSE);
  }
  self->copies_are_dmabufs = allocator->dmabuf;
  pool = gst_gid_pool_new (allocator, caps);
  gst_caps_unref (caps);
  gst_object_unref (allocator);
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_buffer_pool_set_config (pool, config);
  if (!gst_buffer_pool_set_active (pool, TRUE)) {
    gst_object_unref (pool);
    return FALSE;
  }
  GST_OBJECT_LOCK (self->sink);
  self->copy_pool = pool;
  GST_OBJECT_UNLOCK (self->sink);
  return TRUE;
}

GstFlowReturn
gst_gid_slots_acquire_copy (GstGidSlots *self, gboolean playing, GstBuffer **copy)
{
  gboolean window = gst_gid_publication_needs_window (self->publication);
  GstFlowReturn ret;

  if (window && self->copies_are_dmabufs)
    drop_copy_pool (self);
  if (self->copy_pool == NULL && !start_copy_pool (self, window))
    return GST_FLOW_ERROR;
  do {
    ret = gst_buffer_pool_acquire_buffer (self->copy_pool, copy, NULL);
    if (ret != GST_FLOW_FLUSHING || !playing)
      return ret;
    ret = gst_base_sink_wait_preroll (self->sink);
  } while (ret == GST_FLOW_OK);
  return ret;
}

void
gst_gid_slots_set_flushing (GstGidSlots *self, gboolean flushing)
{
  GstBufferPool *pool;

  GST_OBJECT_LOCK (self->sink);
  pool = self->copy_pool ? gst_object_ref (self->copy_pool) : NULL;
  GST_OBJECT_UNLOCK (self->sink);
  if (pool) {
    gst_buffer_pool_set_flushing (pool, flushing);
    gst_object_unref (pool);
  }
}

void
gst_gid_slots_get_stats (GstGidSlots *self, guint *slots, guint *used, guint64 *waits)
{
  *slots = *used = 0;
  *waits = 0;
  if (self->allocator == NULL)
    return;
  gst_gid_allocator_get_slots (self->allocator, slots, used);
  g_mutex_lock (&self->allocator->lock);
  *waits = self->allocator->waits;
  g_mutex_unlock (&self->allocator->lock);
}
