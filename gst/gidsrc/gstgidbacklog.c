// SPDX-License-Identifier: MIT
#include "gstgidbacklog.h"

#include <errno.h>

#include "common/gstgid.h"

#define GST_CAT_DEFAULT gst_gid_debug

/* If downstream has held all frames for so long, it may not know that it must release them. */
#define STUCK GST_SECOND

/*
 * If nothing has arrived for so long, the stream may be at its end, which reclaims unread frames.
 */
#define QUIET (300 * GST_MSECOND)

/*
 * How long a patient producer waits before frames are copied here, long before its lease expires:
 * it may feed other consumers, for which downstream waits.
 */
#define IMPATIENT_MIN (500 * GST_MSECOND)
#define IMPATIENT_PART 20 /* fraction of a lease */

/*
 * Maximum number of waiting entries without a picture; no producer sends more between two pictures.
 */
#define MARKS_MAX 64

static void
arrival_free (GstGidArrival *arrival)
{
  gid_slab_unref (arrival->slab);
  gst_clear_buffer (&arrival->copy);
  g_clear_pointer (&arrival->metadata, g_byte_array_unref);
  g_free (arrival);
}

/* Everything is counted, because the producer chooses what there is much of. */
static gsize
arrival_size (const GstGidArrival *arrival)
{
  return sizeof (*arrival) + (arrival->copy ? gst_buffer_get_size (arrival->copy) : 0)
      + (arrival->metadata ? arrival->metadata->len : 0);
}

static void
add_waiting (GstGidBacklog *self, GstGidArrival *arrival)
{
  g_queue_push_tail (&self->waiting, arrival);
  self->waiting_bytes += arrival_size (arrival);
  self->waiting_marks += arrival->copy == NULL;
}

/* Call before removing it from the queue, or changing it. */
static void
discount_waiting (GstGidBacklog *self, const GstGidArrival *arrival)
{
  self->waiting_bytes -= arrival_size (arrival);
  self->waiting_marks -= arrival->copy == NULL;
}

void
gst_gid_arrival_finish (GstGidArrival *arrival, GstGidReader *reader)
{
  gst_gid_domain_lock (reader->domain);
  if (arrival->slab == NULL)
    gid_consumer_release (reader->consumer, &arrival->frame);
  gid_slab_unref (g_steal_pointer (&arrival->slab));
  gst_gid_domain_unlock (reader->domain);
  gst_clear_buffer (&arrival->copy);
}

/* --- start and stop --------------------------------------------------------------------------- */

void
gst_gid_backlog_init (GstGidBacklog *self, GstBaseSrc *src, GstGidCredit *credit,
    GstGidCopier *copier, GstGidExtras *extras, GstGidSequence *sequence)
{
  self->src = src;
  self->credit = credit;
  self->copier = copier;
  self->extras = extras;
  self->sequence = sequence;
  g_cond_init (&self->copied);
}

void
gst_gid_backlog_finish (GstGidBacklog *self)
{
  g_cond_clear (&self->copied);
}

void
gst_gid_backlog_start (GstGidBacklog *self, gboolean live)
{
  self->live = live;
  g_atomic_int_set (&self->flushing, FALSE);
  self->received = self->full_since = 0;
  self->arrived = self->arrived_at = self->stuck_since = 0;
  self->warned_stuck = self->is_dmabuf = FALSE;
  self->away = self->was_paused = self->is_ending = self->rested = FALSE;
  self->left = self->unasked = 0;
}

void
gst_gid_backlog_set_flushing (GstGidBacklog *self, gboolean flushing)
{
  g_atomic_int_set (&self->flushing, flushing);
}

static gboolean
is_flushing (const GstGidBacklog *self)
{
  return g_atomic_int_get (&self->flushing);
}

static void
forget_waiting (GstGidBacklog *self)
{
  g_queue_clear_full (&self->waiting, (GDestroyNotify) arrival_free);
  self->waiting_bytes = self->waiting_marks = 0;
  self->forgotten = TRUE;
}

void
gst_gid_backlog_pause (GstGidBacklog *self)
{
  if (self->live)
    forget_waiting (self);
  self->was_paused = self->live;
  self->rested |= self->live;
}

void
gst_gid_backlog_end (GstGidBacklog *self, GstGidReader *reader)
{
  struct gid_consumer_stats stats = { 0 };

  if (self->is_ending)
    return;
  if (reader->consumer)
    gid_consumer_get_stats (reader->consumer, &stats);
  self->is_ending = TRUE;
  self->left = stats.unread;
}

static void
wait_copied (GstGidBacklog *self, GstGidReader *reader)
{
  while (self->copying)
    gst_gid_domain_wait (reader->domain, &self->copied);
}

void
gst_gid_backlog_stop (GstGidBacklog *self, GstGidReader *reader)
{
  self->away = FALSE; /* the domain's thread takes no other one */
  wait_copied (self, reader);
  forget_waiting (self);
}

guint
gst_gid_backlog_get_length (const GstGidBacklog *self)
{
  return self->waiting.length;
}

void
gst_gid_backlog_set_dmabuf (GstGidBacklog *self, gboolean is_dmabuf)
{
  self->is_dmabuf = is_dmabuf;
}

/* --- the streaming thread --------------------------------------------------------------------- */

static void
note_interval (GstGidBacklog *self, GstGidReader *reader, const struct gid_frame *frame)
{
  guint64 *interval = &reader->interval;

  if (frame->gid == GID_NONE)
    return;
  if (self->received > 0 && frame->submit_time > self->received) {
    guint64 since = MIN (frame->submit_time - self->received, GST_SECOND);

    *interval = *interval == 0 ? since : (7 * *interval + since) / 8;
  }
  self->received = frame->submit_time;
}

/*
 * Frames are wanted again. The ring only has as many of the frames in between as there was room
 * for. So frames may be missing before the next one, and before the first one after these.
 */
static void
end_rest (GstGidBacklog *self, GstGidReader *reader)
{
  struct gid_consumer_stats stats;

  gid_consumer_get_stats (reader->consumer, &stats);
  self->unasked = stats.unread + 1;
  self->rested = FALSE;
  gst_gid_sequence_interrupt (self->sequence);
}

/* Returns what gid_consumer_receive() returns. */
static int
receive (GstGidBacklog *self, GstGidReader *reader, GstGidArrival *arrival)
{
  int ret = gid_consumer_receive (reader->consumer, &arrival->frame);

  arrival->unasked = ret == 1 && self->unasked > 0;
  self->unasked -= arrival->unasked;
  arrival->slab = NULL;
  arrival->copy = NULL;
  arrival->metadata = NULL;
  if (ret == 1 && arrival->frame.note_size > 0)
    memcpy (arrival->note, arrival->frame.note, arrival->frame.note_size);
  if (ret == 1)
    gst_gid_reader_hurry (reader);
  return ret;
}

/*
 * Called after a pause: skips the frames that arrived in it, except for the last picture, and for
 * an end of the stream after it. At most GID_CREDIT_MAX frames: more have not arrived in the pause,
 * but while this loop runs.
 */
static int
receive_last (GstGidBacklog *self, GstGidReader *reader, GstGidArrival *arrival)
{
  GstGidArrival older;
  int ret = receive (self, reader, arrival);

  for (guint i = 0; i < GID_CREDIT_MAX && ret == 1 && arrival->frame.gid != GID_NONE; i++) {
    older = *arrival;
    if (receive (self, reader, arrival) != 1) {
      *arrival = older;
      break;
    }
    if (arrival->frame.flags & GID_FRAME_EOS) {
      add_waiting (self, g_memdup2 (arrival, sizeof (*arrival)));
      *arrival = older;
      break;
    }
    gid_consumer_release (reader->consumer, &older.frame);
  }
  self->was_paused = ret != 1;
  return ret;
}

/* Reports the end that the application has asked for. Only once: a flush may take it back. */
static int
tell_end (GstGidBacklog *self)
{
  self->is_ending = FALSE;
  self->rested = TRUE;
  return -ENODATA;
}

int
gst_gid_backlog_receive (GstGidBacklog *self, GstGidReader *reader, GstGidArrival *arrival)
{
  GstGidArrival *first;
  int ret;

  wait_copied (self, reader); /* that frame comes before those in the ring */
  self->away = FALSE;
  /* a frame taken now would end a pause that has not begun yet */
  if (is_flushing (self))
    return -ECANCELED;
  if (self->rested)
    end_rest (self, reader);
  if (self->is_ending && self->waiting.length == 0 && self->left == 0)
    return tell_end (self);
  first = g_queue_pop_head (&self->waiting);
  if (first) {
    discount_waiting (self, first);
    *arrival = *first;
    g_free (first);
    ret = 1;
  } else {
    ret = self->was_paused ? receive_last (self, reader, arrival) : receive (self, reader, arrival);
    if (ret == 1)
      note_interval (self, reader, &arrival->frame);
    else if (self->is_ending)
      ret = tell_end (self);
    self->left -= MIN (self->left, 1);
  }
  if (ret == 1 && arrival->unasked)
    gst_gid_sequence_excuse (self->sequence);
  self->away = ret == 1;
  self->full_since = 0;
  return ret;
}

/* --- at EOS ----------------------------------------------------------------------------------- */

gboolean
gst_gid_backlog_release_all (GstGidBacklog *self, GstGidReader *reader)
{
  struct gid_consumer_stats stats;
  GstGidArrival arrival;

  forget_waiting (self);
  self->rested = TRUE;
  for (guint i = 0; i < GID_CREDIT_MAX && receive (self, reader, &arrival) == 1; i++) {
    note_interval (self, reader, &arrival.frame);
    gid_consumer_release (reader->consumer, &arrival.frame);
  }
  gid_consumer_get_stats (reader->consumer, &stats);
  return stats.held == 0;
}

/* --- the domain's thread ---------------------------------------------------------------------- */

/* Whether nothing has arrived for a while. */
static gboolean
is_quiet (GstGidBacklog *self, const struct gid_consumer_stats *stats, guint64 now)
{
  guint64 arrived = stats->frames + stats->unread;

  if (arrived != self->arrived) {
    self->arrived = arrived;
    self->arrived_at = now;
  }
  return now - self->arrived_at > QUIET;
}

/*
 * Whether the ring of a patient producer has been full for long: it waits, but no longer than a
 * lease.
 */
static gboolean
is_impatient (GstGidBacklog *self, const struct gid_consumer_stats *stats, guint room, guint64 now)
{
  guint64 most = MAX (stats->lease_ns / IMPATIENT_PART, IMPATIENT_MIN);

  if (stats->unread < room)
    self->full_since = 0;
  else if (self->full_since == 0)
    self->full_since = now;
  return self->full_since > 0 && now - self->full_since > MIN (stats->lease_ns / 2, most);
}

/* Whether the source runs, so that the streaming thread will come back. */
static gboolean
is_running (GstGidBacklog *self)
{
  return (!self->live || GST_STATE (self->src) == GST_STATE_PLAYING) && !is_flushing (self)
      && gst_pad_get_task_state (GST_BASE_SRC_PAD (self->src)) == GST_TASK_STARTED;
}

/* Whether to take frames out of the ring so that none is missed. */
static gboolean
is_crowded (GstGidBacklog *self, GstGidReader *reader)
{
  struct gid_consumer_stats stats;
  guint64 now = gid_clock_now ();
  gboolean quiet;
  guint room;

  if (!self->away || self->was_paused || self->is_ending || self->is_dmabuf
      || gst_gid_credit_drops_old (self->credit)
      || self->waiting_bytes + MAX (self->picture_bytes, 1) > self->max_size_bytes
      || self->waiting_marks >= MARKS_MAX || !is_running (self))
    return FALSE;
  gid_consumer_get_stats (reader->consumer, &stats);
  room = gst_gid_credit_get (self->credit, &stats);
  room -= MIN (room, stats.held);
  quiet = is_quiet (self, &stats, now);
  if (stats.unread == 0)
    return FALSE;
  if (stats.patient)
    return is_impatient (self, &stats, room, now) || (quiet && stats.unread < room);
  return quiet || 4 * stats.unread >= room;
}

/*
 * No producer should wait for a paused source: new frames get half of the ring, where they replace
 * older ones.
 */
static void
make_room (GstGidBacklog *self, GstGidReader *reader)
{
  struct gid_consumer_stats stats;
  GstGidArrival arrival;
  guint room;

  if (!self->was_paused || !self->rested || GST_STATE (self->src) != GST_STATE_PAUSED)
    return;
  gid_consumer_get_stats (reader->consumer, &stats);
  room = gst_gid_credit_get (self->credit, &stats);
  room -= MIN (room, stats.held);
  for (guint left = stats.unread;
      left > room / 2 && self->waiting_marks < MARKS_MAX && receive (self, reader, &arrival) == 1;
      left--) {
    note_interval (self, reader, &arrival.frame);
    if (arrival.frame.flags & GID_FRAME_FLUSH)
      forget_waiting (self);
    if (arrival.frame.gid == GID_NONE)
      add_waiting (self, g_memdup2 (&arrival, sizeof (arrival)));
    else
      gid_consumer_release (reader->consumer, &arrival.frame);
  }
}

static void
drop_pictures (GstGidBacklog *self)
{
  for (GList *at = self->waiting.head, *next; at; at = next) {
    GstGidArrival *arrival = at->data;

    next = at->next;
    if (arrival->copy == NULL)
      continue;
    discount_waiting (self, arrival);
    arrival_free (arrival);
    g_queue_delete_link (&self->waiting, at);
  }
}

/* Returns a copy of the frame, or NULL if it is lost. Releases the lock temporarily. */
static GstBuffer *
copy_arrival (GstGidBacklog *self, GstGidReader *reader, GstGidArrival *arrival)
{
  const struct gid_frame *frame = &arrival->frame;
  struct gid_slab_info info;
  gboolean stale;
  GstBuffer *copy;

  if (gid_slab_import (gst_gid_domain_get (reader->domain), frame->gid, &arrival->slab) < 0)
    return NULL;
  gid_slab_get_info (arrival->slab, &info);
  self->picture_bytes = gst_gid_copier_size_of (&info);
  if (self->waiting_bytes + self->picture_bytes > self->max_size_bytes)
    return NULL;
  copy = gst_gid_copier_allocate (self->copier, self->picture_bytes);
  if (copy == NULL)
    return NULL;
  arrival->metadata = gst_gid_extras_read (self->extras, reader->consumer, frame, arrival->slab);
  if (!gst_gid_copier_copy_slot (reader, arrival->slab, frame, copy, &stale))
    gst_clear_buffer (&copy);
  return copy;
}

/* Releases the lock temporarily; gst_gid_backlog_stop() waits for the copy. */
static gboolean
take_one (GstGidBacklog *self, GstGidReader *reader)
{
  GstGidArrival *arrival = g_new0 (GstGidArrival, 1);

  if (receive (self, reader, arrival) != 1) {
    g_free (arrival);
    return FALSE;
  }
  note_interval (self, reader, &arrival->frame);
  if (arrival->frame.flags & GID_FRAME_FLUSH)
    drop_pictures (self);
  if (arrival->frame.gid != GID_NONE) {
    self->forgotten = FALSE;
    self->copying = TRUE;
    arrival->copy = copy_arrival (self, reader, arrival);
    self->copying = FALSE;
    g_cond_broadcast (&self->copied);
    if (arrival->copy == NULL)
      gid_consumer_release (reader->consumer, &arrival->frame);
    if (arrival->copy == NULL || self->forgotten) {
      arrival_free (arrival);
      return FALSE;
    }
  }
  add_waiting (self, arrival);
  return TRUE;
}

/*
 * Whether downstream has held all frames it may for a while, and none can be copied. TRUE only
 * once.
 */
static gboolean
is_stuck (GstGidBacklog *self, GstGidReader *reader)
{
  struct gid_consumer_stats stats;
  guint64 now = gid_clock_now ();

  gid_consumer_get_stats (reader->consumer, &stats);
  if (!self->is_dmabuf || GST_STATE (self->src) != GST_STATE_PLAYING
      || stats.held < gst_gid_credit_get (self->credit, &stats))
    self->stuck_since = 0;
  else if (self->stuck_since == 0)
    self->stuck_since = now;
  else if (!self->warned_stuck && now - self->stuck_since > STUCK)
    return self->warned_stuck = TRUE;
  return FALSE;
}

void
gst_gid_backlog_poll (GstGidBacklog *self, GstGidReader *reader)
{
  gboolean stuck;

  gst_gid_domain_lock (reader->domain);
  while (gst_gid_reader_is_read (reader) && is_crowded (self, reader) && take_one (self, reader))
    ;
  if (gst_gid_reader_is_read (reader))
    make_room (self, reader);
  stuck = gst_gid_reader_is_read (reader) && is_stuck (self, reader);
  gst_gid_domain_unlock (reader->domain);
  if (stuck)
    GST_ELEMENT_WARNING (self->src, RESOURCE, READ,
        ("Downstream holds all frames of the stream \"%s\" that it may: as DMA_DRM they cannot be "
         "copied, and no more come until it lets go of one.",
            reader->stream),
        ("credit= of gidsrc and of its gidsink says how many it may hold"));
}
