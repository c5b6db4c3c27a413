// SPDX-License-Identifier: MIT
/**
 * dma-bufs to write frames into: what a GPU's renderer takes without a copy where plain shared
 * memory would have to be uploaded, and what a device's driver can write. Made by the kernel's
 * udmabuf of ordinary memory; or by the module gid_dmabuf of a slot in a window, which other
 * machines read where it is.
 *
 * Whoever is given a dma-buf of ordinary memory can write it: unlike sealed memfds the kernel has
 * no read-only ones.
 */
#ifndef GST_GID_DMABUF_H
#define GST_GID_DMABUF_H

#include <gid/domain.h>
#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  int fd; /* of the dma-buf; -1: none */
  gpointer data; /* its own mapping, readable and writable; NULL for a slot, which has one */
  gsize size; /* whole pages */
} GstGidDmabuf;

#define GST_GID_DMABUF_NONE ((GstGidDmabuf) { .fd = -1 })

/** Makes one of at least `size` bytes, zeroed. Returns 0 or -errno: -ENOENT without /dev/udmabuf. */
int gst_gid_dmabuf_init (GstGidDmabuf *self, gsize size);

/** Why there is none at all, for people; NULL: the error says it. */
const gchar *gst_gid_dmabuf_explain (int error);

/** Makes one of a slot. Returns 0 or -errno: gid_slab_open_dmabuf(). The domain is locked. */
int gst_gid_dmabuf_init_slot (GstGidDmabuf *self, struct gid_slab *slab, guint slot);

/** Takes GST_GID_DMABUF_NONE, too. */
void gst_gid_dmabuf_finish (GstGidDmabuf *self);

/** Before and after the CPU reads (`write` FALSE) or writes it: devices may have caches of theirs. */
void gst_gid_dmabuf_sync (const GstGidDmabuf *self, gboolean begin, gboolean write);

G_END_DECLS

#endif
