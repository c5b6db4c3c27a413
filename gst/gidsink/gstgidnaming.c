// SPDX-License-Identifier: MIT
/*
 * Finds a gid for the memory of a GstBuffer, in the cheapest possible way:
 * - memory that is a slot of our own has a gid;
 * - memory with a descriptor (dma-buf, sealed memfd, a slot made for other caps) is exported;
 * - anything else is copied to a slot once, and counted.
 *
 * Copies that upstream makes into our memory are counted, too, as far as they can be detected.
 * libav's decoders make two kinds:
 * - Frames that were decoded before the allocation was negotiated. Each is written completely
 *   before the next slot is taken. A frame that is decoded in place stays mapped while the next
 *   ones are begun, or arrives as an alias.
 * - All frames, if the width is not the coded width: the pool detects this in may_pad().
 */
#include "gstgidnaming.h"

#include <errno.h>

#include "common/gstgid.h"
#include "common/gstgidpicture.h"

#define GST_CAT_DEFAULT gst_gid_debug

void
gst_gid_naming_init (GstGidNaming *self, GstElement *element, GstGidPublication *publication,
    GstGidSlots *slots, GstGidChoice *choice, GstGidSidecar *sidecar)
{
  self->element = element;
  self->publication = publication;
  self->slots = slots;
  self->choice = choice;
  self->sidecar = sidecar;
}

void
gst_gid_naming_start (GstGidNaming *self)
{
  self->leaves_out = FALSE;
  GST_OBJECT_LOCK (self->element);
  gst_gid_copies_start (&self->copies);
  GST_OBJECT_UNLOCK (self->element);
}

void
gst_gid_naming_expect_copies (GstGidNaming *self)
{
  self->settling = TRUE;
  self->suspects = 0;
}

void
gst_gid_naming_clear (GstGidNaming *self)
{
  self->suspects = 0;
}

void
gst_gid_naming_add_stats (const GstGidNaming *self, GstStructure *structure)
{
  gst_gid_copies_to_structure (&self->copies, structure);
}

/* --- copies ----------------------------------------------------------------------------------- */

static gboolean
count_copy (GstGidNaming *self, GstGidCopyReason reason, guint64 bytes)
{
  gst_gid_publication_count_copy (self->publication, reason, bytes);
  return gst_gid_copies_add (&self->copies, self->element, reason, bytes);
}

static GstFlowReturn
copy_frame (GstGidNaming *self, gboolean playing, GstBuffer **buffer, GstGidCopyReason reason)
{
  const GstGidFormat *format = gst_gid_slots_get_format (self->slots);
  GstFlowReturn ret;
  GstBuffer *copy;

  if (format->dmabuf && reason != GST_GID_COPY_OTHER_MACHINE) {
    if (gst_gid_choice_fall_back_to_raw (self->choice))
      return GST_GID_FLOW_NOT_THIS_ONE;
    GST_ELEMENT_ERROR (self->element, STREAM, FORMAT,
        ("A dma-buf frame cannot be exported as it is, and is not copied as it says DMA_DRM. Use "
         "frames in one dma-buf, or let upstream download them to video/x-raw."),
        (NULL));
    return GST_FLOW_ERROR;
  }
  if (!count_copy (self, reason, GST_VIDEO_INFO_SIZE (&format->info)))
    return GST_FLOW_ERROR;
  ret = gst_gid_slots_acquire_copy (self->slots, playing, &copy);
  if (ret != GST_FLOW_OK)
    return ret;
  if (!gst_gid_picture_copy (copy, *buffer, format)) {
    gst_buffer_unref (copy);
    GST_ELEMENT_ERROR (self->element, STREAM, FORMAT, ("A frame could not be mapped to be copied."),
        ("%" GST_PTR_FORMAT, *buffer));
    return GST_FLOW_ERROR;
  }
  gst_buffer_copy_into (copy, *buffer, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  gst_buffer_replace (buffer, copy);
  gst_buffer_unref (copy);
  return GST_FLOW_OK;
}

/*
 * input-selector and similar elements may push the last frame of one stream after the caps of
 * another, as which it would be misinterpreted. Such frames are dropped.
 */
static gboolean
leave_out (GstGidNaming *self, GstBuffer *buffer)
{
  gboolean first = !self->leaves_out;

  self->leaves_out = gst_gid_slots_is_late (self->slots, buffer);
  if (self->leaves_out && first)
    GST_ELEMENT_WARNING (self->element, STREAM, FORMAT,
        ("A frame was left out: it came behind the caps of the next ones, as where input-selector "
         "changes to a stream of another format."),
        ("%" GST_PTR_FORMAT, buffer));
  return self->leaves_out;
}

/* --- gids ------------------------------------------------------------------------------------- */

/* Counts frames that upstream has copied into our memory, see the head of this file. */
static gboolean
watch_upstream (GstGidNaming *self, GstMemory *mem, const GstGidSlot *slot)
{
  guint64 bytes = GST_VIDEO_INFO_SIZE (&gst_gid_slots_get_format (self->slots)->info);
  GstGidCopyReason reason = g_atomic_int_get (&slot->slab->allocator->copying);
  gboolean allowed = TRUE;

  if (reason) {
    allowed = count_copy (self, reason, bytes);
  } else if (gst_gid_memory_is_alias (mem)) {
    /* upstream decodes in place: the frames before this one were copied */
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
name_slot (GstGidNaming *self, const GstGidSlot *slot, struct gid_frame *frame)
{
  GstGidSlab *slab = slot->slab;
  guint64 emptied;

  gst_gid_domain_lock (slab->allocator->domain);
  frame->gid = gid_slab_gid (slab->slab, slot->index);
  emptied = gid_slab_emptied (slab->slab);
  gst_gid_domain_unlock (slab->allocator->domain);
  if (emptied != slab->emptied) {
    slab->emptied = emptied;
    GST_ELEMENT_WARNING (self->element, RESOURCE, READ,
        ("Pictures were lost: their memory was taken from a reader that may read it no more, and "
         "this program came too late to move them. What upstream keeps in memory, as a decoder "
         "does, is black until it is written anew."),
        (NULL));
  }
}

/*
 * Whether readers on other machines cannot access the memory: it is a dma-buf outside of the memory
 * window, or was made for another stream.
 */
static gboolean
is_for_others (GstGidNaming *self, const GstGidSlab *slab)
{
  const gchar *stream = slab->allocator->stream;

  return slab->info.memory == GID_MEMORY_DMABUF
      || (stream && g_strcmp0 (stream, gst_gid_publication_get_name (self->publication)) != 0);
}

/*
 * Returns the slot of the memory if it belongs to our domain and was made for such frames;
 * otherwise NULL.
 */
static const GstGidSlot *
find_slot (GstGidNaming *self, GstMemory *mem, const struct gid_layout *layout)
{
  const GstGidSlot *slot = gst_gid_memory_get_slot (mem);
  const GstGidSlab *slab;

  if (slot == NULL || mem->offset != 0)
    return NULL;
  slab = slot->slab;
  if (slab->allocator->domain != gst_gid_publication_get_domain (self->publication)
      || !gst_gid_layout_equal (&slab->info.layout, layout)
      || g_strcmp0 (slab->allocator->description, gst_gid_slots_get_description (self->slots)) != 0)
    return NULL;
  return slot;
}

/*
 * Exports the memory to get a gid for the frame. Otherwise returns NULL, and sets the reason for a
 * copy if it is another one than before.
 */
static GstGidExport *
export_frame (GstGidNaming *self, GstMemory *mem, const struct gid_layout *layout,
    struct gid_frame *frame, GstGidCopyReason *reason)
{
  GstGidDomain *domain = gst_gid_publication_get_domain (self->publication);
  GstGidExport *export;
  int result;

  export = gst_gid_export_get (
      domain, mem, layout, gst_gid_slots_get_description (self->slots), &result);
  if (export == NULL) {
    GST_DEBUG_OBJECT (self->element, "not to be exported as it is: %s", gid_strerror (result));
    if (result == -EPERM || result == -EBADF)
      *reason = GST_GID_COPY_UNSEALED_MEMORY;
    return NULL;
  }
  gst_gid_domain_lock (domain);
  frame->gid = gid_slab_gid (export->slab, 0);
  gst_gid_domain_unlock (domain);
  return export;
}

GstFlowReturn
gst_gid_naming_name (GstGidNaming *self, gboolean playing, GstBuffer **buffer,
    struct gid_frame *frame, GstGidExport **export)
{
  const GstGidFormat *format = gst_gid_slots_get_format (self->slots);
  GstMemory *mem = gst_buffer_peek_memory (*buffer, 0);
  /*
   * Nobody can copy other modifiers: outside of the window they cannot be sent to other machines.
   */
  gboolean readable = !format->dmabuf || gst_gid_format_is_linear (format);
  GstGidCopyReason reason = GST_GID_COPY_UPSTREAM_MEMORY;
  const GstGidSlot *slot;
  struct gid_layout layout;
  GstFlowReturn ret;

  *export = NULL;
  if (leave_out (self, *buffer))
    return GST_GID_FLOW_NOT_THIS_ONE;
  gst_gid_layout_from_buffer (&layout, format, *buffer);
  gst_gid_frame_set_buffer (frame, format, *buffer);
  gst_gid_sidecar_read (self->sidecar, *buffer, frame);

  if (gst_buffer_n_memory (*buffer) != 1) {
    reason = GST_GID_COPY_SPLIT_MEMORY;
  } else if (!gst_gid_layout_is_within (&layout, format, mem->size)) {
    /* the memory is too small for the layout: the copy will fail, and post an error */
  } else if ((slot = find_slot (self, mem, &layout))) {
    if (!readable || !is_for_others (self, slot->slab)
        || !gst_gid_publication_needs_window (self->publication)) {
      name_slot (self, slot, frame);
      return watch_upstream (self, mem, slot) ? GST_FLOW_OK : GST_FLOW_ERROR;
    }
    reason = GST_GID_COPY_OTHER_MACHINE;
  } else if (gst_gid_export_is_possible (mem)) {
    if (readable && gst_gid_publication_needs_window (self->publication))
      reason = GST_GID_COPY_OTHER_MACHINE;
    else if ((*export = export_frame (self, mem, &layout, frame, &reason)))
      return GST_FLOW_OK;
  }

  ret = copy_frame (self, playing, buffer, reason);
  if (ret != GST_FLOW_OK)
    return ret;
  gst_gid_frame_set_buffer (frame, format, *buffer);
  gst_gid_sidecar_describe (self->sidecar, frame);
  frame->flags |= GID_FRAME_COPIED;
  name_slot (self, gst_gid_memory_get_slot (gst_buffer_peek_memory (*buffer, 0)), frame);
  return GST_FLOW_OK;
}
