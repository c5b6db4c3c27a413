// SPDX-License-Identifier: MIT
#include "gstgidcolours.h"

#include <string.h>

/* Values of ITU-T H.273, and gidway's own for what it does not define. */
struct number
{
  gint gst;
  guint8 gid;
};

static const struct number primaries[] = {
  { GST_VIDEO_COLOR_PRIMARIES_UNKNOWN, 0 },
  { GST_VIDEO_COLOR_PRIMARIES_BT709, 1 },
  { GST_VIDEO_COLOR_PRIMARIES_BT470M, 4 },
  { GST_VIDEO_COLOR_PRIMARIES_BT470BG, 5 },
  { GST_VIDEO_COLOR_PRIMARIES_SMPTE170M, 6 },
  { GST_VIDEO_COLOR_PRIMARIES_SMPTE240M, 7 },
  { GST_VIDEO_COLOR_PRIMARIES_FILM, 8 },
  { GST_VIDEO_COLOR_PRIMARIES_BT2020, 9 },
  { GST_VIDEO_COLOR_PRIMARIES_SMPTEST428, 10 },
  { GST_VIDEO_COLOR_PRIMARIES_SMPTERP431, 11 },
  { GST_VIDEO_COLOR_PRIMARIES_SMPTEEG432, 12 },
  { GST_VIDEO_COLOR_PRIMARIES_EBU3213, 22 },
  { GST_VIDEO_COLOR_PRIMARIES_ADOBERGB, GID_COLOUR_ADOBE_RGB },
};

static const struct number transfers[] = {
  { GST_VIDEO_TRANSFER_UNKNOWN, 0 },
  { GST_VIDEO_TRANSFER_BT709, 1 },
  { GST_VIDEO_TRANSFER_GAMMA22, 4 },
  { GST_VIDEO_TRANSFER_GAMMA28, 5 },
  { GST_VIDEO_TRANSFER_BT601, 6 },
  { GST_VIDEO_TRANSFER_SMPTE240M, 7 },
  { GST_VIDEO_TRANSFER_GAMMA10, 8 },
  { GST_VIDEO_TRANSFER_LOG100, 9 },
  { GST_VIDEO_TRANSFER_LOG316, 10 },
  { GST_VIDEO_TRANSFER_SRGB, 13 },
  { GST_VIDEO_TRANSFER_BT2020_10, 14 },
  { GST_VIDEO_TRANSFER_BT2020_12, 15 },
  { GST_VIDEO_TRANSFER_SMPTE2084, 16 },
  { GST_VIDEO_TRANSFER_ARIB_STD_B67, 18 },
  { GST_VIDEO_TRANSFER_ADOBERGB, GID_COLOUR_ADOBE_RGB },
  { GST_VIDEO_TRANSFER_GAMMA18, GID_COLOUR_GAMMA_18 },
  { GST_VIDEO_TRANSFER_GAMMA20, GID_COLOUR_GAMMA_20 },
};

static const struct number matrices[] = {
  { GST_VIDEO_COLOR_MATRIX_UNKNOWN, 0 },
  { GST_VIDEO_COLOR_MATRIX_BT709, 1 },
  { GST_VIDEO_COLOR_MATRIX_FCC, 4 },
  { GST_VIDEO_COLOR_MATRIX_BT601, 6 },
  { GST_VIDEO_COLOR_MATRIX_SMPTE240M, 7 },
  { GST_VIDEO_COLOR_MATRIX_BT2020, 9 },
  { GST_VIDEO_COLOR_MATRIX_RGB, GID_COLOUR_RGB },
  /* 5 and 6 are the same for GStreamer */
  { GST_VIDEO_COLOR_MATRIX_BT601, 5 },
};

static const struct number ranges[] = {
  { GST_VIDEO_COLOR_RANGE_UNKNOWN, GID_RANGE_UNKNOWN },
  { GST_VIDEO_COLOR_RANGE_0_255, GID_RANGE_FULL },
  { GST_VIDEO_COLOR_RANGE_16_235, GID_RANGE_LIMITED },
};

static guint8
to_gid (const struct number *numbers, gsize count, gint gst)
{
  for (gsize i = 0; i < count; i++) {
    if (numbers[i].gst == gst)
      return numbers[i].gid;
  }
  return 0;
}

static gint
to_gst (const struct number *numbers, gsize count, guint8 gid)
{
  for (gsize i = 0; i < count; i++) {
    if (numbers[i].gid == gid)
      return numbers[i].gst;
  }
  return 0;
}

#define TO_GID(numbers, gst) to_gid (numbers, G_N_ELEMENTS (numbers), (gint) (gst))
#define TO_GST(numbers, gid) to_gst (numbers, G_N_ELEMENTS (numbers), gid)

void
gst_gid_colours_from_colorimetry (
    struct gid_colours *colours, const GstVideoColorimetry *colorimetry)
{
  colours->primaries = TO_GID (primaries, colorimetry->primaries);
  colours->transfer = TO_GID (transfers, colorimetry->transfer);
  colours->matrix = TO_GID (matrices, colorimetry->matrix);
  colours->range = TO_GID (ranges, colorimetry->range);
}

void
gst_gid_colours_to_colorimetry (const struct gid_colours *colours, GstVideoColorimetry *colorimetry)
{
  colorimetry->primaries = TO_GST (primaries, colours->primaries);
  colorimetry->transfer = TO_GST (transfers, colours->transfer);
  colorimetry->matrix = TO_GST (matrices, colours->matrix);
  colorimetry->range = TO_GST (ranges, colours->range);
}

gboolean
gst_gid_colours_are_said (const struct gid_colours *colours)
{
  static const struct gid_colours nothing;

  return memcmp (colours, &nothing, sizeof (nothing)) != 0;
}

gboolean
gst_gid_colours_agree (const struct gid_colours *a, const struct gid_colours *b)
{
  return !gst_gid_colours_are_said (a) || !gst_gid_colours_are_said (b)
      || memcmp (a, b, sizeof (*a)) == 0;
}
