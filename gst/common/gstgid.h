// SPDX-License-Identifier: MIT
/** The debug category of all gidway elements: GST_DEBUG=gid:5. */
#ifndef GST_GID_H
#define GST_GID_H

#include <gst/gst.h>

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_gid_debug);

G_END_DECLS

#endif
