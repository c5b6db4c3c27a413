// SPDX-License-Identifier: MIT
/** Memory for copies that can be sent on: files that nobody but us can write. */
#ifndef GST_GID_SEALED_H
#define GST_GID_SEALED_H

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * Allocates memfds with F_SEAL_SHRINK and F_SEAL_FUTURE_WRITE, which are mapped for as long as they
 * live, so that this process writes them and no other one. There for as long as the process.
 */
GstAllocator *gst_gid_sealed_allocator_get (void);

G_END_DECLS

#endif
