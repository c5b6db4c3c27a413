// SPDX-License-Identifier: MIT
/*
 * Layers of gidcompose that come and go while it plays; or, with a format and another one as words,
 * a layer whose frames change from the one to the other, as behind input-selector. Exits with 0 if
 * pictures kept coming.
 */
#include <gst/gst.h>

#define ROUNDS 8
#define FRAMES 10 /* between two changes */
#define PATIENCE (60 * G_TIME_SPAN_SECOND)

static gint frames; /* atomic */

static GstPadProbeReturn count_frame(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
	g_atomic_int_inc(&frames);
	return GST_PAD_PROBE_OK;
}

/* Until so many more frames came; FALSE: an error, or they do not come. */
static gboolean wait_for_frames(GstBus *bus, gint count) {
	gint64 end = g_get_monotonic_time() + PATIENCE;
	gint goal = g_atomic_int_get(&frames) + count;

	while (g_atomic_int_get(&frames) < goal) {
		GstMessage *message = gst_bus_timed_pop_filtered(
				bus, 10 * GST_MSECOND, GST_MESSAGE_ERROR);

		if (message != NULL) {
			GError *error;

			gst_message_parse_error(message, &error, NULL);
			g_printerr("%s\n", error->message);
			return FALSE;
		}
		if (g_get_monotonic_time() > end) {
			g_printerr("no more frames after %d\n", g_atomic_int_get(&frames));
			return FALSE;
		}
	}
	return TRUE;
}

static GstElement *add_layer(GstElement *pipeline, GstElement *composer, gint xpos) {
	GError *error = NULL;
	GstElement *layer = gst_parse_bin_from_description(
			"videotestsrc is-live=true ! capsfilter caps=video/x-raw,format=I420,width=64,height=48",
			TRUE, &error);
	GstPad *sink = gst_element_request_pad_simple(composer, "sink_%u");
	GstPad *src;

	g_assert_no_error(error);
	g_object_set(sink, "xpos", xpos, "alpha", 0.8, NULL);
	gst_bin_add(GST_BIN(pipeline), layer);
	src = gst_element_get_static_pad(layer, "src");
	g_assert_cmpint(gst_pad_link(src, sink), ==, GST_PAD_LINK_OK);
	gst_object_unref(src);
	gst_object_unref(sink);
	gst_element_sync_state_with_parent(layer);
	return layer;
}

static void remove_layer(GstElement *pipeline, GstElement *composer, GstElement *layer) {
	GstPad *src = gst_element_get_static_pad(layer, "src");
	GstPad *sink = gst_pad_get_peer(src);

	gst_element_set_locked_state(layer, TRUE);
	gst_element_set_state(layer, GST_STATE_NULL);
	gst_pad_unlink(src, sink);
	gst_element_release_request_pad(composer, sink);
	gst_object_unref(sink);
	gst_object_unref(src);
	gst_bin_remove(GST_BIN(pipeline), layer);
}

static void push_caps(GstPad *pad, const char *format) {
	GstCaps *caps = gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, format, "width",
			G_TYPE_INT, 64, "height", G_TYPE_INT, 48, "framerate", GST_TYPE_FRACTION,
			30, 1, NULL);

	gst_pad_push_event(pad, gst_event_new_caps(caps));
	gst_caps_unref(caps);
}

/* There is an opaque layer in each picture, so that none of the background may be seen. */
static GstPadProbeReturn find_background(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
	guint8 first[3] = {0};

	gst_buffer_extract(GST_PAD_PROBE_INFO_BUFFER(info), 0, first, sizeof(first));
	if (MAX(first[0], MAX(first[1], first[2])) < 0x40) {
		g_printerr("a picture shows the background\n");
		*(gboolean *)data = TRUE;
	}
	return GST_PAD_PROBE_OK;
}

/* I420 or BGRx */
static gboolean push_frame(GstPad *pad, const char *format, guint number) {
	gsize size = g_str_equal(format, "I420") ? 64 * 48 * 3 / 2 : 64 * 48 * 4;
	GstBuffer *buffer = gst_buffer_new_allocate(NULL, size, NULL);

	gst_buffer_memset(buffer, 0, 0x80, size);
	GST_BUFFER_PTS(buffer) = gst_util_uint64_scale(number, GST_SECOND, 30);
	GST_BUFFER_DURATION(buffer) = GST_SECOND / 30;
	return gst_pad_push(pad, buffer) == GST_FLOW_OK;
}

/* Until the end: how many warnings came, -1 with an error. */
static gint count_warnings(GstBus *bus) {
	gint warnings = 0;

	while (TRUE) {
		GstMessage *message = gst_bus_timed_pop_filtered(bus, PATIENCE * GST_USECOND,
				GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
		GstMessageType type =
				message != NULL ? GST_MESSAGE_TYPE(message) : GST_MESSAGE_UNKNOWN;
		g_autofree gchar *said = message != NULL && type != GST_MESSAGE_EOS
				? gst_structure_to_string(gst_message_get_structure(message))
				: NULL;

		g_printerr("%s\n", said != NULL ? said : gst_message_type_get_name(type));
		g_clear_pointer(&message, gst_message_unref);
		if (type != GST_MESSAGE_WARNING) {
			return type == GST_MESSAGE_EOS ? warnings : -1;
		}
		warnings++;
	}
}

/* Over another layer, twice the last frame of a format comes behind the caps of the other one. */
static gboolean change_formats(const char *format, const char *other) {
	GstElement *pipeline = gst_parse_launch(
			"gidcompose name=c engine=cluster canvas=panel background=black ! "
			"video/x-raw,format=BGRx,width=64,height=48,framerate=30/1 ! "
			"fakesink name=s sync=false "
			"videotestsrc pattern=green num-buffers=6 ! "
			"video/x-raw,format=BGRx,width=64,height=48,framerate=30/1 ! c.",
			NULL);
	GstElement *composer = gst_bin_get_by_name(GST_BIN(pipeline), "c");
	GstPad *composed = gst_element_get_static_pad(composer, "src");
	GstPad *layer = gst_element_request_pad_simple(composer, "sink_%u");
	GstPad *pad = gst_pad_new("src", GST_PAD_SRC);
	GstBus *bus = gst_element_get_bus(pipeline);
	GstSegment segment;
	gboolean good = TRUE, uncovered = FALSE;
	guint number = 0;

	gst_pad_add_probe(composed, GST_PAD_PROBE_TYPE_BUFFER, find_background, &uncovered, NULL);
	gst_segment_init(&segment, GST_FORMAT_TIME);
	gst_pad_set_active(pad, TRUE);
	gst_pad_link(pad, layer);
	gst_element_set_state(pipeline, GST_STATE_PLAYING);
	gst_pad_push_event(pad, gst_event_new_stream_start("late"));
	push_caps(pad, format);
	gst_pad_push_event(pad, gst_event_new_segment(&segment));
	for (guint round = 0; round < 2 && good; round++) {
		good = push_frame(pad, format, number++);
		push_caps(pad, other);
		good &= push_frame(pad, format, number++) && push_frame(pad, other, number++);
		push_caps(pad, format);
	}
	gst_pad_push_event(pad, gst_event_new_eos());
	good &= count_warnings(bus) == 1;
	gst_element_set_state(pipeline, GST_STATE_NULL);
	gst_object_unref(bus);
	gst_object_unref(pad);
	gst_object_unref(layer);
	gst_object_unref(composed);
	gst_object_unref(composer);
	gst_object_unref(pipeline);
	return good && !uncovered;
}

int main(int argc, char *argv[]) {
	GstElement *pipeline, *composer, *sink;
	GstPad *pad;
	GstBus *bus;
	GError *error = NULL;
	gboolean good;
	guint layers;

	gst_init(&argc, &argv);
	if (argc == 3) {
		return change_formats(argv[1], argv[2]) ? 0 : 1;
	}
	pipeline = gst_parse_launch(
			"gidcompose name=c engine=cluster canvas=panel background=black ! "
			"video/x-raw,width=320,height=48,framerate=30/1 ! fakesink name=s "
			"videotestsrc is-live=true ! video/x-raw,width=64,height=48 ! c.",
			&error);
	g_assert_no_error(error);
	composer = gst_bin_get_by_name(GST_BIN(pipeline), "c");
	sink = gst_bin_get_by_name(GST_BIN(pipeline), "s");
	pad = gst_element_get_static_pad(sink, "sink");
	gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, count_frame, NULL, NULL);
	bus = gst_element_get_bus(pipeline);
	gst_element_set_state(pipeline, GST_STATE_PLAYING);
	good = wait_for_frames(bus, FRAMES);
	for (gint i = 0; good && i < ROUNDS; i++) {
		GstElement *one = add_layer(pipeline, composer, 70);
		GstElement *other = add_layer(pipeline, composer, 140);

		good = wait_for_frames(bus, FRAMES);
		remove_layer(pipeline, composer, one);
		good &= wait_for_frames(bus, FRAMES);
		remove_layer(pipeline, composer, other);
		good &= wait_for_frames(bus, FRAMES);
	}
	layers = composer->numsinkpads;
	gst_element_set_state(pipeline, GST_STATE_NULL);
	gst_object_unref(bus);
	gst_object_unref(pad);
	gst_object_unref(sink);
	gst_object_unref(composer);
	gst_object_unref(pipeline);
	return good && layers == 1 ? 0 : 1;
}
