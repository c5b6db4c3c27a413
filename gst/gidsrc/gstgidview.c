// SPDX-License-Identifier: MIT
#include "gstgidview.h"

#include <gst/allocators/allocators.h>

#include "gstgidsealed.h"

typedef GstFdAllocator GstGidFdAllocator;
typedef GstFdAllocatorClass GstGidFdAllocatorClass;
static GType gst_gid_fd_allocator_get_type (void);
G_DEFINE_TYPE (GstGidFdAllocator, gst_gid_fd_allocator, GST_TYPE_FD_ALLOCATOR);

typedef GstAllocator GstGidViewAllocator;
typedef GstAllocatorClass GstGidViewAllocatorClass;
static GType gst_gid_view_allocator_get_type (void);
G_DEFINE_TYPE (GstGidViewAllocator, gst_gid_view_allocator, GST_TYPE_ALLOCATOR);

/* Initialised together with the allocators, before any memory exists. */
static GQuark base_quark;

static gpointer
view_map (GstMemory *mem, gsize maxsize, GstMapFlags flags)
{
  GstMiniObject *owner = GST_MINI_OBJECT_CAST (mem->parent ? mem->parent : mem);

  return gst_mini_object_get_qdata (owner, base_quark);
}

static void
view_unmap (GstMemory *mem)
{
}

static GstMemory *
view_new (GstAllocator *allocator, GstMemory *parent, gsize maxsize, gsize offset, gsize size)
{
  GstMemory *mem = g_new0 (GstMemory, 1);

  gst_memory_init (mem, GST_MEMORY_FLAG_READONLY, allocator, parent, maxsize, 0, offset, size);
  return mem;
}

static GstMemory *
view_share (GstMemory *mem, gssize offset, gssize size)
{
  if (size == -1)
    size = mem->size - offset;
  return view_new (
      mem->allocator, mem->parent ? mem->parent : mem, mem->maxsize, mem->offset + offset, size);
}

static void
view_free (GstAllocator *allocator, GstMemory *mem)
{
  g_free (mem);
}

static void
gst_gid_fd_allocator_class_init (GstGidFdAllocatorClass *klass)
{
}

static void
gst_gid_fd_allocator_init (GstGidFdAllocator *self)
{
  GstAllocator *allocator = GST_ALLOCATOR_CAST (self);

  allocator->mem_map = view_map;
  allocator->mem_unmap = view_unmap;
}

static void
gst_gid_view_allocator_class_init (GstGidViewAllocatorClass *klass)
{
  GST_ALLOCATOR_CLASS (klass)->free = view_free;
}

static void
gst_gid_view_allocator_init (GstGidViewAllocator *allocator)
{
  allocator->mem_type = "GidView";
  allocator->mem_map = view_map;
  allocator->mem_unmap = view_unmap;
  allocator->mem_share = view_share;
  GST_OBJECT_FLAG_SET (allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

/* Stateless singletons that live as long as the process. */
static GstAllocator *
get_allocator (GstGidView kind)
{
  static GstAllocator *allocators[GST_GID_N_VIEWS];
  static gsize once;

  if (g_once_init_enter (&once)) {
    base_quark = g_quark_from_static_string ("GstGidViewBase");
    allocators[GST_GID_VIEW_PLAIN] =
        gst_object_ref_sink (g_object_new (gst_gid_view_allocator_get_type (), NULL));
    allocators[GST_GID_VIEW_FD] =
        gst_object_ref_sink (g_object_new (gst_gid_fd_allocator_get_type (), NULL));
    allocators[GST_GID_VIEW_DMABUF] = gst_dmabuf_allocator_new ();
    for (guint i = 0; i < GST_GID_N_VIEWS; i++)
      GST_OBJECT_FLAG_SET (allocators[i], GST_OBJECT_FLAG_MAY_BE_LEAKED);
    g_once_init_leave (&once, 1);
  }
  return allocators[kind];
}

GstMemory *
gst_gid_view_new (
    GstGidView kind, int fd, gconstpointer base, gsize maxsize, gsize offset, gsize size)
{
  GstFdMemoryFlags flags = GST_FD_MEMORY_FLAG_DONT_CLOSE | GST_FD_MEMORY_FLAG_KEEP_MAPPED;
  GstAllocator *allocator = get_allocator (kind);
  GstMemory *mem;

  if (kind == GST_GID_VIEW_DMABUF)
    mem = gst_dmabuf_allocator_alloc_with_flags (allocator, fd, maxsize, flags);
  else if (kind == GST_GID_VIEW_FD)
    mem = gst_fd_allocator_alloc (allocator, fd, maxsize, flags);
  else
    mem = view_new (allocator, NULL, maxsize, 0, maxsize);
  gst_memory_resize (mem, offset, size);
  GST_MINI_OBJECT_FLAG_SET (mem, GST_MEMORY_FLAG_READONLY);
  gst_mini_object_set_qdata (GST_MINI_OBJECT_CAST (mem), base_quark, (gpointer) base, NULL);
  return mem;
}

/*
 * Whether downstream proposes shared memory to copy to. Such sinks (waylandsink) would pass our
 * descriptors to a Wayland compositor, which maps wl_shm pools for writing. That fails, and the
 * compositor ends the connection.
 */
static gboolean
would_write (GstQuery *query)
{
  GstAllocator *allocator = NULL;
  gboolean shared;

  if (gst_query_get_n_allocation_pools (query) == 0
      || gst_query_get_n_allocation_params (query) == 0)
    return FALSE;
  gst_query_parse_nth_allocation_param (query, 0, &allocator, NULL);
  shared = allocator && GST_IS_FD_ALLOCATOR (allocator);
  gst_clear_object (&allocator);
  return shared;
}

GstGidView
gst_gid_view_decide (GstQuery *query)
{
  GstGidView kind = would_write (query) ? GST_GID_VIEW_PLAIN : GST_GID_VIEW_FD;

  while (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_remove_nth_allocation_pool (query, 0);
  while (gst_query_get_n_allocation_params (query) > 0)
    gst_query_remove_nth_allocation_param (query, 0);
  return kind;
}

GstAllocator *
gst_gid_view_copy_allocator (GstGidView kind)
{
  return kind == GST_GID_VIEW_FD ? gst_object_ref (gst_gid_sealed_allocator_get ()) : NULL;
}
