// SPDX-License-Identifier: MIT
/**
 * Lists the streams that programs of this domain may read, as gst-device-monitor-1.0 and applications
 * list cameras; and says which come and go.
 *
 * gidd is asked by a thread of the provider's own, once a second. Where there is no gidd, or where it
 * tells this user nothing, there are no devices, and no complaint either: every program that looks
 * for cameras asks us, too.
 */
#ifndef GST_GID_DEVICE_PROVIDER_H
#define GST_GID_DEVICE_PROVIDER_H

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_GID_DEVICE_PROVIDER (gst_gid_device_provider_get_type ())
G_DECLARE_FINAL_TYPE (
    GstGidDeviceProvider, gst_gid_device_provider, GST, GID_DEVICE_PROVIDER, GstDeviceProvider)

G_END_DECLS

#endif
