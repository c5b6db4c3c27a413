// SPDX-License-Identifier: MIT
/**
 * Slabs of one slot for memory that already exists: dma-bufs and sealed memfds of cameras, decoders
 * and other elements. Exported once per GstMemory, which keeps the export as qdata.
 */
#ifndef GST_GID_EXPORT_H
#define GST_GID_EXPORT_H

#include "gstgiddomain.h"
#include "gstgidlayout.h"

G_BEGIN_DECLS

typedef struct
{
  GstMiniObject object;
  GstGidDomain *domain;
  struct gid_slab *slab;
  guint64 offset; /* in the file: a resized memory needs another export */
  struct gid_layout layout;
  gchar *description;
} GstGidExport;

GType gst_gid_export_get_type (void);

/** Whether the memory has a descriptor, so that exporting it can be tried. */
gboolean gst_gid_export_is_possible (GstMemory *mem);

/**
 * Returns a reference of the memory's export with this layout and description (may be NULL); or
 * NULL, with libgid's error in `result`: -EBADF or -EPERM if this kind of memory cannot be shared
 * safely.
 */
GstGidExport *gst_gid_export_get (GstGidDomain *domain, GstMemory *mem,
    const struct gid_layout *layout, const gchar *description, int *result);

G_END_DECLS

#endif
