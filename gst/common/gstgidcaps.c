// SPDX-License-Identifier: MIT
#include "gstgidcaps.h"

#include <math.h>
#include <string.h>

#include <gst/allocators/gstdmabuf.h>
#include <gst/video/video.h>

#define FIELDS_MAX 64 /* fields that are read at most */

/* Fields that define how the picture is displayed: written first when not all fields fit. */
static const gchar *const known_fields[] = { "format", "drm-format", "width", "height", "framerate",
  "interlace-mode", "field-order", "pixel-aspect-ratio", "colorimetry", "chroma-site",
  "multiview-mode", "multiview-flags", "views", "max-framerate", "mastering-display-info",
  "content-light-level" };

/* --- values of fields ------------------------------------------------------------------------- */

/* Parses a whole string as a number from `min` to `max`. */
static gboolean
read_signed (const gchar *text, gint64 min, gint64 max, gint64 *number)
{
  return g_ascii_string_to_signed (text, 10, min, max, number, NULL);
}

static gboolean
read_int (GValue *value, const gchar *text)
{
  gint64 number;

  if (!read_signed (text, G_MININT, G_MAXINT, &number))
    return FALSE;
  g_value_set_int (value, (gint) number);
  return TRUE;
}

static gboolean
read_int64 (GValue *value, const gchar *text)
{
  gint64 number;

  if (!read_signed (text, G_MININT64, G_MAXINT64, &number))
    return FALSE;
  g_value_set_int64 (value, number);
  return TRUE;
}

static gboolean
read_uint (GValue *value, const gchar *text)
{
  guint64 number;

  if (!g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT, &number, NULL))
    return FALSE;
  g_value_set_uint (value, (guint) number);
  return TRUE;
}

static gboolean
read_uint64 (GValue *value, const gchar *text)
{
  guint64 number;

  if (!g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT64, &number, NULL))
    return FALSE;
  g_value_set_uint64 (value, number);
  return TRUE;
}

static gboolean
read_double (GValue *value, const gchar *text)
{
  gchar *end;
  gdouble number = g_ascii_strtod (text, &end);

  if (end == text || *end || !isfinite (number))
    return FALSE;
  g_value_set_double (value, number);
  return TRUE;
}

static gboolean
read_boolean (GValue *value, const gchar *text)
{
  g_value_set_boolean (value, strcmp (text, "true") == 0);
  return strcmp (text, "true") == 0 || strcmp (text, "false") == 0;
}

static gboolean
read_string (GValue *value, const gchar *text)
{
  g_value_set_string (value, text);
  return g_utf8_validate (text, -1, NULL);
}

/* "30/1" */
static gboolean
read_fraction (GValue *value, const gchar *text)
{
  gchar **parts = g_strsplit (text, "/", 2);
  gint64 numerator, denominator;
  gboolean good = g_strv_length (parts) == 2
      && read_signed (parts[0], -G_MAXINT, G_MAXINT, &numerator)
      && read_signed (parts[1], 1, G_MAXINT, &denominator);

  if (good)
    gst_value_set_fraction (value, (gint) numerator, (gint) denominator);
  g_strfreev (parts);
  return good;
}

static gboolean
read_bitmask (GValue *value, const gchar *text)
{
  guint64 bits;

  if (!g_str_has_prefix (text, "0x")
      || !g_ascii_string_to_unsigned (text + 2, 16, 0, G_MAXUINT64, &bits, NULL))
    return FALSE;
  gst_value_set_bitmask (value, bits);
  return TRUE;
}

/*
 * "0:ffffffff", optionally followed by ":" and the flags' names. Any other mask would not be fixed.
 */
static gboolean
read_flagset (GValue *value, const gchar *text)
{
  gchar **parts = g_strsplit (text, ":", 3);
  guint64 flags, mask;
  gboolean good = g_strv_length (parts) >= 2
      && g_ascii_string_to_unsigned (parts[0], 16, 0, G_MAXUINT32, &flags, NULL)
      && g_ascii_string_to_unsigned (parts[1], 16, 0, G_MAXUINT32, &mask, NULL)
      && mask == GST_FLAG_SET_MASK_EXACT;

  if (good)
    gst_value_set_flagset (value, (guint) flags, (guint) mask);
  g_strfreev (parts);
  return good;
}

typedef gboolean (*ReadValue) (GValue *value, const gchar *text);

typedef struct
{
  const gchar *name;
  GType type;
  ReadValue read;
} Simple;

/* The types of fields that are sent. */
static const Simple *
simple_types (void)
{
  static Simple types[11];
  static gsize made;

  if (g_once_init_enter (&made)) {
    const Simple all[] = {
      { "int", G_TYPE_INT, read_int },
      { "string", G_TYPE_STRING, read_string },
      { "fraction", GST_TYPE_FRACTION, read_fraction },
      { "boolean", G_TYPE_BOOLEAN, read_boolean },
      { "bitmask", GST_TYPE_BITMASK, read_bitmask },
      { "uint", G_TYPE_UINT, read_uint },
      { "gint64", G_TYPE_INT64, read_int64 },
      { "guint64", G_TYPE_UINT64, read_uint64 },
      { "double", G_TYPE_DOUBLE, read_double },
      { "GstVideoMultiviewFlagsSet", GST_TYPE_VIDEO_MULTIVIEW_FLAGSET, read_flagset },
      { NULL, G_TYPE_INVALID, NULL },
    };

    memcpy (types, all, sizeof (all));
    g_once_init_leave (&made, 1);
  }
  return types;
}

static const Simple *
find_type (GType type)
{
  const Simple *simple = simple_types ();

  while (simple->name && simple->type != type)
    simple++;
  return simple->name ? simple : NULL;
}

/* --- serialising ------------------------------------------------------------------------------ */

static gboolean
is_known (const gchar *field)
{
  for (guint i = 0; i < G_N_ELEMENTS (known_fields); i++) {
    if (strcmp (known_fields[i], field) == 0)
      return TRUE;
  }
  return FALSE;
}

typedef struct
{
  const GstStructure *structure;
  GString *text, *lost;
  gsize max;
  gboolean full; /* a field did not fit */
} Writing;

/* Returns NULL if the type is not a simple one. */
static gchar *
write_field (const gchar *field, const GValue *value)
{
  GType type = G_VALUE_TYPE (value);
  const Simple *simple;
  gchar *said, *whole = NULL;

  /* this is how the field is parsed from caps that an application wrote by hand */
  if (type == GST_TYPE_FLAG_SET && strcmp (field, "multiview-flags") == 0)
    type = GST_TYPE_VIDEO_MULTIVIEW_FLAGSET;
  simple = find_type (type);
  if (simple == NULL)
    return NULL;
  /* without the flags' names */
  said = simple->type == GST_TYPE_VIDEO_MULTIVIEW_FLAGSET
      ? g_strdup_printf (
            "%x:%x", gst_value_get_flagset_flags (value), gst_value_get_flagset_mask (value))
      : gst_value_serialize (value);
  if (said)
    whole = g_strdup_printf (", %s=(%s)%s", field, simple->name, said);
  g_free (said);
  return whole;
}

static void
put_field (Writing *writing, const gchar *field)
{
  gchar *whole = write_field (field, gst_structure_get_value (writing->structure, field));
  gboolean fits = whole && writing->text->len + strlen (whole) <= writing->max;

  writing->full |= whole && !fits;
  if (fits)
    g_string_append (writing->text, whole);
  else
    g_string_append_printf (writing->lost, "%s%s", writing->lost->len ? ", " : "", field);
  g_free (whole);
}

/* Writes the known fields, or the others, or all of them in their order if both are FALSE. */
static void
put_fields (Writing *writing, gboolean known, gboolean others)
{
  gint fields = gst_structure_n_fields (writing->structure);

  for (gint i = 0; i < fields; i++) {
    const gchar *field = gst_structure_nth_field_name (writing->structure, (guint) i);

    if (known == others || is_known (field) == known)
      put_field (writing, field);
  }
}

static void
put_name (Writing *writing, const GstCapsFeatures *features)
{
  g_string_append (writing->text, gst_structure_get_name (writing->structure));
  if (features && !gst_caps_features_is_equal (features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY)) {
    gchar *names = gst_caps_features_to_string (features);

    g_string_append_printf (writing->text, "(%s)", names);
    g_free (names);
  }
}

static gchar *
to_text (const GstStructure *structure, const GstCapsFeatures *features, gsize max, gchar **lost)
{
  Writing writing = { structure, g_string_new (NULL), g_string_new (NULL), max, FALSE };
  gsize name;

  put_name (&writing, features);
  name = writing.text->len;
  put_fields (&writing, FALSE, FALSE);
  if (writing.full) {
    g_string_truncate (writing.text, name);
    g_string_truncate (writing.lost, 0);
    put_fields (&writing, TRUE, FALSE);
    put_fields (&writing, FALSE, TRUE);
  }
  if (lost)
    *lost = writing.lost->len ? g_strdup (writing.lost->str) : NULL;
  g_string_free (writing.lost, TRUE);
  return g_string_free (writing.text, writing.text->len > max);
}

gchar *
gst_gid_caps_to_text (const GstCaps *caps, gsize max, gchar **lost)
{
  return to_text (gst_caps_get_structure (caps, 0), gst_caps_get_features (caps, 0), max, lost);
}

gchar *
gst_gid_structure_to_text (const GstStructure *structure, gsize max, gchar **lost)
{
  return to_text (structure, NULL, max, lost);
}

/* --- parsing ---------------------------------------------------------------------------------- */

typedef struct
{
  const gchar *at, *end;
  gboolean is_caps; /* of caps: the known fields must have their proper type */
} Reading;

static gboolean
skip (Reading *reading, gchar expected)
{
  if (reading->at == reading->end || *reading->at != expected)
    return FALSE;
  reading->at++;
  return TRUE;
}

static void
skip_blanks (Reading *reading)
{
  while (skip (reading, ' '))
    ;
}

/* Reads as many letters, digits and characters of `more` as possible; NULL if there is none. */
static gchar *
read_word (Reading *reading, const gchar *more)
{
  const gchar *begin = reading->at;

  while (reading->at < reading->end
      && (g_ascii_isalnum (*reading->at) || (*reading->at && strchr (more, *reading->at))))
    reading->at++;
  return reading->at == begin ? NULL : g_strndup (begin, (gsize) (reading->at - begin));
}

/* After a backslash: three octal digits, or the character itself. */
static gboolean
read_escaped (Reading *reading, gchar *c)
{
  guint number = 0;
  gint digits;

  for (digits = 0; digits < 3 && reading->end - reading->at > digits && reading->at[digits] >= '0'
      && reading->at[digits] <= '7';
      digits++)
    number = number * 8 + (guint) (reading->at[digits] - '0');
  if (digits == 3 && number > 0 && number <= 0xff) {
    *c = (gchar) number;
    reading->at += 3;
    return TRUE;
  }
  if (reading->at == reading->end)
    return FALSE;
  *c = *reading->at++;
  return *c != '\0';
}

static gchar *
read_quoted (Reading *reading)
{
  GString *text = g_string_new (NULL);

  while (reading->at < reading->end && *reading->at && *reading->at != '"') {
    gchar c = *reading->at++;

    if (c == '\\' && !read_escaped (reading, &c))
      break;
    g_string_append_c (text, c);
  }
  return g_string_free (text, !skip (reading, '"'));
}

/* Reads the text of a value; NULL if it cannot be a simple one. */
static gchar *
read_text (Reading *reading)
{
  if (skip (reading, '"'))
    return read_quoted (reading);
  return read_word (reading, "_-+/:.");
}

/* The type of a known field. "string" is also the default for other fields without a type. */
static const gchar *
type_of (const gchar *field)
{
  if (strcmp (field, "width") == 0 || strcmp (field, "height") == 0 || strcmp (field, "views") == 0)
    return "int";
  if (strcmp (field, "pixel-aspect-ratio") == 0 || g_str_has_suffix (field, "framerate"))
    return "fraction";
  if (strcmp (field, "multiview-flags") == 0)
    return "GstVideoMultiviewFlagsSet";
  return "string";
}

/*
 * A pixel-aspect-ratio of 0, which avidemux can set. No element accepts such caps, and GStreamer
 * itself displays square pixels.
 */
static gboolean
is_no_shape (const Reading *reading, const gchar *field, const GValue *value)
{
  return reading->is_caps && strcmp (field, "pixel-aspect-ratio") == 0
      && gst_value_get_fraction_numerator (value) <= 0;
}

static void
set_field (const Reading *reading, GstStructure *structure, const gchar *field, const gchar *type,
    const gchar *text)
{
  const Simple *simple = simple_types ();
  GValue value = G_VALUE_INIT;

  while (simple->name && strcmp (simple->name, type) != 0)
    simple++;
  if (simple->name == NULL || !gst_gid_name_is_welcome (field)
      || (reading->is_caps && is_known (field) && strcmp (type, type_of (field)) != 0))
    return;
  g_value_init (&value, simple->type);
  if (simple->read (&value, text) && !is_no_shape (reading, field, &value))
    gst_structure_set_value (structure, field, &value);
  g_value_unset (&value);
}

/*
 * Reads "(int)"; `*type` is NULL if there is none. Returns FALSE for a parenthesis without a type.
 */
static gboolean
read_type (Reading *reading, gchar **type)
{
  *type = NULL;
  return !skip (reading, '(')
      || ((*type = read_word (reading, "_-")) != NULL && skip (reading, ')'));
}

/* Reads ", width=(int)320", or the form that people write, ", width=320". */
static gboolean
read_field (Reading *reading, GstStructure *structure)
{
  gchar *field = NULL, *type = NULL, *text = NULL;
  gboolean good;

  if (!skip (reading, ','))
    return FALSE;
  skip_blanks (reading);
  good = (field = read_word (reading, "_-+/:.")) != NULL && g_ascii_isalpha (*field)
      && skip (reading, '=') && read_type (reading, &type) && (text = read_text (reading)) != NULL;
  if (good)
    set_field (reading, structure, field, type ? type : type_of (field), text);
  g_free (field);
  g_free (type);
  g_free (text);
  return good;
}

/* Reads "(memory:DMABuf, format:Interlaced)". Accepts only the features that gidsink supports. */
static gboolean
read_features (Reading *reading, GstCapsFeatures *features)
{
  static const gchar *const allowed[] = { GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY,
    GST_CAPS_FEATURE_MEMORY_DMABUF, GST_CAPS_FEATURE_FORMAT_INTERLACED, NULL };

  if (!skip (reading, '('))
    return TRUE;
  do {
    gchar *feature;
    gboolean good;

    skip_blanks (reading);
    feature = read_word (reading, ":");
    good = feature && g_strv_contains (allowed, feature)
        && !gst_caps_features_contains (features, feature);
    if (good)
      gst_caps_features_add (features, feature);
    g_free (feature);
    if (!good)
      return FALSE;
  } while (skip (reading, ','));
  return skip (reading, ')');
}

/* Other media types would reach code of GStreamer that logs or warns about their content. */
static gboolean
is_of_ours (const gchar *name)
{
  return strcmp (name, "video/x-raw") == 0 || g_str_has_prefix (name, "timestamp/");
}

#define NAMES_KEPT 4096
#define NAME_BYTES 63

gboolean
gst_gid_name_is_welcome (const gchar *name)
{
  static GMutex lock;
  static GHashTable *names;
  gboolean welcome;

  if (*name == '\0' || strlen (name) > NAME_BYTES || !g_utf8_validate (name, -1, NULL))
    return FALSE;
  g_mutex_lock (&lock);
  if (names == NULL)
    names = g_hash_table_new (g_str_hash, g_str_equal);
  welcome = g_hash_table_contains (names, name);
  if (!welcome && g_hash_table_size (names) < NAMES_KEPT) {
    g_hash_table_add (names, g_strdup (name));
    welcome = TRUE;
  }
  g_mutex_unlock (&lock);
  return welcome;
}

/* Reads the remaining fields. Returns NULL if the text is malformed. */
static GstStructure *
read_structure (Reading *reading, const gchar *name)
{
  GstStructure *structure = gst_structure_new_empty (name);
  gboolean good = TRUE;

  for (guint i = 0; good && reading->at < reading->end; i++)
    good = i < FIELDS_MAX && read_field (reading, structure);
  if (!good)
    g_clear_pointer (&structure, gst_structure_free);
  return structure;
}

GstStructure *
gst_gid_structure_from_text (const gchar *text, gsize size)
{
  Reading reading = { text, text + size, FALSE };
  gchar *name = read_word (&reading, "/-.:+_");
  GstStructure *structure = NULL;

  if (name && g_ascii_isalpha (*name) && gst_gid_name_is_welcome (name))
    structure = read_structure (&reading, name);
  g_free (name);
  return structure;
}

GstCaps *
gst_gid_caps_from_text (const gchar *text, gsize size)
{
  Reading reading = { text, text + size, TRUE };
  gchar *name = read_word (&reading, "/-.:+_");
  GstCapsFeatures *features = gst_caps_features_new_empty ();
  GstStructure *structure = NULL;
  GstCaps *caps = NULL;

  if (name && is_of_ours (name) && gst_gid_name_is_welcome (name)
      && read_features (&reading, features))
    structure = read_structure (&reading, name);
  if (structure && gst_caps_features_get_size (features) == 0)
    gst_caps_features_add (features, GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY);
  if (structure) {
    caps = gst_caps_new_empty ();
    gst_caps_append_structure_full (
        caps, g_steal_pointer (&structure), g_steal_pointer (&features));
  }
  g_clear_pointer (&features, gst_caps_features_free);
  g_free (name);
  return caps;
}
