// SPDX-License-Identifier: MIT
/**
 * The stream that a sink publishes: libgid's producer, with the domain's lock around each call, and
 * what libgid tells of its consumers.
 */
#ifndef GST_GID_PUBLICATION_H
#define GST_GID_PUBLICATION_H

#include "common/gstgidaccess.h"
#include "common/gstgidcopies.h"
#include "common/gstgidexport.h"

G_BEGIN_DECLS

/** A consumer came, or released something; or gidd answered. With the domain's lock held, on any thread. */
typedef void (*GstGidWakeFunc) (gpointer data);

typedef struct
{
  GstElement *element;
  GstGidWakeFunc wake;
  gpointer wake_data;

  /* properties; the element's lock */
  gchar *stream, *readers, *timeline_path, *protection_key;
  gint protection_profile; /* enum gid_protection_profile */
  guint credit, lease_ms, max_metadata; /* `lease_ms` 0: as `leaky` needs it */
  gboolean leaky;

  /* from open to close */
  GstGidDomain *domain;
  struct gid_producer *producer; /* to change with the element's lock, too */
  gchar *name; /* of the stream that it is, whatever `stream` says by now */
  GstGidAccess access; /* where `readers` is set */
  struct gid_protection *protection; /* NULL: none */
  struct gid_timeline *timeline; /* NULL: none */
  struct gid_producer_stats last_stats; /* when there is no producer any more */
  guint64 taken_back; /* frames that were dropped because the sink took them back itself */
  guint64
      told_lost; /* frames that readers lost though they are waited for, as far as it was told */
  gint64 looked_lost; /* when that was counted last */
} GstGidPublication;

void gst_gid_publication_init (
    GstGidPublication *self, GstElement *element, GstGidWakeFunc wake, gpointer data);

/** Connects to the domain named (NULL: $GID_DOMAIN). Returns FALSE with an error. */
gboolean gst_gid_publication_open (
    GstGidPublication *self, const gchar *domain_name, GError **error);

/** Publishes the stream in that domain. Returns FALSE with an error. */
gboolean gst_gid_publication_publish (GstGidPublication *self, GError **error);

/** Takes the stream back, and closes the connection. Does nothing where it is not open. */
void gst_gid_publication_close (GstGidPublication *self);

gboolean gst_gid_publication_is_published (const GstGidPublication *self);

/** While it is open: */
static inline GstGidDomain *
gst_gid_publication_get_domain (GstGidPublication *self)
{
  return self->domain;
}

/** The number of the domain that a property names, NULL: 0. Returns FALSE with an error. */
gboolean gst_gid_publication_find_domain (GstGidPublication *self, const gchar *property,
    const gchar *name, guint32 *number, GError **error);

/** While it is published: */
gboolean gst_gid_publication_has_consumer (GstGidPublication *self);

/** Whether each consumer can take a frame without a loss. If not, the next release wakes. */
gboolean gst_gid_publication_has_room (GstGidPublication *self);

/** Whether there is a consumer that a frame can be lost for: not one that chose to have the newest. */
gboolean gst_gid_publication_waits (GstGidPublication *self);

/** The largest number of entries that a consumer has yet to read, of those that are waited for. */
guint gst_gid_publication_count_unread (GstGidPublication *self);

/** Whether a consumer is on another machine, which sees our own shared memory alone. */
gboolean gst_gid_publication_needs_window (GstGidPublication *self);

/** The stream's name. */
static inline const gchar *
gst_gid_publication_get_name (const GstGidPublication *self)
{
  return self->name;
}

/** The name that it has or will have. At any time, with the element's lock held. */
static inline const gchar *
gst_gid_publication_get_stream (const GstGidPublication *self)
{
  return self->stream;
}

/** How many bytes of metadata its frames may have. At any time. */
static inline guint
gst_gid_publication_get_metadata_max (const GstGidPublication *self)
{
  return self->max_metadata;
}

/** How long a consumer's next frame may take, in ms; 0: nobody is waited for. At any time. */
guint gst_gid_publication_get_patience (GstGidPublication *self);

/** The lease, in ms. At any time. */
guint gst_gid_publication_get_lease (GstGidPublication *self);

/**
 * Sends the frame, and keeps its buffer and its export (may be NULL) until all consumers released
 * it. Returns how many got it, or libgid's error; `*metadata_error` is why they got no metadata.
 * -EINPROGRESS: gidd was asked whether they may read it. `wake` is called; then it is to be sent again.
 */
int gst_gid_publication_send (GstGidPublication *self, struct gid_frame *frame,
    const GByteArray *metadata, GstBuffer *buffer, GstGidExport *export, int *metadata_error);

/** Sends flags without a picture. */
void gst_gid_publication_send_mark (GstGidPublication *self, guint32 flags);

/** Takes back what no consumer has read. */
void gst_gid_publication_take_back (GstGidPublication *self);

/**
 * Where consumers are waited for, and lost frames all the same: tells people, of the first ones and,
 * `at_end`, of all. The streaming thread's, or when there is none.
 */
void gst_gid_publication_tell_lost (GstGidPublication *self, gboolean at_end);

/** Consumers hear of a copy. */
void gst_gid_publication_count_copy (
    GstGidPublication *self, GstGidCopyReason reason, guint64 bytes);

/** What consumers can show; 0: they told nothing, or nothing that all can show. At any time. */
guint gst_gid_publication_get_showable (
    GstGidPublication *self, struct gid_showable showable[static GID_SHOWABLE_MAX]);

/** What the display of a domain (0: of the only consumer) showed last. FALSE: nobody told. */
gboolean gst_gid_publication_get_shown (
    GstGidPublication *self, guint32 domain, struct gid_shown *shown);

/** At any time. With the element's lock held. */
void gst_gid_publication_get_stats (GstGidPublication *self, struct gid_producer_stats *stats);

G_END_DECLS

#endif
