// SPDX-License-Identifier: MIT
/**
 * A canvas of gid-engine: the lists drawn on it, and the stream of its pictures.
 *
 * It has two connections to gidd. The streaming thread alone uses, and waits on, the one for
 * requests. The other one, for pictures, has a thread and a lock, because buffers of pictures are
 * freed on any thread.
 */
#ifndef GST_GID_CANVAS_H
#define GST_GID_CANVAS_H

#include <gid/engine.h>

#include "gidsrc/gstgidimport.h"

G_BEGIN_DECLS

typedef struct
{
  gchar *engine, *name; /* the engine's domain, and the canvas */
  gchar *domain_name; /* our domain */
  guint32 number; /* of our domain */

  /* streaming thread */
  struct gid_domain *domain;
  struct gid_canvas *canvas;
  struct gid_slab *checker; /* a mask; NULL: not needed yet */
  GHashTable *granted; /* keys of slabs that the engine may read */
  GHashTable *imports; /* imports of its pictures */

  GstGidReader *reader; /* of its pictures */
  enum gid_consumer_state state; /* the reader's lock */
} GstGidCanvas;

/**
 * Requests the canvas `name` of the domain `engine`, from the domain `domain` (NULL: $GID_DOMAIN).
 * Does not wait for the engine. `element` posts messages about the pictures, and must outlive the
 * canvas. Returns NULL with an error that says what to do.
 */
GstGidCanvas *gst_gid_canvas_new (GstElement *element, const gchar *domain, const gchar *engine,
    const gchar *name, GError **error);
void gst_gid_canvas_free (GstGidCanvas *canvas);

/** Whether the engine is connected, and its stream of pictures is live. */
gboolean gst_gid_canvas_is_ready (GstGidCanvas *canvas);

/** Waits a moment for an event. */
void gst_gid_canvas_wait_a_moment (GstGidCanvas *canvas);

/**
 * Grants the engine access to a slab of the domain, made or imported by it. Takes the domain's
 * lock, but only the first time. Returns FALSE with an error.
 */
gboolean gst_gid_canvas_grant (
    GstGidCanvas *canvas, GstGidDomain *domain, struct gid_slab *slab, gid_id gid, GError **error);

/**
 * Draws squares of two greys on the whole canvas of `width` times `height` pixels, in the current
 * list.
 */
int gst_gid_canvas_draw_checker (GstGidCanvas *canvas, guint width, guint height);

/**
 * Waits for the fence of a list, until the pad flushes: returns -EINTR then, otherwise the result
 * of gid_canvas_wait().
 */
int gst_gid_canvas_wait (GstGidCanvas *canvas, guint64 fence, GstPad *pad);

/**
 * Takes the picture with the timestamp `pts`, which a completed list has presented. Waits while
 * consumers hold all slots of the canvas. Returns 0, a buffer, which releases the picture when it
 * is freed, and its import; -EINTR: the pad flushes; -EPIPE: the engine has ended.
 */
int gst_gid_canvas_take (GstGidCanvas *canvas, guint64 pts, GstGidView kind, GstPad *pad,
    GstBuffer **buffer, GstGidImport **import);

/**
 * Whether pictures must be copied: so many are held here that the engine may run out of slots, or
 * the lease is too short to be renewed.
 */
gboolean gst_gid_canvas_is_short (GstGidCanvas *canvas);

G_END_DECLS

#endif
