// SPDX-License-Identifier: MIT
/**
 * SECTION:element-gidalloc
 * @title: gidalloc
 * @short_description: Proposes gidway's shared memory in front of a tee
 *
 * A tee does not forward the buffer pools and allocators that elements behind it propose. gidalloc
 * passes buffers on unchanged, and proposes memory in slots of gidway's shared slabs to upstream.
 * Every gidsink of the same domain behind the tee then sends these buffers without a copy.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc ! gidalloc domain=open ! tee name=t \
 *     t. ! queue ! gidsink domain=open stream=camera/front  t. ! queue ! autovideosink
 * ]|
 */
#include "gstgidalloc.h"

#include "common/gstgid.h"
#include "common/gstgidposter.h"

#define GST_CAT_DEFAULT gst_gid_debug

struct _GstGidAlloc
{
  GstBaseTransform parent;

  /* properties; the object lock */
  gchar *domain_name;
  guint slots;
  gboolean dmabuf;

  /* from start to stop */
  GstGidDomain *domain;
  GstGidAllocator *allocator; /* for `caps` */
  GstCaps *caps;
};

G_DEFINE_FINAL_TYPE (GstGidAlloc, gst_gid_alloc, GST_TYPE_BASE_TRANSFORM);

static gboolean
gst_gid_alloc_start (GstBaseTransform *trans)
{
  GstGidAlloc *self = GST_GID_ALLOC (trans);
  GError *error = NULL;
  gchar *name;

  GST_OBJECT_LOCK (self);
  name = g_strdup (self->domain_name);
  GST_OBJECT_UNLOCK (self);
  self->domain = gst_gid_domain_get_shared (name, &error);
  g_free (name);
  if (self->domain)
    return TRUE;
  gst_gid_post_error (self, error);
  return FALSE;
}

static gboolean
gst_gid_alloc_stop (GstBaseTransform *trans)
{
  GstGidAlloc *self = GST_GID_ALLOC (trans);

  gst_clear_object (&self->allocator);
  gst_clear_caps (&self->caps);
  g_clear_pointer (&self->domain, gst_gid_domain_unref);
  return TRUE;
}

static gboolean
gst_gid_alloc_propose_allocation (GstBaseTransform *trans, GstQuery *decide, GstQuery *query)
{
  GstGidAlloc *self = GST_GID_ALLOC (trans);
  GstGidFormat format;
  GstCaps *caps;
  gboolean dmabuf;
  guint slots;

  /* keep downstream's answer about metas: a tee has asked all of its branches */
  if (!GST_BASE_TRANSFORM_CLASS (gst_gid_alloc_parent_class)
          ->propose_allocation (trans, decide, query))
    GST_DEBUG_OBJECT (self, "downstream has nothing to say about allocation");

  gst_query_parse_allocation (query, &caps, NULL);
  if (caps == NULL || !gst_gid_format_from_caps (&format, caps) || format.dmabuf)
    return TRUE;
  if (self->caps == NULL || !gst_caps_is_equal (self->caps, caps)) {
    GST_OBJECT_LOCK (self);
    slots = self->slots;
    dmabuf = self->dmabuf;
    GST_OBJECT_UNLOCK (self);
    gst_clear_object (&self->allocator);
    gst_caps_replace (&self->caps, caps);
    self->allocator =
        gst_gid_allocator_new (self->domain, NULL, caps, slots, dmabuf, GST_ELEMENT_CAST (self));
  }
  gst_gid_pool_propose (self->allocator, caps, query);
  return TRUE;
}

static GstFlowReturn
gst_gid_alloc_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  return GST_FLOW_OK;
}

static const GstGidProperty properties[] = {
  { "domain", "Domain",
      "Domain to allocate memory in, which must be that of the gidsinks downstream (default: "
      "$GID_DOMAIN, or the only domain on this system)",
      GST_GID_STRING (GstGidAlloc, domain_name), .flags = GST_GID_READY },
  { "slots", "Slots", "Maximum number of frames in memory; memory is allocated on demand",
      GST_GID_UINT (GstGidAlloc, slots, 2, GID_SLOTS_MAX, 32), .flags = GST_GID_READY },
  { "dmabuf", "Dma-buf",
      "Allocate dma-bufs, which device drivers can write to and GPU renderers can import. Needs "
      "/dev/udmabuf or the kernel module gid_dmabuf. Consumers could write to them",
      GST_GID_BOOLEAN (GstGidAlloc, dmabuf, FALSE), .flags = GST_GID_READY },
};

static void
gst_gid_alloc_finalize (GObject *object)
{
  gst_gid_properties_finish (object, properties, G_N_ELEMENTS (properties));
  G_OBJECT_CLASS (gst_gid_alloc_parent_class)->finalize (object);
}

static void
gst_gid_alloc_class_init (GstGidAllocClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *transform_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCaps *caps = gst_gid_caps_template (TRUE);

  object_class->finalize = gst_gid_alloc_finalize;
  gst_gid_properties_install (object_class, properties, G_N_ELEMENTS (properties));

  gst_element_class_add_pad_template (
      element_class, gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template (
      element_class, gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);
  gst_element_class_set_static_metadata (element_class, "gidway allocator", "Filter/Video",
      "Proposes gidway's shared memory to upstream, for use in front of a tee",
      "The gidway authors");

  transform_class->start = gst_gid_alloc_start;
  transform_class->stop = gst_gid_alloc_stop;
  transform_class->propose_allocation = gst_gid_alloc_propose_allocation;
  transform_class->transform_ip = gst_gid_alloc_transform_ip;
  transform_class->passthrough_on_same_caps = TRUE;
}

static void
gst_gid_alloc_init (GstGidAlloc *self)
{
  gst_gid_properties_init (self, properties, G_N_ELEMENTS (properties));
  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM_CAST (self), TRUE);
}
