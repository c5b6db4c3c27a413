// SPDX-License-Identifier: MIT
#include "gstgidorientation.h"

/*
 * Indexed by enum wl_output_transform, which says how the picture was transformed: how to undo
 * that.
 */
static const gchar *const orientations[] = { "rotate-0", "rotate-90", "rotate-180", "rotate-270",
  "flip-rotate-0", "flip-rotate-270", "flip-rotate-180", "flip-rotate-90" };

void
gst_gid_orientation_init (GstGidOrientation *self, GstBaseSrc *src)
{
  self->src = src;
}

void
gst_gid_orientation_start (GstGidOrientation *self)
{
  self->transform = 0;
}

void
gst_gid_orientation_follow (GstGidOrientation *self, guint transform)
{
  if (transform == self->transform || transform >= G_N_ELEMENTS (orientations))
    return;
  self->transform = transform;
  gst_pad_push_event (GST_BASE_SRC_PAD (self->src),
      gst_event_new_tag (
          gst_tag_list_new (GST_TAG_IMAGE_ORIENTATION, orientations[transform], NULL)));
}
