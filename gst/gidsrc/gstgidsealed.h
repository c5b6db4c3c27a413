// SPDX-License-Identifier: MIT
/**
 * Allocator of memory for copies that elements can share: memfds that only this process can write.
 */
#ifndef GST_GID_SEALED_H
#define GST_GID_SEALED_H

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * Allocates memfds with F_SEAL_SHRINK and F_SEAL_FUTURE_WRITE. They stay mapped as long as they
 * exist, so this process can write to them, and no other. The allocator lives as long as the
 * process.
 */
GstAllocator *gst_gid_sealed_allocator_get (void);

G_END_DECLS

#endif
