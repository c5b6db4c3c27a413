// SPDX-License-Identifier: MIT
/* Every colorimetry that this GStreamer has a word for comes back from a layout as it was. */
#include <string.h>

#include "common/gstgidcolours.h"
#include "tap.h"

static GArray *values_of(GType type) {
	GEnumClass *class = g_type_class_ref(type);
	GArray *values = g_array_new(FALSE, FALSE, sizeof(gint));

	for (guint i = 0; i < class->n_values; i++) {
		g_array_append_val(values, class->values[i].value);
	}
	g_type_class_unref(class);
	return values;
}

static gboolean comes_back(const GstVideoColorimetry *there) {
	GstVideoColorimetry back;
	struct gid_colours colours;

	gst_gid_colours_from_colorimetry(&colours, there);
	gst_gid_colours_to_colorimetry(&colours, &back);
	return gst_video_colorimetry_is_equal(there, &back);
}

static void test_all(void) {
	GArray *primaries = values_of(GST_TYPE_VIDEO_COLOR_PRIMARIES);
	GArray *transfers = values_of(GST_TYPE_VIDEO_TRANSFER_FUNCTION);
	GArray *matrices = values_of(GST_TYPE_VIDEO_COLOR_MATRIX);
	GArray *ranges = values_of(GST_TYPE_VIDEO_COLOR_RANGE);
	guint all = 0, lost = 0;

	for (guint p = 0; p < primaries->len; p++) {
		for (guint t = 0; t < transfers->len; t++) {
			for (guint m = 0; m < matrices->len; m++) {
				for (guint r = 0; r < ranges->len; r++) {
					GstVideoColorimetry colorimetry = {
							.range = g_array_index(ranges, gint, r),
							.matrix = g_array_index(matrices, gint, m),
							.transfer = g_array_index(
									transfers, gint, t),
							.primaries = g_array_index(
									primaries, gint, p),
					};

					all++;
					lost += !comes_back(&colorimetry);
				}
			}
		}
	}
	tap_ok(all > 4000 && lost == 0, "of %u colorimetries %u do not come back", all, lost);
	g_array_unref(primaries);
	g_array_unref(transfers);
	g_array_unref(matrices);
	g_array_unref(ranges);
}

static void test_presets(void) {
	static const gchar *const names[] = {GST_VIDEO_COLORIMETRY_BT601,
			GST_VIDEO_COLORIMETRY_BT709, GST_VIDEO_COLORIMETRY_SMPTE240M,
			GST_VIDEO_COLORIMETRY_SRGB, GST_VIDEO_COLORIMETRY_BT2020,
			GST_VIDEO_COLORIMETRY_BT2020_10, GST_VIDEO_COLORIMETRY_BT2100_PQ,
			GST_VIDEO_COLORIMETRY_BT2100_HLG};

	for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
		GstVideoColorimetry colorimetry;

		gst_video_colorimetry_from_string(&colorimetry, names[i]);
		tap_ok(comes_back(&colorimetry), "%s", names[i]);
	}
}

static void test_agreement(void) {
	struct gid_colours nothing = {0}, some = {.matrix = 1}, other = {.matrix = 6};

	tap_ok(gst_gid_colours_agree(&some, &some), "what is the same agrees");
	tap_ok(!gst_gid_colours_agree(&some, &other), "what is not does not");
	tap_ok(gst_gid_colours_agree(&nothing, &other) && gst_gid_colours_agree(&some, &nothing),
			"nothing agrees with all");
}

int main(int argc, char **argv) {
	gst_init(&argc, &argv);
	test_all();
	test_presets();
	test_agreement();
	return tap_finish();
}
