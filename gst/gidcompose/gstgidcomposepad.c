// SPDX-License-Identifier: MIT
#include "gstgidcomposepad.h"

#include "common/gstgidproperty.h"

G_DEFINE_ENUM_TYPE (GstGidOperator, gst_gid_operator,
    { GST_GID_OPERATOR_SOURCE, "Replace what is below", "source" },
    { GST_GID_OPERATOR_OVER, "Blend by alpha", "over" },
    { GST_GID_OPERATOR_ADD, "Same as over, because canvases have no alpha", "add" })

G_DEFINE_ENUM_TYPE (GstGidSizing, gst_gid_sizing,
    { GST_GID_SIZING_NONE, "Scale to width and height", "none" },
    { GST_GID_SIZING_KEEP_ASPECT_RATIO, "Keep the aspect ratio, centred in width and height",
        "keep-aspect-ratio" })

G_DEFINE_FINAL_TYPE (GstGidComposePad, gst_gid_compose_pad, GST_TYPE_VIDEO_AGGREGATOR_PAD);

#define CONTROLLED (G_PARAM_READWRITE | GST_PARAM_CONTROLLABLE)

static const GstGidProperty properties[] = {
  { "xpos", "X position", "X position of the picture on the canvas",
      GST_GID_INT (GstGidComposePad, xpos, 0), .flags = CONTROLLED },
  { "ypos", "Y position", "Y position of the picture on the canvas",
      GST_GID_INT (GstGidComposePad, ypos, 0), .flags = CONTROLLED },
  { "width", "Width", "Width of the picture on the canvas (0 or less = not scaled)",
      GST_GID_INT (GstGidComposePad, width, -1), .flags = CONTROLLED },
  { "height", "Height", "Height of the picture on the canvas (0 or less = not scaled)",
      GST_GID_INT (GstGidComposePad, height, -1), .flags = CONTROLLED },
  { "alpha", "Alpha", "Alpha of the picture",
      GST_GID_DOUBLE (GstGidComposePad, alpha, 0.0, 1.0, 1.0), .flags = CONTROLLED },
  { "operator", "Operator", "Operator to blend the picture over those below",
      GST_GID_ENUM (GstGidComposePad, op, gst_gid_operator_get_type, GST_GID_OPERATOR_OVER),
      .flags = CONTROLLED },
  { "sizing-policy", "Sizing policy",
      "How a picture with another aspect ratio fills width and height",
      GST_GID_ENUM (GstGidComposePad, sizing, gst_gid_sizing_get_type, GST_GID_SIZING_NONE),
      .flags = CONTROLLED },
};

/* Scales to the box, where possible along one side only, like the compositor element. */
static void
fill_box (GstVideoRectangle *box, guint dar_n, guint dar_d)
{
  if (box->h % dar_n != 0 && box->w % dar_d == 0)
    box->h = gst_util_uint64_scale_int (box->w, dar_d, dar_n);
  else
    box->w = gst_util_uint64_scale_int (box->h, dar_n, dar_d);
}

/*
 * Centres the picture in the box with its aspect ratio; an empty box if it has less than one row.
 */
static void
keep_shape (GstVideoRectangle *box, const GstVideoInfo *info, gint par_n, gint par_d)
{
  GstVideoRectangle place = *box, natural = { .w = box->w };
  gint n, d;

  if (!gst_util_fraction_multiply (GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
          GST_VIDEO_INFO_PAR_N (info), GST_VIDEO_INFO_PAR_D (info), &n, &d)
      || !gst_util_fraction_multiply (n, d, par_d, par_n, &n, &d))
    return;
  natural.h = gst_util_uint64_scale_int (box->w, d, n);
  if (natural.h == 0)
    box->w = box->h = 0;
  else if (natural.h != box->h)
    gst_video_center_rect (&natural, &place, box, TRUE);
}

void
gst_gid_compose_pad_get_box (GstGidComposePad *self, const GstVideoInfo *info, gint par_n,
    gint par_d, GstVideoRectangle *box)
{
  guint dar_n, dar_d;
  GstGidSizing sizing;

  GST_OBJECT_LOCK (self);
  box->x = self->xpos;
  box->y = self->ypos;
  box->w = self->width > 0 ? self->width : GST_VIDEO_INFO_WIDTH (info);
  box->h = self->height > 0 ? self->height : GST_VIDEO_INFO_HEIGHT (info);
  sizing = self->sizing;
  GST_OBJECT_UNLOCK (self);
  if (sizing == GST_GID_SIZING_KEEP_ASPECT_RATIO)
    keep_shape (box, info, par_n, par_d);
  /* another pixel aspect ratio */
  else if (GST_VIDEO_INFO_PAR_N (info) * par_d != GST_VIDEO_INFO_PAR_D (info) * par_n
      && gst_video_calculate_display_ratio (&dar_n, &dar_d, box->w, box->h,
          GST_VIDEO_INFO_PAR_N (info), GST_VIDEO_INFO_PAR_D (info), par_n, par_d))
    fill_box (box, dar_n, dar_d);
}

void
gst_gid_compose_pad_clear_copies (GstGidComposePad *self)
{
  gst_clear_buffer (&self->copied);
  gst_clear_buffer (&self->copy);
  if (self->copy_pool)
    gst_buffer_pool_set_active (self->copy_pool, FALSE);
  gst_clear_object (&self->copy_pool);
}

static void
gst_gid_compose_pad_dispose (GObject *object)
{
  GstGidComposePad *self = GST_GID_COMPOSE_PAD (object);

  gst_gid_compose_pad_clear_copies (self);
  gst_clear_object (&self->offered);
  gst_clear_caps (&self->offered_caps);
  G_OBJECT_CLASS (gst_gid_compose_pad_parent_class)->dispose (object);
}

static void
gst_gid_compose_pad_class_init (GstGidComposePadClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->dispose = gst_gid_compose_pad_dispose;
  gst_gid_properties_install (object_class, properties, G_N_ELEMENTS (properties));

  /* the CPU does not access the pixels */
  GST_VIDEO_AGGREGATOR_PAD_CLASS (klass)->prepare_frame = NULL;
}

static void
gst_gid_compose_pad_init (GstGidComposePad *self)
{
  gst_gid_properties_init (self, properties, G_N_ELEMENTS (properties));
}
