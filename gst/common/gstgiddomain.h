// SPDX-License-Identifier: MIT
/**
 * A connection to gidd that many threads may use: libgid's gid_domain, a mutex, and a thread that
 * dispatches the domain and its producers.
 *
 * Elements that write frames share one connection for each domain in a process, so that memory of
 * a gidalloc in front of a tee can be sent by every gidsink behind it. Each gidsrc has its own.
 *
 * Lock order: a pool's lock, then this one. Nothing that can free a GstMemory happens with this
 * lock held: callbacks of libgid hand buffers to gst_gid_domain_drop_later() instead.
 */
#ifndef GST_GID_DOMAIN_H
#define GST_GID_DOMAIN_H

#include <gid/stream.h>
#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _GstGidDomain GstGidDomain;

/**
 * The process's connection to the domain named (NULL: $GID_DOMAIN) for elements that write, or a
 * new one. Returns a reference, or NULL with an error of GST_RESOURCE_ERROR that says what to do.
 */
GstGidDomain *gst_gid_domain_get_shared (const gchar *name, GError **error);
GstGidDomain *gst_gid_domain_new (const gchar *name, GError **error);

/** Any thread, without the lock. */
GstGidDomain *gst_gid_domain_ref (GstGidDomain *domain);
void gst_gid_domain_unref (GstGidDomain *domain);

/** Takes the lock, which every call into libgid needs. The result is good until it is given back. */
struct gid_domain *gst_gid_domain_lock (GstGidDomain *domain);

/** For those who hold the lock already. */
struct gid_domain *gst_gid_domain_get (GstGidDomain *domain);

/** Gives the lock back, and then drops what was left for later. */
void gst_gid_domain_unlock (GstGidDomain *domain);

/**
 * Gives the lock back alone, for those who hold a pool's: what was left for later goes with the next
 * unlock.
 */
void gst_gid_domain_unlock_only (GstGidDomain *domain);

/** g_cond_wait() with the domain's lock. */
void gst_gid_domain_wait (GstGidDomain *domain, GCond *cond);

/** Takes the reference and drops it once the lock is free. Call with the lock held. */
void gst_gid_domain_drop_later (GstGidDomain *domain, GstMiniObject *object);

/**
 * The producer has sent the buffer: keeps it, and what else has to live as long, until the slot it
 * was sent in has no holder any more; and says that this is so. Call with the lock held.
 */
void gst_gid_domain_hold (GstGidDomain *domain, struct gid_producer *producer, gid_id gid,
    GstBuffer *buffer, GstMiniObject *other);
void gst_gid_domain_let_go (GstGidDomain *domain, gid_id gid);

/**
 * Whether one of the streams shows the slot now. Its consumers keep that, without a lease, until
 * another picture is sent. Call with the lock held.
 */
gboolean gst_gid_domain_shows (GstGidDomain *domain, gid_id gid);

/**
 * Has the thread collect what the producer's consumers release, until it is removed. Where it is
 * `leaky`, frames that they did not read are taken back when memory is short. The caller creates
 * and destroys the producer; call both with the lock held.
 */
void gst_gid_domain_add_producer (
    GstGidDomain *domain, struct gid_producer *producer, gboolean leaky);
void gst_gid_domain_remove_producer (GstGidDomain *domain, struct gid_producer *producer);

/**
 * Collects what consumers released, and where that is nothing, takes back a frame of a leaky
 * producer that none of them has read, or else has the thread collect the next release at once.
 * Returns whether there is hope for a slot. Call without the lock.
 */
gboolean gst_gid_domain_reclaim (GstGidDomain *domain);

/** How many slots consumers have that have read them, about. Call without the lock. */
guint gst_gid_domain_count_read (GstGidDomain *domain);

/** Takes back the oldest frame of each producer, also from who reads it. Call without the lock. */
void gst_gid_domain_reclaim_shown (GstGidDomain *domain);

/**
 * Has the thread call `func` when the source's ready time comes: at once, and then when `func` has
 * set the next one. Returns a reference.
 */
GSource *gst_gid_domain_add_timer (
    GstGidDomain *domain, GSourceFunc func, gpointer data, GDestroyNotify destroy);

/** The kind of error that libgid's `result` is. */
GstResourceError gst_gid_domain_error_code (int result);

/** An error of GST_RESOURCE_ERROR for libgid's `result`, with what libgid says. Lock held. */
void gst_gid_domain_set_error (GstGidDomain *domain, GError **error, int result,
    const gchar *format, ...) G_GNUC_PRINTF (4, 5);

/** The domain's name, as gidd says, and a quark of it for data on a GstMiniObject. */
const gchar *gst_gid_domain_get_name (GstGidDomain *domain);
GQuark gst_gid_domain_get_quark (GstGidDomain *domain);

G_END_DECLS

#endif
