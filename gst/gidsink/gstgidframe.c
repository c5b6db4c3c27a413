// SPDX-License-Identifier: MIT
/*
 * From a GstBuffer to a gid, by the cheapest way there is:
 * 1. memory that is a slot of our own: its gid;
 * 2. memory with a descriptor (dma-buf, sealed memfd, a slot under other caps): exported as it is;
 * 3. everything else: one copy into a slot, counted.
 *
 * Copies that upstream makes into our memory are counted, too, as far as they can be seen. libav's
 * decoders make two kinds:
 * - Frames that were decoded before the memory was negotiated. They are written in one go, while a
 *   frame that is decoded in place stays mapped as others are begun, or comes as an alias.
 * - All of them where the visible width is not the coded one: the pool knows, see may_pad().
 */
#include <errno.h>

#include "common/gstgid.h"
#include "common/gstgidallocator.h"
#include "common/gstgidpicture.h"
#include "gstgidsink.h"

#define GST_CAT_DEFAULT gst_gid_debug

static gboolean
count_copy (GstGidSink *self, GstGidCopyReason reason, guint64 bytes)
{
  gboolean allowed;

  gst_gid_domain_lock (self->domain);
  gid_producer_count_copy_for (self->producer, gst_gid_copy_reason_shared (reason), bytes);
  gst_gid_domain_unlock (self->domain);
  allowed =
      gst_gid_copies_add (&self->copies, GST_ELEMENT_CAST (self), self->copy_policy, reason, bytes);
  return allowed;
}

GstGidAllocator *
gst_gid_sink_get_allocator (GstGidSink *self, GstCaps *caps)
{
  GstGidFormat asked;
  gboolean dmabuf;
  guint slots;

  GST_OBJECT_LOCK (self);
  slots = self->slots;
  dmabuf = self->dmabuf;
  GST_OBJECT_UNLOCK (self);

  /* elements like videorate pass on queries of caps that differ from ours in other things than
   * the pixels: the slabs then carry the caps that the frames will have */
  if (self->caps && gst_gid_format_from_caps (&asked, caps) && asked.fourcc == self->format.fourcc
      && asked.modifier == self->format.modifier && asked.dmabuf == self->format.dmabuf
      && gst_gid_format_width (&asked) == gst_gid_format_width (&self->format)
      && gst_gid_format_height (&asked) == gst_gid_format_height (&self->format)) {
    if (self->allocator == NULL) {
      GstGidAllocator *allocator = gst_gid_allocator_new (
          self->domain, self->stream, self->caps, slots, dmabuf, GST_ELEMENT_CAST (self));

      GST_OBJECT_LOCK (self);
      self->allocator = allocator;
      GST_OBJECT_UNLOCK (self);
    }
    return self->allocator;
  }

  if (self->asked_caps == NULL || !gst_caps_is_equal (self->asked_caps, caps)) {
    gst_clear_object (&self->asked_allocator);
    gst_caps_replace (&self->asked_caps, caps);
    self->asked_allocator = gst_gid_allocator_new (
        self->domain, self->stream, caps, slots, dmabuf, GST_ELEMENT_CAST (self));
  }
  return self->asked_allocator;
}

static void
drop_copy_pool (GstGidSink *self)
{
  GstBufferPool *pool;

  GST_OBJECT_LOCK (self);
  pool = g_steal_pointer (&self->copy_pool);
  GST_OBJECT_UNLOCK (self);
  if (pool)
    gst_buffer_pool_set_active (pool, FALSE);
  gst_clear_object (&pool);
}

void
gst_gid_sink_clear_caps (GstGidSink *self)
{
  GstGidAllocator *allocator;

  drop_copy_pool (self);
  GST_OBJECT_LOCK (self);
  allocator = g_steal_pointer (&self->allocator);
  GST_OBJECT_UNLOCK (self);
  gst_clear_object (&allocator);
  gst_clear_object (&self->asked_allocator);
  gst_clear_caps (&self->asked_caps);
  gst_clear_caps (&self->caps);
  g_clear_pointer (&self->description, g_free);
  self->suspects = 0;
}

/* A consumer on another machine sees our own shared memory alone. */
static gboolean
needs_window (GstGidSink *self)
{
  gboolean needed;

  gst_gid_domain_lock (self->domain);
  needed = gid_producer_needs_window (self->producer);
  gst_gid_domain_unlock (self->domain);
  return needed;
}

/* Those of copies: what DMA_DRM says of linear dma-bufs, said of memory. */
static GstCaps *
get_copy_caps (GstGidSink *self)
{
  return self->format.dmabuf ? gst_video_info_to_caps (&self->format.info)
                             : gst_caps_ref (self->caps);
}

/* `window`: not of dma-bufs, which other machines do not see. */
static gboolean
start_copy_pool (GstGidSink *self, gboolean window)
{
  GstGidAllocator *allocator = gst_object_ref (gst_gid_sink_get_allocator (self, self->caps));
  GstCaps *caps = get_copy_caps (self);
  GstBufferPool *pool;
  GstStructure *config;

  if (self->format.dmabuf || (window && allocator->dmabuf)) {
    guint slots = allocator->limit;

    gst_object_unref (allocator);
    allocator = gst_gid_allocator_new (
        self->domain, self->stream, caps, slots, FALSE, GST_ELEMENT_CAST (self));
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
  GST_OBJECT_LOCK (self);
  self->copy_pool = pool;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

/*
 * What is said to be a dma-buf may turn out to be none that can be exported: GL without a GPU offers
 * such memory first of all. Asks upstream for plain memory. Returns FALSE where it has none.
 */
static gboolean
fall_back_to_raw (GstGidSink *self)
{
  GstPad *pad = GST_BASE_SINK_PAD (self);
  GstCaps *raw, *possible;
  gboolean can;

  raw = gst_gid_caps_template (FALSE);
  possible = gst_pad_peer_query_caps (pad, raw);
  can = !gst_caps_is_empty (possible);
  gst_caps_unref (possible);
  gst_caps_unref (raw);
  if (can && g_atomic_int_compare_and_exchange (&self->only_raw, FALSE, TRUE)) {
    GST_INFO_OBJECT (self, "these dma-bufs cannot be exported: asking for plain memory");
    gst_pad_push_event (pad, gst_event_new_reconfigure ());
  }
  return can;
}

/*
 * A buffer to copy to. A pause wakes who waits for one, as a flush does: what is `playing` goes on
 * when the pause is over.
 */
static GstFlowReturn
acquire_copy (GstGidSink *self, gboolean playing, GstBuffer **copy)
{
  GstFlowReturn ret;

  do {
    ret = gst_buffer_pool_acquire_buffer (self->copy_pool, copy, NULL);
    if (ret != GST_FLOW_FLUSHING || !playing)
      return ret;
    ret = gst_base_sink_wait_preroll (GST_BASE_SINK_CAST (self));
  } while (ret == GST_FLOW_OK);
  return ret;
}

static GstFlowReturn
copy_frame (GstGidSink *self, gboolean playing, GstBuffer **buffer, GstGidCopyReason reason)
{
  GstFlowReturn ret;
  GstBuffer *copy;
  gboolean window;

  if (self->format.dmabuf && reason != GST_GID_COPY_OTHER_MACHINE) {
    if (fall_back_to_raw (self))
      return GST_GID_FLOW_NOT_THIS_ONE;
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("A dma-buf frame cannot be exported as it is, and is not copied as it says DMA_DRM. Use "
         "frames in one dma-buf, or let upstream download them to video/x-raw."),
        (NULL));
    return GST_FLOW_ERROR;
  }
  if (!count_copy (self, reason, GST_VIDEO_INFO_SIZE (&self->format.info)))
    return GST_FLOW_ERROR;
  window = needs_window (self);
  if (window && self->copies_are_dmabufs)
    drop_copy_pool (self);
  if (self->copy_pool == NULL && !start_copy_pool (self, window))
    return GST_FLOW_ERROR;

  ret = acquire_copy (self, playing, &copy);
  if (ret != GST_FLOW_OK)
    return ret;
  if (!gst_gid_picture_copy (copy, *buffer, &self->format)) {
    gst_buffer_unref (copy);
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("A frame could not be mapped to be copied."),
        ("%" GST_PTR_FORMAT, *buffer));
    return GST_FLOW_ERROR;
  }
  gst_buffer_copy_into (copy, *buffer, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  gst_buffer_replace (buffer, copy);
  gst_buffer_unref (copy);
  return GST_FLOW_OK;
}

/* Counts what upstream has copied into our memory, see the top of this file. */
static gboolean
watch_upstream (GstGidSink *self, GstMemory *mem, const GstGidSlot *slot)
{
  guint64 bytes = GST_VIDEO_INFO_SIZE (&self->format.info);
  GstGidCopyReason reason = g_atomic_int_get (&slot->slab->allocator->copying);
  gboolean allowed = TRUE;

  if (reason) {
    allowed = count_copy (self, reason, bytes);
  } else if (gst_gid_memory_is_alias (mem)) {
    /* so those in front of it were copied */
    for (; self->suspects > 0; self->suspects--)
      allowed &= count_copy (self, GST_GID_COPY_STARTUP, bytes);
    self->settling = FALSE;
  } else if (!slot->in_one_go) {
    self->settling = FALSE;
  } else if (self->settling) {
    self->suspects++;
  }
  return allowed;
}

static void
name_slot (GstGidSink *self, const GstGidSlot *slot, struct gid_frame *frame)
{
  GstGidSlab *slab = slot->slab;
  guint64 emptied;

  gst_gid_domain_lock (self->domain);
  frame->gid = gid_slab_gid (slab->slab, slot->index);
  emptied = gid_slab_emptied (slab->slab);
  gst_gid_domain_unlock (self->domain);
  if (emptied != slab->emptied) {
    slab->emptied = emptied;
    GST_ELEMENT_WARNING (self, RESOURCE, READ,
        ("Pictures were lost: their memory was taken from a reader that may read it no more, and "
         "this program came too late to move them. What upstream keeps in memory, as a decoder "
         "does, is black until it is written anew."),
        (NULL));
  }
}

/*
 * Whether our readers on other machines may not see it: a dma-buf that is in no window, or memory
 * for another stream.
 */
static gboolean
is_for_others (GstGidSink *self, const GstGidSlab *slab)
{
  const GstGidAllocator *allocator = slab->allocator;

  return slab->info.memory == GID_MEMORY_DMABUF
      || (allocator->stream != NULL && g_strcmp0 (allocator->stream, self->stream) != 0);
}

/* Said once of each kind: what is behind gidsrc works without it, or finds out by itself. */
static void
tell_of_lost (GstGidSink *self, const GstMetaInfo *info)
{
  if (g_hash_table_add (self->told_of, GSIZE_TO_POINTER (info->type)))
    GST_ELEMENT_INFO (self, STREAM, NOT_IMPLEMENTED,
        ("Readers do not get the %s of frames: metadata of that kind does not travel, or is longer "
         "than max-metadata-bytes.",
            g_type_name (info->type)),
        (NULL));
}

static void
add_metadata (const GstMeta *meta, gpointer data)
{
  GstGidSink *self = data;

  if (!gst_gid_metadata_add (self->metadata, meta, self->max_metadata))
    tell_of_lost (self, meta->info);
}

/* All but the gid. */
static void
describe_frame (GstGidSink *self, GstBuffer *buffer, struct gid_frame *frame)
{
  gst_gid_frame_set_buffer (frame, &self->format, buffer);
  frame->note = self->note.bytes;
  frame->note_size = self->note.size;
}

GstFlowReturn
gst_gid_sink_name_frame (GstGidSink *self, gboolean playing, GstBuffer **buffer,
    struct gid_frame *frame, GstGidExport **export)
{
  GstMemory *mem = gst_buffer_peek_memory (*buffer, 0);
  const GstGidSlot *slot = gst_gid_memory_get_slot (mem);
  /* Nobody can read other modifiers: what is not in a window then does not leave this machine. */
  gboolean readable = !self->format.dmabuf || gst_gid_format_is_linear (&self->format);
  GstFlowReturn ret = GST_FLOW_OK;
  GstGidCopyReason reason = GST_GID_COPY_UPSTREAM_MEMORY;
  struct gid_layout layout;

  *export = NULL;
  g_byte_array_set_size (self->metadata, 0);
  gst_gid_note_set_buffer (&self->note, *buffer, add_metadata, self);
  gst_gid_metadata_finish (self->metadata);
  describe_frame (self, *buffer, frame);
  gst_gid_layout_from_buffer (&layout, &self->format, *buffer);

  if (gst_buffer_n_memory (*buffer) != 1) {
    reason = GST_GID_COPY_SPLIT_MEMORY;
  } else if (gst_is_gid_memory (mem, self->domain) && mem->offset == 0
      && gst_gid_layout_equal (&slot->slab->info.layout, &layout)
      && g_strcmp0 (slot->slab->allocator->description, self->description) == 0) {
    if (!readable || !is_for_others (self, slot->slab) || !needs_window (self)) {
      name_slot (self, slot, frame);
      return watch_upstream (self, mem, slot) ? GST_FLOW_OK : GST_FLOW_ERROR;
    }
    reason = GST_GID_COPY_OTHER_MACHINE;
  } else if (gst_gid_export_is_possible (mem) && readable && needs_window (self)) {
    reason = GST_GID_COPY_OTHER_MACHINE;
  } else if (gst_gid_export_is_possible (mem)) {
    int result;

    *export = gst_gid_export_get (self->domain, mem, &layout, self->description, &result);
    if (*export) {
      gst_gid_domain_lock (self->domain);
      frame->gid = gid_slab_gid ((*export)->slab, 0);
      gst_gid_domain_unlock (self->domain);
      return GST_FLOW_OK;
    }
    GST_DEBUG_OBJECT (self, "not to be exported as it is: %s", gid_strerror (result));
    if (result == -EPERM || result == -EBADF)
      reason = GST_GID_COPY_UNSEALED_MEMORY;
  }

  ret = copy_frame (self, playing, buffer, reason);
  if (ret != GST_FLOW_OK)
    return ret;
  describe_frame (self, *buffer, frame);
  frame->flags |= GID_FRAME_COPIED;
  name_slot (self, gst_gid_memory_get_slot (gst_buffer_peek_memory (*buffer, 0)), frame);
  return GST_FLOW_OK;
}
