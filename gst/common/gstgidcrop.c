// SPDX-License-Identifier: MIT
#include "gstgidcrop.h"

#include <gst/video/video.h>
#include <string.h>

static gboolean is_safe (GstPad *pad);

static gboolean
is_kind (GstElement *element, const gchar *kind)
{
  const gchar *kinds =
      gst_element_class_get_metadata (GST_ELEMENT_GET_CLASS (element), GST_ELEMENT_METADATA_KLASS);

  return kinds && strstr (kinds, kind) != NULL;
}

static gboolean
is_made_by (GstElement *element, const gchar *name)
{
  GstElementFactory *factory = gst_element_get_factory (element);

  return factory && strcmp (GST_OBJECT_NAME (factory), name) == 0;
}

static void
check_link (const GValue *item, gpointer safe)
{
  *(gboolean *) safe &= is_safe (g_value_get_object (item));
}

/* Checks the pads on the other side of the element. */
static gboolean
are_links_safe (GstPad *pad)
{
  GstIterator *links = gst_pad_iterate_internal_links (pad);
  gboolean safe = TRUE;

  if (links == NULL)
    return TRUE;
  while (gst_iterator_foreach (links, check_link, &safe) == GST_ITERATOR_RESYNC) {
    gst_iterator_resync (links);
    safe = TRUE;
  }
  gst_iterator_free (links);
  return safe;
}

/*
 * Elements that neither set a crop nor look at the pixels. A converter is none of them: in
 * passthrough mode it forwards the answer of the sink, but once it converts, it converts the whole
 * picture.
 */
static gboolean
passes_on (GstElement *element)
{
  return is_kind (element, "Generic") || is_made_by (element, "gidalloc")
      || is_made_by (element, "valve") || is_made_by (element, "videorate");
}

static gboolean
makes_parts (GstElement *element)
{
  return is_kind (element, "Source") || is_kind (element, "Decoder")
      || is_made_by (element, "videocrop");
}

static gboolean
shows_parts (GstElement *element)
{
  return is_kind (element, "Sink") || is_made_by (element, "gidcompose");
}

/*
 * Elements such as textoverlay draw into buffers in place. They forward the sink's answer to the
 * ALLOCATION query, but count from the corner of the memory: what they draw would appear at the
 * wrong place, or not at all. So the element that sets the crop and the one that applies it must be
 * neighbours, with only elements between them that leave the pixels alone.
 */
static gboolean
is_safe (GstPad *pad)
{
  GstPad *peer = gst_pad_get_peer (pad);
  GstElement *element;
  gboolean safe;

  if (peer == NULL)
    return TRUE;
  element = GST_IS_PROXY_PAD (peer) ? NULL : gst_pad_get_parent_element (peer);
  if (element == NULL || passes_on (element))
    safe = are_links_safe (peer);
  else
    safe = GST_PAD_IS_SRC (pad) ? shows_parts (element) : makes_parts (element);
  gst_clear_object (&element);
  gst_object_unref (peer);
  return safe;
}

void
gst_gid_crop_offer (GstPad *pad, GstQuery *query)
{
  if (is_safe (pad))
    gst_query_add_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL);
}

gboolean
gst_gid_crop_is_taken (GstPad *pad, GstQuery *query)
{
  return gst_query_find_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL)
      && is_safe (pad);
}
