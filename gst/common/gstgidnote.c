// SPDX-License-Identifier: MIT
#include "gstgidnote.h"

#include <string.h>

#include <gst/video/video.h>

#include "gstgidcaps.h"

#define KIND_REFERENCE 1
#define HEADER 4 /* kind and size */
#define REFERENCE (HEADER + 16) /* and timestamp and duration; the name follows */

#define REFERENCES_MAX 64

/* Little-endian, unaligned. */
static void
put16 (guint8 *at, guint16 number)
{
  number = GUINT16_TO_LE (number);
  memcpy (at, &number, sizeof (number));
}

static void
put64 (guint8 *at, guint64 number)
{
  number = GUINT64_TO_LE (number);
  memcpy (at, &number, sizeof (number));
}

static guint16
get16 (const guint8 *at)
{
  guint16 number;

  memcpy (&number, at, sizeof (number));
  return GUINT16_FROM_LE (number);
}

static guint64
get64 (const guint8 *at)
{
  guint64 number;

  memcpy (&number, at, sizeof (number));
  return GUINT64_FROM_LE (number);
}

/* --- serialising ------------------------------------------------------------------------------ */

static gboolean
add_reference (GstGidNote *note, const GstReferenceTimestampMeta *meta)
{
  guint room = GID_NOTE_MAX - note->size;
  gchar *name = NULL, *lost = NULL;
  gboolean added = FALSE;

  if (room > REFERENCE && gst_caps_is_fixed (meta->reference)
      && g_str_has_prefix (
          gst_structure_get_name (gst_caps_get_structure (meta->reference, 0)), "timestamp/"))
    name = gst_gid_caps_to_text (meta->reference, room - REFERENCE, &lost);
  if (name && lost == NULL) {
    gsize length = strlen (name);
    guint8 *at = note->bytes + note->size;

    put16 (at, KIND_REFERENCE);
    put16 (at + 2, (guint16) (REFERENCE + length));
    put64 (at + 4, meta->timestamp);
    put64 (at + 12, meta->duration);
    memcpy (at + REFERENCE, name, length);
    note->size += REFERENCE + (guint) length;
    added = TRUE;
  }
  g_free (name);
  g_free (lost);
  return added;
}

gboolean
gst_gid_is_own_reference (const GstCaps *reference)
{
  return gst_caps_get_size (reference) > 0
      && g_str_has_prefix (
          gst_structure_get_name (gst_caps_get_structure (reference, 0)), GST_GID_OWN_REFERENCES);
}

/* Metas that are not sent: a frame has fields for them, or they only describe the memory. */
static gboolean
is_of_the_way (const GstMeta *meta)
{
  if (meta->info == GST_REFERENCE_TIMESTAMP_META_INFO)
    return gst_gid_is_own_reference (((const GstReferenceTimestampMeta *) meta)->reference);
  return meta->info == GST_VIDEO_META_INFO || meta->info == GST_VIDEO_CROP_META_INFO
      || meta->info == GST_PARENT_BUFFER_META_INFO;
}

void
gst_gid_note_set_buffer (GstGidNote *note, GstBuffer *buffer, GstGidOtherMeta other, gpointer data)
{
  gpointer state = NULL;
  GstMeta *meta;

  note->size = 0;
  while ((meta = gst_buffer_iterate_meta (buffer, &state))) {
    if (is_of_the_way (meta)
        || (meta->info == GST_REFERENCE_TIMESTAMP_META_INFO
            && add_reference (note, (GstReferenceTimestampMeta *) meta)))
      continue;
    other (meta, data);
  }
}

/* --- parsing ---------------------------------------------------------------------------------- */

GstGidReferences *
gst_gid_references_new (void)
{
  return g_hash_table_new_full (
      g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, (GDestroyNotify) gst_caps_unref);
}

/* Returns borrowed caps, or NULL if the name is malformed or the table is full. */
static GstCaps *
find_reference (GstGidReferences *references, const guint8 *text, gsize size)
{
  GBytes *name = g_bytes_new (text, size);
  GstCaps *caps = g_hash_table_lookup (references, name);

  if (caps == NULL && g_hash_table_size (references) < REFERENCES_MAX
      && (caps = gst_gid_caps_from_text ((const gchar *) text, size))) {
    if (gst_gid_is_own_reference (caps))
      gst_clear_caps (&caps);
    else
      g_hash_table_insert (references, g_bytes_ref (name), caps);
  }
  g_bytes_unref (name);
  return caps;
}

void
gst_gid_note_apply (const guint8 *note, gsize size, GstGidReferences *references, GstBuffer *buffer)
{
  while (size >= HEADER) {
    guint16 kind = get16 (note), length = get16 (note + 2);
    GstCaps *reference;

    if (length < HEADER || length > size)
      return;
    if (kind == KIND_REFERENCE && length > REFERENCE && get64 (note + 4) != GST_CLOCK_TIME_NONE
        && (reference = find_reference (references, note + REFERENCE, length - REFERENCE)))
      gst_buffer_add_reference_timestamp_meta (
          buffer, reference, get64 (note + 4), get64 (note + 12));
    note += length;
    size -= length;
  }
}
