// SPDX-License-Identifier: MIT
/** Formats that consumers can show: offered to upstream before all others, which it may still choose. */
#ifndef GST_GID_CHOICE_H
#define GST_GID_CHOICE_H

#include "gstgidslots.h"

G_BEGIN_DECLS

typedef struct
{
  GstBaseSink *sink;
  GstGidPublication *publication;
  GstGidSlots *slots;
  gint only_raw; /* dma-bufs were tried in vain; atomic */

  /* the streaming thread's */
  GHashTable *reported; /* names of formats that the application was told of: a set */
  guint64 next_check, next_reconfigure; /* of what consumers can show, and of upstream */
  guint asked; /* how often upstream was to choose again, up to a limit */
} GstGidChoice;

void gst_gid_choice_init (
    GstGidChoice *self, GstBaseSink *sink, GstGidPublication *publication, GstGidSlots *slots);
void gst_gid_choice_finish (GstGidChoice *self);
void gst_gid_choice_start (GstGidChoice *self);

/** All that can be sent, and before that what all consumers can show that told it. */
GstCaps *gst_gid_choice_create_caps (GstGidChoice *self);

/**
 * From time to time: has upstream choose another format where consumers cannot show this one, and it
 * has one that they can. `now`: on CLOCK_MONOTONIC.
 */
void gst_gid_choice_check (GstGidChoice *self, guint64 now);

/**
 * What is said to be a dma-buf may turn out to be none that can be exported: GL without a GPU offers
 * such memory first of all. Asks upstream for plain memory. Returns FALSE where it has none.
 */
gboolean gst_gid_choice_fall_back_to_raw (GstGidChoice *self);

/**
 * Raw video of a format that DRM does not have is refused before it comes to us, and upstream says
 * only that it could not negotiate. Told once for each format that is asked for.
 */
void gst_gid_choice_warn_unknown (GstGidChoice *self, const GstCaps *caps);

G_END_DECLS

#endif
