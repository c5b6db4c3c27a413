// SPDX-License-Identifier: MIT
/** A GstDevice for a stream that programs of this domain may read. It creates the gidsrc for it. */
#ifndef GST_GID_DEVICE_H
#define GST_GID_DEVICE_H

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_GID_DEVICE (gst_gid_device_get_type ())
G_DECLARE_FINAL_TYPE (GstGidDevice, gst_gid_device, GST, GID_DEVICE, GstDevice)

/**
 * Parses gidd's report. Returns new, floating GstGidDevice; NULL if there are no streams, or the
 * report is malformed.
 */
GList *gst_gid_devices_from_report (const gchar *json);

/** Whether both are devices of the same stream. */
gboolean gst_gid_device_is_same (GstGidDevice *device, GstGidDevice *other);

/** Whether `later`, a device of the same stream, has known caps that differ from the device's. */
gboolean gst_gid_device_is_outdated (GstGidDevice *device, GstGidDevice *later);

G_END_DECLS

#endif
