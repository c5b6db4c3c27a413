// SPDX-License-Identifier: MIT
/**
 * Reference timestamps of a buffer as the note of a frame; docs/wire-ring.md defines the format.
 */
#ifndef GST_GID_NOTE_H
#define GST_GID_NOTE_H

#include <gid/stream.h>
#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  guint8 bytes[GID_NOTE_MAX];
  guint size;
} GstGidNote;

/** Called for a meta that has no place in a note, or for which there is no room. */
typedef void (*GstGidOtherMeta) (const GstMeta *meta, gpointer data);

/**
 * Writes the reference timestamps of the buffer to the note. Calls `other` for all other metas,
 * except those that are fields of the frame.
 */
void gst_gid_note_set_buffer (
    GstGidNote *note, GstBuffer *buffer, GstGidOtherMeta other, gpointer data);

/** Serialised reference -> GstCaps. At most 64, because peers choose the names. */
typedef GHashTable GstGidReferences;

GstGidReferences *gst_gid_references_new (void);

/** Adds the reference timestamps to the buffer. Ignores what cannot be parsed. */
void gst_gid_note_apply (
    const guint8 *note, gsize size, GstGidReferences *references, GstBuffer *buffer);

/** Prefix of the references that gidsrc itself adds. */
#define GST_GID_OWN_REFERENCES "timestamp/x-gid-"

/** Whether gidsrc added this reference. */
gboolean gst_gid_is_own_reference (const GstCaps *reference);

G_END_DECLS

#endif
