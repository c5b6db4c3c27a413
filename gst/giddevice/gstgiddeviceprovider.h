// SPDX-License-Identifier: MIT
/**
 * A GstDeviceProvider that lists the streams that programs of this domain may read, and monitors
 * which appear and disappear.
 *
 * A thread of the provider asks gidd once a second. If there is no gidd, or it does not answer this
 * user, there are no devices, and no error is posted: every program that looks for cameras also
 * starts this provider.
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
