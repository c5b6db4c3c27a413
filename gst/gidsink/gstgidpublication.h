// SPDX-License-Identifier: MIT
/**
 * The published stream of a sink: wraps libgid's producer, takes the domain's lock around each
 * call, and handles its callbacks.
 */
#ifndef GST_GID_PUBLICATION_H
#define GST_GID_PUBLICATION_H

#include "common/gstgidaccess.h"
#include "common/gstgidcopies.h"
#include "common/gstgidexport.h"

G_BEGIN_DECLS

/**
 * A consumer has joined or released something, or gidd has answered. Called with the domain's lock
 * held, on any thread.
 */
typedef void (*GstGidWakeFunc) (gpointer data);

typedef struct
{
  GstElement *element;
  GstGidWakeFunc wake;
  gpointer wake_data;

  /* properties; the object lock */
  gchar *stream, *readers, *timeline_path, *protection_key;
  gint protection_profile; /* enum gid_protection_profile */
  guint credit, lease_ms, max_metadata; /* `lease_ms` 0: a default that depends on `leaky` */
  gboolean leaky;

  /* from open to close */
  GstGidDomain *domain;
  struct gid_producer *producer; /* changed only with the object lock held, too */
  gchar *name; /* of the published stream; the property `stream` may differ by now */
  GstGidAccess access; /* only if `readers` is set */
  struct gid_protection *protection; /* NULL: none */
  struct gid_timeline *timeline; /* NULL: none */
  struct gid_producer_stats last_stats; /* the final statistics, after the producer was destroyed */
  guint64 taken_back; /* frames that the sink itself has reclaimed unread */
  guint64 told_lost; /* number of lost frames that was reported last */
  gint64 looked_lost; /* time when they were counted last */
} GstGidPublication;

void gst_gid_publication_init (
    GstGidPublication *self, GstElement *element, GstGidWakeFunc wake, gpointer data);

/** Connects to the named domain (NULL: $GID_DOMAIN). Returns FALSE with an error. */
gboolean gst_gid_publication_open (
    GstGidPublication *self, const gchar *domain_name, GError **error);

/** Publishes the stream in that domain. Returns FALSE with an error. */
gboolean gst_gid_publication_publish (GstGidPublication *self, GError **error);

/** Ends the stream, and closes the connection. Does nothing if it is not open. */
void gst_gid_publication_close (GstGidPublication *self);

gboolean gst_gid_publication_is_published (const GstGidPublication *self);

/** Call while it is open: */
static inline GstGidDomain *
gst_gid_publication_get_domain (GstGidPublication *self)
{
  return self->domain;
}

/**
 * Returns the number of the domain that a property names; 0 for NULL. Returns FALSE with an error.
 */
gboolean gst_gid_publication_find_domain (GstGidPublication *self, const gchar *property,
    const gchar *name, guint32 *number, GError **error);

/** Call while it is published: */
gboolean gst_gid_publication_has_consumer (GstGidPublication *self);

/** Whether each consumer can take a frame without a loss. If not, the next release calls `wake`. */
gboolean gst_gid_publication_has_room (GstGidPublication *self);

/**
 * Whether there are consumers that could lose a frame. Those that asked for only the newest frame
 * do not count.
 */
gboolean gst_gid_publication_waits (GstGidPublication *self);

/** The largest number of unread entries of a consumer, among those that are waited for. */
guint gst_gid_publication_count_unread (GstGidPublication *self);

/** Whether a consumer is on another machine, where it sees only our own shared memory. */
gboolean gst_gid_publication_needs_window (GstGidPublication *self);

/** The name of the published stream. */
static inline const gchar *
gst_gid_publication_get_name (const GstGidPublication *self)
{
  return self->name;
}

/** The property `stream`. At any time, with the object lock held. */
static inline const gchar *
gst_gid_publication_get_stream (const GstGidPublication *self)
{
  return self->stream;
}

/** The maximum size of a frame's metadata. At any time. */
static inline guint
gst_gid_publication_get_metadata_max (const GstGidPublication *self)
{
  return self->max_metadata;
}

/** How long to wait for consumers before each frame, in ms; 0: not at all. At any time. */
guint gst_gid_publication_get_patience (GstGidPublication *self);

/** The lease, in ms. At any time. */
guint gst_gid_publication_get_lease (GstGidPublication *self);

/**
 * Sends the frame, and keeps references of its buffer and export (may be NULL) until all consumers
 * have released it. Returns the number of consumers that got it, or libgid's error;
 * `*metadata_error` says why they got no metadata. -EINPROGRESS: gidd was asked to grant access;
 * `wake` is called, and the frame must be sent again.
 */
int gst_gid_publication_send (GstGidPublication *self, struct gid_frame *frame,
    const GByteArray *metadata, GstBuffer *buffer, GstGidExport *export, int *metadata_error);

/** Sends flags without a picture. */
void gst_gid_publication_send_mark (GstGidPublication *self, guint32 flags);

/** Reclaims the frames that no consumer has claimed. */
void gst_gid_publication_take_back (GstGidPublication *self);

/**
 * If consumers are waited for and have lost frames all the same, reports that to the user: the
 * first time, and `at_end` the total. Call from the streaming thread, or when there is none.
 */
void gst_gid_publication_tell_lost (GstGidPublication *self, gboolean at_end);

/** Counts a copy in the statistics that consumers see. */
void gst_gid_publication_count_copy (
    GstGidPublication *self, GstGidCopyReason reason, guint64 bytes);

/**
 * What all consumers can show; returns 0 if they have reported nothing, or have nothing in common.
 * At any time.
 */
guint gst_gid_publication_get_showable (
    GstGidPublication *self, struct gid_showable showable[static GID_SHOWABLE_MAX]);

/** The last report of the display of a domain (0: of the only consumer). FALSE: there is none. */
gboolean gst_gid_publication_get_shown (
    GstGidPublication *self, guint32 domain, struct gid_shown *shown);

/** At any time. Call with the object lock held. */
void gst_gid_publication_get_stats (GstGidPublication *self, struct gid_producer_stats *stats);

G_END_DECLS

#endif
