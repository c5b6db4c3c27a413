// SPDX-License-Identifier: MIT
#include "gstgidallocator.h"

#include <errno.h>

#include <gst/allocators/allocators.h>

#include "gstgid.h"
#include "gstgidcaps.h"

#define GST_CAT_DEFAULT gst_gid_debug

/* Slots of the first slab, unless upstream asks for more or the domain is short of memory. */
#define FIRST_SLOTS 6
/* The minimum: a consumer holds the frame on display until it has the next one. */
#define LEAST_SLOTS 2
/* The maximum number of slots to add because upstream itself holds all of them. */
#define SLOTS_HELD_MAX 128

/*
 * How long to wait for a new slab while there are other slots; after that, allocation uses those.
 */
#define GROWTH_WAIT (200 * G_TIME_SPAN_MILLISECOND)
/* Interval at which a thread that waits for a slot checks for expired leases. */
#define WAIT_STEP (20 * G_TIME_SPAN_MILLISECOND)

G_DEFINE_TYPE (GstGidAllocator, gst_gid_allocator, GST_TYPE_ALLOCATOR);

/*
 * Allocator of dma-buf memory. V4L2 elements only import memory whose allocator is a
 * GstDmaBufAllocator, and read the descriptor from the GstMemory that such an allocator creates. It
 * is a stateless singleton that lives as long as the process.
 */
typedef GstDmaBufAllocator GstGidDmabufAllocator;
typedef GstDmaBufAllocatorClass GstGidDmabufAllocatorClass;
static GType gst_gid_dmabuf_allocator_get_type (void);
G_DEFINE_TYPE (GstGidDmabufAllocator, gst_gid_dmabuf_allocator, GST_TYPE_DMABUF_ALLOCATOR);

static GstAllocator *dmabuf_allocator;

/* Initialised together with the allocator, before any memory exists. */
static GQuark slot_quark;

static GstAllocator *
get_dmabuf_allocator (void)
{
  static gsize once;

  if (g_once_init_enter (&once)) {
    slot_quark = g_quark_from_static_string ("GstGidSlot");
    dmabuf_allocator =
        gst_object_ref_sink (g_object_new (gst_gid_dmabuf_allocator_get_type (), NULL));
    GST_OBJECT_FLAG_SET (dmabuf_allocator, GST_OBJECT_FLAG_MAY_BE_LEAKED);
    g_once_init_leave (&once, 1);
  }
  return dmabuf_allocator;
}

/* --- memory of slots --- */

static GstMemoryCopyFunction copy_for_real;
static gpointer memory_map (GstMemory *mem, GstMapInfo *info, gsize maxsize);

static void
slot_unused (GstGidSlot *slot)
{
  GstGidAllocator *self = slot->slab->allocator;

  if (g_atomic_int_dec_and_test (&slot->users)) {
    g_mutex_lock (&self->lock);
    slot->slab->used--;
    gst_gid_allocator_signal (self);
    g_mutex_unlock (&self->lock);
  }
}

static void
dmabuf_unused (gpointer slot)
{
  GstGidAllocator *self = ((GstGidSlot *) slot)->slab->allocator;

  slot_unused (slot);
  gst_object_unref (self);
}

static GstMemory *
dmabuf_new (GstGidSlot *slot, GstMemoryFlags flags, gsize offset, gsize size)
{
  const GstGidDmabuf *dmabuf = &slot->slab->dmabuf;
  GstMemory *mem = gst_dmabuf_allocator_alloc_with_flags (
      get_dmabuf_allocator (), dmabuf->fd, dmabuf->size, GST_FD_MEMORY_FLAG_DONT_CLOSE);

  gst_memory_resize (mem, offset, size);
  GST_MINI_OBJECT_FLAG_SET (mem, flags);
  gst_object_ref (slot->slab->allocator);
  gst_mini_object_set_qdata (GST_MINI_OBJECT_CAST (mem), slot_quark, slot, dmabuf_unused);
  return mem;
}

static GstMemory *
memory_new (GstGidSlot *slot, GstMemoryFlags flags, GstMemory *parent, gsize offset, gsize size)
{
  GstGidMemory *mem;

  g_atomic_int_inc (&slot->users);
  if (slot->slab->dmabuf.fd >= 0)
    return dmabuf_new (slot, flags, offset, size);
  mem = g_new0 (GstGidMemory, 1);
  mem->slot = slot;
  gst_memory_init (GST_MEMORY_CAST (mem), flags, GST_ALLOCATOR_CAST (slot->slab->allocator), parent,
      slot->slab->info.slot_size, 4095, offset, size);
  return GST_MEMORY_CAST (mem);
}

GstGidSlot *
gst_gid_memory_get_slot (GstMemory *mem)
{
  GstMemory *whole = mem->parent ? mem->parent : mem;

  /* Called several times per frame: comparing a function pointer is cheaper than a GType check. */
  if (mem->allocator == NULL || mem->allocator->mem_map_full != memory_map)
    return NULL;
  if (mem->allocator != dmabuf_allocator)
    return ((GstGidMemory *) mem)->slot;
  return gst_mini_object_get_qdata (GST_MINI_OBJECT_CAST (whole), slot_quark);
}

/* For memory that only this file can have created. */
static GstGidSlot *
own_slot (GstMemory *mem)
{
  GstGidSlot *slot = gst_gid_memory_get_slot (mem);

  g_assert (slot != NULL);
  return slot;
}

static gpointer
memory_map (GstMemory *mem, GstMapInfo *info, gsize maxsize)
{
  GstGidSlot *slot = own_slot (mem);
  const GstGidDmabuf *dmabuf = &slot->slab->dmabuf;

  if (dmabuf->fd >= 0)
    gst_gid_dmabuf_sync (dmabuf, TRUE, (info->flags & GST_MAP_WRITE) != 0);
  return dmabuf->data ? dmabuf->data : gid_slab_data (slot->slab->slab, slot->index);
}

static void
memory_unmap (GstMemory *mem, GstMapInfo *info)
{
  GstGidSlot *slot = own_slot (mem);

  if (slot->slab->dmabuf.fd >= 0)
    gst_gid_dmabuf_sync (&slot->slab->dmabuf, FALSE, (info->flags & GST_MAP_WRITE) != 0);
  if (info->flags & GST_MAP_WRITE)
    slot->in_one_go = slot->turn == g_atomic_int_get (&slot->slab->allocator->turn);
}

/* Only for GstGidMemory: GstDmaBufAllocator implements its own mem_share. */
static GstMemory *
memory_share (GstMemory *mem, gssize offset, gssize size)
{
  GstMemory *parent = mem->parent ? mem->parent : mem;

  if (size == -1)
    size = mem->size - offset;
  return memory_new (((GstGidMemory *) mem)->slot,
      GST_MINI_OBJECT_FLAGS (parent) | GST_MINI_OBJECT_FLAG_LOCK_READONLY, parent,
      mem->offset + offset, size);
}

static GstMemory *
memory_copy (GstMemory *mem, gssize offset, gssize size)
{
  GstMemory *alias;

  if (!(g_atomic_int_get (&GST_MINI_OBJECT_CAST (mem)->lockstate) & GST_LOCK_FLAG_WRITE))
    return copy_for_real (mem, offset, size);

  if (size == -1)
    size = mem->size - offset;
  alias = memory_new (own_slot (mem), GST_MEMORY_FLAG_READONLY, NULL, mem->offset + offset, size);
  GST_LOG_OBJECT (
      mem->allocator, "%p is an alias of %p, which its decoder keeps mapped", alias, mem);
  return alias;
}

gboolean
gst_gid_memory_is_alias (GstMemory *mem)
{
  return GST_MEMORY_IS_READONLY (mem) && mem->parent == NULL;
}

gboolean
gst_is_gid_memory (GstMemory *mem, GstGidDomain *domain)
{
  const GstGidSlot *slot = gst_gid_memory_get_slot (mem);

  return slot && (domain == NULL || slot->slab->allocator->domain == domain);
}

/* Installs the functions that map, unmap and copy slots. */
static void
memory_init (GstAllocator *allocator)
{
  copy_for_real = allocator->mem_copy;
  allocator->mem_map_full = memory_map;
  allocator->mem_unmap_full = memory_unmap;
  allocator->mem_copy = memory_copy;
}

static void
gst_gid_dmabuf_allocator_class_init (GstGidDmabufAllocatorClass *klass)
{
}

static void
gst_gid_dmabuf_allocator_init (GstGidDmabufAllocator *self)
{
  memory_init (GST_ALLOCATOR_CAST (self));
}

/* --- slots and slabs --- */

void
gst_gid_allocator_signal (GstGidAllocator *self)
{
  if (self->waiting > 0)
    g_cond_broadcast (&self->cond);
}

static void
gst_gid_allocator_free (GstAllocator *allocator, GstMemory *mem)
{
  GstGidSlot *slot = ((GstGidMemory *) mem)->slot;

  g_free (mem);
  slot_unused (slot);
}

/*
 * For elements that use the proposed allocator without the pool: only with the layout of the caps.
 */
static GstMemory *
gst_gid_allocator_alloc (GstAllocator *allocator, gsize size, GstAllocationParams *params)
{
  GstGidAllocator *self = GST_GID_ALLOCATOR (allocator);
  GstMemory *mem = NULL;
  struct gid_layout layout;

  if (size == GST_VIDEO_INFO_SIZE (&self->format.info) && params->prefix == 0
      && params->padding == 0) {
    gst_gid_layout_from_info (&layout, &self->format, &self->format.info);
    g_mutex_lock (&self->lock);
    mem = gst_gid_allocator_take (self, &layout, size);
    if (mem == NULL && !self->growing)
      gst_gid_allocator_grow (self, &layout, size, 0);
    while (mem == NULL && gst_gid_allocator_is_awaited (self))
      gst_gid_allocator_wait (self);
    if (mem == NULL)
      mem = gst_gid_allocator_take (self, &layout, size);
    g_mutex_unlock (&self->lock);
  }
  /* Fall back to system memory, which gidsink copies. */
  return mem ? mem : gst_allocator_alloc (NULL, size, params);
}

/* Call with the domain's lock held. */
static void
slab_finish (GstGidSlab *slab)
{
  gst_gid_dmabuf_finish (&slab->dmabuf);
  gid_slab_unref (slab->slab); /* unlike gid_slab_destroy() never waits for gidd */
}

static gboolean
is_revoked (const GstGidSlab *slab)
{
  return !gid_slab_is_current (slab->slab, gid_slab_gid (slab->slab, 0));
}

gboolean
gst_gid_memory_is_revoked (GstMemory *mem)
{
  const GstGidSlab *slab = own_slot (mem)->slab;
  gboolean revoked;

  gst_gid_domain_lock (slab->allocator->domain);
  revoked = is_revoked (slab);
  gst_gid_domain_unlock_only (slab->allocator->domain);
  return revoked;
}

/*
 * Frees slabs that were revoked and are not in use any more. A slab of dma-buf memory is revoked
 * when a lease on it expires, or when a reader loses its access to the stream; a new slab replaces
 * it. The memory that a driver may still write to is freed with its last GstMemory. Call with the
 * lock held.
 */
static void
drop_revoked (GstGidAllocator *self)
{
  gst_gid_domain_lock (self->domain);
  for (guint i = self->slabs->len; i > 0; i--) {
    GstGidSlab *slab = g_ptr_array_index (self->slabs, i - 1);

    slab->revoked = is_revoked (slab);
    if (slab->revoked && slab->used == 0) {
      slab_finish (slab);
      self->n_slots -= slab->info.slot_count;
      g_ptr_array_remove_index (self->slabs, i - 1);
    }
  }
  gst_gid_domain_unlock_only (self->domain);
}

gboolean
gst_gid_allocator_can_hold (GstGidAllocator *self, const GstGidFormat *format)
{
  return !format->dmabuf || (self->dmabuf && gst_gid_format_is_linear (format));
}

GstMemory *
gst_gid_allocator_take (GstGidAllocator *self, const struct gid_layout *layout, gsize size)
{
  drop_revoked (self);
  for (guint i = 0; i < self->slabs->len; i++) {
    GstGidSlab *slab = g_ptr_array_index (self->slabs, i);

    if (slab->revoked || slab->used == slab->info.slot_count || size > slab->info.slot_size
        || !gst_gid_layout_equal (&slab->info.layout, layout))
      continue;
    for (guint j = 0; j < slab->info.slot_count; j++) {
      GstGidSlot *slot = &slab->slots[j];

      if (g_atomic_int_get (&slot->users) == 0) {
        GstMemory *mem = memory_new (slot, 0, NULL, 0, size);

        slab->used++;
        gst_gid_allocator_take_again (self, mem);
        return mem;
      }
    }
  }
  return NULL;
}

void
gst_gid_allocator_take_again (GstGidAllocator *self, GstMemory *mem)
{
  GstGidSlot *slot = own_slot (mem);

  slot->turn = g_atomic_int_add (&self->turn, 1) + 1;
  slot->in_one_go = FALSE;
}

gboolean
gst_gid_allocator_may_wait (GstGidAllocator *self)
{
  gboolean held = FALSE;

  gst_gid_domain_lock (self->domain);
  for (guint i = 0; i < self->slabs->len && !held; i++) {
    GstGidSlab *slab = g_ptr_array_index (self->slabs, i);

    for (guint j = 0; j < slab->info.slot_count && !held; j++)
      held = gid_slab_holders (slab->slab, j) > 0
          && !gst_gid_domain_shows (self->domain, gid_slab_gid (slab->slab, j));
  }
  gst_gid_domain_unlock_only (self->domain);
  return held;
}

/* Wraps a slab of libgid. Call with the domain's lock held. */
static GstGidSlab *
slab_new (GstGidAllocator *self, struct gid_slab *made, const GstGidDmabuf *dmabuf)
{
  struct gid_slab_info info;
  GstGidSlab *slab;

  gid_slab_get_info (made, &info);
  slab = g_malloc0 (sizeof (*slab) + info.slot_count * sizeof (GstGidSlot));
  slab->allocator = self;
  slab->slab = made;
  slab->info = info;
  slab->dmabuf = *dmabuf;
  /*
   * For libgid, the slot of an exported dma-buf is the picture; upstream may use all of its memory.
   */
  if (dmabuf->fd >= 0)
    slab->info.slot_size = dmabuf->size;
  for (guint i = 0; i < info.slot_count; i++) {
    slab->slots[i].slab = slab;
    slab->slots[i].index = i;
  }
  return slab;
}

/* Returns -ENOTSUP if dma-bufs cannot be made from the domain's memory window. */
static int
make_window_dmabuf (GstGidAllocator *self, struct gid_domain *domain,
    const struct gid_layout *layout, gsize size, GPtrArray *made)
{
  GstGidDmabuf dmabuf;
  struct gid_slab *slab;
  int ret =
      gid_slab_create_for_stream (domain, self->stream, layout, size, 1, self->description, &slab);

  if (ret < 0)
    return ret;
  ret = gst_gid_dmabuf_init_slot (&dmabuf, slab, 0);
  if (ret < 0) {
    GST_INFO_OBJECT (self, "no dma-bufs of windows: %s", gid_strerror (ret));
    gid_slab_destroy (slab, false);
    return -ENOTSUP;
  }
  g_ptr_array_add (made, slab_new (self, slab, &dmabuf));
  return 0;
}

static int
make_udmabuf (GstGidAllocator *self, struct gid_domain *domain, const struct gid_layout *layout,
    gsize size, GPtrArray *made)
{
  GstGidDmabuf dmabuf;
  struct gid_slab *slab;
  int ret = gst_gid_dmabuf_init (&dmabuf, size);

  if (ret < 0)
    return ret;
  ret = gid_slab_export (domain, dmabuf.fd, 0, layout, self->description, &slab);
  if (ret == 0)
    g_ptr_array_add (made, slab_new (self, slab, &dmabuf));
  else
    gst_gid_dmabuf_finish (&dmabuf);
  return ret;
}

/*
 * Makes up to `count` dma-bufs, fewer if memory is short; from the memory window if possible,
 * otherwise by udmabuf.
 */
static int
make_dmabufs (GstGidAllocator *self, struct gid_domain *domain, const struct gid_layout *layout,
    gsize size, guint count, GPtrArray *made)
{
  gboolean windows = TRUE;
  int ret = 0;

  for (guint i = 0; i < count && ret == 0; i++) {
    if (windows) {
      ret = make_window_dmabuf (self, domain, layout, size, made);
      windows = ret != -ENOTSUP;
    }
    if (!windows)
      ret = make_udmabuf (self, domain, layout, size, made);
  }
  return made->len > 0 ? 0 : ret;
}

static gboolean
is_out_of_memory (int result)
{
  return result == -EDQUOT || result == -ENOMEM || result == -ENOSPC;
}

/* Whether to try again with fewer slots. Halves `*count`, down to `min`, while memory is short. */
static gboolean
try_fewer (int result, guint *count, guint min)
{
  if (!is_out_of_memory (result) || *count <= min)
    return FALSE;
  *count = MAX (*count / 2, min);
  return TRUE;
}

/* The functions below are called with the allocator's lock held. */
static void
add_slab (GstGidAllocator *self, GstGidSlab *slab)
{
  g_ptr_array_add (self->slabs, slab);
  self->n_slots += slab->info.slot_count;
  GST_INFO_OBJECT (self, "slab %u of %u slots of %" G_GUINT64_FORMAT " bytes, %u in all",
      gid_slab_of (slab->info.gid), slab->info.slot_count, slab->info.slot_size, self->n_slots);
}

/* Ends a request for memory. Takes `error`, which is NULL if `result` is 0. */
static void
end_growth (GstGidAllocator *self, int result, GError *error)
{
  if (error)
    GST_DEBUG_OBJECT (self, "%s", error->message);
  self->growing = FALSE;
  g_clear_error (&self->refusal);
  self->refusal = error;
  self->without_gidd = result == -ENOTCONN || result == -ETIMEDOUT;
  if (result == 0)
    g_atomic_int_set (&self->told_without_gidd, FALSE);
  /* The domain has no memory left: do not ask again whenever there is no free slot. */
  if (is_out_of_memory (result) && self->n_slots > 0) {
    self->limit = MIN (self->limit, self->n_slots);
    self->exhausted = TRUE;
  }
  gst_gid_allocator_signal (self);
}

/* Makes as many dma-bufs as there is memory for. Blocks until gidd answers. */
static void
grow_by_dmabufs (GstGidAllocator *self, const struct gid_layout *layout, gsize size, guint count)
{
  GPtrArray *made = g_ptr_array_new ();
  GError *error = NULL;
  const gchar *why;
  int ret;

  g_mutex_unlock (&self->lock);
  ret = make_dmabufs (self, gst_gid_domain_lock (self->domain), layout, size, count, made);
  why = gst_gid_dmabuf_explain (ret);
  if (why)
    g_set_error (&error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ_WRITE,
        "Cannot make dma-bufs, as dmabuf=true asks for: %s", why);
  else if (ret < 0)
    gst_gid_domain_set_error (self->domain, &error, ret,
        "Cannot make %u dma-bufs with gid_dmabuf or /dev/udmabuf of %" G_GSIZE_FORMAT " bytes",
        count, size);
  gst_gid_domain_unlock (self->domain);
  g_mutex_lock (&self->lock);
  for (guint i = 0; i < made->len; i++)
    add_slab (self, g_ptr_array_index (made, i));
  g_ptr_array_unref (made);
  end_growth (self, ret, error);
}

/*
 * A pending request to gidd for a slab. No thread waits for the answer with a lock held: if gidd
 * hangs, this stream and the other streams of the process continue with the slots they have.
 */
typedef struct
{
  GstGidAllocator *allocator;
  struct gid_layout layout;
  gsize size;
  guint count, min;
  struct gid_slab *slab; /* NULL: none was created */
  int result;
  GError *error;
} Growth;

static void
growth_free (gpointer data)
{
  Growth *growth = data;

  g_clear_error (&growth->error);
  gst_object_unref (growth->allocator);
  g_free (growth);
}

/* Runs in the domain's thread, without the domain's lock. */
static gboolean
take_growth (gpointer data)
{
  Growth *growth = data;
  GstGidAllocator *self = growth->allocator;
  GstGidSlab *slab = NULL;

  g_mutex_lock (&self->lock);
  if (growth->slab) {
    gst_gid_domain_lock (self->domain);
    slab = slab_new (self, growth->slab, &GST_GID_DMABUF_NONE);
    gst_gid_domain_unlock_only (self->domain);
    add_slab (self, slab);
  }
  end_growth (self, growth->result, g_steal_pointer (&growth->error));
  g_mutex_unlock (&self->lock);
  return G_SOURCE_REMOVE;
}

static void slab_answered (void *data, int error, struct gid_slab *slab);

/* Returns 0 if slab_answered() will be called, else -errno. Call with the domain's lock held. */
static int
ask_for_slab (Growth *growth)
{
  GstGidAllocator *self = growth->allocator;
  int ret;

  do {
    ret = gid_slab_create_async (gst_gid_domain_get (self->domain), self->stream, &growth->layout,
        growth->size, growth->count, self->description, slab_answered, growth, &growth->slab);
  } while (try_fewer (ret, &growth->count, growth->min));
  return ret;
}

static void
set_refusal (Growth *growth, int result)
{
  growth->result = result;
  gst_gid_domain_set_error (growth->allocator->domain, &growth->error, result,
      "Cannot make %u slots of %" G_GSIZE_FORMAT " bytes", growth->count, growth->size);
}

/*
 * The gid_exported_func. Runs with the domain's lock held, so the allocator's lock, which comes
 * before it in the lock order, cannot be taken here: take_growth() does the rest.
 */
static void
slab_answered (void *data, int error, struct gid_slab *slab)
{
  Growth *growth = data;

  if (error < 0) {
    gid_slab_destroy (slab, false);
    growth->slab = NULL;
    if (try_fewer (error, &growth->count, growth->min)) {
      error = ask_for_slab (growth);
      if (error == 0)
        return;
    }
    set_refusal (growth, error);
  }
  g_source_unref (
      gst_gid_domain_add_timer (growth->allocator->domain, take_growth, growth, growth_free));
}

static void
grow_by_slab (
    GstGidAllocator *self, const struct gid_layout *layout, gsize size, guint count, guint min)
{
  Growth *growth = g_new0 (Growth, 1);
  int ret;

  growth->allocator = gst_object_ref (self);
  growth->layout = *layout;
  growth->size = size;
  growth->count = count;
  growth->min = min;
  g_mutex_unlock (&self->lock);
  gst_gid_domain_lock (self->domain);
  ret = ask_for_slab (growth);
  if (ret < 0)
    set_refusal (growth, ret);
  gst_gid_domain_unlock (self->domain);
  g_mutex_lock (&self->lock);
  if (ret < 0) {
    end_growth (self, ret, g_steal_pointer (&growth->error));
    growth_free (growth);
  }
}

/* How many slots to add, at least `min`; 0: the limit is reached. */
static guint
count_more (GstGidAllocator *self, guint min)
{
  guint count = 0;

  if (self->n_slots == 0) {
    count = CLAMP (MAX (min, FIRST_SLOTS), 1, MAX (self->limit, min));
  } else if (self->n_slots < self->limit) {
    count = MIN (self->n_slots, self->limit - self->n_slots);
  } else if (self->n_slots < SLOTS_HELD_MAX && !gst_gid_allocator_may_wait (self)) {
    count = MAX (self->n_slots / 2, 1);
    GST_WARNING_OBJECT (self,
        "upstream itself holds all %u slots but the one that is shown: adding %u. Set slots=%u or "
        "more to begin with",
        self->n_slots, count, self->n_slots + count);
  }
  return MIN (count, GID_SLOTS_MAX);
}

void
gst_gid_allocator_grow (
    GstGidAllocator *self, const struct gid_layout *layout, gsize size, guint min)
{
  guint count;

  min = self->n_slots > 0 ? 1 : MAX (min, MIN (LEAST_SLOTS, self->limit));
  count = count_more (self, min);
  if (count == 0)
    return;
  self->growing = TRUE;
  self->grows_since = g_get_monotonic_time ();
  if (self->dmabuf)
    grow_by_dmabufs (self, layout, size, count);
  else
    grow_by_slab (self, layout, size, count, min);
}

gboolean
gst_gid_allocator_is_awaited (GstGidAllocator *self)
{
  return self->growing
      && (self->n_slots == 0 || g_get_monotonic_time () - self->grows_since < GROWTH_WAIT);
}

void
gst_gid_allocator_wait (GstGidAllocator *self)
{
  self->waiting++;
  g_cond_wait_until (&self->cond, &self->lock, g_get_monotonic_time () + WAIT_STEP);
  self->waiting--;
}

gboolean
gst_gid_allocator_raise_limit (GstGidAllocator *self)
{
  guint more =
      MIN (MAX (self->n_slots / 2, 1), SLOTS_HELD_MAX - MIN (self->n_slots, SLOTS_HELD_MAX));

  if (self->exhausted || self->growing || self->limit > self->n_slots || more == 0)
    return FALSE;
  GST_WARNING_OBJECT (self,
      "readers hold half of all %u slots or more: adding %u. Set slots=%u or more to begin with",
      self->n_slots, more, self->n_slots + more);
  self->limit = self->n_slots + more;
  return TRUE;
}

static const gchar memory_advice[] =
    ". Give the domain more with memory= and client-memory= in the cockpit's configuration, or send "
    "smaller frames.";

void
gst_gid_allocator_post_error (GstGidAllocator *self, const GError *error)
{
  GstElement *element = g_weak_ref_get (&self->element);
  const gchar *advice = "";

  if (g_error_matches (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT))
    advice = memory_advice;
  GST_ERROR_OBJECT (self, "%s", error->message);
  if (element == NULL)
    return;
  gst_element_message_full (element, GST_MESSAGE_ERROR, error->domain, error->code,
      g_strconcat (error->message, advice, NULL), NULL, __FILE__, GST_FUNCTION, __LINE__);
  gst_object_unref (element);
}

void
gst_gid_allocator_post_stuck (GstGidAllocator *self)
{
  GstElement *element = g_weak_ref_get (&self->element);

  /* In PAUSED it is normal that elements hold buffers and wait. */
  if (element && GST_STATE (element) == GST_STATE_PLAYING
      && g_atomic_int_compare_and_exchange (&self->told_stuck, FALSE, TRUE))
    GST_ELEMENT_WARNING (element, RESOURCE, NO_SPACE_LEFT,
        ("Elements of this pipeline hold all frames that there is memory for, and wait for more. Let "
         "them hold fewer%s",
            memory_advice),
        (NULL));
  gst_clear_object (&element);
}

void
gst_gid_allocator_post_without_gidd (GstGidAllocator *self, const GError *error)
{
  GstElement *element = g_weak_ref_get (&self->element);

  if (element && g_atomic_int_compare_and_exchange (&self->told_without_gidd, FALSE, TRUE))
    GST_ELEMENT_WARNING (element, RESOURCE, OPEN_READ_WRITE,
        ("There is no memory for frames before gidd answers: they wait for it."),
        ("%s", error->message));
  gst_clear_object (&element);
}

void
gst_gid_allocator_get_slots (GstGidAllocator *self, guint *total, guint *used)
{
  g_mutex_lock (&self->lock);
  *total = self->n_slots;
  *used = 0;
  for (guint i = 0; i < self->slabs->len; i++)
    *used += ((GstGidSlab *) g_ptr_array_index (self->slabs, i))->used;
  g_mutex_unlock (&self->lock);
}

GstGidAllocator *
gst_gid_allocator_new (GstGidDomain *domain, const gchar *stream, const GstCaps *caps, guint limit,
    gboolean dmabuf, GstElement *element)
{
  GstGidAllocator *self = g_object_new (GST_TYPE_GID_ALLOCATOR, NULL);

  gst_object_ref_sink (self);
  self->domain = gst_gid_domain_ref (domain);
  self->stream = g_strdup (stream);
  g_weak_ref_init (&self->element, element);
  self->limit = limit;
  self->dmabuf = dmabuf;
  gst_gid_format_from_caps (&self->format, caps);
  self->description = gst_gid_caps_to_text (caps, GID_DESCRIPTION_MAX, NULL);
  return self;
}

static void
gst_gid_allocator_finalize (GObject *object)
{
  GstGidAllocator *self = GST_GID_ALLOCATOR (object);

  gst_gid_domain_lock (self->domain);
  for (guint i = 0; i < self->slabs->len; i++)
    slab_finish (g_ptr_array_index (self->slabs, i));
  gst_gid_domain_unlock (self->domain);
  g_ptr_array_unref (self->slabs);
  g_ptr_array_unref (self->pools);
  g_clear_error (&self->refusal);
  gst_gid_domain_unref (self->domain);
  g_weak_ref_clear (&self->element);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->cond);
  g_free (self->description);
  g_free (self->stream);
  G_OBJECT_CLASS (gst_gid_allocator_parent_class)->finalize (object);
}

static void
gst_gid_allocator_class_init (GstGidAllocatorClass *klass)
{
  GST_ALLOCATOR_CLASS (klass)->alloc = gst_gid_allocator_alloc;
  GST_ALLOCATOR_CLASS (klass)->free = gst_gid_allocator_free;
  G_OBJECT_CLASS (klass)->finalize = gst_gid_allocator_finalize;
}

static void
gst_gid_allocator_init (GstGidAllocator *self)
{
  GstAllocator *allocator = GST_ALLOCATOR_CAST (self);

  allocator->mem_type = GST_GID_MEMORY_TYPE;
  allocator->mem_share = memory_share;
  memory_init (allocator);
  GST_OBJECT_FLAG_SET (allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);

  self->guard = TRUE;
  self->slabs = g_ptr_array_new_with_free_func (g_free);
  self->pools = g_ptr_array_new ();
  g_mutex_init (&self->lock);
  g_cond_init (&self->cond);
}
