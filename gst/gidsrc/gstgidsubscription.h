// SPDX-License-Identifier: MIT
/** A source's subscription to a stream, and its state. */
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
  GstGidReader *reader; /* changed only with the object lock held */
  struct gid_timeline *timeline; /* NULL: none */
  struct gid_consumer_stats last_stats; /* the final statistics, after the consumer was destroyed */
  gchar *asked_domain, *asked_stream; /* values of the properties at the start */
  gboolean waits; /* value of `reconnect` at the start */
  guint credit;
  gboolean drop_old;
  GstGidReaderFunc polled;

  /* the domain's lock */
  enum gid_consumer_state state;
  int reason;
  gboolean answered, subscribed; /* gidd has answered; and at least once with success */
  GError *refusal; /* the subscription is refused; constant once set */

  /* streaming thread */
  enum gid_consumer_state posted_state;
  guint64 waits_since; /* since when, monotonic time in ns; 0: it does not wait */
  gboolean told_waiting; /* a notice about the long wait was posted */
} GstGidSubscription;

/** The state of a subscription, for the streaming thread. */
typedef struct
{
  enum gid_consumer_state state;
  int reason;
  gboolean known; /* gidd has answered */
  gboolean refused; /* permanently */
} GstGidOutcome;

void gst_gid_subscription_init (GstGidSubscription *self, GstElement *element);

/**
 * Connects to the domain, and stores the values of the properties. `credit`: number of frames held
 * at once. `polled`: see gst_gid_reader_start(). Returns FALSE with an error.
 */
gboolean gst_gid_subscription_start (GstGidSubscription *self, guint credit, gboolean drop_old,
    GstGidReaderFunc polled, GError **error);

/**
 * Ends the subscription and closes the connection, once no memory holds a frame: see
 * gst_gid_reader_leave().
 */
void gst_gid_subscription_stop (GstGidSubscription *self);

/**
 * Subscribes to the stream, unless subscribed already. Returns FALSE if it is refused; the outcome
 * says so. Call with the domain's lock held.
 */
gboolean gst_gid_subscription_subscribe (GstGidSubscription *self);

/**
 * Ends the subscription at once, and releases the frames that downstream holds. Call with the
 * domain's lock held.
 */
void gst_gid_subscription_unsubscribe (GstGidSubscription *self);

/**
 * The reader, between start and stop; NULL otherwise. Threads other than the streaming thread call
 * it with the object lock held.
 */
GstGidReader *gst_gid_subscription_get_reader (const GstGidSubscription *self);

/** Call with the domain's lock held. */
GstGidOutcome gst_gid_subscription_get_outcome (const GstGidSubscription *self);

/** Posts a message if the state has changed, and returns whether it has. Streaming thread. */
gboolean gst_gid_subscription_post_state (GstGidSubscription *self, const GstGidOutcome *outcome);

/**
 * Nothing was received. Posts one notice if the stream has been missing for long, and before that
 * makes gid_consumer_sleep() return when it is time for the notice. Streaming thread, without the
 * lock.
 */
void gst_gid_subscription_note_waiting (GstGidSubscription *self, const GstGidOutcome *outcome);

/** Posts an error if the stream did not end normally, and returns whether it did not. */
gboolean gst_gid_subscription_post_end (GstGidSubscription *self, int error);

/**
 * The name of the stream that is read, between start and stop. The property `stream` may differ by
 * now. Streaming thread.
 */
const gchar *gst_gid_subscription_get_name (const GstGidSubscription *self);

/** Properties and statistics. Call with the object lock held. */
const gchar *gst_gid_subscription_get_domain (const GstGidSubscription *self);
const gchar *gst_gid_subscription_get_stream (const GstGidSubscription *self);
void gst_gid_subscription_get_stats (GstGidSubscription *self, struct gid_consumer_stats *stats);

G_END_DECLS

#endif
