// SPDX-License-Identifier: MIT
/**
 * Slabs of others as GstMemory: one GstMemory for each slot, the same one again and again, so that
 * what importers downstream keep on it (a wl_buffer, an EGLImage, a V4L2 buffer) stays good. So it
 * is with the GstBuffer around it, where downstream leaves that as it was: to make one for each
 * frame would be most of what receiving it costs.
 *
 * A memory is given out with the frame that came in its slot last, and when nobody uses it any more
 * it gives that back to the producer and itself to the import, whatever thread that is on.
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
  /* fixed */
  GstGidReader *reader;
  struct gid_slab *slab;
  struct gid_slab_info info;
  guint width, height; /* of pictures of which all is shown */
  gboolean is_plain; /* the layout is what GStreamer assumes without GstVideoMeta */
  gsize size; /* bytes of a frame */
  gint dmabuf; /* of the slab, which owns it; -1: none, or none is wanted */
  guint64 dmabuf_offset; /* of slot 0 in it */

  /* the reading thread's; of the last picture, see gst_gid_import_set_shown() */
  GstCaps *caps;
  GstGidFormat format;

  /* the domain's lock */
  gint refcount;
  gboolean retired, revoked;
  struct _GstGidImportSlot *slots; /* for each kind of view */
};

/** A table for a reader's imports, by their slabs. Used by one thread. */
GHashTable *gst_gid_imports_new (void);

/** Lets go of those that are gone, or of all: memory that is in use lives on. */
void gst_gid_imports_retire (GHashTable *imports, gboolean all);

/** The import of that slab, also where it was revoked since: what frames are that lay in it. */
GstGidImport *gst_gid_imports_find_slab (
    GHashTable *imports, GstGidReader *reader, struct gid_slab *slab);

/**
 * Finds the import of the slab that the gid is in, or makes it, and lets go of those that are gone.
 * Call without the lock. Returns 0 and the import, which is the table's, or libgid's error; -EPROTO
 * where the slab's description makes no sense.
 */
int gst_gid_imports_find (
    GHashTable *imports, GstGidReader *reader, gid_id gid, GstGidImport **import);

/** Has the caps of linear dma-bufs be those of raw video in memory: still dma-bufs, not copied. */
void gst_gid_import_set_raw (GstGidImport *import);

/**
 * Has the caps be those of the part of a picture that is to be shown, as its frame says: who sends it
 * need not have caps that follow. Returns FALSE where that is no part of the picture.
 */
gboolean gst_gid_import_set_shown (GstGidImport *import, const struct gid_frame *frame);

/**
 * The frame's slot as a buffer, which gives the frame back at its end. It has no flags, no times,
 * and of an older frame in the slot the `metas`, which live as long as the buffer and are to be set
 * anew. Call with the domain's lock held. NULL where the gid is out of range.
 */
GstBuffer *gst_gid_import_take (
    GstGidImport *import, const struct gid_frame *frame, GstGidView kind, GstGidMetas **metas);

/**
 * The import whose slot the memory is, and the gid of the last frame that came in it. NULL: it is no
 * such memory, or a part of one. The import is good as long as the memory. Call without the lock.
 */
GstGidImport *gst_gid_import_of_memory (GstMemory *mem, gid_id *gid);

/**
 * Whether a memory that gidsrc gave out shows what its frame had when it came: 0: yes; -EAGAIN: its
 * stream is over, and that cannot be told yet; -ESTALE: it was taken back. Call without the lock.
 */
int gst_gid_import_check_memory (GstMemory *mem);

G_END_DECLS

#endif
