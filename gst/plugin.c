// SPDX-License-Identifier: MIT
#include "common/gstgid.h"
#include "common/gstgidmetadata.h"
#include "gidalloc/gstgidalloc.h"
#include "gidcompose/gstgidcompose.h"
#include "giddevice/gstgiddeviceprovider.h"
#include "gidsink/gstgidsink.h"
#include "gidsrc/gstgidsrc.h"
#include "gidway_version.h"

GST_DEBUG_CATEGORY (gst_gid_debug);

static gboolean
plugin_init (GstPlugin *plugin)
{
  gst_gid_metadata_register ();
  GST_DEBUG_CATEGORY_INIT (gst_gid_debug, "gid", 0, "gidway: video between domains");
  return gst_element_register (plugin, "gidsink", GST_RANK_NONE, GST_TYPE_GID_SINK)
      && gst_element_register (plugin, "gidsrc", GST_RANK_NONE, GST_TYPE_GID_SRC)
      && gst_element_register (plugin, "gidalloc", GST_RANK_NONE, GST_TYPE_GID_ALLOC)
      && gst_element_register (plugin, "gidcompose", GST_RANK_NONE, GST_TYPE_GID_COMPOSE)
      && gst_device_provider_register (
          plugin, "giddeviceprovider", GST_RANK_PRIMARY, GST_TYPE_GID_DEVICE_PROVIDER);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, gid,
    "Video between domains through shared memory, without copies", plugin_init, GIDWAY_VERSION,
    "MIT/X11", "gidway", "gidway")
