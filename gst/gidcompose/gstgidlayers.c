// SPDX-License-Identifier: MIT
/*
 * Makes a layer that the engine can read of a pad's buffer, in the cheapest possible way:
 * - a slot of our own has a gid;
 * - a frame of gidsrc has one as well, if the slab belongs to our domain;
 * - memory with a descriptor (dma-buf, sealed memfd, slab of another domain) is exported;
 * - anything else is copied to a slot once, and counted. A picture that is shown again is not
 *   copied again.
 */
#include <errno.h>

#include "common/gstgid.h"
#include "common/gstgidcolours.h"
#include "common/gstgidexport.h"
#include "common/gstgidpicture.h"
#include "gstgidcompose.h"

#define GST_CAT_DEFAULT gst_gid_debug

/*
 * How long to wait for the end of a stream to be reported; not longer, because other layers are
 * shown, too.
 */
#define KEPT_LOOKS 20
#define KEPT_LOOK_US 5000

/* --- collecting layers ------------------------------------------------------------------------ */

static gboolean
contains (const GstVideoRectangle *outer, const GstVideoRectangle *inner)
{
  return outer->x <= inner->x && outer->y <= inner->y && outer->x + outer->w >= inner->x + inner->w
      && outer->y + outer->h >= inner->y + inner->h;
}

/* The part of the box that is visible on the canvas. Returns FALSE if there is none. */
static gboolean
cut (const GstVideoRectangle *box, const GstVideoInfo *canvas, GstVideoRectangle *seen)
{
  seen->x = MAX (box->x, 0);
  seen->y = MAX (box->y, 0);
  seen->w = MIN (box->x + box->w, GST_VIDEO_INFO_WIDTH (canvas)) - seen->x;
  seen->h = MIN (box->y + box->h, GST_VIDEO_INFO_HEIGHT (canvas)) - seen->y;
  return seen->w > 0 && seen->h > 0;
}

static gboolean
is_in_range (const GstVideoRectangle *box)
{
  return box->x >= G_MININT16 && box->y >= G_MININT16 && box->w <= G_MAXUINT16
      && box->h <= G_MAXUINT16;
}

static void
set_colours (struct gid_layer *layer, const GstVideoInfo *info)
{
  gst_gid_colours_from_colorimetry (&layer->colours, &info->colorimetry);
  layer->straight = GST_VIDEO_INFO_HAS_ALPHA (info)
      && !GST_VIDEO_INFO_FLAG_IS_SET (info, GST_VIDEO_FLAG_PREMULTIPLIED_ALPHA);
}

/* Call with the element's object lock held. */
static gboolean
find_layer (GstGidCompose *self, GstGidComposePad *pad, GstGidLayer *layer)
{
  GstVideoAggregatorPad *vpad = GST_VIDEO_AGGREGATOR_PAD (pad);
  const GstVideoInfo *canvas = &self->format.info;
  GstBuffer *buffer = gst_video_aggregator_pad_get_current_buffer (vpad);
  GstVideoRectangle seen;
  GstGidOperator op;
  gdouble alpha;

  if (buffer == NULL || gst_buffer_n_memory (buffer) == 0 || vpad->info.finfo == NULL)
    return FALSE;
  GST_OBJECT_LOCK (pad);
  alpha = pad->alpha;
  op = pad->op;
  GST_OBJECT_UNLOCK (pad);
  *layer = (GstGidLayer) { .info = vpad->info };
  gst_gid_compose_pad_get_box (
      pad, &vpad->info, GST_VIDEO_INFO_PAR_N (canvas), GST_VIDEO_INFO_PAR_D (canvas), &layer->box);
  layer->layer.alpha = (guint8) (alpha * 255);
  if (layer->layer.alpha == 0 || !is_in_range (&layer->box) || !cut (&layer->box, canvas, &seen))
    return FALSE;
  if (op == GST_GID_OPERATOR_SOURCE) {
    layer->layer.op = GID_OPERATOR_SRC;
    if (!GST_VIDEO_INFO_HAS_ALPHA (&vpad->info))
      layer->layer.alpha = 255; /* like the compositor element: nothing below it is visible */
  }
  layer->opaque = layer->layer.alpha == 255 && !GST_VIDEO_INFO_HAS_ALPHA (&vpad->info);
  layer->layer.box =
      (struct gid_rectangle) { layer->box.x, layer->box.y, layer->box.w, layer->box.h };
  layer->layer.bilinear = TRUE;
  set_colours (&layer->layer, &vpad->info);
  layer->pad = gst_object_ref (pad);
  layer->buffer = gst_buffer_ref (buffer);
  return TRUE;
}

static void
clear_layer (gpointer data)
{
  GstGidLayer *layer = data;

  if (layer->export)
    gst_mini_object_unref (layer->export);
  gst_clear_buffer (&layer->buffer);
  gst_clear_object (&layer->pad);
}

GArray *
gst_gid_compose_collect_layers (GstGidCompose *self)
{
  GArray *layers = g_array_new (FALSE, FALSE, sizeof (GstGidLayer));
  GstGidLayer layer;

  g_array_set_clear_func (layers, clear_layer);
  GST_OBJECT_LOCK (self);
  for (GList *l = GST_ELEMENT_CAST (self)->sinkpads; l; l = l->next) {
    if (!gst_aggregator_pad_is_inactive (l->data) && find_layer (self, l->data, &layer))
      g_array_append_val (layers, layer);
  }
  GST_OBJECT_UNLOCK (self);
  return layers;
}

guint
gst_gid_compose_drop_hidden (GstGidCompose *self, GArray *layers, guint above)
{
  for (guint i = above; i > 0; i--) {
    const GstGidLayer *over = &g_array_index (layers, GstGidLayer, above);
    GstVideoRectangle seen;

    cut (&g_array_index (layers, GstGidLayer, i - 1).box, &self->format.info, &seen);
    if (over->opaque && contains (&over->box, &seen)) {
      g_array_remove_index (layers, i - 1);
      above--;
    }
  }
  return above;
}

/* --- gids of layers --------------------------------------------------------------------------- */

gboolean
gst_gid_compose_count_copy (GstGidCompose *self, GstGidCopyReason reason, guint64 bytes)
{
  return gst_gid_copies_add (&self->copies, GST_ELEMENT_CAST (self), reason, bytes);
}

static gboolean
start_copy_pool (GstGidCompose *self, GstGidComposePad *pad)
{
  GstCaps *caps = gst_video_info_to_caps (&pad->format.info);
  GstGidAllocator *allocator =
      gst_gid_allocator_new (self->domain, NULL, caps, self->slots, FALSE, GST_ELEMENT_CAST (self));
  GstStructure *config;

  pad->copy_pool = gst_gid_pool_new (allocator, caps);
  config = gst_buffer_pool_get_config (pad->copy_pool);
  gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_buffer_pool_set_config (pad->copy_pool, config);
  gst_object_unref (allocator);
  gst_caps_unref (caps);
  return gst_buffer_pool_set_active (pad->copy_pool, TRUE);
}

static GstFlowReturn
make_copy (GstGidCompose *self, GstGidComposePad *pad, GstBuffer *buffer, GstGidCopyReason reason)
{
  GstFlowReturn ret;

  gst_clear_buffer (&pad->copied);
  gst_clear_buffer (&pad->copy);
  if (!gst_gid_compose_count_copy (self, reason, GST_VIDEO_INFO_SIZE (&pad->format.info)))
    return GST_FLOW_ERROR;
  if (pad->copy_pool == NULL && !start_copy_pool (self, pad))
    return GST_FLOW_ERROR;
  ret = gst_buffer_pool_acquire_buffer (pad->copy_pool, &pad->copy, NULL);
  if (ret != GST_FLOW_OK)
    return ret;
  if (!gst_gid_picture_copy (pad->copy, buffer, &pad->format)) {
    gst_clear_buffer (&pad->copy);
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("A frame could not be mapped to be copied."),
        ("%" GST_PTR_FORMAT, buffer));
    return GST_FLOW_ERROR;
  }
  pad->copied = gst_buffer_ref (buffer);
  return GST_FLOW_OK;
}

/* The slab of a picture, and the connection that it belongs to. */
typedef struct
{
  GstGidDomain *domain;
  struct gid_slab *slab;
} Named;

static gboolean
name_slot (
    GstGidCompose *self, GstMemory *mem, const struct gid_layout *layout, Named *named, gid_id *gid)
{
  GstGidSlot *slot;

  slot = gst_gid_memory_get_slot (mem);
  if (slot == NULL || mem->offset != 0)
    return FALSE;
  if (!gst_gid_layout_equal (&slot->slab->info.layout, layout))
    return FALSE;
  *named = (Named) { slot->slab->allocator->domain, slot->slab->slab };
  gst_gid_domain_lock (named->domain);
  *gid = gid_slab_gid (named->slab, slot->index);
  gst_gid_domain_unlock (named->domain);
  return gid_domain_of (*gid) == self->canvas->number;
}

/*
 * Whether a picture whose producer has released its memory is still intact, because the reader has
 * kept it. The end of a stream is seen some time before it is reported, and only then is this
 * known.
 */
static gboolean
is_kept (GstMemory *mem)
{
  int ret = gst_gid_import_check_memory (mem);

  for (guint i = 0; i < KEPT_LOOKS && ret == -EAGAIN; i++) {
    g_usleep (KEPT_LOOK_US);
    ret = gst_gid_import_check_memory (mem);
  }
  return ret == 0;
}

/* A picture that only our reader has kept must be copied for the engine. */
static GstFlowReturn
name_import (
    GstGidCompose *self, GstMemory *mem, const struct gid_layout *layout, Named *named, gid_id *gid)
{
  GstGidImport *import = gst_gid_import_of_memory (mem, gid);
  gboolean current;

  if (import == NULL || !gst_gid_layout_equal (&import->info.layout, layout)
      || gid_domain_of (*gid) != self->canvas->number)
    return GST_FLOW_NOT_SUPPORTED;
  *named = (Named) { import->reader->domain, import->slab };
  gst_gid_domain_lock (named->domain);
  current = gid_slab_is_current (named->slab, *gid);
  gst_gid_domain_unlock (named->domain);
  if (current)
    return GST_FLOW_OK;
  return is_kept (mem) ? GST_FLOW_NOT_SUPPORTED : GST_GID_FLOW_NO_LAYER;
}

static gboolean
name_export (GstGidCompose *self, GstGidLayer *layer, GstMemory *mem,
    const struct gid_layout *layout, Named *named, GstGidCopyReason *reason)
{
  GstGidExport *export;
  int result;

  if (!gst_gid_export_is_possible (mem))
    return FALSE;
  if (gid_canvas_needs_window (self->canvas->canvas)) {
    *reason = GST_GID_COPY_OTHER_MACHINE;
    return FALSE;
  }
  export = gst_gid_export_get (self->domain, mem, layout, NULL, &result);
  if (export == NULL) {
    if (result == -EPERM || result == -EBADF)
      *reason = GST_GID_COPY_UNSEALED_MEMORY;
    return FALSE;
  }
  layer->export = GST_MINI_OBJECT_CAST (export);
  *named = (Named) { self->domain, export->slab };
  gst_gid_domain_lock (self->domain);
  layer->layer.gid = gid_slab_gid (export->slab, 0);
  gst_gid_domain_unlock (self->domain);
  return TRUE;
}

/*
 * Finds a gid for the picture without a copy. GST_FLOW_NOT_SUPPORTED: there is none, for this
 * reason.
 */
static GstFlowReturn
name_picture (GstGidCompose *self, GstGidLayer *layer, Named *named, GstGidCopyReason *reason)
{
  GstMemory *mem = gst_buffer_peek_memory (layer->buffer, 0);
  GstFlowReturn ret = GST_FLOW_OK;
  struct gid_layout layout;
  struct gid_frame frame;

  *reason = GST_GID_COPY_UPSTREAM_MEMORY;
  if (gst_buffer_n_memory (layer->buffer) != 1) {
    *reason = GST_GID_COPY_SPLIT_MEMORY;
    return GST_FLOW_NOT_SUPPORTED;
  }
  gst_gid_layout_from_buffer (&layout, &layer->pad->format, layer->buffer);
  if (!name_slot (self, mem, &layout, named, &layer->layer.gid)) {
    ret = name_import (self, mem, &layout, named, &layer->layer.gid);
    if (ret == GST_FLOW_NOT_SUPPORTED && name_export (self, layer, mem, &layout, named, reason))
      ret = GST_FLOW_OK;
  }
  gst_gid_frame_set_buffer (&frame, &layer->pad->format, layer->buffer);
  layer->layer.source = frame.crop;
  return ret;
}

/* Updates the pad's format. */
static void
update_format (GstGidComposePad *pad, const GstVideoInfo *info)
{
  GstCaps *caps;

  if (pad->format.fourcc && gst_video_info_is_equal (&pad->format.info, info))
    return;
  gst_gid_compose_pad_clear_copies (pad);
  pad->format_before = pad->format;
  caps = gst_video_info_to_caps ((GstVideoInfo *) info);
  gst_gid_format_from_caps (&pad->format, caps);
  gst_caps_unref (caps);
}

/*
 * input-selector and similar elements may push the last frame of one stream after the caps of
 * another. A buffer that is too small for the caps never matches them.
 */
static gboolean
is_late (const GstGidComposePad *pad, GstBuffer *buffer)
{
  if (gst_gid_format_may_be_of (&pad->format, buffer))
    return FALSE;
  return gst_buffer_get_video_meta (buffer) != NULL
      || gst_buffer_get_size (buffer) < GST_VIDEO_INFO_SIZE (&pad->format.info)
      || (pad->format_before.fourcc && gst_gid_format_may_be_of (&pad->format_before, buffer));
}

GstFlowReturn
gst_gid_compose_name_layer (GstGidCompose *self, GstGidLayer *layer)
{
  GstGidComposePad *pad = layer->pad;
  GstGidCopyReason reason;
  GError *error = NULL;
  GstFlowReturn ret;
  Named named;

  update_format (pad, &layer->info);
  if (is_late (pad, layer->buffer))
    return GST_GID_FLOW_LATE_LAYER;
  ret = name_picture (self, layer, &named, &reason);
  if (ret == GST_FLOW_NOT_SUPPORTED) {
    ret = pad->copied == layer->buffer ? GST_FLOW_OK : make_copy (self, pad, layer->buffer, reason);
    if (ret != GST_FLOW_OK)
      return ret;
    gst_buffer_replace (&layer->buffer, pad->copy);
    ret = name_picture (self, layer, &named, &reason);
  }
  if (ret != GST_FLOW_OK
      || gst_gid_canvas_grant (self->canvas, named.domain, named.slab, layer->layer.gid, &error))
    return ret;
  gst_gid_post_error (self, error);
  return GST_FLOW_ERROR;
}
