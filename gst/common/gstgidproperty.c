// SPDX-License-Identifier: MIT
#include "gstgidproperty.h"

static GQuark
row_quark (void)
{
  static GQuark quark;

  if (quark == 0)
    quark = g_quark_from_static_string ("GstGidProperty");
  return quark;
}

static gpointer
value_of (gpointer object, const GstGidProperty *row)
{
  return G_STRUCT_MEMBER_P (object, row->offset);
}

static void
store (gpointer at, GType type, const GValue *value)
{
  switch (type) {
    case G_TYPE_STRING:
      g_free (*(gchar **) at);
      *(gchar **) at = g_value_dup_string (value);
      break;
    case G_TYPE_BOOLEAN:
      *(gboolean *) at = g_value_get_boolean (value);
      break;
    case G_TYPE_UINT:
      *(guint *) at = g_value_get_uint (value);
      break;
    case G_TYPE_INT:
      *(gint *) at = g_value_get_int (value);
      break;
    case G_TYPE_DOUBLE:
      *(gdouble *) at = g_value_get_double (value);
      break;
    case G_TYPE_ENUM:
      *(gint *) at = g_value_get_enum (value);
      break;
    default:
      g_assert_not_reached ();
  }
}

static void
load (gconstpointer at, GType type, GValue *value)
{
  switch (type) {
    case G_TYPE_STRING:
      g_value_set_string (value, *(gchar *const *) at);
      break;
    case G_TYPE_BOOLEAN:
      g_value_set_boolean (value, *(const gboolean *) at);
      break;
    case G_TYPE_UINT:
      g_value_set_uint (value, *(const guint *) at);
      break;
    case G_TYPE_INT:
      g_value_set_int (value, *(const gint *) at);
      break;
    case G_TYPE_DOUBLE:
      g_value_set_double (value, *(const gdouble *) at);
      break;
    case G_TYPE_ENUM:
      g_value_set_enum (value, *(const gint *) at);
      break;
    default:
      g_assert_not_reached ();
  }
}

static void
set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  const GstGidProperty *row = g_param_spec_get_qdata (pspec, row_quark ());

  if (row->offset > 0) {
    GST_OBJECT_LOCK (object);
    store (value_of (object, row), row->type, value);
    GST_OBJECT_UNLOCK (object);
  }
  if (row->set)
    row->set (object, value);
}

static void
get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  const GstGidProperty *row = g_param_spec_get_qdata (pspec, row_quark ());

  if (row->get) {
    row->get (object, value);
    return;
  }
  GST_OBJECT_LOCK (object);
  load (value_of (object, row), row->type, value);
  GST_OBJECT_UNLOCK (object);
}

static GParamSpec *
param_spec (const GstGidProperty *row)
{
  const GParamFlags flags = row->flags | G_PARAM_STATIC_STRINGS;

  switch (row->type) {
    case G_TYPE_STRING:
      return g_param_spec_string (row->name, row->nick, row->blurb, NULL, flags);
    case G_TYPE_BOOLEAN:
      return g_param_spec_boolean (row->name, row->nick, row->blurb, row->normal != 0, flags);
    case G_TYPE_UINT:
      return g_param_spec_uint (row->name, row->nick, row->blurb, (guint) row->least,
          (guint) row->most, (guint) row->normal, flags);
    case G_TYPE_UINT64:
      return g_param_spec_uint64 (row->name, row->nick, row->blurb, 0, G_MAXUINT64, 0, flags);
    case G_TYPE_INT:
      return g_param_spec_int (row->name, row->nick, row->blurb, (gint) row->least,
          (gint) row->most, (gint) row->normal, flags);
    case G_TYPE_DOUBLE:
      return g_param_spec_double (
          row->name, row->nick, row->blurb, row->least, row->most, row->normal, flags);
    case G_TYPE_ENUM:
      return g_param_spec_enum (
          row->name, row->nick, row->blurb, row->get_enum (), (gint) row->normal, flags);
    default:
      return g_param_spec_boxed (row->name, row->nick, row->blurb, GST_TYPE_STRUCTURE, flags);
  }
}

void
gst_gid_properties_install (GObjectClass *klass, const GstGidProperty *properties, guint count)
{
  klass->set_property = set_property;
  klass->get_property = get_property;
  for (guint i = 0; i < count; i++) {
    GParamSpec *pspec = param_spec (&properties[i]);

    g_param_spec_set_qdata (pspec, row_quark (), (gpointer) &properties[i]);
    g_object_class_install_property (klass, i + 1, pspec);
  }
}

void
gst_gid_properties_init (gpointer object, const GstGidProperty *properties, guint count)
{
  for (guint i = 0; i < count; i++) {
    const GstGidProperty *row = &properties[i];
    gpointer at = value_of (object, row);

    if (row->offset == 0)
      continue;
    switch (row->type) {
      case G_TYPE_UINT:
        *(guint *) at = (guint) row->normal;
        break;
      case G_TYPE_DOUBLE:
        *(gdouble *) at = row->normal;
        break;
      case G_TYPE_STRING: /* initially NULL */
        break;
      default:
        *(gint *) at = (gint) row->normal;
        break;
    }
  }
}

void
gst_gid_properties_finish (gpointer object, const GstGidProperty *properties, guint count)
{
  for (guint i = 0; i < count; i++) {
    if (properties[i].type == G_TYPE_STRING)
      g_clear_pointer ((gchar **) value_of (object, &properties[i]), g_free);
  }
}
