// SPDX-License-Identifier: MIT
#include "gstgidsidecar.h"

#include <string.h>

#include "common/gstgidmetadata.h"
#include "common/gstgidposter.h"

void
gst_gid_sidecar_init (GstGidSidecar *self, GstElement *element, GstGidPublication *publication)
{
  self->element = element;
  self->publication = publication;
  self->metadata = g_byte_array_new ();
  self->reported = g_hash_table_new (NULL, NULL);
}

void
gst_gid_sidecar_finish (GstGidSidecar *self)
{
  g_byte_array_unref (self->metadata);
  g_hash_table_unref (self->reported);
}

void
gst_gid_sidecar_start (GstGidSidecar *self)
{
  g_hash_table_remove_all (self->reported);
}

/* Only an information message: elements behind gidsrc may not need the meta. */
static void
report_lost (GstGidSidecar *self, const GstMetaInfo *info)
{
  if (g_hash_table_add (self->reported, GSIZE_TO_POINTER (info->type)))
    gst_gid_post_info (self->element, GST_STREAM_ERROR, GST_STREAM_ERROR_NOT_IMPLEMENTED,
        "Readers do not get the %s of frames: metadata of that kind does not travel, or is longer "
        "than max-metadata-bytes.",
        g_type_name (info->type));
}

static void
add_metadata (const GstMeta *meta, gpointer data)
{
  GstGidSidecar *self = data;
  guint max = gst_gid_publication_get_metadata_max (self->publication);

  if (!gst_gid_metadata_add (self->metadata, meta, max))
    report_lost (self, meta->info);
}

void
gst_gid_sidecar_read (GstGidSidecar *self, GstBuffer *buffer, struct gid_frame *frame)
{
  g_byte_array_set_size (self->metadata, 0);
  gst_gid_note_set_buffer (&self->note, buffer, add_metadata, self);
  gst_gid_metadata_finish (self->metadata);
  gst_gid_sidecar_describe (self, frame);
}

void
gst_gid_sidecar_describe (const GstGidSidecar *self, struct gid_frame *frame)
{
  frame->note = self->note.bytes;
  frame->note_size = self->note.size;
}

const GByteArray *
gst_gid_sidecar_get_metadata (const GstGidSidecar *self)
{
  return self->metadata;
}

void
gst_gid_sidecar_report_missing (GstGidSidecar *self, int error)
{
  const gchar *why = g_intern_string (gid_strerror (error));

  if (g_hash_table_add (self->reported, (gpointer) why))
    gst_gid_post_info (self->element, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "Readers do not get the metadata of some frames: %s", why);
}

void
gst_gid_sidecar_report_tags (GstGidSidecar *self, const GstTagList *tags)
{
  gchar *orientation = NULL;

  if (gst_tag_list_get_string (tags, GST_TAG_IMAGE_ORIENTATION, &orientation)
      && strcmp (orientation, "rotate-0") != 0
      && g_hash_table_add (self->reported, (gpointer) g_intern_string (orientation)))
    GST_ELEMENT_WARNING (self->element, STREAM, NOT_IMPLEMENTED,
        ("The film is to be shown turned (%s), which readers are not told. Put \"videoflip "
         "video-direction=auto\" in front of gidsink.",
            orientation),
        (NULL));
  g_free (orientation);
}
