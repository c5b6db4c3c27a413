// SPDX-License-Identifier: MIT
/**
 * SECTION:element-gidsrc
 * @title: gidsrc
 * @short_description: receives video of other domains by its number, without a copy
 *
 * gidsrc subscribes to a stream of a domain, its own or another one. Frames are read where their
 * producer wrote them, in memory that is mapped once, and go back to the producer when the last
 * user of a buffer is done with it. The producer may come and go.
 *
 * ## Example
 * |[
 * gst-launch-1.0 gidsrc domain=open stream=movie ! videoconvert ! waylandsink
 * ]|
 */
#include "gstgidsrc.h"

#include <errno.h>

#include "common/gstgid.h"
#include "common/gstgidtimeline.h"

#define GST_CAT_DEFAULT gst_gid_debug

G_DEFINE_FINAL_TYPE_WITH_CODE (GstGidSrc, gst_gid_src, GST_TYPE_PUSH_SRC,
    G_IMPLEMENT_INTERFACE (GST_TYPE_URI_HANDLER, gst_gid_src_init_uri_handler));

/* --- start and stop ---------------------------------------------------------------------------- */

/* With the domain's lock held. */
static void
state_changed (void *data, enum gid_consumer_state state, int reason)
{
  GstGidSrc *self = data;

  if (state != GID_CONSUMER_LIVE)
    self->reader->epoch++;
  self->state = state;
  self->reason = reason;
}

/* Whether the reason may pass: nobody answers, or not yet. */
static gboolean
may_pass (int error)
{
  return error == -ENOTCONN || error == -ETIMEDOUT || error == -EAGAIN;
}

/* What became of asking for the stream. With the domain's lock held. */
static void
answered (void *data, int error)
{
  GstGidSrc *self = data;

  if (error == 0) {
    self->subscribed = TRUE;
  } else if (!self->subscribed && self->refusal == NULL) {
    self->reason = error;
    if (!self->waits || !may_pass (error))
      gst_gid_domain_set_error (self->reader->domain, &self->refusal, error,
          "Cannot subscribe to the stream %s", self->asked_for);
  }
  self->answered = TRUE;
  gid_consumer_interrupt (self->reader->consumer);
}

static gboolean
subscribe (GstGidSrc *self, const gchar *domain, const gchar *stream, GError **error)
{
  struct gid_consumer_options options = {
    .size = sizeof (options),
    .sleeps = true,
    .state = state_changed,
    .data = self,
    .answered = answered, /* a change of state waits for no other program */
  };
  struct gid_consumer *consumer;
  gchar *timeline_path;
  int ret;

  GST_OBJECT_LOCK (self);
  options.credit = self->may_hold = gst_gid_src_choose_credit (self);
  self->may_hold_less = self->credit == 0;
  options.drop_old = self->drop_old;
  self->waits = self->reconnect;
  options.reconnect = self->waits;
  timeline_path = g_strdup (self->timeline_path);
  GST_OBJECT_UNLOCK (self);

  options.timeline = self->timeline =
      gst_gid_timeline_open (GST_ELEMENT_CAST (self), timeline_path);
  g_free (timeline_path);
  self->asked_for = g_strdup_printf ("\"%s\" of domain \"%s\"", stream,
      domain ? domain : gst_gid_domain_get_name (self->reader->domain));
  ret = gid_consumer_create (
      gst_gid_domain_lock (self->reader->domain), domain, stream, &options, &consumer);
  if (ret == 0) {
    gst_gid_reader_start (
        self->reader, consumer, stream, GST_ELEMENT_CAST (self), gst_gid_src_look);
    self->state = gid_consumer_get_state (consumer);
  } else {
    gst_gid_domain_set_error (
        self->reader->domain, error, ret, "Cannot subscribe to the stream %s", self->asked_for);
    g_clear_pointer (&self->asked_for, g_free);
  }
  gst_gid_domain_unlock (self->reader->domain);
  return ret == 0;
}

static gboolean
gst_gid_src_start (GstBaseSrc *src)
{
  GstGidSrc *self = GST_GID_SRC (src);
  GstGidDomain *domain;
  GError *error = NULL;
  gchar *owner, *stream, *reader;
  gboolean dmabuf;

  GST_OBJECT_LOCK (self);
  dmabuf = self->dmabuf;
  owner = g_strdup (self->domain_name);
  stream = g_strdup (self->stream);
  reader = g_strdup (self->reader_name);
  GST_OBJECT_UNLOCK (self);

  g_atomic_int_set (&self->flushing, FALSE);
  self->live = gst_base_src_is_live (src);
  self->discont = TRUE;
  self->sequence = self->lost = self->gone_by = self->missed = 0;
  self->taken = self->received = self->full_since = 0;
  self->came = self->came_at = self->stuck_since = 0;
  self->told_stuck = self->told_metadata = FALSE;
  g_atomic_int_set (&self->metadata_error, 0);
  self->asks_for = 0;
  self->latency = 0;
  self->is_dmabuf = FALSE;
  self->holds_long = self->away = self->was_paused = FALSE;
  self->posted_state = 0;
  self->reason = 0;
  self->answered = self->subscribed = FALSE;
  gst_gid_poster_start (&self->poster);
  memset (&self->copies, 0, sizeof (self->copies));
  if (stream == NULL) {
    g_set_error (&error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "No stream to read. Set stream=NAME; gidctl list shows those there are.");
  } else if ((domain = gst_gid_domain_new (reader, &error))) {
    self->reader = gst_gid_reader_new (domain, dmabuf);
    if (!subscribe (self, owner, stream, &error)) {
      g_clear_pointer (&self->timeline, gid_timeline_unref);
      g_clear_pointer (&self->reader, gst_gid_reader_unref);
    }
  }
  g_free (owner);
  g_free (stream);
  g_free (reader);
  if (error == NULL)
    return TRUE;
  gst_gid_post_error (self, error);
  return FALSE;
}

static gboolean
gst_gid_src_stop (GstBaseSrc *src)
{
  GstGidSrc *self = GST_GID_SRC (src);
  GstGidReader *reader = self->reader;

  gst_gid_poster_post (&self->poster, self, gst_gid_src_create_stats, TRUE);
  gst_gid_imports_retire (self->imports, TRUE);
  gst_gid_src_clear_copies (self);
  g_hash_table_remove_all (self->references);
  GST_OBJECT_LOCK (self);
  gst_gid_domain_lock (reader->domain);
  gst_gid_src_wait_taken (self);
  gid_consumer_get_stats (reader->consumer, &self->last_stats);
  gst_gid_src_forget_waiting (self);
  gst_gid_reader_stop (reader);
  gst_gid_domain_unlock (reader->domain);
  self->reader = NULL;
  GST_OBJECT_UNLOCK (self);
  gst_gid_reader_unref (reader);
  g_clear_pointer (&self->timeline, gid_timeline_unref);
  g_clear_pointer (&self->asked_for, g_free);
  g_clear_error (&self->refusal);
  gst_clear_caps (&self->caps);
  return TRUE;
}

static gboolean
gst_gid_src_unlock (GstBaseSrc *src)
{
  GstGidSrc *self = GST_GID_SRC (src);

  g_atomic_int_set (&self->flushing, TRUE);
  /* also where the application flushes what is not, or no longer, started */
  GST_OBJECT_LOCK (self);
  if (self->reader) {
    gst_gid_domain_lock (self->reader->domain);
    if (self->reader->consumer)
      gid_consumer_interrupt (self->reader->consumer);
    /* after a pause they would be older than what was shown before it */
    if (self->live)
      gst_gid_src_forget_waiting (self);
    self->was_paused = self->live;
    gst_gid_domain_unlock (self->reader->domain);
  }
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
gst_gid_src_unlock_stop (GstBaseSrc *src)
{
  g_atomic_int_set (&GST_GID_SRC (src)->flushing, FALSE);
  return TRUE;
}

/* --- caps and what downstream takes ------------------------------------------------------------ */

/* The caps are the producer's, and come with its first frame. */
static gboolean
gst_gid_src_negotiate (GstBaseSrc *src)
{
  GstGidSrc *self = GST_GID_SRC (src);

  return self->caps == NULL || gst_base_src_set_caps (src, self->caps);
}

static GstCaps *
gst_gid_src_get_caps (GstBaseSrc *src, GstCaps *filter)
{
  GstGidSrc *self = GST_GID_SRC (src);
  GstCaps *caps, *result;

  /* while there are none of the producer's, and also after: they may change at any frame */
  caps = gst_pad_get_pad_template_caps (GST_BASE_SRC_PAD (self));
  if (filter == NULL)
    return caps;
  result = gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (caps);
  return result;
}

/* How many buffers downstream needs to have at once. */
static guint
buffers_asked_for (GstQuery *query)
{
  guint most = 0, least;

  for (guint i = 0; i < gst_query_get_n_allocation_pools (query); i++) {
    gst_query_parse_nth_allocation_pool (query, i, NULL, NULL, &least, NULL);
    most = MAX (most, least);
  }
  return most;
}

static gboolean
gst_gid_src_decide_allocation (GstBaseSrc *src, GstQuery *query)
{
  GstGidSrc *self = GST_GID_SRC (src);
  guint asks_for = buffers_asked_for (query);
  gboolean fd_memory;
  GstGidView kind;

  GST_OBJECT_LOCK (self);
  fd_memory = self->fd_memory;
  GST_OBJECT_UNLOCK (self);

  kind = gst_gid_view_decide (query);
  gst_gid_domain_lock (self->reader->domain);
  self->kind = fd_memory ? kind : GST_GID_VIEW_PLAIN;
  self->asks_for = asks_for;
  gst_gid_domain_unlock (self->reader->domain);
  self->has_video_meta = gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  self->has_crop_meta = gst_query_find_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL);
  return TRUE;
}

/* --- frames ------------------------------------------------------------------------------------ */

/* The next frame, or the reason why there is none now. Tells the application of the state. */
static int
receive (GstGidSrc *self, GstGidArrival *arrival)
{
  enum gid_consumer_state state;
  gboolean answered, waited;
  int ret, reason;

  gst_gid_domain_lock (self->reader->domain);
  waited = !g_queue_is_empty (&self->waiting);
  ret = gst_gid_src_receive (self, arrival);
  state = self->state;
  reason = self->reason;
  answered = self->answered || state == GID_CONSUMER_ENDED;
  if (self->refusal)
    ret = -EPIPE;
  gst_gid_domain_unlock (self->reader->domain);
  if (ret == -EPIPE && self->refusal)
    return ret;
  /* what became of the stream comes after what it sent */
  if (answered && !waited && state != self->posted_state) {
    gst_gid_src_post_state (self, state, reason);
    if (state != GID_CONSUMER_LIVE) {
      self->discont = TRUE;
      gst_gid_imports_retire (self->imports, TRUE);
    }
  }
  if (ret < 0 && state == GID_CONSUMER_ENDED)
    return -EPIPE;
  return ret == -EPIPE ? -EAGAIN : ret;
}

static GstFlowReturn
ended (GstGidSrc *self, int error)
{
  if (self->refusal) {
    gst_gid_post_error (self, g_error_copy (self->refusal));
    return GST_FLOW_ERROR;
  }
  if (error != -EPIPE || self->reason < 0) {
    int reason = error != -EPIPE ? error : self->reason;

    GST_ELEMENT_ERROR (self, RESOURCE, READ,
        ("The stream \"%s\" ended unexpectedly: %s", self->stream,
            reason == -EPERM ? "this domain may not read it. See [share] in the cockpit's "
                               "configuration, and readers= of its gidsink"
                             : gid_strerror (reason)),
        ("reconnect=true waits for it to come back"));
    return GST_FLOW_ERROR;
  }
  return GST_FLOW_EOS;
}

static GstFlowReturn
gst_gid_src_create (GstPushSrc *src, GstBuffer **buffer)
{
  GstGidSrc *self = GST_GID_SRC (src);
  GstGidArrival arrival;
  const struct gid_frame *frame = &arrival.frame;
  GstFlowReturn ret;
  gboolean forward_eos;
  int got;

  *buffer = NULL;
  while (TRUE) {
    got = receive (self, &arrival);
    if (got == -EAGAIN) {
      if (g_atomic_int_get (&self->flushing))
        return GST_FLOW_FLUSHING;
      gid_consumer_sleep (self->reader->consumer);
      continue;
    }
    if (got < 0) {
      gst_gid_poster_post (&self->poster, self, gst_gid_src_create_stats, TRUE);
      return ended (self, got);
    }

    if (frame->flags & GID_FRAME_EOS) {
      GST_OBJECT_LOCK (self);
      forward_eos = self->forward_eos;
      GST_OBJECT_UNLOCK (self);
      if (forward_eos) {
        gst_gid_poster_post (&self->poster, self, gst_gid_src_create_stats, TRUE);
        return GST_FLOW_EOS;
      }
    }
    if (frame->gid == GID_NONE) {
      /* a seek, or nothing to show: what comes next does not follow on what came before */
      self->discont = TRUE;
      self->sequence = frame->sequence;
      continue; /* it went back by itself */
    }
    ret = gst_gid_src_make_buffer (self, &arrival, buffer);
    if (ret != GST_FLOW_OK || *buffer) {
      gst_gid_poster_post (&self->poster, self, gst_gid_src_create_stats, FALSE);
      return ret;
    }
  }
}

static gboolean
gst_gid_src_query (GstBaseSrc *src, GstQuery *query)
{
  GstGidSrc *self = GST_GID_SRC (src);
  guint latency_ms;

  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return GST_BASE_SRC_CLASS (gst_gid_src_parent_class)->query (src, query);
  GST_OBJECT_LOCK (self);
  latency_ms = self->latency_ms;
  GST_OBJECT_UNLOCK (self);
  gst_query_set_latency (
      query, gst_base_src_is_live (src), latency_ms * GST_MSECOND, GST_CLOCK_TIME_NONE);
  return TRUE;
}

static gboolean
gst_gid_src_event (GstBaseSrc *src, GstEvent *event)
{
  GstGidSrc *self = GST_GID_SRC (src);
  GstClockTime latency;

  if (GST_EVENT_TYPE (event) == GST_EVENT_LATENCY) {
    gst_event_parse_latency (event, &latency);
    GST_OBJECT_LOCK (self); /* so that it does not stop meanwhile */
    if (self->reader) {
      gst_gid_domain_lock (self->reader->domain);
      self->latency = GST_CLOCK_TIME_IS_VALID (latency) ? latency : 0;
      gst_gid_domain_unlock (self->reader->domain);
    }
    GST_OBJECT_UNLOCK (self);
  }
  return GST_BASE_SRC_CLASS (gst_gid_src_parent_class)->event (src, event);
}

static gboolean
gst_gid_src_is_seekable (GstBaseSrc *src)
{
  return FALSE;
}

/* --- the object -------------------------------------------------------------------------------- */

static gboolean
gst_gid_src_set_clock (GstElement *element, GstClock *clock)
{
  g_atomic_int_set (&GST_GID_SRC (element)->monotonic, gst_gid_clock_is_monotonic (clock));
  return GST_ELEMENT_CLASS (gst_gid_src_parent_class)->set_clock (element, clock);
}

static void
gst_gid_src_finalize (GObject *object)
{
  GstGidSrc *self = GST_GID_SRC (object);

  g_hash_table_unref (self->imports);
  g_hash_table_unref (self->references);
  g_cond_clear (&self->copied);
  gst_gid_src_finish_properties (self);
  G_OBJECT_CLASS (gst_gid_src_parent_class)->finalize (object);
}

static void
gst_gid_src_class_init (GstGidSrcClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *src_class = GST_BASE_SRC_CLASS (klass);
  GstCaps *caps = gst_gid_caps_template (TRUE);

  object_class->finalize = gst_gid_src_finalize;
  element_class->set_clock = gst_gid_src_set_clock;
  gst_gid_src_install_properties (object_class);

  gst_element_class_add_pad_template (
      element_class, gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);
  gst_element_class_set_static_metadata (element_class, "gidway source", "Source/Video",
      "Receives video of other domains without a copy: frames cross by their numbers",
      "The gidway authors");
  gst_type_mark_as_plugin_api (GST_TYPE_GID_COPY_POLICY, 0);

  src_class->start = gst_gid_src_start;
  src_class->stop = gst_gid_src_stop;
  src_class->unlock = gst_gid_src_unlock;
  src_class->unlock_stop = gst_gid_src_unlock_stop;
  src_class->negotiate = gst_gid_src_negotiate;
  src_class->get_caps = gst_gid_src_get_caps;
  src_class->decide_allocation = gst_gid_src_decide_allocation;
  src_class->query = gst_gid_src_query;
  src_class->event = gst_gid_src_event;
  src_class->is_seekable = gst_gid_src_is_seekable;
  GST_PUSH_SRC_CLASS (klass)->create = gst_gid_src_create;
}

static void
gst_gid_src_init (GstGidSrc *self)
{
  gst_gid_src_init_properties (self);
  self->imports = gst_gid_imports_new ();
  self->references = gst_gid_references_new ();
  g_cond_init (&self->copied);
  gst_base_src_set_format (GST_BASE_SRC_CAST (self), GST_FORMAT_TIME);
  gst_base_src_set_live (GST_BASE_SRC_CAST (self), TRUE);
}
