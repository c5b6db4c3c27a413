// SPDX-License-Identifier: MIT
#include "gstgidpool.h"

#include "gstgid.h"
#include "gstgidallocator.h"
#include "gstgidcopies.h"

#define GST_CAT_DEFAULT gst_gid_debug

#define WAIT_WARNING (1 * G_TIME_SPAN_SECOND)
/* How long to wait before a warning that upstream waits for its own buffers. */
#define STUCK_WARNING (3 * G_TIME_SPAN_SECOND)

struct _GstGidPool
{
  GstBufferPool parent;

  GstGidAllocator *allocator; /* its lock protects the fields that follow */
  GPtrArray *ready; /* buffers to reuse, the most recently used last */
  GstVideoInfo info; /* of the configuration, with the alignment applied */
  struct gid_layout layout;
  gsize size;
  guint min;
  gboolean add_meta;
  gboolean padded; /* the last configuration had an alignment */
};

G_DEFINE_TYPE (GstGidPool, gst_gid_pool, GST_TYPE_BUFFER_POOL);

static const gchar **
gst_gid_pool_get_options (GstBufferPool *pool)
{
  static const gchar *options[] = { GST_BUFFER_POOL_OPTION_VIDEO_META,
    GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT, NULL };

  return options;
}

/*
 * Whether to grant an alignment with more room than the picture needs. libav's decoders request it
 * to decode in place. But if the width is not a multiple of the codec's block size, they compare
 * the pool's width with the coded width, at least up to GStreamer 1.28. They do not match, so the
 * decoders create a pool of their own and renegotiate for each frame, while their threads already
 * acquire from this pool: that is slow, and sometimes crashes. If the alignment is refused, they
 * copy each frame once.
 */
static gboolean
may_pad (GstGidAllocator *allocator, const GstVideoAlignment *align)
{
  if (align->padding_right == 0 || gst_gid_format_width (&allocator->format) % 16 == 0)
    return TRUE;
  g_atomic_int_set (&allocator->copying, GST_GID_COPY_PADDED_WIDTH);
  return FALSE;
}

static gboolean
is_padded (const GstVideoAlignment *align)
{
  return align->padding_top || align->padding_bottom || align->padding_left || align->padding_right
      || align->stride_align[0];
}

/*
 * A decoder that had been granted an alignment, to decode in place, now configures the pool without
 * one. It cannot use the strides, or it is one that never decodes in place (libav's decoders of
 * H.264, H.265 and H.266 since GStreamer 1.28). It copies each frame into our memory.
 */
static void
note_padding (GstGidPool *self, gboolean padded)
{
  gint *copying = &self->allocator->copying;

  if (self->padded && !padded)
    g_atomic_int_set (copying, GST_GID_COPY_DECODER_MEMORY);
  else if (padded)
    g_atomic_int_set (copying, 0);
  self->padded = padded;
}

/* Accepts configurations unmodified: libav's decoders reject a pool that changes them. */
static gboolean
gst_gid_pool_set_config (GstBufferPool *pool, GstStructure *config)
{
  GstGidPool *self = GST_GID_POOL (pool);
  GstVideoAlignment align;
  GstGidFormat format;
  gboolean padded = FALSE;
  GstCaps *caps;
  guint size, min, max;

  if (!gst_buffer_pool_config_get_params (config, &caps, &size, &min, &max) || caps == NULL
      || !gst_gid_format_from_caps (&format, caps)
      || !gst_gid_allocator_can_hold (self->allocator, &format)) {
    GST_WARNING_OBJECT (self, "not a configuration for our memory: %" GST_PTR_FORMAT, config);
    return FALSE;
  }

  self->info = format.info;
  self->add_meta = gst_buffer_pool_config_has_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (self->add_meta
      && gst_buffer_pool_config_has_option (config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT)) {
    gst_video_alignment_reset (&align); /* some elements set the option without an alignment */
    gst_buffer_pool_config_get_video_alignment (config, &align);
    if (!may_pad (self->allocator, &align) || !gst_video_info_align (&self->info, &align))
      return FALSE;
    padded = is_padded (&align);
    gst_buffer_pool_config_set_video_alignment (config, &align);
  }
  note_padding (self, padded);
  self->size = MAX (size, GST_VIDEO_INFO_SIZE (&self->info));
  self->min = min;
  gst_gid_layout_from_info (&self->layout, &format, &self->info);
  gst_buffer_pool_config_set_params (config, caps, self->size, min, max);
  GST_DEBUG_OBJECT (self, "%ux%u in %" G_GSIZE_FORMAT " bytes, stride %u", self->layout.width,
      self->layout.height, self->size, self->layout.planes[0].stride);
  return GST_BUFFER_POOL_CLASS (gst_gid_pool_parent_class)->set_config (pool, config);
}

static gboolean
mark_pooled (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  GST_META_FLAG_SET (*meta, GST_META_FLAG_POOLED | GST_META_FLAG_LOCKED);
  return TRUE;
}

static GstBuffer *
buffer_new (GstGidPool *self, GstMemory *mem)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstVideoInfo *info = &self->info;

  gst_buffer_append_memory (buffer, mem);
  if (self->add_meta)
    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info),
        GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_N_PLANES (info),
        info->offset, info->stride);
  gst_buffer_foreach_meta (buffer, mark_pooled, NULL);
  GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_TAG_MEMORY);
  return buffer;
}

/*
 * Returns a released buffer whose slab is not revoked, or NULL. Call with the lock held; releases
 * it temporarily.
 */
static GstBuffer *
take_ready (GstGidPool *self)
{
  GstGidAllocator *allocator = self->allocator;

  while (self->ready->len > 0) {
    GstBuffer *buffer = g_ptr_array_steal_index (self->ready, self->ready->len - 1);
    GstMemory *mem = gst_buffer_peek_memory (buffer, 0);

    if (!gst_gid_memory_is_revoked (mem)) {
      gst_gid_allocator_take_again (allocator, mem);
      return buffer;
    }
    g_mutex_unlock (&allocator->lock);
    gst_buffer_unref (buffer);
    g_mutex_lock (&allocator->lock);
  }
  return NULL;
}

/*
 * Removes a released buffer with such a slot from the pool; NULL if there is none. Call with the
 * lock held.
 */
static GstBuffer *
steal_ready (GstGidPool *self, const struct gid_layout *layout, gsize size)
{
  for (guint i = 0; i < self->ready->len; i++) {
    GstMemory *mem = gst_buffer_peek_memory (g_ptr_array_index (self->ready, i), 0);
    const struct gid_slab_info *info = &gst_gid_memory_get_slot (mem)->slab->info;

    if (size <= info->slot_size && gst_gid_layout_equal (&info->layout, layout))
      return g_ptr_array_steal_index (self->ready, i);
  }
  return NULL;
}

/*
 * Another pool of the allocator may keep buffers for a source that has ended or waits, for example
 * behind concat or input-selector. Takes one from it, and returns whether that freed a slot. Call
 * with the lock held; releases it temporarily.
 */
static gboolean
take_from_others (GstGidPool *self)
{
  GstGidAllocator *allocator = self->allocator;
  GstBuffer *buffer = NULL;

  for (guint i = 0; i < allocator->pools->len && buffer == NULL; i++) {
    GstGidPool *other = g_ptr_array_index (allocator->pools, i);

    if (other != self)
      buffer = steal_ready (other, &self->layout, self->size);
  }
  if (buffer == NULL)
    return FALSE;
  g_mutex_unlock (&allocator->lock);
  gst_buffer_unref (buffer);
  g_mutex_lock (&allocator->lock);
  return TRUE;
}

/*
 * Returns a buffer, or NULL if there is no slot; more may have been requested then. Call with the
 * lock held.
 */
static GstBuffer *
acquire_now (GstGidPool *self)
{
  GstGidAllocator *allocator = self->allocator;
  GstBuffer *ready = take_ready (self);
  GstMemory *mem;

  if (ready)
    return ready;
  mem = gst_gid_allocator_take (allocator, &self->layout, self->size);
  if (mem == NULL && !allocator->growing) {
    gst_gid_allocator_grow (allocator, &self->layout, self->size, self->min);
    mem = gst_gid_allocator_take (allocator, &self->layout, self->size);
  }
  if (mem == NULL && !gst_gid_allocator_is_awaited (allocator) && take_from_others (self))
    mem = gst_gid_allocator_take (allocator, &self->layout, self->size);
  return mem ? buffer_new (self, mem) : NULL;
}

/*
 * Whether readers hold so many slots that the rest is too few for the stream, and more are added.
 * Not if they are only late to claim frames.
 */
static gboolean
make_more (GstGidAllocator *allocator)
{
  return 2 * gst_gid_domain_count_read (allocator->domain) >= allocator->n_slots
      && gst_gid_allocator_raise_limit (allocator);
}

typedef struct
{
  gint64 since, warned; /* when the wait began, and the time of the last warning */
} Wait;

/*
 * Reclaims a frame that no consumer has claimed; otherwise waits a little. If that does not help
 * for a long time and there is no memory for more slots, reclaims the picture on display as well.
 * Call with the lock held.
 */
static void
wait_for_consumers (GstGidPool *self, Wait *wait)
{
  GstGidAllocator *allocator = self->allocator;
  gint64 now = g_get_monotonic_time ();
  gboolean found, late;

  if (wait->since == 0) {
    wait->since = wait->warned = now;
    allocator->waits++;
  }
  if (make_more (allocator))
    return;
  late = now - wait->warned > WAIT_WARNING;
  if (late) {
    GST_WARNING_OBJECT (self,
        "waiting for a slot: all %u are in use upstream or held by "
        "consumers",
        allocator->n_slots);
    wait->warned = now;
  }
  late = late && !allocator->growing && !gst_gid_allocator_may_wait (allocator);
  g_mutex_unlock (&allocator->lock);
  found = gst_gid_domain_reclaim (allocator->domain);
  if (late && !found)
    gst_gid_domain_reclaim_shown (allocator->domain);
  if (late && !found && now - wait->since > STUCK_WARNING)
    gst_gid_allocator_post_stuck (allocator);
  g_mutex_lock (&allocator->lock);
  if (!found && !GST_BUFFER_POOL_IS_FLUSHING (GST_BUFFER_POOL_CAST (self)))
    gst_gid_allocator_wait (allocator);
}

/* Waits because there is no memory until gidd answers. Call with the lock held. */
static void
wait_for_gidd (GstGidPool *self)
{
  GstGidAllocator *allocator = self->allocator;
  GError *error = g_steal_pointer (&allocator->refusal);

  g_mutex_unlock (&allocator->lock);
  gst_gid_allocator_post_without_gidd (allocator, error);
  g_error_free (error);
  g_mutex_lock (&allocator->lock);
  if (!GST_BUFFER_POOL_IS_FLUSHING (GST_BUFFER_POOL_CAST (self)))
    gst_gid_allocator_wait (allocator);
}

/* Whether there is no memory, and waiting will not help. Call with the lock held. */
static gboolean
is_refused (const GstGidAllocator *allocator)
{
  return allocator->refusal && allocator->n_slots == 0 && !allocator->without_gidd;
}

/* Waits for a slot. GST_FLOW_OK: try again. Call with the lock held. */
static GstFlowReturn
wait_for_slot (GstGidPool *self, gboolean dont_wait, Wait *wait)
{
  GstGidAllocator *allocator = self->allocator;

  if (is_refused (allocator))
    return GST_FLOW_ERROR;
  if (gst_gid_allocator_is_awaited (allocator))
    gst_gid_allocator_wait (allocator);
  else if (dont_wait)
    return GST_FLOW_EOS;
  else if (allocator->refusal && allocator->n_slots == 0)
    wait_for_gidd (self);
  else
    wait_for_consumers (self, wait);
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_gid_pool_acquire_buffer (
    GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params)
{
  GstGidPool *self = GST_GID_POOL (pool);
  GstGidAllocator *allocator = self->allocator;
  gboolean dont_wait = params && (params->flags & GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT);
  GstFlowReturn ret = GST_FLOW_OK;
  GError *error = NULL;
  Wait wait = { 0, 0 };

  *buffer = NULL;
  g_mutex_lock (&allocator->lock);
  if (!allocator->growing) /* an error of an earlier acquire */
    g_clear_error (&allocator->refusal);
  while (*buffer == NULL && ret == GST_FLOW_OK) {
    if (GST_BUFFER_POOL_IS_FLUSHING (pool))
      ret = GST_FLOW_FLUSHING;
    else if (is_refused (allocator))
      ret = GST_FLOW_ERROR;
    else if (!(*buffer = acquire_now (self)))
      ret = wait_for_slot (self, dont_wait, &wait);
  }
  if (ret == GST_FLOW_ERROR)
    error = g_steal_pointer (&allocator->refusal);
  g_mutex_unlock (&allocator->lock);
  /* post the cause before upstream posts its own, less specific error */
  if (error)
    gst_gid_allocator_post_error (allocator, error);
  g_clear_error (&error);
  return ret;
}

static gboolean
can_be_given_out_again (GstGidPool *self, GstBuffer *buffer)
{
  const GstGidSlot *slot;
  GstMemory *mem;

  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_TAG_MEMORY)
      || gst_buffer_n_memory (buffer) != 1 || !gst_buffer_is_all_memory_writable (buffer))
    return FALSE;
  mem = gst_buffer_peek_memory (buffer, 0);
  slot = gst_gid_memory_get_slot (mem);
  if (slot == NULL || slot->slab->allocator != self->allocator || mem->size != self->size)
    return FALSE;
  /* the release guard, see the head of gstgidpool.h */
  return g_atomic_int_get (&slot->users) == 1 || !self->allocator->guard;
}

static void
gst_gid_pool_release_buffer (GstBufferPool *pool, GstBuffer *buffer)
{
  GstGidPool *self = GST_GID_POOL (pool);
  gboolean again = can_be_given_out_again (self, buffer);

  g_mutex_lock (&self->allocator->lock);
  /* a flushing pool keeps no slot that another pool may need */
  again = again && !GST_BUFFER_POOL_IS_FLUSHING (pool);
  if (again) {
    g_ptr_array_add (self->ready, buffer);
    gst_gid_allocator_signal (self->allocator);
  }
  g_mutex_unlock (&self->allocator->lock);
  if (!again)
    gst_buffer_unref (buffer);
}

/* Returns the slots of released buffers to the allocator. */
static void
drop_ready (GstGidPool *self)
{
  GPtrArray *ready;

  g_mutex_lock (&self->allocator->lock);
  ready = self->ready;
  self->ready = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  gst_gid_allocator_signal (self->allocator);
  g_mutex_unlock (&self->allocator->lock);
  g_ptr_array_unref (ready);
}

/*
 * An element that is done with the pool sets it flushing long before it stops, if a buffer is still
 * in use.
 */
static void
gst_gid_pool_flush_start (GstBufferPool *pool)
{
  drop_ready (GST_GID_POOL (pool));
}

/* Nothing to preallocate: slots are taken on demand. */
static gboolean
gst_gid_pool_start (GstBufferPool *pool)
{
  return TRUE;
}

static gboolean
gst_gid_pool_stop (GstBufferPool *pool)
{
  drop_ready (GST_GID_POOL (pool));
  return TRUE;
}

GstBufferPool *
gst_gid_pool_new (GstGidAllocator *allocator, GstCaps *caps)
{
  GstGidPool *self = g_object_new (GST_TYPE_GID_POOL, NULL);
  GstBufferPool *pool = GST_BUFFER_POOL_CAST (self);
  GstStructure *config;

  gst_object_ref_sink (self);
  self->allocator = gst_object_ref (allocator);
  g_mutex_lock (&allocator->lock);
  g_ptr_array_add (allocator->pools, self);
  g_mutex_unlock (&allocator->lock);
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (
      config, caps, GST_VIDEO_INFO_SIZE (&allocator->format.info), 0, 0);
  gst_buffer_pool_config_set_allocator (config, GST_ALLOCATOR_CAST (allocator), NULL);
  gst_buffer_pool_set_config (pool, config);
  return pool;
}

void
gst_gid_pool_propose (GstGidAllocator *allocator, GstCaps *caps, GstQuery *query)
{
  GstAllocationParams params;
  GstBufferPool *pool = NULL;
  gboolean need_pool;
  guint size = GST_VIDEO_INFO_SIZE (&allocator->format.info);

  gst_query_parse_allocation (query, NULL, &need_pool);
  if (need_pool)
    pool = gst_gid_pool_new (allocator, caps);
  /* no maximum: libav's decoders reject pool and allocator if it is below 32 */
  if (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_set_nth_allocation_pool (query, 0, pool, size, 0, 0);
  else
    gst_query_add_allocation_pool (query, pool, size, 0, 0);
  gst_clear_object (&pool);

  gst_allocation_params_init (&params);
  params.align = 63;
  if (gst_query_get_n_allocation_params (query) > 0)
    gst_query_set_nth_allocation_param (query, 0, GST_ALLOCATOR_CAST (allocator), &params);
  else
    gst_query_add_allocation_param (query, GST_ALLOCATOR_CAST (allocator), &params);
}

static void
gst_gid_pool_finalize (GObject *object)
{
  GstGidPool *self = GST_GID_POOL (object);

  g_mutex_lock (&self->allocator->lock);
  g_ptr_array_remove_fast (self->allocator->pools, self);
  g_mutex_unlock (&self->allocator->lock);
  g_ptr_array_unref (self->ready);
  gst_object_unref (self->allocator);
  G_OBJECT_CLASS (gst_gid_pool_parent_class)->finalize (object);
}

static void
gst_gid_pool_class_init (GstGidPoolClass *klass)
{
  GstBufferPoolClass *pool_class = GST_BUFFER_POOL_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = gst_gid_pool_finalize;
  pool_class->get_options = gst_gid_pool_get_options;
  pool_class->set_config = gst_gid_pool_set_config;
  pool_class->start = gst_gid_pool_start;
  pool_class->stop = gst_gid_pool_stop;
  pool_class->acquire_buffer = gst_gid_pool_acquire_buffer;
  pool_class->release_buffer = gst_gid_pool_release_buffer;
  pool_class->flush_start = gst_gid_pool_flush_start;
}

static void
gst_gid_pool_init (GstGidPool *self)
{
  self->ready = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
}
