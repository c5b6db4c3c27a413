// SPDX-License-Identifier: MIT
/**
 * Properties as rows of a table: what gst-inspect-1.0 says of each, and where its value lies. All of
 * them are read and written with the object's lock held.
 */
#ifndef GST_GID_PROPERTY_H
#define GST_GID_PROPERTY_H

#include <gst/gst.h>

G_BEGIN_DECLS

/** What a row with a function of its own gives or takes, without the lock. */
typedef void (*GstGidGetFunc) (gpointer object, GValue *value);
typedef void (*GstGidSetFunc) (gpointer object, const GValue *value);

typedef struct
{
  const gchar *name, *nick, *blurb;
  GType type; /* a fundamental one; G_TYPE_BOXED is a GstStructure */
  gsize offset; /* of the value in the object */
  gdouble least, most, normal; /* of numbers */
  GType (*get_enum) (void); /* of those of G_TYPE_ENUM */
  GParamFlags flags; /* and G_PARAM_STATIC_STRINGS */
  GstGidGetFunc get; /* instead of `offset` */
  GstGidSetFunc set; /* likewise; with an offset, what is to be done after the value is set */
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
 * Installs the rows as properties 1 to `count`; they must live as long as the class. Sets the
 * class's set_property and get_property.
 */
void gst_gid_properties_install (
    GObjectClass *klass, const GstGidProperty *properties, guint count);

/** Sets all values to what is normal, of a new object; frees them, of one that is finalized. */
void gst_gid_properties_init (gpointer object, const GstGidProperty *properties, guint count);
void gst_gid_properties_finish (gpointer object, const GstGidProperty *properties, guint count);

G_END_DECLS

#endif
