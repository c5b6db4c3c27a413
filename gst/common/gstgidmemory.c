// SPDX-License-Identifier: MIT
#include "gstgidmemory.h"

#include "gstgid.h"

#define GST_CAT_DEFAULT gst_gid_debug

static GstMemoryCopyFunction copy_for_real;

GstMemory *
gst_gid_memory_new (GstGidAllocator * self, GstGidSlot * slot, GstMemoryFlags flags, GstMemory * parent,
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
memory_map (GstMemory * mem, gsize maxsize, GstMapFlags flags)
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
memory_unmap (GstMemory * mem, GstMapInfo * info)
{
  GstGidSlot *slot = ((GstGidMemory *) mem)->slot;

  if (slot->slab->dmabuf.data)
    gst_gid_udmabuf_sync (&slot->slab->dmabuf, FALSE, (info->flags & GST_MAP_WRITE) != 0);
  if (info->flags & GST_MAP_WRITE)
    slot->in_one_go =
        slot->turn == g_atomic_int_get (&GST_GID_ALLOCATOR (mem->allocator)->turn);
}

static GstMemory *
memory_share (GstMemory * mem, gssize offset, gssize size)
{
  GstMemory *parent = mem->parent ? mem->parent : mem;

  if (size == -1)
    size = mem->size - offset;
  return gst_gid_memory_new (GST_GID_ALLOCATOR (mem->allocator), ((GstGidMemory *) mem)->slot,
      GST_MINI_OBJECT_FLAGS (parent) | GST_MINI_OBJECT_FLAG_LOCK_READONLY, parent,
      mem->offset + offset, size);
}

static GstMemory *
memory_copy (GstMemory * mem, gssize offset, gssize size)
{
  GstGidAllocator *self = GST_GID_ALLOCATOR (mem->allocator);
  GstMemory *alias;

  if (!(g_atomic_int_get (&GST_MINI_OBJECT_CAST (mem)->lockstate) & GST_LOCK_FLAG_WRITE))
    return copy_for_real (mem, offset, size);

  if (size == -1)
    size = mem->size - offset;
  alias = gst_gid_memory_new (self, ((GstGidMemory *) mem)->slot, GST_MEMORY_FLAG_READONLY, NULL,
      mem->offset + offset, size);
  GST_LOG_OBJECT (self, "%p is an alias of %p, which its decoder keeps mapped", alias, mem);
  return alias;
}

gboolean
gst_gid_memory_is_alias (GstMemory * mem)
{
  return GST_MEMORY_IS_READONLY (mem) && mem->parent == NULL;
}

gboolean
gst_is_gid_memory (GstMemory * mem, GstGidDomain * domain)
{
  return GST_IS_GID_ALLOCATOR (mem->allocator)
      && (domain == NULL || GST_GID_ALLOCATOR (mem->allocator)->domain == domain);
}

void
gst_gid_memory_init (GstAllocator * allocator)
{
  copy_for_real = allocator->mem_copy;
  allocator->mem_type = GST_GID_MEMORY_TYPE;
  allocator->mem_map = memory_map;
  allocator->mem_unmap_full = memory_unmap;
  allocator->mem_share = memory_share;
  allocator->mem_copy = memory_copy;
}
