// SPDX-License-Identifier: MIT
/**
 * What downstream holds, and what waits for it. Frames are missed where there is no credit left for
 * them. So before downstream holds all of it, frames are given as copies; and while the streaming
 * thread is away and the ring fills up, the domain's thread takes them out of it, as copies, too.
 */
#include <errno.h>

#include "common/gstgid.h"
#include "gstgidsrc.h"

#define GST_CAT_DEFAULT gst_gid_debug

/* When downstream has had all frames for so long, it may not know that it is to give them back. */
#define STUCK GST_SECOND

/* What is asked for where nobody says a number: so many frames, and those of the latency. */
#define CREDIT 24
#define CREDIT_DROP_OLD 4
#define LATENCY_RATE 60
#define LENT_MIN 4
/* What more downstream gets because it asks for it: the producer may have no memory for all. */
#define LENT_BYTES (64 * 1024 * 1024)

/* When nothing comes for so long, the stream may be at its end, which takes back what is unread. */
#define QUIET (300 * GST_MSECOND)

guint
gst_gid_src_choose_credit (const GstGidSrc *self)
{
  guint64 credit = self->drop_old ? CREDIT_DROP_OLD : CREDIT;

  if (self->credit > 0)
    return self->credit;
  credit += gst_util_uint64_scale_ceil (self->latency_ms, LATENCY_RATE, 1000);
  return MIN (credit, GID_CREDIT_MAX);
}

/* What the producer says that it allows, which is no more than was asked for. */
static guint
get_credit (const GstGidSrc *self, const struct gid_consumer_stats *stats)
{
  return stats->credit > 0 ? MIN (stats->credit, self->may_hold) : self->may_hold;
}

/* --- what waits -------------------------------------------------------------------------------- */

static void
arrival_free (GstGidArrival *arrival)
{
  gid_slab_unref (arrival->slab);
  gst_clear_buffer (&arrival->copy);
  g_clear_pointer (&arrival->metadata, g_byte_array_unref);
  g_free (arrival);
}

static gsize
arrival_size (const GstGidArrival *arrival)
{
  return arrival->copy ? gst_buffer_get_size (arrival->copy) : 0;
}

void
gst_gid_src_forget_waiting (GstGidSrc *self)
{
  g_queue_clear_full (&self->waiting, (GDestroyNotify) arrival_free);
  self->waiting_bytes = 0;
  self->forgotten = TRUE;
}

static void
note_interval (GstGidSrc *self, const struct gid_frame *frame)
{
  guint64 *interval = &self->reader->interval;

  if (frame->gid == GID_NONE)
    return;
  if (self->received > 0 && frame->submit_time > self->received) {
    guint64 since = MIN (frame->submit_time - self->received, GST_SECOND);

    *interval = *interval == 0 ? since : (7 * *interval + since) / 8;
  }
  self->received = frame->submit_time;
}

/* As gid_consumer_receive(). With the lock held. */
static int
receive (GstGidReader *reader, GstGidArrival *arrival)
{
  int ret = gid_consumer_receive (reader->consumer, &arrival->frame);

  if (ret == 1 && arrival->frame.note_size > 0)
    memcpy (arrival->note, arrival->frame.note, arrival->frame.note_size);
  if (ret == 1)
    gst_gid_reader_hurry (reader);
  return ret;
}

/* After a pause: what came in it is older than what is to be shown now, but for the last picture. */
static int
receive_last (GstGidSrc *self, GstGidArrival *arrival)
{
  GstGidArrival older;
  int ret = receive (self->reader, arrival);

  while (ret == 1 && arrival->frame.gid != GID_NONE) {
    older = *arrival;
    if (receive (self->reader, arrival) != 1) {
      *arrival = older;
      break;
    }
    gid_consumer_release (self->reader->consumer, &older.frame);
    self->discont = TRUE;
  }
  self->was_paused = ret != 1;
  return ret;
}

void
gst_gid_src_wait_taken (GstGidSrc *self)
{
  while (self->copying)
    gst_gid_domain_wait (self->reader->domain, &self->copied);
}

int
gst_gid_src_receive (GstGidSrc *self, GstGidArrival *arrival)
{
  GstGidArrival *first;
  int ret;

  gst_gid_src_wait_taken (self); /* it goes before what is in the ring */
  first = g_queue_pop_head (&self->waiting);
  *arrival = (GstGidArrival) { 0 };
  if (first) {
    self->waiting_bytes -= arrival_size (first);
    *arrival = *first;
    g_free (first);
    ret = 1;
  } else {
    ret = self->was_paused ? receive_last (self, arrival) : receive (self->reader, arrival);
    if (ret == 1)
      note_interval (self, &arrival->frame);
  }
  self->away = ret == 1;
  self->full_since = 0;
  return ret;
}

void
gst_gid_src_finish_arrival (GstGidSrc *self, GstGidArrival *arrival)
{
  gst_gid_domain_lock (self->reader->domain);
  if (arrival->slab == NULL)
    gid_consumer_release (self->reader->consumer, &arrival->frame);
  gid_slab_unref (g_steal_pointer (&arrival->slab));
  gst_gid_domain_unlock (self->reader->domain);
  gst_clear_buffer (&arrival->copy);
}

/* --- metadata ---------------------------------------------------------------------------------- */

void
gst_gid_src_read_metadata (GstGidSrc *self, GstGidArrival *arrival, const struct gid_slab *slab)
{
  GByteArray *bytes;
  int size;

  if (arrival->frame.metadata == GID_NONE || self->max_metadata == 0)
    return;
  bytes = g_byte_array_sized_new (self->max_metadata);
  g_byte_array_set_size (bytes, self->max_metadata);
  size = gid_consumer_get_metadata (
      self->reader->consumer, &arrival->frame, slab, bytes->data, self->max_metadata);
  if (size > 0) {
    g_byte_array_set_size (bytes, (guint) size);
    arrival->metadata = g_steal_pointer (&bytes);
  }
  /* what was taken back meanwhile is told by others */
  if (size < 0 && size != -ESTALE && size != -ENOTCONN && size != -ENOENT)
    g_atomic_int_set (&self->metadata_error, size);
  g_clear_pointer (&bytes, g_byte_array_unref);
}

void
gst_gid_src_tell_metadata (GstGidSrc *self)
{
  int error = g_atomic_int_get (&self->metadata_error);

  if (error == 0 || self->told_metadata)
    return;
  self->told_metadata = TRUE;
  if (error == -EMSGSIZE)
    GST_ELEMENT_INFO (self, RESOURCE, READ,
        ("Frames of the stream \"%s\" have more metadata than %u bytes, and come without it. "
         "max-metadata-bytes= of gidsrc says how many are read.",
            self->stream, self->max_metadata),
        (NULL));
  else
    GST_ELEMENT_INFO (self, RESOURCE, READ,
        ("The metadata of frames of the stream \"%s\" cannot be read: %s", self->stream,
            gid_strerror (error)),
        (NULL));
}

/* --- copies ------------------------------------------------------------------------------------ */

/* Of a slot, what elements may look at: not all of it, for its owner chooses how large it is. */
static gsize
copy_size (const struct gid_slab_info *info)
{
  guint64 used = gid_layout_size (&info->layout);

  /* to GStreamer the last plane may have some more rows */
  return used == 0 ? info->slot_size
                   : MIN (info->slot_size, used + 16 * info->layout.planes[0].stride);
}

/*
 * Copies the frame into the buffer, which has copy_size() bytes, and gives the frame back. With
 * the lock held, which is given up meanwhile. FALSE, with or without `*stale`: as below.
 */
static gboolean
copy_slot (GstGidReader *reader, struct gid_slab *slab, const struct gid_frame *frame,
    GstBuffer *to, gboolean *stale)
{
  gconstpointer view = gid_slab_view (slab, gid_slot_of (frame->gid));
  struct gid_slab_info info;
  gboolean drawn = TRUE;
  int ret;

  *stale = FALSE;
  gid_slab_get_info (slab, &info);
  if (view == NULL || gid_slot_of (frame->gid) >= info.slot_count)
    return FALSE;
  gst_gid_domain_unlock (reader->domain);
  if (info.memory == GID_MEMORY_DMABUF)
    drawn = gid_dmabuf_begin_read (info.fd) == 0;
  if (drawn)
    gst_buffer_fill (to, 0, view, copy_size (&info));
  if (drawn && info.memory == GID_MEMORY_DMABUF)
    gid_dmabuf_end_read (info.fd);
  gst_gid_domain_lock (reader->domain);
  if (!drawn)
    return FALSE;
  ret = gid_consumer_holds (reader->consumer, frame, slab, NULL);
  gid_consumer_release (reader->consumer, frame);
  *stale = ret != 0;
  return ret == 0;
}

/* Memory that is used again and again, for fresh pages cost more than the copy. */
static GstBuffer *
acquire_held (GstGidSrc *self, gsize size)
{
  GstBuffer *buffer = NULL;

  if (self->held_pool && self->held_size != size) {
    gst_buffer_pool_set_active (self->held_pool, FALSE);
    gst_clear_object (&self->held_pool);
  }
  if (self->held_pool == NULL) {
    GstAllocator *allocator = gst_gid_view_copy_allocator (self->kind);
    GstStructure *config;

    self->held_pool = gst_buffer_pool_new ();
    self->held_size = size;
    config = gst_buffer_pool_get_config (self->held_pool);
    gst_buffer_pool_config_set_params (config, NULL, size, 0, 0);
    gst_buffer_pool_config_set_allocator (config, allocator, NULL);
    gst_buffer_pool_set_config (self->held_pool, config);
    gst_buffer_pool_set_active (self->held_pool, TRUE);
    gst_clear_object (&allocator);
  }
  gst_buffer_pool_acquire_buffer (self->held_pool, &buffer, NULL);
  return buffer;
}

GstBuffer *
gst_gid_src_copy_frame (
    GstGidSrc *self, const GstGidImport *import, const struct gid_frame *frame, gboolean *stale)
{
  GstBuffer *copy;
  gboolean copied;

  *stale = FALSE;
  if (import->format.dmabuf)
    return NULL; /* downstream takes nothing else */
  copy = acquire_held (self, copy_size (&import->info));
  if (copy == NULL)
    return NULL;
  gst_gid_domain_lock (self->reader->domain);
  copied = copy_slot (self->reader, import->slab, frame, copy, stale);
  gst_gid_domain_unlock (self->reader->domain);
  if (!copied)
    gst_clear_buffer (&copy);
  return copy;
}

/* How many frames downstream has at once, as far as it says so. */
static guint
needed (GstGidSrc *self, const GstGidImport *import)
{
  guint64 needed = self->asks_for;

  if (self->reader->interval > 0)
    needed += self->latency / self->reader->interval;
  return MIN (needed, LENT_BYTES / MAX (import->info.slot_size, 1));
}

gboolean
gst_gid_src_holds_enough (GstGidSrc *self, const GstGidImport *import)
{
  struct gid_consumer_stats stats;
  guint credit, lent;

  gid_consumer_get_stats (self->reader->consumer, &stats);
  if (gst_gid_reader_is_too_late (&stats))
    return TRUE;
  credit = get_credit (self, &stats);
  lent = credit > 2 ? credit - 2 : credit / 2;
  /* where nobody said a number, so few that several readers do not have all of the producer's */
  if (self->may_hold_less) {
    guint most = needed (self, import);

    lent = MIN (lent, MAX (MAX (credit / 3, LENT_MIN), most));
    self->holds_long |= most > lent; /* it will */
  }
  if (stats.held > lent)
    self->holds_long = TRUE;
  /* who holds that much anyway leaves the ring more to be late by */
  return stats.held > (self->holds_long ? MIN (lent, credit / 2) : lent);
}

gboolean
gst_gid_src_count_held (GstGidSrc *self, gsize size)
{
  gboolean first = self->copies.reasons[GST_GID_COPY_HELD] == 0;

  if (!gst_gid_copies_add (
          &self->copies, GST_ELEMENT_CAST (self), self->copy_policy, GST_GID_COPY_HELD, size))
    return FALSE;
  gst_gid_domain_lock (self->reader->domain);
  gid_consumer_count_copy (self->reader->consumer, GID_COPY_HELD, size);
  gst_gid_domain_unlock (self->reader->domain);
  if (first && self->copy_policy == GST_GID_COPY_POLICY_ALLOW)
    GST_ELEMENT_INFO (self, STREAM, FAILED,
        ("Downstream holds frames of the stream \"%s\" for long, or is not ready for them: such "
         "frames are copied, and none is lost.",
            self->stream),
        ("credit= of gidsrc and of its gidsink says how many can be held without a copy"));
  return TRUE;
}

/* --- while the streaming thread is away --------------------------------------------------------- */

/* Whether nothing has come for a while. */
static gboolean
is_quiet (GstGidSrc *self, const struct gid_consumer_stats *stats, guint64 now)
{
  guint64 came = stats->frames + stats->unread;

  if (came != self->came) {
    self->came = came;
    self->came_at = now;
  }
  return now - self->came_at > QUIET;
}

/* Whether the ring of a patient producer is full, which waits for us, but no longer than a lease. */
static gboolean
is_impatient (GstGidSrc *self, const struct gid_consumer_stats *stats, guint room, guint64 now)
{
  if (stats->unread < room)
    self->full_since = 0;
  else if (self->full_since == 0)
    self->full_since = now;
  return self->full_since > 0 && now - self->full_since > stats->lease_ns / 2;
}

/* Whether frames are to be taken out of the ring so that none is missed. */
static gboolean
is_crowded (GstGidSrc *self)
{
  struct gid_consumer_stats stats;
  guint64 now = gid_clock_now ();
  gboolean quiet;
  guint room;

  if (!self->away || self->was_paused || self->drop_old || self->is_dmabuf
      || self->waiting_bytes + MAX (self->picture_bytes, 1) > self->max_size_bytes
      || (self->live && GST_STATE (self) != GST_STATE_PLAYING) || g_atomic_int_get (&self->flushing)
      || gst_pad_get_task_state (GST_BASE_SRC_PAD (self)) != GST_TASK_STARTED)
    return FALSE;
  gid_consumer_get_stats (self->reader->consumer, &stats);
  room = get_credit (self, &stats);
  room -= MIN (room, stats.held);
  quiet = is_quiet (self, &stats, now);
  if (stats.unread == 0)
    return FALSE;
  if (stats.patient)
    return is_impatient (self, &stats, room, now) || (quiet && stats.unread < room);
  return quiet || 4 * stats.unread >= room;
}

static void
drop_pictures (GstGidSrc *self)
{
  for (GList *at = self->waiting.head, *next; at; at = next) {
    GstGidArrival *arrival = at->data;

    next = at->next;
    if (arrival->copy == NULL)
      continue;
    self->waiting_bytes -= arrival_size (arrival);
    arrival_free (arrival);
    g_queue_delete_link (&self->waiting, at);
  }
}

/* The frame's copy, or NULL where it is lost. With the lock held, which is given up meanwhile. */
static GstBuffer *
copy_arrival (GstGidReader *reader, GstGidSrc *self, GstGidArrival *arrival)
{
  GstAllocator *allocator;
  struct gid_slab_info info;
  gboolean stale;
  GstBuffer *copy;

  if (gid_slab_import (gst_gid_domain_get (reader->domain), arrival->frame.gid, &arrival->slab) < 0)
    return NULL;
  gid_slab_get_info (arrival->slab, &info);
  self->picture_bytes = copy_size (&info);
  if (self->waiting_bytes + self->picture_bytes > self->max_size_bytes)
    return NULL;
  allocator = gst_gid_view_copy_allocator (self->kind);
  copy = gst_buffer_new_allocate (allocator, self->picture_bytes, NULL);
  gst_clear_object (&allocator);
  if (copy == NULL)
    return NULL;
  gst_gid_src_read_metadata (self, arrival, arrival->slab);
  if (!copy_slot (reader, arrival->slab, &arrival->frame, copy, &stale))
    gst_clear_buffer (&copy);
  return copy;
}

/* With the lock held, which is given up meanwhile; who stops the element waits for us. */
static gboolean
take_one (GstGidReader *reader, GstGidSrc *self)
{
  GstGidArrival *arrival = g_new0 (GstGidArrival, 1);

  if (receive (reader, arrival) != 1) {
    g_free (arrival);
    return FALSE;
  }
  note_interval (self, &arrival->frame);
  if (arrival->frame.flags & GID_FRAME_FLUSH)
    drop_pictures (self);
  if (arrival->frame.gid != GID_NONE) {
    self->forgotten = FALSE;
    self->copying = TRUE;
    arrival->copy = copy_arrival (reader, self, arrival);
    self->copying = FALSE;
    g_cond_broadcast (&self->copied);
    if (arrival->copy == NULL)
      gid_consumer_release (reader->consumer, &arrival->frame);
    if (arrival->copy == NULL || self->forgotten) {
      arrival_free (arrival);
      return FALSE;
    }
  }
  g_queue_push_tail (&self->waiting, arrival);
  self->waiting_bytes += arrival_size (arrival);
  return TRUE;
}

/* Whether downstream has had all that it may for a while, and nothing of it can be copied: once. */
static gboolean
is_stuck (GstGidSrc *self)
{
  struct gid_consumer_stats stats;
  guint64 now = gid_clock_now ();

  gid_consumer_get_stats (self->reader->consumer, &stats);
  if (!self->is_dmabuf || GST_STATE (self) != GST_STATE_PLAYING
      || stats.held < get_credit (self, &stats))
    self->stuck_since = 0;
  else if (self->stuck_since == 0)
    self->stuck_since = now;
  else if (!self->told_stuck && now - self->stuck_since > STUCK)
    return self->told_stuck = TRUE;
  return FALSE;
}

void
gst_gid_src_look (GstGidReader *reader, GstElement *element, guint taken)
{
  GstGidSrc *self = GST_GID_SRC (element);
  gboolean stuck;

  gst_gid_domain_lock (reader->domain);
  self->taken += taken;
  while (reader->consumer && is_crowded (self) && take_one (reader, self))
    ;
  stuck = reader->consumer && is_stuck (self);
  gst_gid_domain_unlock (reader->domain);
  if (stuck)
    GST_ELEMENT_WARNING (self, RESOURCE, READ,
        ("Downstream holds all frames of the stream \"%s\" that it may: as DMA_DRM they cannot be "
         "copied, and no more come until it lets go of one.",
            self->stream),
        ("credit= of gidsrc and of its gidsink says how many it may hold"));
}

/* --- what was missed --------------------------------------------------------------------------- */

static void
say_missed (GstGidSrc *self, GstBuffer *buffer, guint64 missed)
{
  GstClockTime time = GST_BUFFER_PTS (buffer);
  GstMessage *message;

  message = gst_message_new_qos (
      GST_OBJECT_CAST (self), self->live, time, time, time, GST_BUFFER_DURATION (buffer));
  gst_message_set_qos_stats (message, GST_FORMAT_BUFFERS, self->gone_by, self->missed);
  gst_element_post_message (GST_ELEMENT_CAST (self), message);
  /* who asked for that knows */
  if (self->missed == missed && (!self->drop_old || !self->live))
    GST_ELEMENT_WARNING (self, RESOURCE, READ,
        ("%" G_GUINT64_FORMAT " frames of the stream \"%s\" were missed: downstream is slower than "
         "they come, or its producer had no memory for them.",
            missed, self->stream),
        ("leaky=false of the producer's gidsink waits for us; max-size-bytes= says how much can "
         "wait here"));
}

void
gst_gid_src_note_sequence (GstGidSrc *self, const struct gid_frame *frame, GstBuffer *buffer)
{
  gboolean gap = self->sequence > 0 && frame->sequence != self->sequence + 1;

  self->gone_by++;
  if (self->discont || gap)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  if (gap && !self->discont && frame->sequence > self->sequence) {
    guint64 missed = frame->sequence - self->sequence - 1;

    self->missed += missed;
    say_missed (self, buffer, missed);
  }
  self->discont = FALSE;
  self->sequence = frame->sequence;
}
