// SPDX-License-Identifier: MIT
/* Caps as text between domains: what is written comes back, and what anybody writes harms nobody.
 */
#include <gid/stream.h>
#include <gst/video/video.h>
#include <string.h>

#include "common/gstgidcaps.h"
#include "tap.h"

static guint criticals;

static void count_critical(
		const gchar *domain, GLogLevelFlags level, const gchar *text, gpointer data) {
	criticals++;
	printf("# %s\n", text);
}

static const char *const good[] = {
		"video/x-raw, format=(string)BGRx, width=(int)320, height=(int)240, "
		"framerate=(fraction)30/1",
		"video/x-raw(memory:DMABuf), format=(string)DMA_DRM, "
		"drm-format=(string)NV12:0x0100000000000002, width=(int)64, height=(int)16, "
		"framerate=(fraction)0/1",
		"video/x-raw(format:Interlaced), format=(string)NV12, width=(int)64, height=(int)16, "
		"framerate=(fraction)30000/1001, interlace-mode=(string)alternate",
		"video/x-raw, format=(string)NV12, width=(int)64, height=(int)16, "
		"framerate=(fraction)25/1, multiview-mode=(string)mono, "
		"multiview-flags=(GstVideoMultiviewFlagsSet)0:ffffffff:/right-view-first/"
		"left-flipped/left-flopped/right-flipped/right-flopped/half-aspect/mixed-mono",
		"video/x-raw, format=(string)NV12, width=(int)64, height=(int)16, "
		"mastering-display-info=(string)34000:16000:13250:34500:7500:3000:15635:16450:"
		"10000000:1, content-light-level=(string)1000:400",
		"video/x-raw, title=(string)\"a\\ b\\,\\ \\\"c\\\"\\ \\\\\\303\\244\", "
		"a=(double)0.5, b=(uint)7, c=(gint64)-5, d=(guint64)18446744073709551615, "
		"e=(bitmask)0x0000000000000003, f=(boolean)true, g=(string)\"\"",
		"timestamp/x-ptp, version=(string)IEEE1588-2008, domain=(int)1",
		"timestamp/x-ntp",
};

static void test_there_and_back(void) {
	for (gsize i = 0; i < G_N_ELEMENTS(good); i++) {
		g_autoptr(GstCaps) caps = gst_caps_from_string(good[i]);
		g_autofree char *lost = NULL;
		g_autofree char *text = gst_gid_caps_to_text(caps, 2047, &lost);
		g_autoptr(GstCaps) back = gst_gid_caps_from_text(text, strlen(text));
		g_autoptr(GstCaps) as_gst = gst_gid_caps_from_text(good[i], strlen(good[i]));
		tap_ok(lost == NULL && back != NULL && gst_caps_is_strictly_equal(caps, back),
				"there and back: %s", text);
		tap_ok(as_gst != NULL && gst_caps_is_strictly_equal(caps, as_gst),
				"also as GStreamer writes it");
	}
}

/* As in a pipeline's text. */
static void test_without_types(void) {
	const char *text = "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=XR24:0x1,width=64,"
			   "framerate=30/1,mood=good";
	g_autoptr(GstCaps) expected = gst_caps_from_string(text);
	g_autoptr(GstCaps) caps = gst_gid_caps_from_text(text, strlen(text));
	tap_ok(caps != NULL && gst_caps_is_strictly_equal(caps, expected),
			"fields whose type is known need not say it");
}

/* The same, of which GStreamer makes bits that it knows no names of. */
static void test_plain_flags(void) {
	const char *said = "video/x-raw,multiview-mode=side-by-side,multiview-flags=2:ffffffff";
	g_autoptr(GstCaps) caps = gst_caps_from_string(said);
	g_autofree char *lost = NULL, *text = gst_gid_caps_to_text(caps, 2047, &lost);
	g_autoptr(GstCaps) back = gst_gid_caps_from_text(text, strlen(text));
	guint flags = 0;

	gst_structure_get_flagset(gst_caps_get_structure(back, 0), "multiview-flags", &flags, NULL);
	tap_ok(lost == NULL && flags == 2, "flags of views as people write them");
}

static void test_what_is_lost(void) {
	g_autofree char *x = g_strnfill(2100, 'x');
	g_autofree char *said = g_strdup_printf("video/x-raw,note=%s,list=(GstStructure)[a,b=1],"
						"width=64,after=1,pixel-aspect-ratio=16/15",
			x);
	g_autoptr(GstCaps) caps = gst_caps_from_string(said);
	g_autofree char *lost = NULL, *text = gst_gid_caps_to_text(caps, 2047, &lost);
	g_autoptr(GstCaps) back = gst_gid_caps_from_text(text, strlen(text));
	const GstStructure *structure = gst_caps_get_structure(back, 0);
	tap_ok(g_strcmp0(lost, "note, list") == 0, "what cannot be said is named: %s", lost);
	tap_ok(gst_structure_has_field(structure, "pixel-aspect-ratio") &&
					gst_structure_has_field(structure, "width") &&
					gst_structure_has_field(structure, "after"),
			"and nothing else is lost for it");
	tap_ok(gst_gid_caps_to_text(caps, 4, NULL) == NULL, "no room is told");
}

/* No caps at all. */
static const char *const bad[] = {
		"",
		"/",
		"1video/x-raw",
		"audio/x-raw-int",
		"video/x-raw-yuv",
		"video/x-raw,",
		"video/x-raw, width",
		"video/x-raw, width=(int",
		"video/x-raw, width=(int)",
		"video/x-raw(memory:GLMemory), width=(int)1",
		"video/x-raw(memory:DMABuf, memory:DMABuf)",
		"video/x-raw(ANY)",
		"video/x-raw(, width=(int)1",
		"video/x-raw, width=(int)[1, 2]",
		"video/x-raw, format=(string){ NV12, I420 }",
		"video/x-raw, a=(GstValueArray)<1, 2>",
		"video/x-raw, a=(string)\"never ends",
		"video/x-raw, a=(string)\"ends in \\",
		"video/x-raw; video/x-raw",
		"NULL, a=(int)1;",
		"video/x-raw, \xff=(int)1",
};

/* Fields that mean nothing: the rest does. */
static const char *const useless[] = {
		"width=(string)320",
		"width=(int)4294967296",
		"width=(int)1e5",
		"framerate=(int)30",
		"framerate=(fraction)1/0",
		"framerate=(fraction)-2147483648/1",
		"pixel-aspect-ratio=(fraction)1/-1",
		"format=(int)5",
		"colorimetry=(boolean)true",
		"a=(string)\"\\377\\376\"",
		"a=(bitmask)3",
		"a=(bitmask)0xg",
		"a=(double)nan",
		"a=(double)1x",
		"a=(boolean)maybe",
		"a=(GstStructure)\"x,b=(int)1\"",
		"a=(GstCaps)\"video/x-raw\"",
		"a=(GType)GstPipeline",
		"a=(GstElement)\"fakesrc\"",
		"multiview-flags=(GstVideoMultiviewFlagsSet)0",
		"multiview-flags=(GstVideoMultiviewFlagsSet)0:1",
		"multiview-flags=(int)1",
		"interlace-mode=(fraction)1/2",
		"a=(uint)-1",
		"a=(guint64)99999999999999999999",
};

static void test_hostile(void) {
	for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GstCaps) caps = gst_gid_caps_from_text(bad[i], strlen(bad[i]));
		tap_ok(caps == NULL, "no caps: %s", bad[i]);
	}
	for (gsize i = 0; i < G_N_ELEMENTS(useless); i++) {
		g_autofree char *text = g_strdup_printf("video/x-raw, %s, z=(int)1", useless[i]);
		g_autoptr(GstCaps) caps = gst_gid_caps_from_text(text, strlen(text));
		const GstStructure *structure = caps ? gst_caps_get_structure(caps, 0) : NULL;
		tap_ok(structure != NULL && gst_structure_n_fields(structure) == 1 &&
						gst_structure_has_field(structure, "z"),
				"left out: %s", useless[i]);
	}
	GString *many = g_string_new("video/x-raw");
	for (guint i = 0; i < 100; i++) {
		g_string_append_printf(many, ", f%u=(int)1", i);
	}
	tap_ok(gst_gid_caps_from_text(many->str, many->len) == NULL, "a hundred fields");
	g_string_free(many, TRUE);
}

int main(int argc, char **argv) {
	gst_init(&argc, &argv);
	g_log_set_default_handler(count_critical, NULL);
	test_there_and_back();
	test_without_types();
	test_plain_flags();
	test_what_is_lost();
	test_hostile();
	tap_ok(criticals == 0, "GLib has nothing to say of it");
	return tap_finish();
}
