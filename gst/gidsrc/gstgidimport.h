// SPDX-License-Identifier: MIT
/**
 * Imported slabs as GstMemory. There is one GstMemory per slot, and it is reused for each frame in
 * the slot, so that objects that elements cache for a memory (wl_buffer, EGLImage, V4L2 buffer)
 * stay valid. The GstBuffer is reused as well, if downstream has not changed it: creating one for
 * each frame would be most of the cost of receiving it.
 *
 * When the last reference of a memory is dropped, on any thread, the frame is released to its
 * producer, and the memory returns to its import.
 */
#ifndef GST_GID_IMPORT_H
#define GST_GID_IMPORT_H

#include "common/gstgidlayout.h"
#include "gstgidmetas.h"
#include "gstgidreader.h"
#include "gstgidview.h"

G_BEGIN_DECLS

typedef struct _GstGidImport GstGidImport;

struct _GstGidImport
{
  /* constant */
  GstGidReader *reader;
  struct gid_slab *slab;
  struct gid_slab_info info;
  guint width, height; /* of a whole picture, without a crop */
  gboolean is_plain; /* the layout is the default of GstVideoInfo */
  gsize size; /* of a frame, in bytes */
  gint dmabuf; /* descriptor owned by the slab; -1: none, or not wanted */
  guint64 dmabuf_offset; /* of slot 0 in it */

  /* streaming thread; of the last picture, see gst_gid_import_set_shown() */
  GstCaps *caps;
  GstGidFormat format;

  /* the domain's lock */
  gint refcount;
  gboolean retired, revoked;
  struct _GstGidImportSlot *slots; /* one for each slot and kind of view */
};

/** Creates a table of a reader's imports, by slab. Used by one thread. */
GHashTable *gst_gid_imports_new (void);

/** Removes revoked imports, or `all`. Memory in use lives on. */
void gst_gid_imports_retire (GHashTable *imports, gboolean all);

/**
 * Returns in `*import` the import of this slab, even if it was revoked: copies of its frames may be
 * waiting. Returns as the next function.
 */
int gst_gid_imports_find_slab (
    GHashTable *imports, GstGidReader *reader, struct gid_slab *slab, GstGidImport **import);

/**
 * Returns in `*import` the import of the gid's slab, which the table owns. Creates it if necessary,
 * and removes revoked imports. Returns 0 or libgid's error; -EPROTO if the slab's description is
 * invalid. Call without the lock.
 */
int gst_gid_imports_find (
    GHashTable *imports, GstGidReader *reader, gid_id gid, GstGidImport **import);

/** Changes the caps of linear dma-bufs to raw video: still dma-bufs, not copied. */
void gst_gid_import_set_raw (GstGidImport *import);

/**
 * Changes the caps to the size of the frame's crop: its sender may not change its own caps for
 * that. Returns FALSE if the crop is outside of the picture.
 */
gboolean gst_gid_import_set_shown (GstGidImport *import, const struct gid_frame *frame);

/**
 * Returns the frame's slot as a buffer, which releases the frame when it is freed; NULL if the gid
 * is out of range, or the slot's memory lacks pages. The buffer has no flags and timestamps, and
 * `metas` of an earlier frame, which the caller must update. Call with the domain's lock held.
 */
GstBuffer *gst_gid_import_take (
    GstGidImport *import, const struct gid_frame *frame, GstGidView kind, GstGidMetas **metas);

/**
 * Returns the import that the memory belongs to, and the gid of the latest frame in it; NULL if it
 * is no such memory, or a sub-memory. The import is valid as long as the memory. Call without the
 * lock.
 */
GstGidImport *gst_gid_import_of_memory (GstMemory *mem, gid_id *gid);

/**
 * Whether memory of gidsrc still has the picture of its frame. 0: yes; -EAGAIN: the stream has
 * ended, and this is not known yet; -ESTALE: it was reclaimed. Call without the lock.
 */
int gst_gid_import_check_memory (GstMemory *mem);

G_END_DECLS

#endif
