// SPDX-License-Identifier: MIT
/** The element gidalloc: a transform in passthrough mode that answers ALLOCATION queries. */
#ifndef GST_GID_ALLOC_H
#define GST_GID_ALLOC_H

#include <gst/base/gstbasetransform.h>

#include "common/gstgidpool.h"

G_BEGIN_DECLS

#define GST_TYPE_GID_ALLOC (gst_gid_alloc_get_type ())
G_DECLARE_FINAL_TYPE (GstGidAlloc, gst_gid_alloc, GST, GID_ALLOC, GstBaseTransform)

G_END_DECLS

#endif
