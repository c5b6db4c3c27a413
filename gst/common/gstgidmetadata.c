// SPDX-License-Identifier: MIT
#include "gstgidmetadata.h"

#include <math.h>
#include <string.h>

#include <gst/base/gstbytereader.h>
#include <gst/video/video-sei.h>
#include <gst/video/video.h>

#include "gstgidcaps.h"
#include "gstgidnote.h"

#define SIGNATURE "GstMeta1"
#define SIGNATURE_SIZE 8
#define HEADER_SIZE 8 /* kind and size of a record */

/*
 * Maximum number of records applied to a buffer: a peer chooses how many it sends, and elements
 * downstream iterate over them.
 */
#define RECORDS_MAX 256

/* --- serialising ------------------------------------------------------------------------------ */

static void
put8 (GByteArray *bytes, guint8 number)
{
  g_byte_array_append (bytes, &number, 1);
}

static void
put32 (GByteArray *bytes, guint32 number)
{
  number = GUINT32_TO_LE (number);
  g_byte_array_append (bytes, (const guint8 *) &number, sizeof (number));
}

static void
put64 (GByteArray *bytes, guint64 number)
{
  number = GUINT64_TO_LE (number);
  g_byte_array_append (bytes, (const guint8 *) &number, sizeof (number));
}

/* Writes the length, then the bytes. */
static void
put_text (GByteArray *bytes, const gchar *text)
{
  gsize length = strlen (text);

  put32 (bytes, (guint32) length);
  g_byte_array_append (bytes, (const guint8 *) text, (guint) length);
}

static gboolean
put_structure (GByteArray *bytes, const GstStructure *structure)
{
  gchar *lost = NULL, *text = gst_gid_structure_to_text (structure, GID_METADATA_MAX, &lost);
  gboolean whole = text && lost == NULL;

  if (whole)
    put_text (bytes, text);
  g_free (text);
  g_free (lost);
  return whole;
}

/* --- parsing ---------------------------------------------------------------------------------- */

/*
 * Words may be unaligned. GstByteReader's own functions load them in place, which not every
 * processor supports.
 */
static gboolean
read_bytes (GstByteReader *reader, gpointer to, guint size)
{
  const guint8 *bytes;

  if (!gst_byte_reader_get_data (reader, size, &bytes))
    return FALSE;
  memcpy (to, bytes, size);
  return TRUE;
}

static gboolean
read_uint32 (GstByteReader *reader, guint32 *value)
{
  if (!read_bytes (reader, value, sizeof (*value)))
    return FALSE;
  *value = GUINT32_FROM_LE (*value);
  return TRUE;
}

static gboolean
read_uint64 (GstByteReader *reader, guint64 *value)
{
  if (!read_bytes (reader, value, sizeof (*value)))
    return FALSE;
  *value = GUINT64_FROM_LE (*value);
  return TRUE;
}

static gboolean
read_float (GstByteReader *reader, gfloat *value)
{
  guint32 word;

  if (!read_uint32 (reader, &word))
    return FALSE;
  memcpy (value, &word, sizeof (word));
  return TRUE;
}

/* Reads what put_text() wrote, not terminated. Returns NULL if it is truncated. */
static const gchar *
get_text (GstByteReader *reader, guint32 *length)
{
  const guint8 *text = NULL;

  if (!read_uint32 (reader, length) || !gst_byte_reader_get_data (reader, *length, &text))
    return NULL;
  return (const gchar *) text;
}

static GstStructure *
get_structure (GstByteReader *reader)
{
  guint32 length;
  const gchar *text = get_text (reader, &length);

  return text ? gst_gid_structure_from_text (text, length) : NULL;
}

static const guint8 *
get_rest (GstByteReader *reader, guint *size)
{
  *size = gst_byte_reader_get_remaining (reader);
  return gst_byte_reader_get_data_unchecked (reader, *size);
}

/* --- reference timestamps --------------------------------------------------------------------- */

static gboolean
put_reference (GByteArray *bytes, const GstMeta *meta)
{
  const GstReferenceTimestampMeta *reference = (const GstReferenceTimestampMeta *) meta;

  put64 (bytes, reference->timestamp);
  put64 (bytes, reference->duration);
  return gst_caps_is_fixed (reference->reference)
      && put_structure (bytes, gst_caps_get_structure (reference->reference, 0));
}

static void
get_reference (GstByteReader *reader, GstBuffer *buffer)
{
  guint64 time, duration;
  guint32 length = 0;
  const gchar *text;
  GstCaps *caps;

  if (!read_uint64 (reader, &time) || !read_uint64 (reader, &duration)
      || (text = get_text (reader, &length)) == NULL
      || (caps = gst_gid_caps_from_text (text, length)) == NULL)
    return;
  if (time != GST_CLOCK_TIME_NONE && !gst_gid_is_own_reference (caps))
    gst_buffer_add_reference_timestamp_meta (buffer, caps, time, duration);
  gst_caps_unref (caps);
}

/* --- regions of interest ---------------------------------------------------------------------- */

static gboolean
put_region (GByteArray *bytes, const GstMeta *meta)
{
  const GstVideoRegionOfInterestMeta *region = (const GstVideoRegionOfInterestMeta *) meta;
  const gchar *type = g_quark_to_string (region->roi_type);
  gboolean good = TRUE;

  put32 (bytes, (guint32) region->id);
  put32 (bytes, (guint32) region->parent_id);
  put32 (bytes, region->x);
  put32 (bytes, region->y);
  put32 (bytes, region->w);
  put32 (bytes, region->h);
  put_text (bytes, type ? type : "");
  for (GList *l = region->params; l && good; l = l->next)
    good = put_structure (bytes, l->data);
  return good;
}

static void
get_region (GstByteReader *reader, GstBuffer *buffer)
{
  GstVideoRegionOfInterestMeta *region;
  guint32 id, parent, x, y, w, h, length = 0;
  const gchar *text = NULL;
  gchar *type;

  if (!read_uint32 (reader, &id) || !read_uint32 (reader, &parent) || !read_uint32 (reader, &x)
      || !read_uint32 (reader, &y) || !read_uint32 (reader, &w) || !read_uint32 (reader, &h)
      || (text = get_text (reader, &length)) == NULL)
    return;
  type = g_strndup (text, length);
  if (gst_gid_name_is_welcome (type)) {
    region = gst_buffer_add_video_region_of_interest_meta_id (
        buffer, g_quark_from_string (type), x, y, w, h);
    region->id = (gint) id;
    region->parent_id = (gint) parent;
    while (gst_byte_reader_get_remaining (reader) > 0) {
      GstStructure *param = get_structure (reader);

      if (param == NULL)
        break;
      gst_video_region_of_interest_meta_add_param (region, param);
    }
  }
  g_free (type);
}

/* --- timecodes -------------------------------------------------------------------------------- */

#define RATE_MAX 1000000 /* numerator and denominator of a frame rate */

static gboolean
put_timecode (GByteArray *bytes, const GstMeta *meta)
{
  const GstVideoTimeCode *code = &((const GstVideoTimeCodeMeta *) meta)->tc;
  GDateTime *jam = code->config.latest_daily_jam;

  put32 (bytes, code->config.fps_n);
  put32 (bytes, code->config.fps_d);
  put32 (bytes, code->config.flags);
  put32 (bytes, code->hours);
  put32 (bytes, code->minutes);
  put32 (bytes, code->seconds);
  put32 (bytes, code->frames);
  put32 (bytes, code->field_count);
  if (jam) {
    put64 (bytes, (guint64) g_date_time_to_unix (jam));
    put32 (bytes, (guint32) g_date_time_get_microsecond (jam));
  }
  return TRUE;
}

/* Returns NULL if there is none. */
static GDateTime *
get_jam (GstByteReader *reader)
{
  GDateTime *jam, *exact;
  gint64 seconds;
  guint32 micros;

  if (!read_uint64 (reader, (guint64 *) &seconds) || !read_uint32 (reader, &micros)
      || micros >= G_USEC_PER_SEC)
    return NULL;
  jam = g_date_time_new_from_unix_utc (seconds);
  if (jam == NULL)
    return NULL;
  exact = g_date_time_add (jam, micros);
  g_date_time_unref (jam);
  return exact;
}

static void
get_timecode (GstByteReader *reader, GstBuffer *buffer)
{
  guint32 n[8];
  GDateTime *jam;

  for (guint i = 0; i < G_N_ELEMENTS (n); i++) {
    if (!read_uint32 (reader, &n[i]))
      return;
  }
  if (n[0] > RATE_MAX || n[1] > RATE_MAX)
    return;
  jam = get_jam (reader);
  gst_buffer_add_video_time_code_meta_full (
      buffer, n[0], n[1], jam, n[2], n[3], n[4], n[5], n[6], n[7]);
  g_clear_pointer (&jam, g_date_time_unref);
}

/* --- captions and other ancillary data -------------------------------------------------------- */

static gboolean
put_caption (GByteArray *bytes, const GstMeta *meta)
{
  const GstVideoCaptionMeta *caption = (const GstVideoCaptionMeta *) meta;

  put32 (bytes, caption->caption_type);
  g_byte_array_append (bytes, caption->data, (guint) caption->size);
  return TRUE;
}

static void
get_caption (GstByteReader *reader, GstBuffer *buffer)
{
  guint32 type;
  guint size;
  const guint8 *data;

  if (!read_uint32 (reader, &type) || type > GST_VIDEO_CAPTION_TYPE_CEA708_CDP)
    return;
  data = get_rest (reader, &size);
  if (size > 0)
    gst_buffer_add_video_caption_meta (buffer, type, data, size);
}

#define AFD_MAX 15

static gboolean
put_afd (GByteArray *bytes, const GstMeta *meta)
{
  const GstVideoAFDMeta *afd = (const GstVideoAFDMeta *) meta;

  put8 (bytes, afd->field);
  put8 (bytes, (guint8) afd->spec);
  put8 (bytes, (guint8) afd->afd);
  return TRUE;
}

/* The values that the standards do not reserve: GStreamer rejects others. */
static gboolean
is_afd (guint8 spec, guint8 afd)
{
  gboolean is_reserved = afd == 1 || (afd >= 5 && afd <= 7) || afd == 12 || afd > AFD_MAX;

  return spec <= GST_VIDEO_AFD_SPEC_SMPTE_ST2016_1 && !is_reserved
      && (afd != GST_VIDEO_AFD_UNAVAILABLE || spec != GST_VIDEO_AFD_SPEC_DVB_ETSI);
}

static void
get_afd (GstByteReader *reader, GstBuffer *buffer)
{
  guint8 field, spec, afd;

  if (gst_byte_reader_get_uint8 (reader, &field) && gst_byte_reader_get_uint8 (reader, &spec)
      && gst_byte_reader_get_uint8 (reader, &afd) && field <= 1 && is_afd (spec, afd))
    gst_buffer_add_video_afd_meta (buffer, field, spec, afd);
}

static gboolean
put_bar (GByteArray *bytes, const GstMeta *meta)
{
  const GstVideoBarMeta *bar = (const GstVideoBarMeta *) meta;

  put8 (bytes, bar->field);
  put8 (bytes, bar->is_letterbox != FALSE);
  put32 (bytes, bar->bar_data1);
  put32 (bytes, bar->bar_data2);
  return TRUE;
}

static void
get_bar (GstByteReader *reader, GstBuffer *buffer)
{
  guint8 field, is_letterbox;
  guint32 first, second;

  if (gst_byte_reader_get_uint8 (reader, &field)
      && gst_byte_reader_get_uint8 (reader, &is_letterbox) && read_uint32 (reader, &first)
      && read_uint32 (reader, &second) && field <= 1)
    gst_buffer_add_video_bar_meta (buffer, field, is_letterbox != 0, first, second);
}

#define UUID_SIZE 16

static gboolean
put_user_data (GByteArray *bytes, const GstMeta *meta)
{
  const GstVideoSEIUserDataUnregisteredMeta *user =
      (const GstVideoSEIUserDataUnregisteredMeta *) meta;

  g_byte_array_append (bytes, user->uuid, UUID_SIZE);
  g_byte_array_append (bytes, user->data, (guint) user->size);
  return TRUE;
}

static void
get_user_data (GstByteReader *reader, GstBuffer *buffer)
{
  guint8 *uuid, *data;
  guint size;

  if (!gst_byte_reader_dup_data (reader, UUID_SIZE, &uuid))
    return;
  size = gst_byte_reader_get_remaining (reader);
  if (size > 0 && gst_byte_reader_dup_data (reader, size, &data)) {
    gst_buffer_add_video_sei_user_data_unregistered_meta (buffer, uuid, data, size);
    g_free (data);
  }
  g_free (uuid);
}

/* --- orientation ------------------------------------------------------------------------------ */

#define CELLS 16

static gboolean
put_transformation (GByteArray *bytes, const GstMeta *meta)
{
  const GstVideoAffineTransformationMeta *affine = (const GstVideoAffineTransformationMeta *) meta;

  for (guint i = 0; i < CELLS; i++) {
    guint32 cell;

    memcpy (&cell, &affine->matrix[i], sizeof (cell));
    put32 (bytes, cell);
  }
  return TRUE;
}

static void
get_transformation (GstByteReader *reader, GstBuffer *buffer)
{
  gfloat matrix[CELLS];

  for (guint i = 0; i < CELLS; i++) {
    if (!read_float (reader, &matrix[i]) || !isfinite (matrix[i]))
      return;
  }
  memcpy (
      gst_buffer_add_video_affine_transformation_meta (buffer)->matrix, matrix, sizeof (matrix));
}

/* --- custom metas ----------------------------------------------------------------------------- */

static void
add_plain (GstBuffer *buffer, const guint8 *data, gsize size)
{
  GstCustomMeta *meta = gst_buffer_add_custom_meta (buffer, GST_GID_METADATA_BYTES);
  GBytes *bytes = g_bytes_new (data, size);

  gst_structure_set (gst_custom_meta_get_structure (meta), "data", G_TYPE_BYTES, bytes, NULL);
  g_bytes_unref (bytes);
}

static gboolean
put_plain (GByteArray *bytes, const GstMeta *meta)
{
  GBytes *plain = NULL;
  gconstpointer data;
  gsize size = 0;

  gst_structure_get (
      gst_custom_meta_get_structure ((GstCustomMeta *) meta), "data", G_TYPE_BYTES, &plain, NULL);
  if (plain == NULL)
    return FALSE;
  data = g_bytes_get_data (plain, &size);
  if (size <= GID_METADATA_MAX)
    g_byte_array_append (bytes, data, (guint) size);
  g_bytes_unref (plain);
  return size <= GID_METADATA_MAX;
}

static void
get_plain (GstByteReader *reader, GstBuffer *buffer)
{
  guint size;
  const guint8 *data = get_rest (reader, &size);

  add_plain (buffer, data, size);
}

static gboolean
put_custom (GByteArray *bytes, const GstMeta *meta)
{
  return put_structure (bytes, gst_custom_meta_get_structure ((GstCustomMeta *) meta));
}

static void
copy_fields (GstStructure *to, const GstStructure *from)
{
  gint count = gst_structure_n_fields (from);

  for (gint i = 0; i < count; i++) {
    const gchar *field = gst_structure_nth_field_name (from, (guint) i);

    gst_structure_set_value (to, field, gst_structure_get_value (from, field));
  }
}

/* Only for custom metas that this process has registered: no element could look for others. */
static void
get_custom (GstByteReader *reader, GstBuffer *buffer)
{
  GstStructure *structure = get_structure (reader);
  const GstMetaInfo *info =
      structure ? gst_meta_get_info (gst_structure_get_name (structure)) : NULL;

  if (info && gst_meta_info_is_custom (info)
      && !gst_structure_has_name (structure, GST_GID_METADATA_BYTES)) {
    GstCustomMeta *meta = gst_buffer_add_custom_meta (buffer, gst_structure_get_name (structure));

    copy_fields (gst_custom_meta_get_structure (meta), structure);
  }
  g_clear_pointer (&structure, gst_structure_free);
}

/* --- records ---------------------------------------------------------------------------------- */

typedef struct
{
  const GstMetaInfo *(*get_info) (void); /* NULL: custom metas */
  gboolean (*put) (GByteArray *bytes, const GstMeta *meta);
  void (*get) (GstByteReader *reader, GstBuffer *buffer);
} Kind;

/* Index plus 1 is the number of the kind in docs/wire-ring.md. */
static const Kind kinds[] = {
  { gst_reference_timestamp_meta_get_info, put_reference, get_reference },
  { gst_video_region_of_interest_meta_get_info, put_region, get_region },
  { gst_video_time_code_meta_get_info, put_timecode, get_timecode },
  { gst_video_caption_meta_get_info, put_caption, get_caption },
  { gst_video_afd_meta_get_info, put_afd, get_afd },
  { gst_video_bar_meta_get_info, put_bar, get_bar },
  { gst_video_sei_user_data_unregistered_meta_get_info, put_user_data, get_user_data },
  { gst_video_affine_transformation_meta_get_info, put_transformation, get_transformation },
  { NULL, put_plain, get_plain },
  { NULL, put_custom, get_custom },
};

#define KIND_PLAIN 9

static gboolean
is_of_kind (const Kind *kind, const GstMeta *meta)
{
  gboolean is_plain = kind == &kinds[KIND_PLAIN - 1];

  if (kind->get_info)
    return kind->get_info () == meta->info;
  return gst_meta_info_is_custom (meta->info)
      && is_plain == gst_custom_meta_has_name ((GstCustomMeta *) meta, GST_GID_METADATA_BYTES);
}

void
gst_gid_metadata_register (void)
{
  gst_meta_register_custom_simple (GST_GID_METADATA_BYTES);
}

/* Appends a record. */
static gboolean
add_record (GByteArray *bytes, guint kind, const GstMeta *meta, guint max)
{
  guint begin = bytes->len;

  if (begin == 0)
    g_byte_array_append (bytes, (const guint8 *) SIGNATURE, SIGNATURE_SIZE);
  put32 (bytes, kind + 1);
  put32 (bytes, 0);
  if (kinds[kind].put (bytes, meta) && bytes->len <= max) {
    guint header = begin == 0 ? SIGNATURE_SIZE : begin;
    guint32 size = GUINT32_TO_LE (bytes->len - header);

    memcpy (bytes->data + header + 4, &size, sizeof (size));
    return TRUE;
  }
  g_byte_array_set_size (bytes, begin);
  return FALSE;
}

gboolean
gst_gid_metadata_add (GByteArray *bytes, const GstMeta *meta, guint max)
{
  for (guint kind = 0; kind < G_N_ELEMENTS (kinds); kind++) {
    if (is_of_kind (&kinds[kind], meta))
      return add_record (bytes, kind, meta, max);
  }
  return FALSE;
}

static gboolean
are_records (const guint8 *bytes, gsize size)
{
  return size >= SIGNATURE_SIZE && memcmp (bytes, SIGNATURE, SIGNATURE_SIZE) == 0;
}

void
gst_gid_metadata_finish (GByteArray *bytes)
{
  const guint before = SIGNATURE_SIZE + HEADER_SIZE;

  /*
   * If a GidMetadata is the only record, send just its bytes, as programs in C and Python do;
   * unless they could be mistaken for records.
   */
  if (bytes->len >= before && GST_READ_UINT32_LE (bytes->data + SIGNATURE_SIZE) == KIND_PLAIN
      && GST_READ_UINT32_LE (bytes->data + SIGNATURE_SIZE + 4) == bytes->len - SIGNATURE_SIZE
      && !are_records (bytes->data + before, bytes->len - before))
    g_byte_array_remove_range (bytes, 0, before);
}

static void
apply_records (GstByteReader *records, GstBuffer *buffer)
{
  for (guint i = 0; i < RECORDS_MAX; i++) {
    GstByteReader record;
    guint32 kind, size;

    if (!read_uint32 (records, &kind) || !read_uint32 (records, &size) || size < HEADER_SIZE
        || !gst_byte_reader_get_sub_reader (records, &record, size - HEADER_SIZE))
      return;
    if (kind >= 1 && kind <= G_N_ELEMENTS (kinds))
      kinds[kind - 1].get (&record, buffer);
  }
}

void
gst_gid_metadata_apply (const guint8 *bytes, gsize size, GstBuffer *buffer)
{
  GstByteReader reader;

  if (!are_records (bytes, size)) {
    add_plain (buffer, bytes, size);
    return;
  }
  gst_byte_reader_init (&reader, bytes + SIGNATURE_SIZE, (guint) size - SIGNATURE_SIZE);
  apply_records (&reader, buffer);
}
