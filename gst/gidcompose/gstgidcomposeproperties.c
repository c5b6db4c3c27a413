// SPDX-License-Identifier: MIT
#include "gstgidcompose.h"

#define DEFAULT_SLOTS 32
#define DEFAULT_STATS_INTERVAL_MS 1000

enum
{
  PROP_0,
  PROP_DOMAIN,
  PROP_ENGINE,
  PROP_CANVAS,
  PROP_BACKGROUND,
  PROP_SLOTS,
  PROP_RECONNECT,
  PROP_COPY_POLICY,
  PROP_COPIES,
  PROP_STATS,
  PROP_STATS_INTERVAL,
};

GType
gst_gid_background_get_type (void)
{
  static GType type;
  static const GEnumValue values[] = {
    { GST_GID_BACKGROUND_CHECKER, "Checker pattern", "checker" },
    { GST_GID_BACKGROUND_BLACK, "Black", "black" },
    { GST_GID_BACKGROUND_WHITE, "White", "white" },
    { GST_GID_BACKGROUND_TRANSPARENT, "Black, as canvases have no alpha", "transparent" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type)) {
    GType t = g_enum_register_static ("GstGidBackground", values);
    g_once_init_leave (&type, t);
  }
  return type;
}

static void
set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstGidCompose *self = GST_GID_COMPOSE (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_DOMAIN:
      g_free (self->domain_name);
      self->domain_name = g_value_dup_string (value);
      break;
    case PROP_ENGINE:
      g_free (self->engine);
      self->engine = g_value_dup_string (value);
      break;
    case PROP_CANVAS:
      g_free (self->canvas_name);
      self->canvas_name = g_value_dup_string (value);
      break;
    case PROP_BACKGROUND:
      self->background = g_value_get_enum (value);
      break;
    case PROP_SLOTS:
      self->slots = g_value_get_uint (value);
      break;
    case PROP_RECONNECT:
      self->reconnect = g_value_get_boolean (value);
      break;
    case PROP_COPY_POLICY:
      self->copy_policy = g_value_get_enum (value);
      break;
    case PROP_STATS_INTERVAL:
      self->stats_interval_ms = g_value_get_uint (value);
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
  GstGidCompose *self = GST_GID_COMPOSE (object);

  if (id == PROP_STATS) {
    g_value_take_boxed (value, gst_gid_compose_create_stats (self));
    return;
  }
  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_DOMAIN:
      g_value_set_string (value, self->domain_name);
      break;
    case PROP_ENGINE:
      g_value_set_string (value, self->engine);
      break;
    case PROP_CANVAS:
      g_value_set_string (value, self->canvas_name);
      break;
    case PROP_BACKGROUND:
      g_value_set_enum (value, self->background);
      break;
    case PROP_SLOTS:
      g_value_set_uint (value, self->slots);
      break;
    case PROP_RECONNECT:
      g_value_set_boolean (value, self->reconnect);
      break;
    case PROP_COPY_POLICY:
      g_value_set_enum (value, self->copy_policy);
      break;
    case PROP_COPIES:
      g_value_set_uint64 (value, self->copies.frames);
      break;
    case PROP_STATS_INTERVAL:
      g_value_set_uint (value, self->stats_interval_ms);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

void
gst_gid_compose_init_properties (GstGidCompose *self)
{
  self->slots = DEFAULT_SLOTS;
  self->reconnect = TRUE;
  self->stats_interval_ms = DEFAULT_STATS_INTERVAL_MS;
}

void
gst_gid_compose_finish_properties (GstGidCompose *self)
{
  g_free (self->domain_name);
  g_free (self->engine);
  g_free (self->canvas_name);
}

void
gst_gid_compose_install_properties (GObjectClass *klass)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
  const GParamFlags ready = flags | GST_PARAM_MUTABLE_READY;
  const GParamFlags playing = flags | GST_PARAM_MUTABLE_PLAYING;

  klass->set_property = set_property;
  klass->get_property = get_property;
  g_object_class_install_property (klass, PROP_DOMAIN,
      g_param_spec_string ("domain", "Domain",
          "Domain that the program runs in: its name or the path of its gidd's socket "
          "(default: $GID_DOMAIN, or the only one here)",
          NULL, ready));
  g_object_class_install_property (klass, PROP_ENGINE,
      g_param_spec_string (
          "engine", "Engine", "Domain that gid-engine runs in, with its name", NULL, ready));
  g_object_class_install_property (klass, PROP_CANVAS,
      g_param_spec_string ("canvas", "Canvas",
          "Name of the canvas, as the engine's configuration has it", NULL, ready));
  g_object_class_install_property (klass, PROP_BACKGROUND,
      g_param_spec_enum ("background", "Background", "What is where no layer is",
          GST_TYPE_GID_BACKGROUND, GST_GID_BACKGROUND_CHECKER, playing));
  g_object_class_install_property (klass, PROP_SLOTS,
      g_param_spec_uint ("slots", "Slots",
          "Largest number of frames in memory for each layer; slots are made as they are needed", 2,
          GID_SLOTS_MAX, DEFAULT_SLOTS, ready));
  g_object_class_install_property (klass, PROP_RECONNECT,
      g_param_spec_boolean ("reconnect", "Reconnect",
          "Wait for the engine to appear, and wait again when it goes away. If false, that is an "
          "error",
          TRUE, playing));
  g_object_class_install_property (klass, PROP_COPY_POLICY,
      g_param_spec_enum ("copy-policy", "Copy policy",
          "What to do about frames that the engine cannot read, or downstream take, without a copy",
          GST_TYPE_GID_COPY_POLICY, GST_GID_COPY_POLICY_ALLOW, playing));
  g_object_class_install_property (klass, PROP_COPIES,
      g_param_spec_uint64 ("copies", "Copies", "How many frames were copied", 0, G_MAXUINT64, 0,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Frames, layers, copies and their reasons, lists that were refused", GST_TYPE_STRUCTURE,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (klass, PROP_STATS_INTERVAL,
      g_param_spec_uint ("stats-interval", "Statistics interval",
          "Milliseconds between element messages with the statistics (0: none)", 0, G_MAXUINT,
          DEFAULT_STATS_INTERVAL_MS, playing));
}
