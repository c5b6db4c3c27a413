// SPDX-License-Identifier: MIT
/**
 * dma-bufs as memory for frames. GPU renderers import them without a copy, where plain shared
 * memory would have to be uploaded, and device drivers can write to them. They are made either of
 * ordinary memory, by the kernel's udmabuf device, or of a slot in a memory window, by the module
 * gid_dmabuf: readers on other machines read those in place.
 *
 * A dma-buf of ordinary memory can be written by everyone who has its descriptor: unlike for sealed
 * memfds, the kernel has no read-only descriptors of them.
 */
#ifndef GST_GID_DMABUF_H
#define GST_GID_DMABUF_H

#include <gid/domain.h>
#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  int fd; /* the dma-buf's descriptor; -1: none */
  gpointer data; /* our own read-write mapping; NULL for a slot, which is mapped already */
  gsize size; /* a multiple of the page size */
} GstGidDmabuf;

#define GST_GID_DMABUF_NONE ((GstGidDmabuf) { .fd = -1 })

/**
 * Creates a zeroed dma-buf of at least `size` bytes. Returns 0 or -errno; -ENOENT: no /dev/udmabuf.
 */
int gst_gid_dmabuf_init (GstGidDmabuf *self, gsize size);

/** A sentence for users why dma-bufs are not available; NULL: the errno value says enough. */
const gchar *gst_gid_dmabuf_explain (int error);

/**
 * Creates a dma-buf of a slot. Returns 0 or the error of gid_slab_open_dmabuf(). Call with the
 * domain's lock held.
 */
int gst_gid_dmabuf_init_slot (GstGidDmabuf *self, struct gid_slab *slab, guint slot);

/** Also accepts GST_GID_DMABUF_NONE. */
void gst_gid_dmabuf_finish (GstGidDmabuf *self);

/**
 * Call before and after the CPU accesses the memory, to synchronise caches of devices. `write`:
 * whether the CPU also writes.
 */
void gst_gid_dmabuf_sync (const GstGidDmabuf *self, gboolean begin, gboolean write);

G_END_DECLS

#endif
