// SPDX-License-Identifier: MIT
/**
 * dma-bufs of ordinary memory, made by the kernel's udmabuf: what a GPU's renderer takes without a
 * copy where plain shared memory would have to be uploaded.
 *
 * Whoever is given a dma-buf can write it: unlike sealed memfds the kernel has no read-only ones.
 */
#ifndef GST_GID_UDMABUF_H
#define GST_GID_UDMABUF_H

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  int fd; /* of the dma-buf */
  gpointer data; /* mapped readable and writable */
  gsize size; /* whole pages */
} GstGidUdmabuf;

/** Makes one of at least `size` bytes, zeroed. Returns 0 or -errno: -ENOENT without /dev/udmabuf. */
int gst_gid_udmabuf_init (GstGidUdmabuf *self, gsize size);

/** Takes one of zeroes, too. */
void gst_gid_udmabuf_finish (GstGidUdmabuf *self);

/** Before and after the CPU reads (`write` FALSE) or writes it: devices may have caches of theirs. */
void gst_gid_udmabuf_sync (const GstGidUdmabuf *self, gboolean begin, gboolean write);

G_END_DECLS

#endif
