// SPDX-License-Identifier: MIT
/**
 * A subscription that memories may outlive. As long as there is one, the domain's thread renews the
 * leases of what is held, and polls whether any was taken all the same: so frames stay as they are
 * in a pause, too, and while all other threads are busy.
 */
#ifndef GST_GID_READER_H
#define GST_GID_READER_H

#include "common/gstgiddomain.h"

G_BEGIN_DECLS

typedef struct _GstGidReader GstGidReader;

/**
 * Called about three times a lease, and so often that at most a quarter of the credit fills up in
 * between, on the domain's thread and without the lock: `taken` frames were taken back from
 * downstream since the last time.
 */
typedef void (*GstGidReaderFunc) (GstGidReader *reader, GstElement *element, guint taken);

/** How many frames that `data` has out were taken back, since that was asked last. */
typedef guint (*GstGidTakenFunc) (gpointer data);

/** What is in it is under the domain's lock. */
struct _GstGidReader
{
  gint refcount;
  GstGidDomain *domain;
  struct gid_consumer *consumer; /* NULL: nothing is read yet, or any more */
  guint epoch; /* of the connection to the producer: older frames went with it */
  gboolean wants_dmabufs; /* of frames that are in windows; fixed */
  GHashTable *holders; /* data -> GstGidTakenFunc */
  gchar *stream; /* its name, from the first start on; fixed */
  guint64 all_taken; /* reported until now */
  guint taken; /* frames that came back since the last poll, but had been taken back before */
  GSource *timer;
  guint64 poll_time; /* of the monotonic clock, ns: when the timer fires next */
  GSource *waker; /* NULL: nobody asked for it yet */
  guint64 wake_time; /* likewise when it wakes the streaming thread; 0: not again */
  GstElement *element; /* that reads; NULL where the consumer is, or where it has left */
  gpointer owner; /* of what the consumer calls back; NULL: it has left, or there is none */
  GstGidReaderFunc polled;
  guint64 interval; /* from one frame to the next, about, ns; 0: not known */
};

/** Takes the reference of the domain. */
GstGidReader *gst_gid_reader_new (GstGidDomain *domain, gboolean wants_dmabufs);
GstGidReader *gst_gid_reader_ref (GstGidReader *reader);
void gst_gid_reader_unref (GstGidReader *reader);

/**
 * The consumer of `stream` is there. With the lock held. Says on the element's bus if frames are
 * taken back. `polled` may be NULL.
 */
void gst_gid_reader_start (GstGidReader *reader, struct gid_consumer *consumer, const gchar *stream,
    GstElement *element, GstGidReaderFunc polled);

/**
 * A frame was received: polls sooner if its lease would be over before the next poll. With the lock
 * held.
 */
void gst_gid_reader_hurry (GstGidReader *reader);

/**
 * Has gid_consumer_sleep() return once that time of the monotonic clock has come, ns. With the lock
 * held.
 */
void gst_gid_reader_wake_at (GstGidReader *reader, guint64 time);

/** Whether leases are over before they can be renewed in time: then only a copy stays. */
gboolean gst_gid_reader_is_too_late (const struct gid_consumer_stats *stats);

/** Destroys the consumer. With the lock held. Does nothing where there is none. */
void gst_gid_reader_stop (GstGidReader *reader);

/**
 * The same once nobody has frames of it any more: who ended the pipeline may go on to look at what it
 * gave. What comes until then goes back. With the lock held; the element and its functions are called
 * no more.
 */
void gst_gid_reader_leave (GstGidReader *reader);

/** Whether its element reads. With the lock held. */
static inline gboolean
gst_gid_reader_is_read (const GstGidReader *reader)
{
  return reader->consumer != NULL && reader->owner != NULL;
}

/** What may have frames out comes and goes. With the lock held. */
void gst_gid_reader_add_holder (GstGidReader *reader, GstGidTakenFunc taken, gpointer data);
void gst_gid_reader_remove_holder (GstGidReader *reader, gpointer data);

G_END_DECLS

#endif
