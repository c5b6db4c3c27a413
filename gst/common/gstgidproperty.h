// SPDX-License-Identifier: MIT
/**
 * Tables of GObject properties: each row has the documentation and the place of a value. Values are
 * read and written with the object lock held.
 */
#ifndef GST_GID_PROPERTY_H
#define GST_GID_PROPERTY_H

#include <gst/gst.h>

G_BEGIN_DECLS

/** Getter and setter of a row, called without the lock. */
typedef void (*GstGidGetFunc) (gpointer object, GValue *value);
typedef void (*GstGidSetFunc) (gpointer object, const GValue *value);

typedef struct
{
  const gchar *name, *nick, *blurb;
  GType type; /* fundamental type; G_TYPE_BOXED: a GstStructure */
  gsize offset; /* of the field in the instance */
  gdouble least, most, normal; /* minimum, maximum and default of numbers */
  GType (*get_enum) (void); /* for G_TYPE_ENUM */
  GParamFlags flags; /* without G_PARAM_STATIC_STRINGS, which is always set */
  GstGidGetFunc get; /* used instead of `offset` */
  GstGidSetFunc set; /* likewise; if there is an offset, called after the value is stored */
} GstGidProperty;

#define GST_GID_READY (G_PARAM_READWRITE | GST_PARAM_MUTABLE_READY)
#define GST_GID_PLAYING (G_PARAM_READWRITE | GST_PARAM_MUTABLE_PLAYING)

#define GST_GID_STRING(Type, field) .type = G_TYPE_STRING, .offset = G_STRUCT_OFFSET (Type, field)
#define GST_GID_BOOLEAN(Type, field, value) \
  .type = G_TYPE_BOOLEAN, .offset = G_STRUCT_OFFSET (Type, field), .normal = (value)
#define GST_GID_UINT(Type, field, min, max, value) \
  .type = G_TYPE_UINT, .offset = G_STRUCT_OFFSET (Type, field), .least = (min), .most = (max), \
  .normal = (value)
#define GST_GID_INT(Type, field, value) \
  .type = G_TYPE_INT, .offset = G_STRUCT_OFFSET (Type, field), .least = G_MININT, \
  .most = G_MAXINT, .normal = (value)
#define GST_GID_DOUBLE(Type, field, min, max, value) \
  .type = G_TYPE_DOUBLE, .offset = G_STRUCT_OFFSET (Type, field), .least = (min), .most = (max), \
  .normal = (value)
#define GST_GID_ENUM(Type, field, get_type, value) \
  .type = G_TYPE_ENUM, .offset = G_STRUCT_OFFSET (Type, field), .get_enum = (get_type), \
  .normal = (value)

/**
 * Installs the rows as properties 1 to `count`. The table must live as long as the class. Sets the
 * class's set_property and get_property.
 */
void gst_gid_properties_install (
    GObjectClass *klass, const GstGidProperty *properties, guint count);

/**
 * gst_gid_properties_init() sets all fields of a new instance to their defaults;
 * gst_gid_properties_finish() frees the strings.
 */
void gst_gid_properties_init (gpointer object, const GstGidProperty *properties, guint count);
void gst_gid_properties_finish (gpointer object, const GstGidProperty *properties, guint count);

G_END_DECLS

#endif
