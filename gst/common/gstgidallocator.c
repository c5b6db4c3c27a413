// SPDX-License-Identifier: MIT
#include "gstgidallocator.h"

#include <errno.h>

#include "gstgid.h"

#define GST_CAT_DEFAULT gst_gid_debug

/* The first slab has as many slots, unless upstream asks for more, or the domain has no memory. */
#define FIRST_SLOTS 6
/* A consumer shows one frame until it has the next. */
#define LEAST_SLOTS 2
/* The most slots that upstream may hold by itself. */
#define SLOTS_HELD_MAX 128

G_DEFINE_TYPE (GstGidAllocator, gst_gid_allocator, GST_TYPE_ALLOCATOR);

/* --- the memory of a slot --- */

static GstMemoryCopyFunction copy_for_real;

static GstMemory *
memory_new (GstGidAllocator *self, GstGidSlot *slot, GstMemoryFlags flags, GstMemory *parent,
    gsize offset, gsize size)
{
  GstGidMemory *mem = g_new0 (GstGidMemory, 1);

  g_atomic_int_inc (&slot->users);
  mem->slot = slot;
  gst_memory_init (GST_MEMORY_CAST (mem), flags, GST_ALLOCATOR_CAST (self), parent,
      slot->slab->info.slot_size, 4095, offset, size);
  return GST_MEMORY_CAST (mem);
}

static gpointer
memory_map (GstMemory *mem, gsize maxsize, GstMapFlags flags)
{
  GstGidSlot *slot = ((GstGidMemory *) mem)->slot;
  GstGidUdmabuf *dmabuf = &slot->slab->dmabuf;

  if (dmabuf->data) {
    gst_gid_udmabuf_sync (dmabuf, TRUE, (flags & GST_MAP_WRITE) != 0);
    return dmabuf->data;
  }
  return gid_slab_data (slot->slab->slab, slot->index);
}

static void
memory_unmap (GstMemory *mem, GstMapInfo *info)
{
  GstGidSlot *slot = ((GstGidMemory *) mem)->slot;

  if (slot->slab->dmabuf.data)
    gst_gid_udmabuf_sync (&slot->slab->dmabuf, FALSE, (info->flags & GST_MAP_WRITE) != 0);
  if (info->flags & GST_MAP_WRITE)
    slot->in_one_go = slot->turn == g_atomic_int_get (&GST_GID_ALLOCATOR (mem->allocator)->turn);
}

static GstMemory *
memory_share (GstMemory *mem, gssize offset, gssize size)
{
  GstMemory *parent = mem->parent ? mem->parent : mem;

  if (size == -1)
    size = mem->size - offset;
  return memory_new (GST_GID_ALLOCATOR (mem->allocator), ((GstGidMemory *) mem)->slot,
      GST_MINI_OBJECT_FLAGS (parent) | GST_MINI_OBJECT_FLAG_LOCK_READONLY, parent,
      mem->offset + offset, size);
}

static GstMemory *
memory_copy (GstMemory *mem, gssize offset, gssize size)
{
  GstGidAllocator *self = GST_GID_ALLOCATOR (mem->allocator);
  GstMemory *alias;

  if (!(g_atomic_int_get (&GST_MINI_OBJECT_CAST (mem)->lockstate) & GST_LOCK_FLAG_WRITE))
    return copy_for_real (mem, offset, size);

  if (size == -1)
    size = mem->size - offset;
  alias = memory_new (self, ((GstGidMemory *) mem)->slot, GST_MEMORY_FLAG_READONLY, NULL,
      mem->offset + offset, size);
  GST_LOG_OBJECT (self, "%p is an alias of %p, which its decoder keeps mapped", alias, mem);
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
  return GST_IS_GID_ALLOCATOR (mem->allocator)
      && (domain == NULL || GST_GID_ALLOCATOR (mem->allocator)->domain == domain);
}

/** Has an allocator of ours map, share and copy as slots are. */
static void
memory_init (GstAllocator *allocator)
{
  copy_for_real = allocator->mem_copy;
  allocator->mem_type = GST_GID_MEMORY_TYPE;
  allocator->mem_map = memory_map;
  allocator->mem_unmap_full = memory_unmap;
  allocator->mem_share = memory_share;
  allocator->mem_copy = memory_copy;
}

/* --- slots --- */

void
gst_gid_allocator_signal (GstGidAllocator *self)
{
  if (self->waiting > 0)
    g_cond_broadcast (&self->cond);
}

static void
gst_gid_allocator_free (GstAllocator *allocator, GstMemory *mem)
{
  GstGidAllocator *self = GST_GID_ALLOCATOR (allocator);
  GstGidSlot *slot = ((GstGidMemory *) mem)->slot;

  g_free (mem);
  if (g_atomic_int_dec_and_test (&slot->users)) {
    g_mutex_lock (&self->lock);
    slot->slab->used--;
    gst_gid_allocator_signal (self);
    g_mutex_unlock (&self->lock);
  }
}

/* For elements that take the allocator but not the pool: only with the layout of the caps. */
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
    if (mem == NULL && gst_gid_allocator_grow (self, &layout, size, 0, NULL))
      mem = gst_gid_allocator_take (self, &layout, size);
    g_mutex_unlock (&self->lock);
  }
  /* gidsink will have to copy it */
  return mem ? mem : gst_allocator_alloc (NULL, size, params);
}

static void
slab_free (gpointer data)
{
  GstGidSlab *slab = data;

  gst_gid_udmabuf_finish (&slab->dmabuf);
  g_free (slab);
}

/*
 * A lease that ran out takes the whole of a dma-buf: another will be made in its place. Call with
 * the lock held.
 */
static void
drop_revoked (GstGidAllocator *self)
{
  for (guint i = self->slabs->len; i > 0; i--) {
    GstGidSlab *slab = g_ptr_array_index (self->slabs, i - 1);
    struct gid_slab_info info;

    if (slab->used > 0 || g_atomic_int_get (&slab->slots[0].users) > 0)
      continue;
    gst_gid_domain_lock (self->domain);
    gid_slab_get_info (slab->slab, &info);
    if (info.revoked)
      gid_slab_destroy (slab->slab, false);
    gst_gid_domain_unlock (self->domain);
    if (info.revoked) {
      g_ptr_array_remove_index (self->slabs, i - 1);
      self->n_slots--;
    }
  }
}

GstMemory *
gst_gid_allocator_take (GstGidAllocator *self, const struct gid_layout *layout, gsize size)
{
  if (self->dmabuf)
    drop_revoked (self);
  for (guint i = 0; i < self->slabs->len; i++) {
    GstGidSlab *slab = g_ptr_array_index (self->slabs, i);

    if (slab->used == slab->info.slot_count || size > slab->info.slot_size
        || !gst_gid_layout_equal (&slab->info.layout, layout))
      continue;
    for (guint j = 0; j < slab->info.slot_count; j++) {
      GstGidSlot *slot = &slab->slots[j];

      if (g_atomic_int_get (&slot->users) == 0) {
        GstMemory *mem = memory_new (self, slot, 0, NULL, 0, size);

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
  GstGidSlot *slot = ((GstGidMemory *) mem)->slot;

  slot->turn = g_atomic_int_add (&self->turn, 1) + 1;
  slot->in_one_go = FALSE;
}

/* Whether waiting could bring a slot back: some consumer has one. */
static gboolean
consumers_hold_any (GstGidAllocator *self)
{
  gboolean held = FALSE;

  gst_gid_domain_lock (self->domain);
  for (guint i = 0; i < self->slabs->len && !held; i++) {
    GstGidSlab *slab = g_ptr_array_index (self->slabs, i);

    for (guint j = 0; j < slab->info.slot_count && !held; j++)
      held = gid_slab_holders (slab->slab, j) > 0;
  }
  gst_gid_domain_unlock (self->domain);
  return held;
}

/* The slab as the allocator keeps it. The domain is locked. */
static GstGidSlab *
slab_new (struct gid_slab *made, const GstGidUdmabuf *dmabuf)
{
  struct gid_slab_info info;
  GstGidSlab *slab;

  gid_slab_get_info (made, &info);
  slab = g_malloc0 (sizeof (*slab) + info.slot_count * sizeof (GstGidSlot));
  slab->slab = made;
  slab->info = info;
  if (dmabuf) {
    slab->dmabuf = *dmabuf;
    /* to libgid the slot is the picture, to upstream all of the memory */
    slab->info.slot_size = dmabuf->size;
  }
  for (guint i = 0; i < info.slot_count; i++) {
    slab->slots[i].slab = slab;
    slab->slots[i].index = i;
  }
  return slab;
}

/* Another slab of `count` slots. The domain is locked. Returns 0 or -errno. */
static int
make_slab (GstGidAllocator *self, struct gid_domain *domain, const struct gid_layout *layout,
    gsize size, guint count, GPtrArray *made)
{
  struct gid_slab *slab;
  int ret = gid_slab_create_for_stream (
      domain, self->stream, layout, size, count, self->description, &slab);

  if (ret == 0)
    g_ptr_array_add (made, slab_new (slab, NULL));
  return ret;
}

/* As many dma-bufs, or fewer where there is no more memory. */
static int
make_dmabufs (GstGidAllocator *self, struct gid_domain *domain, const struct gid_layout *layout,
    gsize size, guint count, GPtrArray *made)
{
  int ret = 0;

  for (guint i = 0; i < count && ret == 0; i++) {
    GstGidUdmabuf dmabuf;
    struct gid_slab *slab;

    ret = gst_gid_udmabuf_init (&dmabuf, size);
    if (ret < 0)
      break;
    ret = gid_slab_export (domain, dmabuf.fd, 0, layout, self->description, &slab);
    if (ret == 0)
      g_ptr_array_add (made, slab_new (slab, &dmabuf));
    else
      gst_gid_udmabuf_finish (&dmabuf);
  }
  return made->len > 0 ? 0 : ret;
}

static gboolean
is_out_of_memory (int result)
{
  return result == -EDQUOT || result == -ENOMEM || result == -ENOSPC;
}

/*
 * Call without the lock. As many slots as there is memory for, `min` at least and `count` at most;
 * returns 0 or -errno.
 */
static int
make_slots (GstGidAllocator *self, const struct gid_layout *layout, gsize size, guint count,
    guint min, GPtrArray *made, GError **error)
{
  struct gid_domain *domain = gst_gid_domain_lock (self->domain);
  int ret;

  while (TRUE) {
    ret = (self->dmabuf ? make_dmabufs : make_slab) (self, domain, layout, size, count, made);
    if (!is_out_of_memory (ret) || count <= min)
      break;
    count = MAX (count / 2, min);
  }
  if (ret < 0)
    gst_gid_domain_set_error (self->domain, error, ret,
        "Cannot make %u %s of %" G_GSIZE_FORMAT " bytes", count,
        self->dmabuf ? "dma-bufs with /dev/udmabuf" : "slots", size);
  gst_gid_domain_unlock (self->domain);
  return ret;
}

gboolean
gst_gid_allocator_grow (
    GstGidAllocator *self, const struct gid_layout *layout, gsize size, guint min, GError **error)
{
  GPtrArray *made;
  guint count;
  int ret;

  min = self->n_slots > 0 ? 1 : MAX (min, MIN (LEAST_SLOTS, self->limit));
  if (self->n_slots == 0) {
    count = CLAMP (MAX (min, FIRST_SLOTS), 1, MAX (self->limit, min));
  } else if (self->n_slots < self->limit) {
    count = MIN (self->n_slots, self->limit - self->n_slots);
  } else if (self->n_slots < SLOTS_HELD_MAX && !consumers_hold_any (self)) {
    count = MAX (self->n_slots / 2, 1);
    GST_WARNING_OBJECT (self,
        "upstream itself holds all %u slots: adding %u. Set slots=%u or "
        "more to begin with",
        self->n_slots, count, self->n_slots + count);
  } else {
    return FALSE;
  }
  count = MIN (count, GID_SLOTS_MAX);

  self->growing = TRUE;
  g_mutex_unlock (&self->lock);
  made = g_ptr_array_new ();
  ret = make_slots (self, layout, size, count, min, made, error);
  g_mutex_lock (&self->lock);

  self->growing = FALSE;
  gst_gid_allocator_signal (self);
  for (guint i = 0; i < made->len; i++) {
    GstGidSlab *slab = g_ptr_array_index (made, i);

    g_ptr_array_add (self->slabs, slab);
    self->n_slots += slab->info.slot_count;
    GST_INFO_OBJECT (self, "slab %u of %u slots of %" G_GUINT64_FORMAT " bytes, %u in all",
        gid_slab_of (slab->info.gid), slab->info.slot_count, slab->info.slot_size, self->n_slots);
  }
  g_ptr_array_unref (made);
  /* the domain has no more: asking again each time that there is no free slot would not help */
  if (is_out_of_memory (ret) && self->n_slots > 0)
    self->limit = MIN (self->limit, self->n_slots);
  return ret == 0;
}

void
gst_gid_allocator_post_error (GstGidAllocator *self, const GError *error)
{
  GstElement *element = g_weak_ref_get (&self->element);
  const gchar *advice = "";

  if (g_error_matches (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT))
    advice = ". Give the domain more with memory= and client-memory= in the cockpit's "
             "configuration, or send smaller frames.";
  GST_ERROR_OBJECT (self, "%s", error->message);
  if (element == NULL)
    return;
  gst_element_message_full (element, GST_MESSAGE_ERROR, error->domain, error->code,
      g_strconcat (error->message, advice, NULL), NULL, __FILE__, GST_FUNCTION, __LINE__);
  gst_object_unref (element);
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
  self->description = gst_gid_description_from_caps (caps);
  return self;
}

static void
gst_gid_allocator_finalize (GObject *object)
{
  GstGidAllocator *self = GST_GID_ALLOCATOR (object);

  gst_gid_domain_lock (self->domain);
  for (guint i = 0; i < self->slabs->len; i++) {
    GstGidSlab *slab = g_ptr_array_index (self->slabs, i);

    gid_slab_destroy (slab->slab, false);
  }
  gst_gid_domain_unlock (self->domain);
  g_ptr_array_unref (self->slabs);
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

  memory_init (allocator);
  GST_OBJECT_FLAG_SET (allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);

  self->guard = TRUE;
  self->slabs = g_ptr_array_new_with_free_func (slab_free);
  g_mutex_init (&self->lock);
  g_cond_init (&self->cond);
}
