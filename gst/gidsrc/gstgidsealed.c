// SPDX-License-Identifier: MIT
#include "gstgidsealed.h"

#include <errno.h>
#include <fcntl.h>
#include <gst/allocators/allocators.h>
#include <sys/mman.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)

typedef GstFdAllocator GstGidSealedAllocator;
typedef GstFdAllocatorClass GstGidSealedAllocatorClass;
static GType gst_gid_sealed_allocator_get_type (void);
G_DEFINE_TYPE (GstGidSealedAllocator, gst_gid_sealed_allocator, GST_TYPE_FD_ALLOCATOR);

typedef struct
{
  gpointer base;
  gsize size;
} Mapping;

/* Initialised together with the allocator, before any memory exists. */
static GQuark mapping_quark;

static void
mapping_free (gpointer data)
{
  Mapping *mapping = data;

  munmap (mapping->base, mapping->size);
  g_free (mapping);
}

/* Kernels before 6.3 do not know MFD_NOEXEC_SEAL, and later ones may require it. */
static int
make_memfd (void)
{
  guint flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
#ifdef MFD_NOEXEC_SEAL
  int fd = memfd_create ("gid-copy", flags | MFD_NOEXEC_SEAL);

  if (fd >= 0 || errno != EINVAL)
    return fd;
#endif
  return memfd_create ("gid-copy", flags);
}

/*
 * Maps the file before it is sealed, because the seal prevents later writable mappings. Returns the
 * descriptor, or -1.
 */
static int
make_sealed (Mapping *mapping)
{
  int fd = make_memfd ();

  if (fd < 0 || ftruncate (fd, (off_t) mapping->size) < 0)
    goto error_fd;
  mapping->base = mmap (NULL, mapping->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapping->base == MAP_FAILED)
    goto error_fd;
  if (fcntl (fd, F_ADD_SEALS, SEALS) == 0)
    return fd;
  munmap (mapping->base, mapping->size);
error_fd:
  if (fd >= 0)
    close (fd);
  return -1;
}

static GstMemory *
sealed_alloc (GstAllocator *allocator, gsize size, GstAllocationParams *params)
{
  Mapping *mapping = g_new0 (Mapping, 1);
  GstMemory *mem;
  int fd;

  mapping->size = MAX (params->prefix + size + params->padding, 1);
  fd = make_sealed (mapping);
  if (fd < 0) {
    g_free (mapping);
    return NULL;
  }
  mem = gst_fd_allocator_alloc (allocator, fd, mapping->size, GST_FD_MEMORY_FLAG_NONE);
  gst_mini_object_set_qdata (GST_MINI_OBJECT_CAST (mem), mapping_quark, mapping, mapping_free);
  gst_memory_resize (mem, (gssize) params->prefix, size);
  return mem;
}

static gpointer
sealed_map (GstMemory *mem, gsize maxsize, GstMapFlags flags)
{
  GstMiniObject *owner = GST_MINI_OBJECT_CAST (mem->parent ? mem->parent : mem);
  const Mapping *mapping = gst_mini_object_get_qdata (owner, mapping_quark);

  return mapping->base;
}

static void
sealed_unmap (GstMemory *mem)
{
}

static void
gst_gid_sealed_allocator_class_init (GstGidSealedAllocatorClass *klass)
{
  GST_ALLOCATOR_CLASS (klass)->alloc = sealed_alloc;
}

static void
gst_gid_sealed_allocator_init (GstGidSealedAllocator *self)
{
  GstAllocator *allocator = GST_ALLOCATOR_CAST (self);

  allocator->mem_map = sealed_map;
  allocator->mem_unmap = sealed_unmap;
  GST_OBJECT_FLAG_UNSET (allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

GstAllocator *
gst_gid_sealed_allocator_get (void)
{
  static GstAllocator *allocator;
  static gsize once;

  if (g_once_init_enter (&once)) {
    mapping_quark = g_quark_from_static_string ("GstGidSealedMapping");
    allocator = gst_object_ref_sink (g_object_new (gst_gid_sealed_allocator_get_type (), NULL));
    GST_OBJECT_FLAG_SET (allocator, GST_OBJECT_FLAG_MAY_BE_LEAKED);
    g_once_init_leave (&once, 1);
  }
  return allocator;
}
