// SPDX-License-Identifier: MIT
#include "gstgidexport.h"

#include <errno.h>

#include <gst/allocators/allocators.h>

#include "gstgid.h"
#include "gstgidallocator.h"

#define GST_CAT_DEFAULT gst_gid_debug

GST_DEFINE_MINI_OBJECT_TYPE (GstGidExport, gst_gid_export);

static void
gst_gid_export_free (GstGidExport *self)
{
  gst_gid_domain_lock (self->domain);
  gid_slab_unref (self->slab); /* unlike gid_slab_destroy() never waits for gidd */
  gst_gid_domain_unlock (self->domain);
  gst_gid_domain_unref (self->domain);
  g_free (self->description);
  g_free (self);
}

/* Returns the descriptor, and sets the offset at which the memory begins in it. */
static int
find_descriptor (GstMemory *mem, guint64 *offset)
{
  const GstGidSlot *slot = gst_gid_memory_get_slot (mem);

  *offset = mem->offset;
  if (slot) {
    *offset += slot->slab->info.offset + slot->index * slot->slab->info.slot_size;
    return slot->slab->info.fd;
  }
  return gst_fd_memory_get_fd (mem);
}

gboolean
gst_gid_export_is_possible (GstMemory *mem)
{
  return gst_is_fd_memory (mem) || gst_is_gid_memory (mem, NULL);
}

static gboolean
is_still_good (GstGidExport *self, GstGidDomain *domain, guint64 offset,
    const struct gid_layout *layout, const gchar *description)
{
  struct gid_slab_info info;

  if (self->domain != domain || self->offset != offset
      || !gst_gid_layout_equal (&self->layout, layout)
      || g_strcmp0 (self->description, description) != 0)
    return FALSE;
  /* the slab was revoked as a whole if a lease expired */
  gst_gid_domain_lock (domain);
  gid_slab_get_info (self->slab, &info);
  gst_gid_domain_unlock (domain);
  return !info.revoked;
}

GstGidExport *
gst_gid_export_get (GstGidDomain *domain, GstMemory *mem, const struct gid_layout *layout,
    const gchar *description, int *result)
{
  /* one qdata per domain: a process uses few of them */
  GQuark quark = gst_gid_domain_get_quark (domain);
  GstGidExport *self = gst_mini_object_get_qdata (GST_MINI_OBJECT_CAST (mem), quark);
  struct gid_slab *slab;
  guint64 offset;
  int fd = find_descriptor (mem, &offset);

  if (self && is_still_good (self, domain, offset, layout, description))
    return (GstGidExport *) gst_mini_object_ref (GST_MINI_OBJECT_CAST (self));

  *result = gid_slab_export (gst_gid_domain_lock (domain), fd, offset, layout, description, &slab);
  gst_gid_domain_unlock (domain);
  if (*result < 0)
    return NULL;

  self = g_new0 (GstGidExport, 1);
  gst_mini_object_init (GST_MINI_OBJECT_CAST (self), 0, gst_gid_export_get_type (), NULL, NULL,
      (GstMiniObjectFreeFunction) gst_gid_export_free);
  self->domain = gst_gid_domain_ref (domain);
  self->slab = slab;
  self->offset = offset;
  self->layout = *layout;
  self->description = g_strdup (description);
  GST_DEBUG ("exported %p (descriptor %d at %" G_GUINT64_FORMAT ")", mem, fd, offset);
  gst_mini_object_set_qdata (GST_MINI_OBJECT_CAST (mem), quark,
      gst_mini_object_ref (GST_MINI_OBJECT_CAST (self)), (GDestroyNotify) gst_mini_object_unref);
  return self;
}
