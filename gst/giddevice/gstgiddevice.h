// SPDX-License-Identifier: MIT
/** A stream that programs of this domain may read, as a device: the gidsrc for it, and its caps. */
#ifndef GST_GID_DEVICE_H
#define GST_GID_DEVICE_H

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_GID_DEVICE (gst_gid_device_get_type ())
G_DECLARE_FINAL_TYPE (GstGidDevice, gst_gid_device, GST, GID_DEVICE, GstDevice)

/** The streams of gidd's report: new GstGidDevice, floating. NULL also where it makes no sense. */
GList *gst_gid_devices_from_report (const gchar *json);

/** Whether both are the same stream. */
gboolean gst_gid_device_is_same (GstGidDevice *device, GstGidDevice *other);

/** Whether `later`, the same stream, has caps that are known, and were others. */
gboolean gst_gid_device_is_outdated (GstGidDevice *device, GstGidDevice *later);

G_END_DECLS

#endif
