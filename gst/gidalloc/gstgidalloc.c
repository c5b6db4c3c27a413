// SPDX-License-Identifier: MIT
/**
 * SECTION:element-gidalloc
 * @title: gidalloc
 * @short_description: offers gidway's memory where gidsink itself cannot
 *
 * A tee does not pass on what the sinks behind it offer to write into. Put gidalloc in front: it
 * passes buffers on as they are and has upstream write into slots of gidway's slabs, which every
 * gidsink of the same domain behind the tee then sends without a copy.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc ! gidalloc domain=open ! tee name=t \
 *     t. ! queue ! gidsink domain=open stream=camera/front  t. ! queue ! autovideosink
 * ]|
 */
#include "gstgidalloc.h"

#include "common/gstgid.h"

#define GST_CAT_DEFAULT gst_gid_debug

#define DEFAULT_SLOTS 32

enum
{
  PROP_0,
  PROP_DOMAIN,
  PROP_SLOTS,
  PROP_DMABUF,
};

struct _GstGidAlloc
{
  GstBaseTransform parent;

  /* properties; the object lock */
  gchar *domain_name;
  guint slots;
  gboolean dmabuf;

  /* from start to stop */
  GstGidDomain *domain;
  GstGidAllocator *allocator; /* for the caps */
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
  gst_element_message_full (GST_ELEMENT_CAST (self), GST_MESSAGE_ERROR, error->domain, error->code,
      g_strdup (error->message), NULL, __FILE__, GST_FUNCTION, __LINE__);
  g_error_free (error);
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

  /* what downstream knows of metas stays as it says; a tee has asked all of its branches */
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

static void
gst_gid_alloc_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstGidAlloc *self = GST_GID_ALLOC (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_DOMAIN:
      g_free (self->domain_name);
      self->domain_name = g_value_dup_string (value);
      break;
    case PROP_SLOTS:
      self->slots = g_value_get_uint (value);
      break;
    case PROP_DMABUF:
      self->dmabuf = g_value_get_boolean (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_gid_alloc_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstGidAlloc *self = GST_GID_ALLOC (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_DOMAIN:
      g_value_set_string (value, self->domain_name);
      break;
    case PROP_SLOTS:
      g_value_set_uint (value, self->slots);
      break;
    case PROP_DMABUF:
      g_value_set_boolean (value, self->dmabuf);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_gid_alloc_finalize (GObject *object)
{
  GstGidAlloc *self = GST_GID_ALLOC (object);

  g_free (self->domain_name);
  G_OBJECT_CLASS (gst_gid_alloc_parent_class)->finalize (object);
}

static void
gst_gid_alloc_class_init (GstGidAllocClass *klass)
{
  const GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *transform_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCaps *caps = gst_gid_caps_template (TRUE);

  object_class->set_property = gst_gid_alloc_set_property;
  object_class->get_property = gst_gid_alloc_get_property;
  object_class->finalize = gst_gid_alloc_finalize;
  g_object_class_install_property (object_class, PROP_DOMAIN,
      g_param_spec_string ("domain", "Domain",
          "Domain whose memory is used, the same as that of the gidsinks behind it (default: "
          "$GID_DOMAIN, or the only one here)",
          NULL, ready));
  g_object_class_install_property (object_class, PROP_SLOTS,
      g_param_spec_uint ("slots", "Slots",
          "Largest number of frames in memory; slots are made as they are needed", 2, GID_SLOTS_MAX,
          DEFAULT_SLOTS, ready));
  g_object_class_install_property (object_class, PROP_DMABUF,
      g_param_spec_boolean ("dmabuf", "Dma-buf",
          "Use dma-bufs as memory, which drivers write and renderers on a GPU take as they are. Needs "
          "/dev/udmabuf or gid_dmabuf. Consumers could write into them",
          FALSE, ready));

  gst_element_class_add_pad_template (
      element_class, gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template (
      element_class, gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);
  gst_element_class_set_static_metadata (element_class, "gidway allocator", "Filter/Video",
      "Offers gidway's memory to upstream, for use in front of a tee", "The gidway authors");

  transform_class->start = gst_gid_alloc_start;
  transform_class->stop = gst_gid_alloc_stop;
  transform_class->propose_allocation = gst_gid_alloc_propose_allocation;
  transform_class->transform_ip = gst_gid_alloc_transform_ip;
  transform_class->passthrough_on_same_caps = TRUE;
}

static void
gst_gid_alloc_init (GstGidAlloc *self)
{
  self->slots = DEFAULT_SLOTS;
  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM_CAST (self), TRUE);
}
