// SPDX-License-Identifier: MIT
/**
 * Slabs of one slot over memory that is there already: the dma-bufs and sealed memfds that cameras,
 * decoders and other elements hand out. Made once for each GstMemory, and kept as long as it lives.
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
  guint64
      offset; /* in the file: of a memory that begins elsewhere by now there is another export */
  struct gid_layout layout;
  gchar *description;
} GstGidExport;

GType gst_gid_export_get_type (void);

/** Whether there is a descriptor behind the memory that could be exported. */
gboolean gst_gid_export_is_possible (GstMemory *mem);

/**
 * The export of this memory with this layout and description (which may be NULL). Returns a
 * reference, or NULL with libgid's error in `result`: -EBADF or -EPERM where the memory is not of
 * a kind that can be shared safely.
 */
GstGidExport *gst_gid_export_get (GstGidDomain *domain, GstMemory *mem,
    const struct gid_layout *layout, const gchar *description, int *result);

G_END_DECLS

#endif
