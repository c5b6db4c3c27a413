// SPDX-License-Identifier: MIT
#include "gstgidextras.h"

#include <errno.h>

#include "common/gstgidmetadata.h"
#include "common/gstgidposter.h"

void
gst_gid_extras_init (GstGidExtras *self, GstElement *element)
{
  self->element = element;
  self->references = gst_gid_references_new ();
}

void
gst_gid_extras_finish (GstGidExtras *self)
{
  g_hash_table_unref (self->references);
}

void
gst_gid_extras_start (GstGidExtras *self)
{
  g_atomic_int_set (&self->error, 0);
  self->reported = FALSE;
}

void
gst_gid_extras_stop (GstGidExtras *self)
{
  g_hash_table_remove_all (self->references);
}

GByteArray *
gst_gid_extras_read (GstGidExtras *self, struct gid_consumer *consumer,
    const struct gid_frame *frame, const struct gid_slab *slab)
{
  guint8 *bytes;
  int size;

  if (frame->metadata == GID_NONE || self->max == 0)
    return NULL;
  bytes = g_malloc (self->max);
  size = gid_consumer_get_metadata (consumer, frame, slab, bytes, self->max);
  if (size > 0) /* it may wait for long: free the bytes that are not used */
    return g_byte_array_new_take (g_realloc (bytes, (gsize) size), (gsize) size);
  /* frames that were reclaimed meanwhile are reported elsewhere */
  if (size < 0 && size != -ESTALE && size != -ENOTCONN && size != -ENOENT)
    g_atomic_int_set (&self->error, size);
  g_free (bytes);
  return NULL;
}

static void
report_error (GstGidExtras *self, const gchar *stream)
{
  int error = g_atomic_int_get (&self->error);

  if (error == 0 || self->reported)
    return;
  self->reported = TRUE;
  if (error == -EMSGSIZE)
    gst_gid_post_info (self->element, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Frames of the stream \"%s\" have more metadata than %u bytes, and come without it. "
        "max-metadata-bytes= of gidsrc says how many are read.",
        stream, self->max);
  else
    gst_gid_post_info (self->element, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "The metadata of frames of the stream \"%s\" cannot be read: %s", stream,
        gid_strerror (error));
}

void
gst_gid_extras_apply (GstGidExtras *self, const guint8 *note, gsize note_size,
    const GByteArray *metadata, const gchar *stream, GstBuffer *buffer)
{
  gst_gid_note_apply (note, note_size, self->references, buffer);
  report_error (self, stream);
  if (metadata)
    gst_gid_metadata_apply (metadata->data, metadata->len, buffer);
}
