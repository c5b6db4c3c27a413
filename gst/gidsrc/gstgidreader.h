// SPDX-License-Identifier: MIT
/**
 * A subscription that the memories of its frames can outlive. As long as it exists, the domain's
 * thread renews the leases of the frames that are held, and checks whether one was reclaimed all
 * the same. So frames stay valid in a pause, and while all other threads are busy.
 */
#ifndef GST_GID_READER_H
#define GST_GID_READER_H

#include "common/gstgiddomain.h"

G_BEGIN_DECLS

typedef struct _GstGidReader GstGidReader;

/**
 * Called by the domain's thread, without the lock, about three times per lease, and so often that
 * at most a quarter of the credit is used up in between. `taken`: number of frames that were
 * reclaimed from downstream since the last call.
 */
typedef void (*GstGidReaderFunc) (GstGidReader *reader, GstElement *element, guint taken);

/** Returns how many frames of `data` were reclaimed since the last call. */
typedef guint (*GstGidTakenFunc) (gpointer data);

/** All fields are protected by the domain's lock. */
struct _GstGidReader
{
  gint refcount;
  GstGidDomain *domain;
  struct gid_consumer *consumer; /* NULL: not subscribed */
  guint epoch; /* incremented when the connection to the producer is lost, with its frames */
  gboolean wants_dmabufs; /* for frames in memory windows; constant */
  GHashTable *holders; /* data -> GstGidTakenFunc */
  gchar *stream; /* name of the stream, constant after the first start */
  guint64 all_taken; /* total number that was reported */
  guint taken; /* frames released since the last poll that had been reclaimed before */
  GSource *timer;
  guint64 poll_time; /* monotonic time of the next poll, in ns */
  GSource *waker; /* NULL: not used yet */
  guint64 wake_time; /* monotonic time of the next wake-up of the streaming thread; 0: none */
  GstElement *element; /* that reads; NULL without a consumer, or after gst_gid_reader_leave() */
  gpointer owner; /* of the consumer's callbacks; NULL likewise */
  GstGidReaderFunc polled;
  guint64 interval; /* average time between two frames, in ns; 0: not known */
};

/** Takes the reference of the domain. */
GstGidReader *gst_gid_reader_new (GstGidDomain *domain, gboolean wants_dmabufs);
GstGidReader *gst_gid_reader_ref (GstGidReader *reader);
void gst_gid_reader_unref (GstGidReader *reader);

/**
 * The consumer of `stream` was created. Posts messages of the element if frames are reclaimed.
 * `polled` may be NULL. Call with the lock held.
 */
void gst_gid_reader_start (GstGidReader *reader, struct gid_consumer *consumer, const gchar *stream,
    GstElement *element, GstGidReaderFunc polled);

/**
 * A frame was received: polls sooner if its lease could expire before the next poll. Call with the
 * lock held.
 */
void gst_gid_reader_hurry (GstGidReader *reader);

/** Makes gid_consumer_sleep() return at this monotonic time, in ns. Call with the lock held. */
void gst_gid_reader_wake_at (GstGidReader *reader, guint64 time);

/** Whether leases are too short to be renewed in time, so that frames must be copied. */
gboolean gst_gid_reader_is_too_late (const struct gid_consumer_stats *stats);

/** Destroys the consumer, if there is one. Call with the lock held. */
void gst_gid_reader_stop (GstGidReader *reader);

/**
 * Destroys the consumer when no memory holds a frame any more: an application may use buffers after
 * it has stopped the pipeline. Releases frames that arrive until then. The element and its
 * functions are not called any more. Call with the lock held.
 */
void gst_gid_reader_leave (GstGidReader *reader);

/** Whether the element is subscribed. Call with the lock held. */
static inline gboolean
gst_gid_reader_is_read (const GstGidReader *reader)
{
  return reader->consumer != NULL && reader->owner != NULL;
}

/** Registers objects that may hold frames. Call with the lock held. */
void gst_gid_reader_add_holder (GstGidReader *reader, GstGidTakenFunc taken, gpointer data);
void gst_gid_reader_remove_holder (GstGidReader *reader, gpointer data);

G_END_DECLS

#endif
