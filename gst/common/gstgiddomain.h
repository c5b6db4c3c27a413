// SPDX-License-Identifier: MIT
/**
 * A connection to gidd that any thread may use: libgid's gid_domain, a mutex, and a thread that
 * dispatches the domain and its producers.
 *
 * Elements that send frames share one connection per domain and process, so that every gidsink
 * behind a tee can send the memory of a gidalloc in front of it. Each gidsrc has a connection of
 * its own.
 *
 * Lock order: the allocator's lock, then this one. Nothing may free a GstMemory while this lock is
 * held: callbacks of libgid pass buffers to gst_gid_domain_drop_later() instead.
 */
#ifndef GST_GID_DOMAIN_H
#define GST_GID_DOMAIN_H

#include <gid/stream.h>
#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _GstGidDomain GstGidDomain;

/**
 * The shared connection of this process to the named domain (NULL: $GID_DOMAIN), for elements that
 * send, or a new connection. Returns a reference, or NULL with an error of GST_RESOURCE_ERROR that
 * says what to do.
 */
GstGidDomain *gst_gid_domain_get_shared (const gchar *name, GError **error);
GstGidDomain *gst_gid_domain_new (const gchar *name, GError **error);

/** Any thread, without the lock. */
GstGidDomain *gst_gid_domain_ref (GstGidDomain *domain);
void gst_gid_domain_unref (GstGidDomain *domain);

/**
 * Takes the lock, which every call into libgid needs. The result is valid until the lock is
 * released.
 */
struct gid_domain *gst_gid_domain_lock (GstGidDomain *domain);

/** The same object for callers that hold the lock already. */
struct gid_domain *gst_gid_domain_get (GstGidDomain *domain);

/** Releases the lock, and then drops the references passed to gst_gid_domain_drop_later(). */
void gst_gid_domain_unlock (GstGidDomain *domain);

/**
 * Only releases the lock, for callers that hold an allocator's lock: the next
 * gst_gid_domain_unlock() drops the references.
 */
void gst_gid_domain_unlock_only (GstGidDomain *domain);

/** g_cond_wait() with the domain's lock. */
void gst_gid_domain_wait (GstGidDomain *domain, GCond *cond);

/** Takes the reference, and drops it after the lock is released. Call with the lock held. */
void gst_gid_domain_drop_later (GstGidDomain *domain, GstMiniObject *object);

/**
 * gst_gid_domain_hold(): the producer has sent the buffer. Keeps references of it, and of `other`
 * (may be NULL), until no consumer holds its slot. gst_gid_domain_unhold(): this is now the case.
 * Call with the lock held.
 */
void gst_gid_domain_hold (GstGidDomain *domain, struct gid_producer *producer, gid_id gid,
    GstBuffer *buffer, GstMiniObject *other);
void gst_gid_domain_unhold (GstGidDomain *domain, gid_id gid);

/**
 * Whether the slot has the latest frame of one of the streams: its consumers keep that, without a
 * lease, until the next picture is sent. Call with the lock held.
 */
gboolean gst_gid_domain_shows (GstGidDomain *domain, gid_id gid);

/**
 * gst_gid_domain_add_producer() has the thread collect what the consumers release. If `leaky`,
 * frames that they have not claimed are reclaimed when memory is short. The caller creates and
 * destroys the producer. Call both with the lock held.
 */
void gst_gid_domain_add_producer (
    GstGidDomain *domain, struct gid_producer *producer, gboolean leaky);
void gst_gid_domain_remove_producer (GstGidDomain *domain, struct gid_producer *producer);

/**
 * Collects what consumers have released. If that is nothing, reclaims an unclaimed frame of a leaky
 * producer; if there is none, asks to be woken at the next release. Returns whether a slot may be
 * free now. Call without the lock.
 */
gboolean gst_gid_domain_reclaim (GstGidDomain *domain);

/** How many slots consumers hold and have claimed, approximately. Call without the lock. */
guint gst_gid_domain_count_read (GstGidDomain *domain);

/**
 * Reclaims the oldest frame of each producer, even if a consumer has claimed it. Call without the
 * lock.
 */
void gst_gid_domain_reclaim_shown (GstGidDomain *domain);

/**
 * Adds a source to the thread's main context that calls `func` at once. `func` may set a new ready
 * time to be called again. Returns a reference.
 */
GSource *gst_gid_domain_add_timer (
    GstGidDomain *domain, GSourceFunc func, gpointer data, GDestroyNotify destroy);

/** The GstResourceError for an error of libgid. */
GstResourceError gst_gid_domain_error_code (int result);

/**
 * Sets a GST_RESOURCE_ERROR for an error of libgid, with libgid's own message. Call with the lock
 * held.
 */
void gst_gid_domain_set_error (GstGidDomain *domain, GError **error, int result,
    const gchar *format, ...) G_GNUC_PRINTF (4, 5);

/** The domain's name as gidd reports it, and a quark of it for qdata of a GstMiniObject. */
const gchar *gst_gid_domain_get_name (GstGidDomain *domain);
GQuark gst_gid_domain_get_quark (GstGidDomain *domain);

G_END_DECLS

#endif
