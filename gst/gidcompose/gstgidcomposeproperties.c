// SPDX-License-Identifier: MIT
#include "gstgidcompose.h"

G_DEFINE_ENUM_TYPE (GstGidBackground, gst_gid_background,
    { GST_GID_BACKGROUND_CHECKER, "Checker pattern", "checker" },
    { GST_GID_BACKGROUND_BLACK, "Black", "black" }, { GST_GID_BACKGROUND_WHITE, "White", "white" },
    { GST_GID_BACKGROUND_TRANSPARENT, "Black, because canvases have no alpha", "transparent" })

static void
get_copies (gpointer object, GValue *value)
{
  GstGidCompose *self = object;

  GST_OBJECT_LOCK (self);
  g_value_set_uint64 (value, self->copies.frames);
  GST_OBJECT_UNLOCK (self);
}

static void
get_stats (gpointer object, GValue *value)
{
  g_value_take_boxed (value, gst_gid_compose_create_stats (object));
}

static const GstGidProperty properties[] = {
  { "domain", "Domain",
      "Domain that this program runs in: its name or the path of its gidd's socket (default: "
      "$GID_DOMAIN, or the only domain on this system)",
      GST_GID_STRING (GstGidCompose, domain_name), .flags = GST_GID_READY },
  { "engine", "Engine", "Name of the domain that gid-engine runs in",
      GST_GID_STRING (GstGidCompose, engine), .flags = GST_GID_READY },
  { "canvas", "Canvas", "Name of the canvas in the engine's configuration",
      GST_GID_STRING (GstGidCompose, canvas_name), .flags = GST_GID_READY },
  { "background", "Background", "Background type of the canvas",
      GST_GID_ENUM (
          GstGidCompose, background, gst_gid_background_get_type, GST_GID_BACKGROUND_CHECKER),
      .flags = GST_GID_PLAYING },
  { "slots", "Slots",
      "Maximum number of frames in memory for each layer; memory is allocated on demand",
      GST_GID_UINT (GstGidCompose, slots, 2, GID_SLOTS_MAX, 32), .flags = GST_GID_READY },
  { "reconnect", "Reconnect",
      "Wait for the engine to appear, and wait again when it goes away. If false, a missing "
      "engine is an error",
      GST_GID_BOOLEAN (GstGidCompose, reconnect, TRUE), .flags = GST_GID_PLAYING },
  { "copy-policy", "Copy policy",
      "What to do with frames that the engine or downstream cannot use without a copy",
      GST_GID_ENUM (
          GstGidCompose, copies.policy, gst_gid_copy_policy_get_type, GST_GID_COPY_POLICY_ALLOW),
      .flags = GST_GID_PLAYING },
  { "copies", "Copies", "Number of copied frames", .type = G_TYPE_UINT64, .flags = G_PARAM_READABLE,
      .get = get_copies },
  GST_GID_STATS_ROW (
      "Statistics of frames, layers, copies and their reasons, refused lists", get_stats),
  GST_GID_STATS_INTERVAL_ROW (GstGidCompose, poster),
};

void
gst_gid_compose_init_properties (GstGidCompose *self)
{
  gst_gid_properties_init (self, properties, G_N_ELEMENTS (properties));
}

void
gst_gid_compose_finish_properties (GstGidCompose *self)
{
  gst_gid_properties_finish (self, properties, G_N_ELEMENTS (properties));
}

void
gst_gid_compose_install_properties (GObjectClass *klass)
{
  gst_gid_properties_install (klass, properties, G_N_ELEMENTS (properties));
}
