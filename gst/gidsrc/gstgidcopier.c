// SPDX-License-Identifier: MIT
#include "gstgidcopier.h"

#include <gst/allocators/allocators.h>

#include "common/gstgidposter.h"

void
gst_gid_copier_init (GstGidCopier *self, GstElement *element)
{
  self->element = element;
}

void
gst_gid_copier_start (GstGidCopier *self)
{
  GST_OBJECT_LOCK (self->element);
  gst_gid_copies_start (&self->copies);
  GST_OBJECT_UNLOCK (self->element);
}

static void
drop_pool (GstBufferPool **pool)
{
  if (*pool)
    gst_buffer_pool_set_active (*pool, FALSE);
  gst_clear_object (pool);
}

void
gst_gid_copier_clear (GstGidCopier *self)
{
  drop_pool (&self->plain_pool);
  drop_pool (&self->held_pool);
}

void
gst_gid_copier_set_kind (GstGidCopier *self, GstGidView kind)
{
  self->kind = kind;
}

GstGidView
gst_gid_copier_get_kind (const GstGidCopier *self)
{
  return self->kind;
}

/* --- memory ----------------------------------------------------------------------------------- */

gsize
gst_gid_copier_size_of (const struct gid_slab_info *info)
{
  guint64 used = gid_layout_size (&info->layout);

  /* for GStreamer, the last plane may have a few more rows */
  return used == 0 ? info->slot_size
                   : MIN (info->slot_size, used + 16 * info->layout.planes[0].stride);
}

GstBuffer *
gst_gid_copier_allocate (GstGidCopier *self, gsize size)
{
  GstAllocator *allocator = gst_gid_view_copy_allocator (self->kind);
  GstBuffer *buffer = gst_buffer_new_allocate (allocator, size, NULL);

  gst_clear_object (&allocator);
  return buffer;
}

GstBuffer *
gst_gid_copier_refit (GstGidCopier *self, GstBuffer *copy)
{
  GstBuffer *plain;
  GstMapInfo map;

  /* a copy without a descriptor is usable by all elements */
  if (self->kind == GST_GID_VIEW_FD || !gst_is_fd_memory (gst_buffer_peek_memory (copy, 0))
      || !gst_buffer_map (copy, &map, GST_MAP_READ))
    return copy;
  plain = gst_gid_copier_allocate (self, map.size);
  gst_buffer_fill (plain, 0, map.data, map.size);
  gst_buffer_unmap (copy, &map);
  gst_buffer_unref (copy);
  return plain;
}

static GstBufferPool *
start_pool (GstCaps *caps, gsize size, GstAllocator *allocator)
{
  GstBufferPool *pool = gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, caps, size, 0, 0);
  if (allocator) /* passing NULL would be an error */
    gst_buffer_pool_config_set_allocator (config, allocator, NULL);
  gst_buffer_pool_set_config (pool, config);
  gst_buffer_pool_set_active (pool, TRUE);
  return pool;
}

GstBuffer *
gst_gid_copier_acquire (GstGidCopier *self, gsize size)
{
  GstBuffer *buffer = NULL;

  if (self->held_size != size || self->held_kind != self->kind)
    drop_pool (&self->held_pool);
  if (self->held_pool == NULL) {
    GstAllocator *allocator = gst_gid_view_copy_allocator (self->kind);

    self->held_pool = start_pool (NULL, size, allocator);
    self->held_size = size;
    self->held_kind = self->kind;
    gst_clear_object (&allocator);
  }
  gst_buffer_pool_acquire_buffer (self->held_pool, &buffer, NULL);
  return buffer;
}

GstBuffer *
gst_gid_copier_acquire_plain (GstGidCopier *self, GstCaps *caps, gsize size)
{
  GstBuffer *buffer = NULL;

  if (self->plain_pool == NULL)
    self->plain_pool = start_pool (caps, size, NULL);
  gst_buffer_pool_acquire_buffer (self->plain_pool, &buffer, NULL);
  return buffer;
}

/* --- copies ----------------------------------------------------------------------------------- */

gboolean
gst_gid_copier_copy_slot (GstGidReader *reader, struct gid_slab *slab,
    const struct gid_frame *frame, GstBuffer *to, gboolean *stale)
{
  gconstpointer view = gid_slab_view (slab, gid_slot_of (frame->gid));
  struct gid_slab_info info;
  gboolean drawn = TRUE;
  int ret;

  *stale = FALSE;
  gid_slab_get_info (slab, &info);
  if (view == NULL || gid_slot_of (frame->gid) >= info.slot_count)
    return FALSE;
  gst_gid_domain_unlock (reader->domain);
  if (info.memory == GID_MEMORY_DMABUF)
    drawn = gid_dmabuf_begin_read (info.fd) == 0;
  if (drawn)
    gst_buffer_fill (to, 0, view, gst_gid_copier_size_of (&info));
  if (drawn && info.memory == GID_MEMORY_DMABUF)
    gid_dmabuf_end_read (info.fd);
  gst_gid_domain_lock (reader->domain);
  if (!drawn)
    return FALSE;
  ret = gid_consumer_holds (reader->consumer, frame, slab, NULL);
  gid_consumer_release (reader->consumer, frame);
  *stale = ret != 0;
  return ret == 0;
}

gboolean
gst_gid_copier_count (GstGidCopier *self, GstGidCopyReason reason, gsize size)
{
  return gst_gid_copies_add (&self->copies, self->element, reason, size);
}

gboolean
gst_gid_copier_count_held (GstGidCopier *self, GstGidReader *reader, gsize size)
{
  gboolean first;

  GST_OBJECT_LOCK (self->element);
  first = self->copies.reasons[GST_GID_COPY_HELD] == 0
      && self->copies.policy == GST_GID_COPY_POLICY_ALLOW;
  GST_OBJECT_UNLOCK (self->element);

  if (!gst_gid_copier_count (self, GST_GID_COPY_HELD, size))
    return FALSE;
  gst_gid_domain_lock (reader->domain);
  gid_consumer_count_copy (reader->consumer, GID_COPY_HELD, size);
  gst_gid_domain_unlock (reader->domain);
  if (first)
    gst_gid_post_info (self->element, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
        "Downstream holds frames of the stream \"%s\" for long, or is not ready for them: such "
        "frames are copied, and none is lost. credit= of gidsrc and of its gidsink says how many "
        "can be held without a copy",
        reader->stream);
  return TRUE;
}

void
gst_gid_copier_add_stats (const GstGidCopier *self, GstStructure *structure)
{
  gst_gid_copies_to_structure (&self->copies, structure);
}
