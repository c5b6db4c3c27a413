// SPDX-License-Identifier: MIT
/** A frame's note as GStreamer's elements use it: its reference timestamps. docs/wire-ring.md has the form. */
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

/** A metadata of a buffer that no note can say, or for which there is no room. */
typedef void (*GstGidOtherMeta) (const GstMeta *meta, gpointer data);

/** What is to be said of the buffer beyond what frames have fields for. */
void gst_gid_note_set_buffer (
    GstGidNote *note, GstBuffer *buffer, GstGidOtherMeta other, gpointer data);

/** Names of references and their caps. At most 64, for those who send notes choose the names. */
typedef GHashTable GstGidReferences;

GstGidReferences *gst_gid_references_new (void);

/** Adds what a note says to the buffer; what cannot be read is left out. */
void gst_gid_note_apply (
    const guint8 *note, gsize size, GstGidReferences *references, GstBuffer *buffer);

/** Caps of timestamps that gidsrc itself adds. */
#define GST_GID_OWN_REFERENCES "timestamp/x-gid-"

/** Whether a timestamp's reference is one of those. */
gboolean gst_gid_is_own_reference (const GstCaps *reference);

G_END_DECLS

#endif
