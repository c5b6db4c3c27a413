// SPDX-License-Identifier: MIT
/* What a buffer has beside its pixels arrives with it, and what cannot is told. */
#include <gst/video/video-sei.h>
#include <gst/video/video.h>

#include "came.h"
#include "sink_pair.h"

#define NOTES 3

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
	buffer = new_buffer();
	gst_buffer_add_reference_timestamp_meta(buffer, ntp, 1, 1)->timestamp = GST_CLOCK_TIME_NONE;
	g_autoptr(GstBuffer) untimed = carry(buffer);
	tap_ok(untimed != NULL && gst_buffer_get_reference_timestamp_meta(untimed, ntp) == NULL,
			"one without a time is none");
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

static void test_many_references(void) {
	GstBuffer *buffer = new_buffer();
	for (guint i = 0; i < 40; i++) {
		g_autofree char *text = g_strdup_printf("timestamp/x-clock, number=(int)%u", i);
		g_autoptr(GstCaps) caps = gst_caps_from_string(text);
		gst_buffer_add_reference_timestamp_meta(buffer, caps, i, i + 1);
	}
	g_autoptr(GstBuffer) got = carry(buffer);
	guint right = 0;
	for (guint i = 0; i < 40 && got != NULL; i++) {
		g_autofree char *text = g_strdup_printf("timestamp/x-clock, number=(int)%u", i);
		g_autoptr(GstCaps) caps = gst_caps_from_string(text);
		GstReferenceTimestampMeta *meta =
				gst_buffer_get_reference_timestamp_meta(got, caps);
		right += meta != NULL && meta->timestamp == i && meta->duration == i + 1;
	}
	tap_ok(right == 40, "also 40 of them: %u", right);
}

static GstBuffer *with_region(const char *type, int number) {
	GstBuffer *buffer = new_buffer();
	GstVideoRegionOfInterestMeta *region = gst_buffer_add_video_region_of_interest_meta(
			buffer, type, 1, 2, 3, (guint)number);
	region->id = number;
	region->parent_id = -1;
	gst_video_region_of_interest_meta_add_param(region,
			gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, 0.1 * number,
					"label", G_TYPE_STRING, "a \"dog\", or cat; 狗", "width",
					G_TYPE_UINT, 7u, NULL));
	return buffer;
}

static gboolean has_region(GstBuffer *buffer, const char *type, int number) {
	const GstVideoRegionOfInterestMeta *region = buffer == NULL
			? NULL
			: gst_buffer_get_video_region_of_interest_meta_id(buffer, number);
	const GstStructure *param = region == NULL
			? NULL
			: gst_video_region_of_interest_meta_get_param(
					  (GstVideoRegionOfInterestMeta *)region, "detection");
	gdouble confidence = -1;
	guint width = 0;
	return param != NULL && region->roi_type == g_quark_from_string(type) &&
			region->parent_id == -1 && region->x == 1 && region->y == 2 &&
			region->w == 3 && region->h == (guint)number &&
			gst_structure_get_double(param, "confidence", &confidence) &&
			confidence == 0.1 * number &&
			gst_structure_get_uint(param, "width", &width) && width == 7 &&
			g_strcmp0(gst_structure_get_string(param, "label"),
					"a \"dog\", or cat; 狗") == 0;
}

static void test_regions(void) {
	g_autoptr(GstBuffer) got = carry(with_region("dog", 3));
	tap_ok(has_region(got, "dog", 3), "a region of interest arrives, with its parameters");
	g_autoptr(GstBuffer) without = carry(new_buffer());
	tap_ok(without != NULL &&
					gst_buffer_get_video_region_of_interest_meta_id(
							without, 3) == NULL,
			"and is gone with the next frame");
}

static void test_times_and_captions(void) {
	const guint8 said[] = {0x14, 0x2c, 0x80};
	guint8 uuid[16] = "0123456789abcde", data[] = {1, 2, 3};
	g_autoptr(GDateTime) jam = g_date_time_new_utc(2026, 11, 26, 0, 0, 0.25);
	GstBuffer *buffer = new_buffer();
	gst_buffer_add_video_time_code_meta_full(buffer, 30000, 1001, jam,
			GST_VIDEO_TIME_CODE_FLAGS_DROP_FRAME, 23, 59, 58, 29, 1);
	gst_buffer_add_video_caption_meta(
			buffer, GST_VIDEO_CAPTION_TYPE_CEA608_RAW, said, sizeof(said));
	gst_buffer_add_video_afd_meta(buffer, 1, GST_VIDEO_AFD_SPEC_ATSC_A53,
			GST_VIDEO_AFD_16_9_LETTER_16_9_FULL);
	gst_buffer_add_video_bar_meta(buffer, 0, TRUE, 60, 1020);
	gst_buffer_add_video_sei_user_data_unregistered_meta(buffer, uuid, data, sizeof(data));
	gst_buffer_add_video_affine_transformation_meta(buffer)->matrix[5] = -1.0f;
	g_autoptr(GstBuffer) got = carry(buffer);
	if (!tap_ok(got != NULL, "a frame with all of them")) {
		return;
	}
	const GstVideoTimeCodeMeta *code = gst_buffer_get_video_time_code_meta(got);
	tap_ok(code != NULL && code->tc.config.fps_n == 30000 && code->tc.config.fps_d == 1001 &&
					code->tc.config.flags ==
							GST_VIDEO_TIME_CODE_FLAGS_DROP_FRAME &&
					code->tc.hours == 23 && code->tc.minutes == 59 &&
					code->tc.seconds == 58 && code->tc.frames == 29 &&
					code->tc.field_count == 1 &&
					g_date_time_equal(code->tc.config.latest_daily_jam, jam),
			"a timecode arrives");
	const GstVideoCaptionMeta *caption = gst_buffer_get_video_caption_meta(got);
	tap_ok(caption != NULL && caption->caption_type == GST_VIDEO_CAPTION_TYPE_CEA608_RAW &&
					caption->size == sizeof(said) &&
					memcmp(caption->data, said, sizeof(said)) == 0,
			"a caption does");
	const GstVideoAFDMeta *afd = gst_buffer_get_video_afd_meta(got);
	const GstVideoBarMeta *bar = gst_buffer_get_video_bar_meta(got);
	tap_ok(afd != NULL && afd->field == 1 && afd->spec == GST_VIDEO_AFD_SPEC_ATSC_A53 &&
					afd->afd == GST_VIDEO_AFD_16_9_LETTER_16_9_FULL &&
					bar != NULL && bar->is_letterbox && bar->bar_data1 == 60 &&
					bar->bar_data2 == 1020,
			"AFD and bars do");
	const GstVideoSEIUserDataUnregisteredMeta *user =
			gst_buffer_get_video_sei_user_data_unregistered_meta(got);
	tap_ok(user != NULL && user->size == sizeof(data) &&
					memcmp(user->uuid, uuid, sizeof(uuid)) == 0 &&
					memcmp(user->data, data, sizeof(data)) == 0,
			"user data does");
	const GstVideoAffineTransformationMeta *affine =
			gst_buffer_get_video_affine_transformation_meta(got);
	tap_ok(affine != NULL && affine->matrix[5] == -1.0f && affine->matrix[0] == 1.0f,
			"and how it is turned");
}

static void test_custom(void) {
	static const guint8 raw[] = {0, 1, 2, 255};
	gst_meta_register_custom_simple("test-mood");
	GstBuffer *buffer = new_buffer();
	GstCustomMeta *meta = gst_buffer_add_custom_meta(buffer, "test-mood");
	gst_structure_set(gst_custom_meta_get_structure(meta), "mood", G_TYPE_STRING, "good", NULL);
	g_autoptr(GstBuffer) got = carry(buffer);
	GstCustomMeta *came_with =
			got == NULL ? NULL : gst_buffer_get_custom_meta(got, "test-mood");
	tap_ok(came_with != NULL &&
					g_strcmp0(gst_structure_get_string(
								  gst_custom_meta_get_structure(
										  came_with),
								  "mood"),
							"good") == 0,
			"a custom meta that is known on both sides arrives");
	buffer = new_buffer();
	meta = gst_buffer_add_custom_meta(buffer, "GidMetadata");
	g_autoptr(GBytes) bytes = g_bytes_new_static(raw, sizeof(raw));
	gst_structure_set(gst_custom_meta_get_structure(meta), "data", G_TYPE_BYTES, bytes, NULL);
	g_autoptr(GstBuffer) plain = carry(buffer);
	came_with = plain == NULL ? NULL : gst_buffer_get_custom_meta(plain, "GidMetadata");
	g_autoptr(GBytes) again = NULL;
	if (came_with != NULL) {
		gst_structure_get(gst_custom_meta_get_structure(came_with), "data", G_TYPE_BYTES,
				&again, NULL);
	}
	tap_ok(again != NULL && g_bytes_equal(bytes, again), "and so do bytes of any content");
}

#define HELD 40 /* more than may be held without a copy */

static void test_copies(void) {
	GstBuffer *got[HELD];
	guint right = 0;
	for (int i = 0; i < HELD; i++) {
		got[i] = carry(with_region("held", i + 1));
		right += has_region(got[i], "held", i + 1);
	}
	tap_ok(right == HELD, "frames that are copied as they are held have their own: %u of %d",
			right, HELD);
	for (int i = 0; i < HELD; i++) {
		gst_clear_buffer(&got[i]);
	}
}

static void test_what_cannot_travel(GstBus *bus) {
	static const char *const names[] = {"test-other", "test-third"};
	for (guint i = 0; i < 2; i++) {
		gst_meta_register_custom_simple(names[i]);
		for (int n = 0; n < 3; n++) {
			GstBuffer *buffer = new_buffer(), *within = gst_buffer_new();
			GstCustomMeta *meta = gst_buffer_add_custom_meta(buffer, names[i]);
			gst_structure_set(gst_custom_meta_get_structure(meta), "what",
					GST_TYPE_BUFFER, within, NULL);
			gst_buffer_unref(within);
			gst_buffer_unref(carry(buffer));
		}
		tap_ok(told_of(bus, GST_MESSAGE_INFO, names[i]) == 1,
				"a metadata that is lost is told once");
	}
	GstBuffer *buffer = new_buffer();
	GstCustomMeta *meta = gst_buffer_add_custom_meta(buffer, "GidMetadata");
	g_autofree char *zeroes = g_malloc0(GID_METADATA_DEFAULT);
	g_autoptr(GBytes) bytes = g_bytes_new(zeroes, GID_METADATA_DEFAULT);
	gst_structure_set(gst_custom_meta_get_structure(meta), "data", G_TYPE_BYTES, bytes, NULL);
	g_autoptr(GstBuffer) got = carry(buffer);
	tap_ok(got != NULL && gst_buffer_get_custom_meta(got, "GidMetadata") == NULL &&
					told_of(bus, GST_MESSAGE_INFO, "max-metadata-bytes") == 1,
			"so is one that is too long");
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
	test_many_references();
	test_regions();
	test_times_and_captions();
	test_custom();
	test_copies();
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
