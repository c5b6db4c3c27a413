// SPDX-License-Identifier: MIT
#include "gstgiddomain.h"

#include <errno.h>
#include <glib-unix.h>

#include "gstgid.h"
#include "gstgidinflight.h"

#define GST_CAT_DEFAULT gst_gid_debug

/* Interval at which releases are collected if nothing is sent. Long, as each is a wake-up. */
#define TICK_MS 1000

typedef struct
{
  struct gid_producer *producer;
  GSource *source;
  gboolean leaky;
  gboolean lends; /* it sent memory that upstream owns and may be waiting for */
  guint64 frames; /* number sent until the last tick */
  gid_id shown; /* the frame sent last: consumers keep it until the next one */
} Producer;

struct _GstGidDomain
{
  gint refcount;
  gchar *key; /* key in the table of shared connections; NULL: not shared */
  GQuark quark;

  GMutex lock;
  struct gid_domain *domain;
  GArray *producers; /* of Producer */
  GSource *ticker; /* only while there are producers */
  GstGidInFlight in_flight;
  GPtrArray *dropped; /* references (of GstMiniObject) to drop after unlocking */

  GMainContext *context;
  GMainLoop *loop;
  GThread *thread;
  gboolean orphan; /* the thread frees the structure when it ends */
};

static GMutex shared_lock;
static GHashTable *shared; /* name -> GstGidDomain, not owned */

struct gid_domain *
gst_gid_domain_lock (GstGidDomain *self)
{
  g_mutex_lock (&self->lock);
  return self->domain;
}

struct gid_domain *
gst_gid_domain_get (GstGidDomain *self)
{
  return self->domain;
}

static G_NO_INLINE void
unlock_and_drop (GstGidDomain *self)
{
  GstMiniObject *some[16];
  guint n;

  do {
    n = MIN (self->dropped->len, G_N_ELEMENTS (some));
    for (guint i = 0; i < n; i++)
      some[i] = g_ptr_array_steal_index_fast (self->dropped, self->dropped->len - 1);
    g_mutex_unlock (&self->lock);
    for (guint i = 0; i < n; i++)
      gst_mini_object_unref (some[i]);
    if (n == G_N_ELEMENTS (some))
      g_mutex_lock (&self->lock);
  } while (n == G_N_ELEMENTS (some));
}

void
gst_gid_domain_unlock (GstGidDomain *self)
{
  if (self->dropped->len > 0)
    unlock_and_drop (self);
  else
    g_mutex_unlock (&self->lock);
}

void
gst_gid_domain_unlock_only (GstGidDomain *self)
{
  g_mutex_unlock (&self->lock);
}

void
gst_gid_domain_wait (GstGidDomain *self, GCond *cond)
{
  g_cond_wait (cond, &self->lock);
}

void
gst_gid_domain_drop_later (GstGidDomain *self, GstMiniObject *object)
{
  g_ptr_array_add (self->dropped, object);
}

void
gst_gid_domain_unhold (GstGidDomain *self, gid_id gid)
{
  gst_gid_in_flight_remove (&self->in_flight, gid, self->dropped);
}

static gboolean
domain_ready (gint fd, GIOCondition condition, gpointer data)
{
  GstGidDomain *self = data;
  gboolean keep = TRUE;
  int ret;

  struct gid_domain *domain = gst_gid_domain_lock (self);
  ret = gid_domain_dispatch (domain);
  if (ret < 0) {
    GST_WARNING ("domain %s: %s %s", gid_domain_name (domain), gid_strerror (ret),
        gid_domain_error (domain));
    keep = FALSE;
  }
  gst_gid_domain_unlock (self);
  return keep;
}

static Producer *
nth_producer (GstGidDomain *self, guint i)
{
  return &g_array_index (self->producers, Producer, i);
}

void
gst_gid_domain_hold (GstGidDomain *self, struct gid_producer *producer, gid_id gid,
    GstBuffer *buffer, GstMiniObject *other)
{
  for (guint i = 0; i < self->producers->len; i++) {
    if (nth_producer (self, i)->producer == producer) {
      nth_producer (self, i)->shown = gid;
      nth_producer (self, i)->lends = other != NULL;
    }
  }
  gst_gid_in_flight_add (&self->in_flight, gid, buffer, other, self->dropped);
}

gboolean
gst_gid_domain_shows (GstGidDomain *self, gid_id gid)
{
  for (guint i = 0; i < self->producers->len; i++) {
    if (nth_producer (self, i)->shown == gid)
      return TRUE;
  }
  return FALSE;
}

static gboolean
producer_ready (gint fd, GIOCondition condition, gpointer data)
{
  GstGidDomain *self = data;
  GSource *source = g_main_current_source ();

  gst_gid_domain_lock (self);
  for (guint i = 0; i < self->producers->len; i++) {
    if (nth_producer (self, i)->source == source)
      gid_producer_dispatch (nth_producer (self, i)->producer);
  }
  gst_gid_domain_unlock (self);
  return G_SOURCE_CONTINUE;
}

static gboolean
tick (gpointer data)
{
  GstGidDomain *self = data;

  gst_gid_domain_lock (self);
  for (guint i = 0; i < self->producers->len; i++) {
    Producer *one = nth_producer (self, i);
    struct gid_producer_stats stats;

    gid_producer_get_stats (one->producer, &stats);
    /* nothing was sent: upstream may be waiting for buffers that readers hold */
    if (one->lends && stats.frames == one->frames)
      gid_producer_lacks_memory (one->producer);
    one->frames = stats.frames;
    if (stats.held > 0)
      gid_producer_dispatch (one->producer);
  }
  gst_gid_domain_unlock (self);
  return G_SOURCE_CONTINUE;
}

static void
domain_free (GstGidDomain *self)
{
  gid_domain_destroy (self->domain);
  g_main_loop_unref (self->loop);
  g_main_context_unref (self->context);
  g_array_unref (self->producers);
  gst_gid_in_flight_finish (&self->in_flight);
  g_ptr_array_unref (self->dropped);
  g_mutex_clear (&self->lock);
  g_free (self->key);
  g_free (self);
}

static gpointer
domain_thread (gpointer data)
{
  GstGidDomain *self = data;

  g_main_loop_run (self->loop);
  if (self->orphan)
    domain_free (self);
  return NULL;
}

/*
 * No callback runs the context again. So GLib need not take the descriptor out of the poll while it
 * is dispatched, which would be four system calls more: the loop wakes itself each time.
 */
static GSource *
new_watch (gint fd)
{
  GSource *source = g_unix_fd_source_new (fd, G_IO_IN);

  g_source_set_can_recurse (source, TRUE);
  return source;
}

/* Takes the reference of the source; the context keeps its own. */
static GSource *
attach (GstGidDomain *self, GSource *source, GSourceFunc func)
{
  g_source_set_callback (source, func, self, NULL);
  g_source_attach (source, self->context);
  g_source_unref (source);
  return source;
}

static gboolean
timer_dispatch (GSource *source, GSourceFunc func, gpointer data)
{
  g_source_set_ready_time (source, -1);
  return func (data);
}

GSource *
gst_gid_domain_add_timer (
    GstGidDomain *self, GSourceFunc func, gpointer data, GDestroyNotify destroy)
{
  static GSourceFuncs funcs = { .dispatch = timer_dispatch };
  GSource *source = g_source_new (&funcs, sizeof (GSource));

  g_source_set_callback (source, func, data, destroy);
  g_source_set_ready_time (source, 0);
  g_source_attach (source, self->context);
  return source;
}

GstGidDomain *
gst_gid_domain_new (const gchar *name, GError **error)
{
  GstGidDomain *self;
  struct gid_domain *domain;
  gchar *quark_name;
  int ret;

  ret = gid_domain_connect (name, &domain);
  if (ret < 0) {
    g_set_error (error, GST_RESOURCE_ERROR,
        ret == -EACCES ? GST_RESOURCE_ERROR_NOT_AUTHORIZED : GST_RESOURCE_ERROR_NOT_FOUND,
        "No connection to gidd: %s",
        *gid_domain_connect_error () ? gid_domain_connect_error () : gid_strerror (ret));
    return NULL;
  }

  self = g_new0 (GstGidDomain, 1);
  self->refcount = 1;
  self->domain = domain;
  quark_name = g_strdup_printf ("GstGidDomain:%s", gid_domain_name (domain));
  self->quark = g_quark_from_string (quark_name);
  g_free (quark_name);
  g_mutex_init (&self->lock);
  self->producers = g_array_new (FALSE, FALSE, sizeof (Producer));
  self->dropped = g_ptr_array_sized_new (16);
  gst_gid_in_flight_init (&self->in_flight);
  self->context = g_main_context_new ();
  self->loop = g_main_loop_new (self->context, FALSE);
  attach (self, new_watch (gid_domain_get_fd (domain)), G_SOURCE_FUNC (domain_ready));
  self->thread = g_thread_new ("gid", domain_thread, self);
  return self;
}

GstGidDomain *
gst_gid_domain_get_shared (const gchar *name, GError **error)
{
  const gchar *key = name ? name : g_getenv ("GID_DOMAIN");
  GstGidDomain *self;

  if (key == NULL)
    key = "";
  g_mutex_lock (&shared_lock);
  if (shared == NULL)
    shared = g_hash_table_new (g_str_hash, g_str_equal);
  self = g_hash_table_lookup (shared, key);
  if (self) {
    gst_gid_domain_ref (self);
  } else if ((self = gst_gid_domain_new (name, error))) {
    self->key = g_strdup (key);
    g_hash_table_insert (shared, self->key, self);
  }
  g_mutex_unlock (&shared_lock);
  return self;
}

GstGidDomain *
gst_gid_domain_ref (GstGidDomain *self)
{
  g_atomic_int_inc (&self->refcount);
  return self;
}

void
gst_gid_domain_unref (GstGidDomain *self)
{
  gboolean last;

  if (self->key) {
    /* so that no other thread finds it in the table between the last unref and the removal */
    g_mutex_lock (&shared_lock);
    last = g_atomic_int_dec_and_test (&self->refcount);
    if (last)
      g_hash_table_remove (shared, self->key);
    g_mutex_unlock (&shared_lock);
  } else {
    last = g_atomic_int_dec_and_test (&self->refcount);
  }
  if (!last)
    return;

  if (g_thread_self () == self->thread) {
    /*
     * the last reference was that of a buffer which a consumer released: a thread cannot join
     * itself
     */
    self->orphan = TRUE;
    g_thread_unref (self->thread);
    g_main_loop_quit (self->loop);
    return;
  }
  /* in the loop's thread: a quit before g_main_loop_run() would be lost */
  g_main_context_invoke (
      self->context, (GSourceFunc) (void (*) (void)) g_main_loop_quit, self->loop);
  g_thread_join (self->thread);
  domain_free (self);
}

void
gst_gid_domain_add_producer (GstGidDomain *self, struct gid_producer *producer, gboolean leaky)
{
  Producer added = { producer, new_watch (gid_producer_get_fd (producer)), leaky, FALSE, 0,
    GID_NONE };

  if (self->producers->len == 0)
    self->ticker = attach (self, g_timeout_source_new (TICK_MS), tick);
  g_array_append_val (self->producers, added);
  attach (self, added.source, G_SOURCE_FUNC (producer_ready));
}

void
gst_gid_domain_remove_producer (GstGidDomain *self, struct gid_producer *producer)
{
  for (guint i = 0; i < self->producers->len; i++) {
    if (nth_producer (self, i)->producer == producer) {
      g_source_destroy (nth_producer (self, i)->source);
      g_array_remove_index_fast (self->producers, i);
      break;
    }
  }
  if (self->producers->len > 0)
    return;
  g_source_destroy (self->ticker);
  /*
   * the producer is destroyed next, which releases its frames, even if the connection to gidd is
   * lost
   */
  gst_gid_in_flight_remove_all (&self->in_flight, self->dropped);
}

gboolean
gst_gid_domain_reclaim (GstGidDomain *self)
{
  gboolean found = FALSE;

  gst_gid_domain_lock (self);
  for (guint i = 0; i < self->producers->len; i++) {
    gid_producer_lacks_memory (nth_producer (self, i)->producer);
    gid_producer_dispatch (nth_producer (self, i)->producer);
  }
  found = self->dropped->len > 0;
  for (guint i = 0; i < self->producers->len && !found; i++) {
    if (nth_producer (self, i)->leaky)
      found = gid_producer_reclaim (nth_producer (self, i)->producer, false) > 0;
  }
  for (guint i = 0; i < self->producers->len && !found; i++)
    gid_producer_want_release (nth_producer (self, i)->producer);
  gst_gid_domain_unlock (self);
  return found;
}

guint
gst_gid_domain_count_read (GstGidDomain *self)
{
  guint count = 0;

  gst_gid_domain_lock (self);
  for (guint i = 0; i < self->producers->len; i++) {
    struct gid_producer *producer = nth_producer (self, i)->producer;
    struct gid_producer_stats stats;

    gid_producer_get_stats (producer, &stats);
    count += stats.held - MIN (stats.held, gid_producer_unread (producer));
  }
  gst_gid_domain_unlock_only (self);
  return count;
}

void
gst_gid_domain_reclaim_shown (GstGidDomain *self)
{
  gst_gid_domain_lock (self);
  for (guint i = 0; i < self->producers->len; i++)
    gid_producer_reclaim (nth_producer (self, i)->producer, true);
  gst_gid_domain_unlock (self);
}

GstResourceError
gst_gid_domain_error_code (int result)
{
  switch (result) {
    case -EEXIST:
      return GST_RESOURCE_ERROR_BUSY;
    case -EPERM:
    case -EACCES:
      return GST_RESOURCE_ERROR_NOT_AUTHORIZED;
    case -EDQUOT:
    case -ENOMEM:
      return GST_RESOURCE_ERROR_NO_SPACE_LEFT;
    case -ENOENT:
      return GST_RESOURCE_ERROR_NOT_FOUND;
    case -EINVAL:
    case -ENOTSUP:
      return GST_RESOURCE_ERROR_SETTINGS;
    default:
      return GST_RESOURCE_ERROR_FAILED;
  }
}

void
gst_gid_domain_set_error (GstGidDomain *self, GError **error, int result, const gchar *format, ...)
{
  const gchar *detail = gid_domain_error (self->domain);
  va_list args;
  gchar *what;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, GST_RESOURCE_ERROR, gst_gid_domain_error_code (result), "%s: %s", what,
      *detail ? detail : gid_strerror (result));
  g_free (what);
}

const gchar *
gst_gid_domain_get_name (GstGidDomain *self)
{
  return gid_domain_name (self->domain);
}

GQuark
gst_gid_domain_get_quark (GstGidDomain *self)
{
  return self->quark;
}
