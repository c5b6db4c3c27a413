// SPDX-License-Identifier: MIT
#include "gstgidcomposepad.h"

#define DEFAULT_SIZE (-1)
#define DEFAULT_ALPHA 1.0

enum
{
  PROP_0,
  PROP_XPOS,
  PROP_YPOS,
  PROP_WIDTH,
  PROP_HEIGHT,
  PROP_ALPHA,
  PROP_OPERATOR,
  PROP_SIZING_POLICY,
};

GType
gst_gid_operator_get_type (void)
{
  static GType type;
  static const GEnumValue values[] = {
    { GST_GID_OPERATOR_SOURCE, "The picture takes the place of what is below", "source" },
    { GST_GID_OPERATOR_OVER, "Blended by alpha", "over" },
    { GST_GID_OPERATOR_ADD, "As over, for canvases have no alpha that could add up", "add" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type)) {
    GType t = g_enum_register_static ("GstGidOperator", values);
    g_once_init_leave (&type, t);
  }
  return type;
}

GType
gst_gid_sizing_get_type (void)
{
  static GType type;
  static const GEnumValue values[] = {
    { GST_GID_SIZING_NONE, "Scaled to width and height", "none" },
    { GST_GID_SIZING_KEEP_ASPECT_RATIO, "In the middle of width and height, with its own shape",
        "keep-aspect-ratio" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type)) {
    GType t = g_enum_register_static ("GstGidSizing", values);
    g_once_init_leave (&type, t);
  }
  return type;
}

G_DEFINE_FINAL_TYPE (GstGidComposePad, gst_gid_compose_pad, GST_TYPE_VIDEO_AGGREGATOR_PAD);

static void
set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstGidComposePad *self = GST_GID_COMPOSE_PAD (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_XPOS:
      self->xpos = g_value_get_int (value);
      break;
    case PROP_YPOS:
      self->ypos = g_value_get_int (value);
      break;
    case PROP_WIDTH:
      self->width = g_value_get_int (value);
      break;
    case PROP_HEIGHT:
      self->height = g_value_get_int (value);
      break;
    case PROP_ALPHA:
      self->alpha = g_value_get_double (value);
      break;
    case PROP_OPERATOR:
      self->op = g_value_get_enum (value);
      break;
    case PROP_SIZING_POLICY:
      self->sizing = g_value_get_enum (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstGidComposePad *self = GST_GID_COMPOSE_PAD (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_XPOS:
      g_value_set_int (value, self->xpos);
      break;
    case PROP_YPOS:
      g_value_set_int (value, self->ypos);
      break;
    case PROP_WIDTH:
      g_value_set_int (value, self->width);
      break;
    case PROP_HEIGHT:
      g_value_set_int (value, self->height);
      break;
    case PROP_ALPHA:
      g_value_set_double (value, self->alpha);
      break;
    case PROP_OPERATOR:
      g_value_set_enum (value, self->op);
      break;
    case PROP_SIZING_POLICY:
      g_value_set_enum (value, self->sizing);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

/* Scaled to the box; as compositor, where one side of it can stay as it is. */
static void
fill_box (GstVideoRectangle *box, guint dar_n, guint dar_d)
{
  if (box->h % dar_n != 0 && box->w % dar_d == 0)
    box->h = gst_util_uint64_scale_int (box->w, dar_d, dar_n);
  else
    box->w = gst_util_uint64_scale_int (box->h, dar_n, dar_d);
}

/* In the middle of the box, with the shape of the picture; none where that is less than a row. */
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
  /* pixels of another shape */
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
install_number (GObjectClass *klass, guint id, const gchar *name, const gchar *nick,
    const gchar *blurb, gint normal)
{
  g_object_class_install_property (klass, id,
      g_param_spec_int (name, nick, blurb, G_MININT, G_MAXINT, normal,
          G_PARAM_READWRITE | GST_PARAM_CONTROLLABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_gid_compose_pad_class_init (GstGidComposePadClass *klass)
{
  const GParamFlags flags = G_PARAM_READWRITE | GST_PARAM_CONTROLLABLE | G_PARAM_STATIC_STRINGS;
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->dispose = gst_gid_compose_pad_dispose;
  install_number (object_class, PROP_XPOS, "xpos", "X position",
      "Where the picture's left edge is on the canvas", 0);
  install_number (object_class, PROP_YPOS, "ypos", "Y position",
      "Where the picture's upper edge is on the canvas", 0);
  install_number (object_class, PROP_WIDTH, "width", "Width",
      "Width of the picture on the canvas (0 or less: not scaled)", DEFAULT_SIZE);
  install_number (object_class, PROP_HEIGHT, "height", "Height",
      "Height of the picture on the canvas (0 or less: not scaled)", DEFAULT_SIZE);
  g_object_class_install_property (object_class, PROP_ALPHA,
      g_param_spec_double (
          "alpha", "Alpha", "How much of the picture is seen", 0.0, 1.0, DEFAULT_ALPHA, flags));
  g_object_class_install_property (object_class, PROP_OPERATOR,
      g_param_spec_enum ("operator", "Operator", "What becomes of the picture below",
          GST_TYPE_GID_OPERATOR, GST_GID_OPERATOR_OVER, flags));
  g_object_class_install_property (object_class, PROP_SIZING_POLICY,
      g_param_spec_enum ("sizing-policy", "Sizing policy",
          "How a picture of another shape fills width and height", GST_TYPE_GID_SIZING,
          GST_GID_SIZING_NONE, flags));

  /* nobody here looks at pixels */
  GST_VIDEO_AGGREGATOR_PAD_CLASS (klass)->prepare_frame = NULL;
}

static void
gst_gid_compose_pad_init (GstGidComposePad *self)
{
  self->width = self->height = DEFAULT_SIZE;
  self->alpha = DEFAULT_ALPHA;
  self->op = GST_GID_OPERATOR_OVER;
}
