// SPDX-License-Identifier: MIT
/** Offers upstream the formats that consumers can show before all other formats. */
#ifndef GST_GID_CHOICE_H
#define GST_GID_CHOICE_H

#include "gstgidslots.h"

G_BEGIN_DECLS

typedef struct
{
  GstBaseSink *sink;
  GstGidPublication *publication;
  GstGidSlots *slots;
  gint only_raw; /* exporting dma-bufs has failed; atomic */

  GHashTable *reported; /* formats that a warning was posted for: a set; the object lock */

  /* streaming thread */
  guint64 next_check, next_reconfigure; /* times of the next check and reconfigure event */
  guint asked; /* how often upstream was asked to renegotiate, up to a limit */
} GstGidChoice;

void gst_gid_choice_init (
    GstGidChoice *self, GstBaseSink *sink, GstGidPublication *publication, GstGidSlots *slots);
void gst_gid_choice_finish (GstGidChoice *self);
void gst_gid_choice_start (GstGidChoice *self);

/**
 * Returns all caps that can be sent, beginning with those that all consumers can show, as far as
 * they have reported it.
 */
GstCaps *gst_gid_choice_create_caps (GstGidChoice *self);

/**
 * Call for each frame. If consumers cannot show the present format, and upstream supports one that
 * they can, sends a reconfigure event; at most once a second. `now`: CLOCK_MONOTONIC.
 */
void gst_gid_choice_check (GstGidChoice *self, guint64 now);

/**
 * Falls back to system memory because a buffer of DMA_DRM caps cannot be exported: GL elements
 * without a GPU offer such caps first. Returns FALSE if upstream does not support raw video.
 */
gboolean gst_gid_choice_fall_back_to_raw (GstGidChoice *self);

/**
 * Posts one warning for each raw video format that DRM does not define. Such caps are rejected
 * before set_caps(), and upstream only reports that negotiation failed.
 */
void gst_gid_choice_warn_unknown (GstGidChoice *self, const GstCaps *caps);

G_END_DECLS

#endif
