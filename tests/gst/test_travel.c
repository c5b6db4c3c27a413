// SPDX-License-Identifier: MIT
/* What a buffer has beside its pixels arrives with it, and what cannot is told. */
#include <gst/video/video.h>

#include "sink_pair.h"

#define NOTES 3

static struct {
	GMutex lock;
	GQueue buffers; /* GstBuffer */
	GstCaps *caps;
} came;

static GstPadProbeReturn on_buffer(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
	g_mutex_lock(&came.lock);
	gst_caps_take(&came.caps, gst_pad_get_current_caps(pad));
	g_queue_push_tail(&came.buffers, gst_buffer_ref(GST_PAD_PROBE_INFO_BUFFER(info)));
	g_mutex_unlock(&came.lock);
	return GST_PAD_PROBE_OK;
}

/* The next one, or NULL. */
static GstBuffer *next_buffer(void) {
	GstBuffer *buffer = NULL;
	for (int i = 0; i < COCKPIT_PATIENCE_MS && buffer == NULL; i++) {
		g_mutex_lock(&came.lock);
		buffer = g_queue_pop_head(&came.buffers);
		g_mutex_unlock(&came.lock);
		if (buffer == NULL) {
			cockpit_sleep_ms(1);
		}
	}
	return buffer;
}

static GstBuffer *new_buffer(void) {
	GstBuffer *buffer = gst_buffer_new_allocate(NULL, pair.bytes, NULL);
	GST_BUFFER_PTS(buffer) = pair.pushed++ * PERIOD;
	return buffer;
}

/* Sends it, and returns what comes. */
static GstBuffer *carry(GstBuffer *buffer) {
	return gst_pad_push(pair.pad, buffer) == GST_FLOW_OK ? next_buffer() : NULL;
}

static void test_flags(void) {
	guint wrong = 0;
	gst_buffer_unref(carry(new_buffer())); /* the first is DISCONT */
	for (guint bit = 4; bit < 32; bit++) {
		guint flag = 1u << bit;
		GstBuffer *buffer = new_buffer();
		GST_BUFFER_FLAG_SET(buffer, flag);
		g_autoptr(GstBuffer) got = carry(buffer);
		guint flags = got != NULL ? GST_BUFFER_FLAGS(got) : 0;
		guint expected = flag == GST_BUFFER_FLAG_TAG_MEMORY ? 0 : flag;
		if ((flags & ~(guint)GST_BUFFER_FLAG_TAG_MEMORY) != expected) {
			printf("# %#x came as %#x\n", flag, flags);
			wrong++;
		}
	}
	tap_ok(wrong == 0, "every flag arrives alone, but for what is of the memory");
}

static void test_offsets(void) {
	GstBuffer *buffer = new_buffer();
	GST_BUFFER_OFFSET(buffer) = 0;
	GST_BUFFER_OFFSET_END(buffer) = UINT64_C(1) << 63;
	g_autoptr(GstBuffer) got = carry(buffer);
	tap_ok(got != NULL && GST_BUFFER_OFFSET(got) == 0 &&
					GST_BUFFER_OFFSET_END(got) == UINT64_C(1) << 63,
			"offsets arrive");
	g_autoptr(GstBuffer) without = carry(new_buffer());
	tap_ok(without != NULL && !GST_BUFFER_OFFSET_IS_VALID(without) &&
					!GST_BUFFER_OFFSET_END_IS_VALID(without),
			"and so does that there are none");
}

static const char *const references[NOTES] = {
		"timestamp/x-ntp",
		"timestamp/x-ptp, version=(string)IEEE1588-2008, domain=(int)1",
		"timestamp/x-drivername-stream",
};

static void test_references(void) {
	GstBuffer *buffer = new_buffer();
	for (guint i = 0; i < NOTES; i++) {
		g_autoptr(GstCaps) caps = gst_caps_from_string(references[i]);
		gst_buffer_add_reference_timestamp_meta(
				buffer, caps, UINT64_MAX - 100 + i, i ? i : GST_CLOCK_TIME_NONE);
	}
	g_autoptr(GstBuffer) got = carry(buffer);
	guint right = 0;
	for (guint i = 0; i < NOTES && got != NULL; i++) {
		g_autoptr(GstCaps) caps = gst_caps_from_string(references[i]);
		GstReferenceTimestampMeta *meta =
				gst_buffer_get_reference_timestamp_meta(got, caps);
		right += meta != NULL && gst_caps_is_strictly_equal(meta->reference, caps) &&
				meta->timestamp == UINT64_MAX - 100 + i &&
				meta->duration == (i ? i : GST_CLOCK_TIME_NONE);
	}
	tap_ok(right == NOTES, "reference timestamps arrive: %u of %d", right, NOTES);
	g_autoptr(GstBuffer) without = carry(new_buffer());
	g_autoptr(GstCaps) ntp = gst_caps_from_string(references[0]);
	tap_ok(without != NULL && gst_buffer_get_reference_timestamp_meta(without, ntp) == NULL,
			"and are gone with the next frame");
}

/* How often the bus has it, in an information or a warning. */
static guint told_of(GstBus *bus, GstMessageType type, const char *what) {
	GstMessage *message;
	guint count = 0;
	while ((message = gst_bus_pop_filtered(bus, type)) != NULL) {
		g_autoptr(GError) error = NULL;
		if (type == GST_MESSAGE_INFO) {
			gst_message_parse_info(message, &error, NULL);
		} else {
			gst_message_parse_warning(message, &error, NULL);
		}
		count += strstr(error->message, what) != NULL;
		gst_message_unref(message);
	}
	return count;
}

static void test_what_cannot_travel(GstBus *bus) {
	gst_meta_register_custom_simple("test-mood");
	gst_meta_register_custom_simple("test-other");
	for (int i = 0; i < 3; i++) {
		GstBuffer *buffer = new_buffer();
		gst_buffer_add_custom_meta(buffer, "test-mood");
		gst_buffer_unref(carry(buffer));
	}
	tap_ok(told_of(bus, GST_MESSAGE_INFO, "test-mood") == 1,
			"a metadata that is lost is told once");
	GstBuffer *buffer = new_buffer();
	gst_buffer_add_custom_meta(buffer, "test-other");
	gst_buffer_unref(carry(buffer));
	tap_ok(told_of(bus, GST_MESSAGE_INFO, "test-other") == 1, "and so is another one");
}

static void test_caps(GstBus *bus) {
	g_autofree char *x = g_strnfill(2100, 'x');
	g_autofree char *text =
			g_strdup_printf("video/x-raw,note=%s,format=BGRx,width=64,height=16,"
					"framerate=30/1,pixel-aspect-ratio=16/15,"
					"interlace-mode=interleaved,field-order=top-field-first,"
					"mood=good",
					x);
	g_autoptr(GstCaps) caps = gst_caps_from_string(text);
	gst_pad_push_event(pair.pad, gst_event_new_caps(caps));
	gst_buffer_unref(carry(new_buffer()));
	g_autoptr(GstCaps) rest = gst_caps_copy(caps);
	gst_structure_remove_field(gst_caps_get_structure(rest, 0), "note");
	tap_ok(came.caps != NULL && gst_caps_is_equal(came.caps, rest),
			"of caps of any length all fields arrive that fit");
	tap_ok(told_of(bus, GST_MESSAGE_WARNING, "note") == 1, "and those that do not are told");
}

/* DRM has no such format. */
static void test_unknown_format(GstBus *bus) {
	g_autoptr(GstCaps) caps = gst_caps_from_string(
			"video/x-raw,format=AYUV,width=64,height=16,framerate=30/1");
	GstFlowReturn ret[2];
	for (int i = 0; i < 2; i++) {
		gst_pad_push_event(pair.pad, gst_event_new_caps(caps));
		ret[i] = gst_pad_push(pair.pad, new_buffer());
	}
	tap_ok(ret[0] == GST_FLOW_NOT_NEGOTIATED && ret[1] == GST_FLOW_NOT_NEGOTIATED &&
					told_of(bus, GST_MESSAGE_WARNING, "AYUV") == 1,
			"a format that cannot be sent is told once");
}

int main(int argc, char **argv) {
	gst_init(&argc, &argv);
	GST_PLUGIN_STATIC_REGISTER(gid);
	if (!tap_ok(cockpit_init(), "two domains") ||
			!pair_init("video/x-raw,format=BGRx,width=64,height=16,framerate=60/1",
					4096, "wait-for-connection=true")) {
		cockpit_finish();
		return 1;
	}
	g_autoptr(GstBus) bus = gst_bus_new();
	gst_element_set_bus(pair.sink, bus);
	g_autoptr(GstElement) reader = gst_parse_launch(
			"gidsrc domain=open reader=cluster stream=movie is-live=false credit=16 ! "
			"fakesink name=watch sync=false async=false enable-last-sample=false",
			NULL);
	g_autoptr(GstElement) watch = gst_bin_get_by_name(GST_BIN(reader), "watch");
	g_autoptr(GstPad) pad = gst_element_get_static_pad(watch, "sink");
	gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_buffer, NULL, NULL);
	gst_element_set_state(reader, GST_STATE_PLAYING);
	test_flags();
	test_offsets();
	test_references();
	test_what_cannot_travel(bus);
	test_caps(bus);
	test_unknown_format(bus);
	gst_element_set_state(reader, GST_STATE_NULL);
	gst_clear_caps(&came.caps);
	gst_element_set_bus(pair.sink, NULL);
	pair_finish();
	cockpit_finish();
	return tap_finish();
}
