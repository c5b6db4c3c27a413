// SPDX-License-Identifier: MIT
#include "gstgidimport.h"

#include <errno.h>

#include <gst/allocators/allocators.h>

#include "common/gstgid.h"

#define GST_CAT_DEFAULT gst_gid_debug

typedef struct _GstGidImportSlot
{
  GstGidImport *import;
  GstGidImportKind kind;
  GstMemory *mem;               /* made at the first frame */
  gsize offset;                 /* of the slot in the file */
  gboolean out;
  GArray *held;                 /* of Held: a slot may come twice before it is given back */
} GstGidImportSlot;

typedef struct
{
  guint epoch;
  struct gid_frame frame;
} Held;

static GQuark
slot_quark (void)
{
  static GQuark quark;

  if (quark == 0)
    quark = g_quark_from_static_string ("GstGidImportSlot");
  return quark;
}

/* --- allocators: memory that is mapped with its slab ------------------------------------------- */

typedef GstFdAllocator GstGidFdAllocator;
typedef GstFdAllocatorClass GstGidFdAllocatorClass;
static GType gst_gid_fd_allocator_get_type (void);
G_DEFINE_TYPE (GstGidFdAllocator, gst_gid_fd_allocator, GST_TYPE_FD_ALLOCATOR);

typedef GstAllocator GstGidViewAllocator;
typedef GstAllocatorClass GstGidViewAllocatorClass;
static GType gst_gid_view_allocator_get_type (void);
G_DEFINE_TYPE (GstGidViewAllocator, gst_gid_view_allocator, GST_TYPE_ALLOCATOR);

static gpointer
view_map (GstMemory * mem, gsize maxsize, GstMapFlags flags)
{
  GstMiniObject *owner = GST_MINI_OBJECT_CAST (mem->parent ? mem->parent : mem);
  GstGidImportSlot *slot = gst_mini_object_get_qdata (owner, slot_quark ());

  return (gpointer) slot->import->base;
}

static void
view_unmap (GstMemory * mem)
{
}

static GstMemory *
view_new (GstAllocator * allocator, GstMemory * parent, gsize maxsize, gsize offset, gsize size)
{
  GstMemory *mem = g_new0 (GstMemory, 1);

  gst_memory_init (mem, GST_MEMORY_FLAG_READONLY, allocator, parent, maxsize, 0, offset, size);
  return mem;
}

static GstMemory *
view_share (GstMemory * mem, gssize offset, gssize size)
{
  if (size == -1)
    size = mem->size - offset;
  return view_new (mem->allocator, mem->parent ? mem->parent : mem, mem->maxsize,
      mem->offset + offset, size);
}

static void
view_free (GstAllocator * allocator, GstMemory * mem)
{
  g_free (mem);
}

static void
gst_gid_fd_allocator_class_init (GstGidFdAllocatorClass * klass)
{
}

static void
gst_gid_fd_allocator_init (GstGidFdAllocator * self)
{
  GstAllocator *allocator = GST_ALLOCATOR_CAST (self);

  allocator->mem_map = view_map;
  allocator->mem_unmap = view_unmap;
}

static void
gst_gid_view_allocator_class_init (GstGidViewAllocatorClass * klass)
{
  GST_ALLOCATOR_CLASS (klass)->free = view_free;
}

static void
gst_gid_view_allocator_init (GstGidViewAllocator * allocator)
{
  allocator->mem_type = "GidView";
  allocator->mem_map = view_map;
  allocator->mem_unmap = view_unmap;
  allocator->mem_share = view_share;
  GST_OBJECT_FLAG_SET (allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

typedef enum
{
  ALLOCATOR_VIEW,
  ALLOCATOR_FD,
  ALLOCATOR_DMABUF,
  N_ALLOCATORS
} AllocatorKind;

/* They have no state, and are there for as long as the process. */
static GstAllocator *
get_allocator (AllocatorKind kind)
{
  static GstAllocator *allocators[N_ALLOCATORS];
  static gsize once;

  if (g_once_init_enter (&once)) {
    allocators[ALLOCATOR_VIEW] =
        gst_object_ref_sink (g_object_new (gst_gid_view_allocator_get_type (), NULL));
    allocators[ALLOCATOR_FD] =
        gst_object_ref_sink (g_object_new (gst_gid_fd_allocator_get_type (), NULL));
    allocators[ALLOCATOR_DMABUF] = gst_dmabuf_allocator_new ();
    for (guint i = 0; i < N_ALLOCATORS; i++)
      GST_OBJECT_FLAG_SET (allocators[i], GST_OBJECT_FLAG_MAY_BE_LEAKED);
    g_once_init_leave (&once, 1);
  }
  return allocators[kind];
}

/* --- readers ----------------------------------------------------------------------------------- */

GstGidReader *
gst_gid_reader_new (GstGidDomain * domain)
{
  GstGidReader *self = g_new0 (GstGidReader, 1);

  self->refcount = 1;
  self->domain = domain;
  return self;
}

GstGidReader *
gst_gid_reader_ref (GstGidReader * self)
{
  g_atomic_int_inc (&self->refcount);
  return self;
}

void
gst_gid_reader_unref (GstGidReader * self)
{
  if (g_atomic_int_dec_and_test (&self->refcount)) {
    gst_gid_domain_unref (self->domain);
    g_free (self);
  }
}

/* --- imports ----------------------------------------------------------------------------------- */

static void
import_unref (GstGidImport * self)
{
  GstGidReader *reader = self->reader;
  gboolean last;

  gst_gid_domain_lock (reader->domain);
  last = --self->refcount == 0;
  if (last) {
    gid_slab_on_revoked (self->slab, NULL, self);
    gid_slab_unref (self->slab);
  }
  gst_gid_domain_unlock (reader->domain);
  if (!last)
    return;
  for (guint i = 0; i < self->info.slot_count * GST_GID_N_IMPORT_KINDS; i++) {
    if (self->slots[i].held)
      g_array_unref (self->slots[i].held);
  }
  g_free (self->slots);
  gst_clear_caps (&self->caps);
  g_free (self);
  gst_gid_reader_unref (reader);
}

static void
import_revoked (void *data, struct gid_slab *slab)
{
  ((GstGidImport *) data)->revoked = TRUE;
}

static void
give_back (GstGidImportSlot * slot)
{
  GstGidReader *reader = slot->import->reader;

  for (guint i = 0; i < slot->held->len; i++) {
    Held *held = &g_array_index (slot->held, Held, i);

    if (reader->consumer && held->epoch == reader->epoch)
      gid_consumer_release (reader->consumer, &held->frame);
  }
  g_array_set_size (slot->held, 0);
}

/* The last user of a memory is gone: it comes back to its slot, unless that is gone, too. */
static gboolean
memory_dispose (GstMiniObject * object)
{
  GstMemory *mem = (GstMemory *) object;
  GstGidImportSlot *slot = gst_mini_object_get_qdata (object, slot_quark ());
  GstGidImport *import = slot->import;
  gboolean retired;

  gst_gid_domain_lock (import->reader->domain);
  if (GST_MINI_OBJECT_REFCOUNT_VALUE (object) > 0) {
    /* another frame came in the slot in this very moment */
    gst_gid_domain_unlock (import->reader->domain);
    return FALSE;
  }
  give_back (slot);
  slot->out = FALSE;
  retired = import->retired;
  if (retired) {
    slot->mem = NULL;
  } else {
    gst_memory_ref (mem);
    mem->offset = slot->offset;
    mem->size = import->size;
  }
  gst_gid_domain_unlock (import->reader->domain);
  if (retired)
    import_unref (import);
  return retired;
}

static GstMemory *
memory_new (GstGidImportSlot * slot)
{
  GstGidImport *import = slot->import;
  GstFdMemoryFlags flags = GST_FD_MEMORY_FLAG_DONT_CLOSE | GST_FD_MEMORY_FLAG_KEEP_MAPPED;
  gsize end = slot->offset + import->info.slot_size;
  GstMemory *mem;

  if (import->info.memory == GID_MEMORY_DMABUF)
    mem = gst_dmabuf_allocator_alloc_with_flags (get_allocator (ALLOCATOR_DMABUF),
        import->info.fd, end, flags);
  else if (slot->kind == GST_GID_IMPORT_FD)
    mem = gst_fd_allocator_alloc (get_allocator (ALLOCATOR_FD), import->info.fd, end, flags);
  else
    mem = view_new (get_allocator (ALLOCATOR_VIEW), NULL, end, 0, end);
  gst_memory_resize (mem, slot->offset, import->size);
  GST_MINI_OBJECT_FLAG_SET (mem, GST_MEMORY_FLAG_READONLY);
  GST_MINI_OBJECT_CAST (mem)->dispose = memory_dispose;
  gst_mini_object_set_qdata (GST_MINI_OBJECT_CAST (mem), slot_quark (), slot, NULL);
  slot->held = g_array_new (FALSE, FALSE, sizeof (Held));
  import->refcount++;
  return mem;
}

int
gst_gid_import_new (GstGidReader * reader, gid_id gid, GstGidImport ** import)
{
  GstGidImport *self;
  struct gid_slab_info info;
  struct gid_slab *slab;
  GstCaps *caps;
  int ret;

  ret = gid_slab_import (gst_gid_domain_get (reader->domain), gid, &slab);
  if (ret < 0)
    return ret;
  gid_slab_get_info (slab, &info);
  caps = gst_gid_caps_from_slab (&info);
  if (caps == NULL) {
    gid_slab_unref (slab);
    return -EPROTO;
  }

  self = g_new0 (GstGidImport, 1);
  self->refcount = 1;
  self->reader = gst_gid_reader_ref (reader);
  self->slab = slab;
  self->info = info;
  self->caps = caps;
  gst_gid_format_from_caps (&self->format, caps);
  self->is_plain = gst_gid_layout_is_default (&info.layout, &self->format);
  self->size = gid_layout_size (&info.layout);
  if (self->is_plain && GST_VIDEO_INFO_SIZE (&self->format.info) <= info.slot_size)
    self->size = GST_VIDEO_INFO_SIZE (&self->format.info);
  self->base = (const guint8 *) gid_slab_view (slab, 0) - info.offset;
  self->slots = g_new0 (GstGidImportSlot, info.slot_count * GST_GID_N_IMPORT_KINDS);
  for (guint i = 0; i < info.slot_count * GST_GID_N_IMPORT_KINDS; i++) {
    self->slots[i].import = self;
    self->slots[i].kind = i % GST_GID_N_IMPORT_KINDS;
    self->slots[i].offset = info.offset + i / GST_GID_N_IMPORT_KINDS * info.slot_size;
  }
  gid_slab_on_revoked (slab, import_revoked, self);
  GST_INFO ("slab %u: %u slots of %" GST_PTR_FORMAT, gid_slab_of (gid), info.slot_count, caps);
  *import = self;
  return 0;
}

void
gst_gid_import_retire (GstGidImport * self)
{
  GstGidDomain *domain = self->reader->domain;

  gst_gid_domain_lock (domain);
  self->retired = TRUE;
  for (guint i = 0; i < self->info.slot_count * GST_GID_N_IMPORT_KINDS; i++) {
    if (self->slots[i].mem && !self->slots[i].out)
      gst_gid_domain_drop_later (domain, GST_MINI_OBJECT_CAST (self->slots[i].mem));
  }
  gst_gid_domain_unlock (domain);
  import_unref (self);
}

GstMemory *
gst_gid_import_take (GstGidImport * self, const struct gid_frame *frame, GstGidImportKind kind)
{
  Held held = { self->reader->epoch, *frame };
  GstGidImportSlot *slot;

  if (gid_slot_of (frame->gid) >= self->info.slot_count)
    return NULL;
  slot = &self->slots[gid_slot_of (frame->gid) * GST_GID_N_IMPORT_KINDS + kind];
  if (slot->mem == NULL)
    slot->mem = memory_new (slot);
  else if (slot->out)
    gst_memory_ref (slot->mem);
  slot->out = TRUE;
  g_array_append_val (slot->held, held);
  return slot->mem;
}
