// SPDX-License-Identifier: MIT
#include "gstgidtimeline.h"

struct gid_timeline *
gst_gid_timeline_open (GstElement *element, const gchar *path)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  struct gid_timeline *timeline;
  int ret = gid_timeline_open (path, factory ? GST_OBJECT_NAME (factory) : NULL, &timeline);

  if (ret < 0)
    GST_ELEMENT_WARNING (element, RESOURCE, OPEN_WRITE,
        ("No points of frames are written: the timeline \"%s\" cannot be opened: %s",
            path ? path : g_getenv ("GID_TIMELINE"), g_strerror (-ret)),
        (NULL));
  return timeline;
}
