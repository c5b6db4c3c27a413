// SPDX-License-Identifier: MIT
/**
 * A canvas of an engine: what is drawn on it, and its stream of pictures.
 *
 * It has two connections to gidd. That of the requests is used by the streaming thread alone, which
 * waits on it; the other one, of the pictures, has a thread and a lock, because buffers of pictures
 * come back on any thread.
 */
#ifndef GST_GID_CANVAS_H
#define GST_GID_CANVAS_H

#include <gid/engine.h>

#include "gidsrc/gstgidimport.h"

G_BEGIN_DECLS

typedef struct
{
  gchar *engine, *name; /* the engine's domain, the canvas */
  gchar *domain_name; /* ours */
  guint32 number; /* of our domain */

  /* the streaming thread's */
  struct gid_domain *domain;
  struct gid_canvas *canvas;
  struct gid_slab *checker; /* a mask; NULL: not needed yet */
  GHashTable *granted; /* keys of slabs that the engine may read */
  GHashTable *imports; /* its pictures' slabs */

  GstGidReader *reader; /* of its pictures */
  enum gid_consumer_state state; /* the reader's lock */
} GstGidCanvas;

/**
 * Asks for the canvas `name` of the domain `engine`, as a program of the domain `domain` (NULL:
 * $GID_DOMAIN). Does not wait for the engine. `element` says what becomes of its pictures, and
 * outlives it. Returns NULL with an error that says what to do.
 */
GstGidCanvas *gst_gid_canvas_new (GstElement *element, const gchar *domain, const gchar *engine,
    const gchar *name, GError **error);
void gst_gid_canvas_free (GstGidCanvas *canvas);

/** Whether the engine is there, and its pictures would reach us. */
gboolean gst_gid_canvas_is_ready (GstGidCanvas *canvas);

/** Waits a moment for something to happen. */
void gst_gid_canvas_wait_a_moment (GstGidCanvas *canvas);

/**
 * Lets the engine read a slab of the domain, made or imported by it. The domain's lock is taken, but
 * only the first time. Returns FALSE with an error.
 */
gboolean gst_gid_canvas_grant (
    GstGidCanvas *canvas, GstGidDomain *domain, struct gid_slab *slab, gid_id gid, GError **error);

/** Draws squares of two greys on all of the canvas, `width` times `height` pixels, in the list. */
int gst_gid_canvas_draw_checker (GstGidCanvas *canvas, guint width, guint height);

/**
 * Waits for a list, as long as the pad does not flush. Returns what gid_canvas_wait() returns;
 * -EINTR: the pad flushes.
 */
int gst_gid_canvas_wait (GstGidCanvas *canvas, guint64 fence, GstPad *pad);

/**
 * The picture with the media time `pts`, which a list that is done has presented. Waits while all
 * slots of the canvas are held by others. Returns 0 with a buffer, which gives it back at its end,
 * and the import that the buffer is of; -EINTR: the pad flushes; -EPIPE: the engine is gone.
 */
int gst_gid_canvas_take (GstGidCanvas *canvas, guint64 pts, GstGidView kind, GstPad *pad,
    GstBuffer **buffer, GstGidImport **import);

/**
 * Whether a picture is to be copied: so many are held here that the engine could run out of slots, or
 * its lease is too short to be renewed.
 */
gboolean gst_gid_canvas_is_short (GstGidCanvas *canvas);

G_END_DECLS

#endif
