// SPDX-License-Identifier: MIT
#include "gstgidinflight.h"

typedef struct
{
  guint64 slot; /* the gid without its generation */
  GstBuffer *buffer;
  GstMiniObject *other;
} Entry;

static guint64
slot_of (gid_id gid)
{
  return gid >> 16;
}

void
gst_gid_in_flight_init (GstGidInFlight *self)
{
  self->entries = g_array_sized_new (FALSE, FALSE, sizeof (Entry), 32);
}

void
gst_gid_in_flight_finish (GstGidInFlight *self)
{
  g_array_unref (self->entries);
}

static void
remove_nth (GstGidInFlight *self, guint i, GPtrArray *dropped)
{
  Entry *entry = &g_array_index (self->entries, Entry, i);

  g_ptr_array_add (dropped, entry->buffer);
  if (entry->other)
    g_ptr_array_add (dropped, entry->other);
  g_array_remove_index_fast (self->entries, i);
}

void
gst_gid_in_flight_remove (GstGidInFlight *self, gid_id gid, GPtrArray *dropped)
{
  for (guint i = 0; i < self->entries->len; i++) {
    if (g_array_index (self->entries, Entry, i).slot == slot_of (gid)) {
      remove_nth (self, i, dropped); /* there is only one per slot */
      return;
    }
  }
}

void
gst_gid_in_flight_add (
    GstGidInFlight *self, gid_id gid, GstBuffer *buffer, GstMiniObject *other, GPtrArray *dropped)
{
  Entry entry = { slot_of (gid), gst_buffer_ref (buffer), NULL };

  if (other)
    entry.other = gst_mini_object_ref (other);
  /*
   * a still picture is sent repeatedly in the same slot, which consumers never release completely
   */
  gst_gid_in_flight_remove (self, gid, dropped);
  g_array_append_val (self->entries, entry);
}

void
gst_gid_in_flight_remove_all (GstGidInFlight *self, GPtrArray *dropped)
{
  while (self->entries->len > 0)
    remove_nth (self, self->entries->len - 1, dropped);
}
