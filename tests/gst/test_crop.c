// SPDX-License-Identifier: MIT
/*
 * What gidsrc makes of pictures of which a part is to be shown. Their producer is no GStreamer
 * element: its caps say nothing of the part, and it may lie. And copies of an odd number of pixels.
 */
#include <gid/stream.h>
#include <gst/video/video.h>

#include "cockpit.h"
#include "common/gstgidpicture.h"
#include "tap.h"

GST_PLUGIN_STATIC_DECLARE(gid);

#define WIDTH 640
#define HEIGHT 480

/* What downstream says that it can take. */
enum takes { TAKES_NOTHING, TAKES_META, TAKES_CROP, N_TAKES };

static const char *const takers[N_TAKES] = {
		[TAKES_NOTHING] = "an element that knows one layout",
		[TAKES_META] = "one that knows GstVideoMeta",
		[TAKES_CROP] = "one that crops itself",
};

/* What an element downstream sees: luma of the first pixel and of the last. */
struct seen {
	int width, height;
	uint8_t first, last;
	bool whole; /* there is memory for its last row, too, up to where a next one would begin */
};

static struct {
	enum takes takes;
	GstVideoInfo info;
	GAsyncQueue *seen;
} watch;

/* A luma that tells where in the picture it is. */
static uint8_t luma(int x, int y) {
	return (uint8_t)(x * 7 + y * 31);
}

/* Who knows one layout does not look at metas. */
static GstBuffer *without_metas(GstBuffer *buffer) {
	return gst_buffer_copy_region(buffer, GST_BUFFER_COPY_MEMORY, 0, -1);
}

/* Of the colours, which are behind the luma. */
static bool has_whole_rows(GstBuffer *buffer) {
	const GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);

	return meta == NULL ||
			meta->offset[1] + (gsize)(meta->height + 1) / 2 * meta->stride[1] <=
			gst_buffer_get_size(buffer);
}

static struct seen *look(GstBuffer *came) {
	g_autoptr(GstBuffer) buffer =
			watch.takes == TAKES_NOTHING ? without_metas(came) : gst_buffer_ref(came);
	GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta(buffer);
	struct seen *seen = g_new0(struct seen, 1);
	GstVideoFrame frame;

	if (gst_video_frame_map(&frame, &watch.info, buffer, GST_MAP_READ)) {
		int stride = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
		const uint8_t *data = GST_VIDEO_FRAME_PLANE_DATA(&frame, 0);
		if (crop != NULL) {
			data += crop->y * stride + crop->x;
		}
		seen->width = GST_VIDEO_INFO_WIDTH(&watch.info);
		seen->height = GST_VIDEO_INFO_HEIGHT(&watch.info);
		seen->first = data[0];
		seen->whole = crop != NULL || has_whole_rows(buffer);
		seen->last = data[(seen->height - 1) * stride + seen->width - 1];
		gst_video_frame_unmap(&frame);
	}
	return seen;
}

static GstPadProbeReturn on_pad(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
	if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER) {
		g_async_queue_push(watch.seen, look(GST_PAD_PROBE_INFO_BUFFER(info)));
	} else if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) {
		GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);
		if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
			GstCaps *caps;
			gst_event_parse_caps(event, &caps);
			gst_video_info_from_caps(&watch.info, caps);
		}
	} else if (GST_QUERY_TYPE(GST_PAD_PROBE_INFO_QUERY(info)) == GST_QUERY_ALLOCATION) {
		GstQuery *query = GST_PAD_PROBE_INFO_QUERY(info);
		if (watch.takes >= TAKES_META) {
			gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
		}
		if (watch.takes >= TAKES_CROP) {
			gst_query_add_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, NULL);
		}
		return GST_PAD_PROBE_HANDLED;
	}
	return GST_PAD_PROBE_OK;
}

static bool has_consumer(void *producer) {
	return gid_producer_consumers(producer) == 1;
}

/* Sends the picture; the part of it that is seen downstream is the caller's. NULL: nothing is. */
static struct seen *show(struct gid_producer *producer, gid_id gid, struct gid_box crop) {
	struct gid_frame frame = GID_FRAME_INIT;

	frame.gid = gid;
	frame.crop = crop;
	if (gid_producer_send(producer, &frame) != 1) {
		return NULL;
	}
	return g_async_queue_timeout_pop(watch.seen, COCKPIT_PATIENCE_MS * G_TIME_SPAN_MILLISECOND);
}

static bool is_part(const struct seen *seen, struct gid_box part) {
	return seen != NULL && seen->whole && seen->width == part.width &&
			seen->height == part.height && seen->first == luma(part.x, part.y) &&
			seen->last == luma(part.x + part.width - 1, part.y + part.height - 1);
}

static void test_part(struct gid_producer *producer, gid_id gid, struct gid_box part) {
	g_autofree struct seen *seen = show(producer, gid, part);

	tap_ok(is_part(seen, part), "%dx%d pixels from (%d, %d) on, for %s", part.width,
			part.height, part.x, part.y, takers[watch.takes]);
}

/* What cannot be shown is left out, and the next picture is shown. */
static void test_lie(struct gid_producer *producer, gid_id gid, struct gid_box lie) {
	const struct gid_box all = {0, 0, WIDTH, HEIGHT};
	struct gid_frame frame = GID_FRAME_INIT;

	frame.gid = gid;
	frame.crop = lie;
	gid_producer_send(producer, &frame);
	g_autofree struct seen *seen = show(producer, gid, (struct gid_box){0});
	tap_ok(is_part(seen, all), "a part that leaves the picture by (%d, %d) is not shown to %s",
			lie.x + lie.width - WIDTH, lie.y + lie.height - HEIGHT,
			takers[watch.takes]);
}

static struct gid_slab *make_picture(struct gid_domain *domain, const char *description) {
	struct gid_layout layout;
	struct gid_slab *slab = NULL;

	gid_layout_init(&layout, GST_MAKE_FOURCC('N', 'V', '1', '2'), WIDTH, HEIGHT, 1);
	if (gid_slab_create(domain, &layout, 0, 1, description, &slab) == 0) {
		uint8_t *data = gid_slab_data(slab, 0);
		for (int i = 0; i < WIDTH * HEIGHT; i++) {
			data[i] = luma(i % WIDTH, i / WIDTH);
		}
	}
	return slab;
}

/* How many warnings there were of frames that cannot be shown. */
static unsigned told(GstElement *pipeline) {
	g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
	GstMessage *message;
	unsigned count = 0;

	while ((message = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING)) != NULL) {
		g_autoptr(GError) error = NULL;
		gst_message_parse_warning(message, &error, NULL);
		count += strstr(error->message, "crop lies outside of the picture") != NULL;
		gst_message_unref(message);
	}
	return count;
}

static void test_told(GstElement *pipeline) {
	g_autoptr(GstElement) source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
	g_autoptr(GstStructure) stats = NULL;
	guint64 lost = 0;

	g_object_get(source, "stats", &stats, NULL);
	gst_structure_get_uint64(stats, "lost", &lost);
	tap_ok(lost == 2, "both are counted, for %s", takers[watch.takes]);
	tap_ok(told(pipeline) == 1, "and told once, for %s", takers[watch.takes]);
}

/* Caps of a larger picture than there is: those of the layout count. */
static void test_false_caps(struct gid_domain *domain, struct gid_producer *producer) {
	const struct gid_box all = {0, 0, WIDTH, HEIGHT};
	struct gid_slab *slab = make_picture(domain,
			"video/x-raw, format=(string)NV12, width=(int)1280, height=(int)960");
	g_autofree struct seen *seen = show(producer, gid_slab_gid(slab, 0), (struct gid_box){0});

	tap_ok(is_part(seen, all), "no more of a picture than there is for %s",
			takers[watch.takes]);
	gid_slab_destroy(slab, false);
}

/* Another element behind gidsrc, which waits for its next picture by then. */
static void relink(GstPad *pad, enum takes takes) {
	cockpit_sleep_ms(50);
	watch.takes = takes;
	gst_pad_push_event(pad, gst_event_new_reconfigure());
}

static void test_relinked(GstPad *pad, struct gid_producer *producer, gid_id gid) {
	const struct gid_box part = {100, 50, 320, 200};
	enum takes before = watch.takes;

	test_part(producer, gid, part);
	for (enum takes takes = TAKES_NOTHING; takes < N_TAKES; takes++) {
		relink(pad, takes);
		test_part(producer, gid, part);
		relink(pad, before);
		test_part(producer, gid, part);
	}
}

static void test_all(struct gid_domain *domain, enum takes takes) {
	g_autoptr(GstElement) pipeline = gst_parse_launch("gidsrc name=source domain=open "
							  "stream=movie ! fakesink name=sink "
							  "sync=false",
			NULL);
	g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
	g_autoptr(GstPad) pad = gst_element_get_static_pad(sink, "sink");
	struct gid_producer *producer = NULL;
	struct gid_slab *slab = make_picture(domain, NULL);

	watch.takes = takes;
	watch.seen = g_async_queue_new_full(g_free);
	gst_pad_add_probe(pad,
			GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
					GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM |
					GST_PAD_PROBE_TYPE_PUSH,
			on_pad, NULL, NULL);
	gid_producer_create(domain, "movie", NULL, &producer);
	gst_element_set_state(pipeline, GST_STATE_PLAYING);
	if (tap_ok(slab != NULL && producer != NULL &&
					    cockpit_until(domain, has_consumer, producer),
			    "a stream that gidsrc reads")) {
		gid_id gid = gid_slab_gid(slab, 0);
		test_part(producer, gid, (struct gid_box){0, 0, WIDTH, HEIGHT});
		test_part(producer, gid, (struct gid_box){100, 50, 320, 200});
		test_part(producer, gid, (struct gid_box){100, 50, WIDTH - 100, HEIGHT - 50});
		test_part(producer, gid, (struct gid_box){101, 51, 321, 201});
		test_part(producer, gid, (struct gid_box){101, 51, WIDTH - 101, HEIGHT - 51});
		test_lie(producer, gid, (struct gid_box){0, HEIGHT - 1, WIDTH, HEIGHT});
		test_lie(producer, gid, (struct gid_box){WIDTH, 1, WIDTH, 1});
		test_told(pipeline);
		test_part(producer, gid, (struct gid_box){0, 0, 2, 2});
		test_relinked(pad, producer, gid);
		test_false_caps(domain, producer);
	}
	gst_element_set_state(pipeline, GST_STATE_NULL);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	g_async_queue_unref(watch.seen);
}

/* Two pixels that share their colours, of which the second one of the last is not there. */
static void test_odd_width(const char *name) {
	GstVideoFormat video = gst_video_format_from_string(name);
	gsize offset[GST_VIDEO_MAX_PLANES] = {0};
	gint stride[GST_VIDEO_MAX_PLANES] = {96};
	GstVideoFrame source, copy;
	GstGidFormat format;
	bool is_same = true;

	g_autoptr(GstCaps) caps = gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, name,
			"width", G_TYPE_INT, 5, "height", G_TYPE_INT, 3, "framerate",
			GST_TYPE_FRACTION, 30, 1, NULL);
	gst_gid_format_from_caps(&format, caps);
	GstBuffer *from = gst_buffer_new_allocate(NULL, 3 * 96, NULL);
	GstBuffer *to = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(&format.info), NULL);
	for (gsize i = 0; i < 3 * 96; i++) { /* each another one, of those that are near */
		gst_buffer_memset(from, i, (guint8)(i * 7), 1);
	}
	gst_buffer_memset(to, 0, 0xee, GST_VIDEO_INFO_SIZE(&format.info));
	gst_buffer_add_video_meta_full(
			from, GST_VIDEO_FRAME_FLAG_NONE, video, 5, 3, 1, offset, stride);
	is_same = gst_gid_picture_copy(to, from, &format) &&
			gst_video_frame_map(&source, &format.info, from, GST_MAP_READ);
	is_same = is_same && gst_video_frame_map(&copy, &format.info, to, GST_MAP_READ);
	gsize bytes = (gsize)GST_VIDEO_FRAME_COMP_PSTRIDE(&copy, 1) * 3; /* of three pairs */
	for (int y = 0; is_same && y < 3; y++) {
		const guint8 *row = GST_VIDEO_FRAME_PLANE_DATA(&copy, 0);
		const guint8 *right = GST_VIDEO_FRAME_PLANE_DATA(&source, 0);
		row += y * GST_VIDEO_FRAME_PLANE_STRIDE(&copy, 0);
		right += y * GST_VIDEO_FRAME_PLANE_STRIDE(&source, 0);
		is_same = memcmp(row, right, bytes) == 0;
	}
	tap_ok(is_same, "a copy of 5 pixels of %s has the colours of all of them", name);
	gst_video_frame_unmap(&copy);
	gst_video_frame_unmap(&source);
	gst_buffer_unref(from);
	gst_buffer_unref(to);
}

int main(int argc, char **argv) {
	static const char *const pairs[] = {
			"YUY2", "YVYU", "UYVY", "VYUY", "Y210", "Y212_LE", "Y216_LE"};
	struct gid_domain *domain;

	gst_init(&argc, &argv);
	GST_PLUGIN_STATIC_REGISTER(gid);
	if (!tap_ok(cockpit_init() && gid_domain_connect("open", &domain) == 0, "two domains")) {
		cockpit_finish();
		return 1;
	}
	for (guint i = 0; i < G_N_ELEMENTS(pairs); i++) {
		test_odd_width(pairs[i]);
	}
	g_setenv("GID_DOMAIN", "cluster", TRUE);
	for (enum takes takes = TAKES_NOTHING; takes < N_TAKES; takes++) {
		test_all(domain, takes);
	}
	gid_domain_destroy(domain);
	cockpit_finish();
	return tap_finish();
}
