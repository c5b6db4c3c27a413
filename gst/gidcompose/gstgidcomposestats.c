// SPDX-License-Identifier: MIT
#include "gstgidcompose.h"

#include "common/gstgid.h"
#include "common/gstgidposter.h"

#define GST_CAT_DEFAULT gst_gid_debug

GstStructure *
gst_gid_compose_create_stats (gpointer compose)
{
  GstGidCompose *self = compose;
  GstStructure *structure;

  GST_OBJECT_LOCK (self);
  structure = gst_structure_new ("gid-compose-stats", "engine", G_TYPE_STRING, self->engine,
      "canvas", G_TYPE_STRING, self->canvas_name, "frames", G_TYPE_UINT64, self->counts.frames,
      "layers", G_TYPE_UINT64, self->counts.layers, "skipped", G_TYPE_UINT64, self->counts.skipped,
      "refused", G_TYPE_UINT64, self->counts.refused, NULL);
  gst_gid_copies_to_structure (&self->copies, structure);
  GST_OBJECT_UNLOCK (self);
  return structure;
}

void
gst_gid_compose_post_state (GstGidCompose *self, gboolean live)
{
  const gchar *state = live ? "live" : "waiting";
  const gchar *why = live ? "" : "no gid-engine serves the canvas now";

  GST_INFO_OBJECT (self, "the engine is %s", state);
  if (!live)
    gst_gid_post_notice (self, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        "Waiting for the engine of domain \"%s\": no gid-engine there serves the canvas \"%s\" to "
        "domain \"%s\". `gidctl list` shows canvas/%s where there is one",
        self->canvas->engine, self->canvas->name, self->canvas->domain_name, self->canvas->name);
  gst_element_post_message (GST_ELEMENT_CAST (self),
      gst_message_new_element (GST_OBJECT_CAST (self),
          gst_structure_new (
              "gid-state", "state", G_TYPE_STRING, state, "reason", G_TYPE_STRING, why, NULL)));
}
