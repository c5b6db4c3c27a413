// SPDX-License-Identifier: MIT
/** The stream that a source reads: its subscription, and what became of that. */
#ifndef GST_GID_SUBSCRIPTION_H
#define GST_GID_SUBSCRIPTION_H

#include "gstgidreader.h"

G_BEGIN_DECLS

typedef struct
{
  GstElement *element;

  /* properties; the object lock */
  gchar *domain, *stream, *reader_name, *timeline_path;
  gboolean reconnect, dmabuf;

  /* from start to stop */
  GstGidReader *reader; /* to change with the object lock */
  struct gid_timeline *timeline; /* NULL: none */
  struct gid_consumer_stats last_stats; /* when there is no consumer any more */
  gchar *asked_domain, *asked_stream; /* as they were at the start; */
  gboolean waits; /* so was reconnect */
  guint credit;
  gboolean drop_old;
  GstGidReaderFunc polled;

  /* the domain's lock */
  enum gid_consumer_state state;
  int reason;
  gboolean answered, subscribed; /* whether gidd has answered, and ever with yes */
  GError *refusal; /* it never will; not changed again before the end */

  /* the streaming thread's */
  enum gid_consumer_state posted_state;
  guint64 waits_since; /* for the stream, of the monotonic clock, ns; 0: it does not */
  gboolean told_waiting; /* that it does so for long */
} GstGidSubscription;

/** What becomes of a stream, as far as the streaming thread is to hear of it. */
typedef struct
{
  enum gid_consumer_state state;
  int reason;
  gboolean known; /* gidd has answered */
  gboolean refused; /* for good */
} GstGidOutcome;

void gst_gid_subscription_init (GstGidSubscription *self, GstElement *element);

/**
 * Opens the domain, and keeps what the properties say: the stream that is to be read, for so many
 * frames at once. `polled`: see gst_gid_reader_start(). Returns FALSE with an error.
 */
gboolean gst_gid_subscription_start (GstGidSubscription *self, guint credit, gboolean drop_old,
    GstGidReaderFunc polled, GError **error);

/** Ends the subscription, and closes the domain, once nobody has frames of it: see the reader. */
void gst_gid_subscription_stop (GstGidSubscription *self);

/**
 * Subscribes to the stream, where it is not subscribed to: the first frame is wanted. FALSE: the
 * outcome says that it is refused. With the domain's lock held, as:
 */
gboolean gst_gid_subscription_subscribe (GstGidSubscription *self);

/** No frame is wanted any more. What downstream holds goes back, too. */
void gst_gid_subscription_unsubscribe (GstGidSubscription *self);

/** What reads, between start and stop; NULL outside of that, with the object lock held. */
GstGidReader *gst_gid_subscription_get_reader (const GstGidSubscription *self);

/** With the domain's lock held. */
GstGidOutcome gst_gid_subscription_get_outcome (const GstGidSubscription *self);

/** Tells the application of another state. The streaming thread. Returns whether it is another. */
gboolean gst_gid_subscription_post_state (GstGidSubscription *self, const GstGidOutcome *outcome);

/**
 * Nothing has come: who waits for long for a stream that there is not is told once what it waits for.
 * Before that, gid_consumer_sleep() returns when it is time. The streaming thread, without the lock.
 */
void gst_gid_subscription_note_waiting (GstGidSubscription *self, const GstGidOutcome *outcome);

/** Posts why the stream ended, if it did not end in good order. Returns whether it did not. */
gboolean gst_gid_subscription_post_end (GstGidSubscription *self, int error);

/** With the object lock held. */
const gchar *gst_gid_subscription_get_domain (const GstGidSubscription *self);
const gchar *gst_gid_subscription_get_stream (const GstGidSubscription *self);
void gst_gid_subscription_get_stats (GstGidSubscription *self, struct gid_consumer_stats *stats);

G_END_DECLS

#endif
