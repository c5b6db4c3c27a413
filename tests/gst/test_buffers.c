// SPDX-License-Identifier: MIT
/*
 * What gidsrc gives out again: the same few buffers, and each like new, whatever elements
 * downstream did to it. A pad probe is such an element.
 */
#include <gst/video/video.h>

#include "cockpit.h"
#include "tap.h"

GST_PLUGIN_STATIC_DECLARE(gid);

#define FRAMES 60
#define WIDTH 320
#define HEIGHT 240

/* What may be done to a buffer by an element that has it for itself. */
enum harm {
	NO_HARM,
	CROP_IN_PLACE,
	ADD_METAS,
	ADD_LOCKED_META,
	REMOVE_METAS,
	KEEP_MEMORY,
	SHRINK,
	REPLACE_MEMORY,
	TAKE_MEMORY_OUT,
	N_HARMS
};

static const char *const harms[N_HARMS] = {
		[NO_HARM] = "left alone",
		[CROP_IN_PLACE] = "cropped by its GstVideoMeta",
		[ADD_METAS] = "given metas, flags and times",
		[ADD_LOCKED_META] = "given a meta that cannot be removed",
		[REMOVE_METAS] = "stripped of its metas",
		[KEEP_MEMORY] = "left before its memory",
		[SHRINK] = "shrunk",
		[REPLACE_MEMORY] = "given other memory",
		[TAKE_MEMORY_OUT] = "emptied",
};

struct watch {
	enum harm harm;
	GstMemory *kept;
	GstClockTime submitted;
	guint frames, dirty, unknown; // buffers that had not been here before
};

static gboolean count_meta(GstBuffer *buffer, GstMeta **meta, gpointer count) {
	(*(guint *)count)++;
	return TRUE;
}

static GstClockTime time_of(GstBuffer *buffer, const char *name) {
	g_autoptr(GstCaps) caps = gst_caps_new_empty_simple(name);
	GstReferenceTimestampMeta *meta = gst_buffer_get_reference_timestamp_meta(buffer, caps);
	return meta != NULL ? meta->timestamp : GST_CLOCK_TIME_NONE;
}

static gboolean is_like_new(struct watch *watch, GstBuffer *buffer) {
	GstVideoMeta *video = gst_buffer_get_video_meta(buffer);
	GstClockTime submitted = time_of(buffer, "timestamp/x-gid-submit");
	GstBufferFlags flags = watch->frames == 0 ? GST_BUFFER_FLAG_DISCONT : 0;
	guint metas = 0;
	gst_buffer_foreach_meta(buffer, count_meta, &metas);
	gboolean times = submitted != GST_CLOCK_TIME_NONE && submitted > watch->submitted &&
			time_of(buffer, "timestamp/x-gid-media") ==
					watch->frames * GST_SECOND / 30 &&
			GST_BUFFER_PTS_IS_VALID(buffer) && !GST_BUFFER_DTS_IS_VALID(buffer) &&
			GST_BUFFER_OFFSET(buffer) == watch->frames &&
			GST_BUFFER_OFFSET_END(buffer) == watch->frames + 1;
	watch->submitted = submitted;
	return times && metas == 3 && video != NULL && video->width == WIDTH &&
			video->height == HEIGHT && video->offset[0] == 0 &&
			video->stride[0] == WIDTH && GST_BUFFER_FLAGS(buffer) == flags &&
			gst_buffer_n_memory(buffer) == 1 &&
			gst_buffer_get_size(buffer) == WIDTH * HEIGHT * 3 / 2;
}

static gboolean remove_meta(GstBuffer *buffer, GstMeta **meta, gpointer data) {
	*meta = NULL;
	return TRUE;
}

static void do_harm(struct watch *watch, GstBuffer *buffer) {
	GstVideoMeta *video = gst_buffer_get_video_meta(buffer);
	g_autoptr(GstCaps) caps = gst_caps_new_empty_simple("timestamp/x-other");
	switch (watch->harm) {
	case CROP_IN_PLACE:
		video->width /= 2;
		video->offset[0] += 16;
		video->stride[1]++;
		video->alignment.padding_left = 8;
		break;
	case ADD_METAS:
		gst_buffer_add_video_crop_meta(buffer)->width = 8;
		gst_buffer_add_reference_timestamp_meta(buffer, caps, 1, 1);
		gst_buffer_add_video_meta(
				buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, 8, 8);
		GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_CORRUPTED);
		GST_BUFFER_DTS(buffer) = GST_BUFFER_OFFSET_END(buffer) = 7;
		break;
	case ADD_LOCKED_META:
		GST_META_FLAG_SET((GstMeta *)gst_buffer_add_video_crop_meta(buffer),
				GST_META_FLAG_LOCKED);
		break;
	case REMOVE_METAS:
		gst_buffer_foreach_meta(buffer, remove_meta, NULL);
		break;
	case KEEP_MEMORY:
		g_clear_pointer(&watch->kept, gst_memory_unref);
		watch->kept = gst_buffer_get_memory(buffer, 0);
		break;
	case SHRINK:
		gst_buffer_resize(buffer, 64, 128);
		break;
	case REPLACE_MEMORY:
		gst_buffer_replace_all_memory(buffer, gst_allocator_alloc(NULL, 16, NULL));
		break;
	case TAKE_MEMORY_OUT:
		gst_buffer_remove_all_memory(buffer);
		break;
	default:
		break;
	}
}

static GstPadProbeReturn on_buffer(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
	struct watch *watch = data;
	GstBuffer *buffer = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
	GST_PAD_PROBE_INFO_DATA(info) = buffer;
	GQuark mark = g_quark_from_static_string("test_buffers");
	watch->unknown += gst_mini_object_get_qdata(GST_MINI_OBJECT_CAST(buffer), mark) == NULL;
	gst_mini_object_set_qdata(GST_MINI_OBJECT_CAST(buffer), mark, watch, NULL);
	watch->dirty += !is_like_new(watch, buffer);
	watch->frames++;
	do_harm(watch, buffer);
	return GST_PAD_PROBE_OK;
}

static void run_until_end(GstElement *pipeline) {
	g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
	g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
			bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
	tap_ok(message != NULL && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS, "the film ends");
}

static void test_harm(enum harm harm) {
	struct watch watch = {.harm = harm};
	g_autoptr(GstElement) source =
			gst_parse_launch("gidsrc domain=open stream=movie ! fakesink name=sink "
					 "enable-last-sample=false",
					NULL);
	g_autoptr(GstElement) film = gst_parse_launch(
			"videotestsrc num-buffers=60 ! "
			"video/x-raw,format=I420,width=320,height=240,framerate=30/1 ! "
			"gidsink name=sink stream=movie slots=8 wait-for-connection=true "
			"leaky=false lease=60000 sync=false",
			NULL);
	g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(source), "sink");
	g_autoptr(GstPad) pad = gst_element_get_static_pad(sink, "sink");
	gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_buffer, &watch, NULL);
	gst_element_set_state(source, GST_STATE_PLAYING);
	gst_element_set_state(film, GST_STATE_PLAYING);
	run_until_end(source);
	gst_element_set_state(source, GST_STATE_NULL);
	g_clear_pointer(&watch.kept, gst_memory_unref);
	tap_ok(watch.frames == FRAMES, "%u frames, each buffer %s", watch.frames, harms[harm]);
	tap_ok(watch.dirty == 0, "and all came like new (%u did not)", watch.dirty);
	if (harm == NO_HARM) {
		tap_ok(watch.unknown <= 16, "in no more buffers than the stream has slots: %u",
				watch.unknown);
	}
	gst_element_set_state(film, GST_STATE_NULL);
}

int main(int argc, char **argv) {
	gst_init(&argc, &argv);
	GST_PLUGIN_STATIC_REGISTER(gid);
	if (!tap_ok(cockpit_init(), "two domains")) {
		cockpit_finish();
		return 1;
	}
	g_setenv("GID_DOMAIN", "open", TRUE);
	for (enum harm harm = NO_HARM; harm < N_HARMS; harm++) {
		test_harm(harm);
	}
	cockpit_finish();
	return tap_finish();
}
