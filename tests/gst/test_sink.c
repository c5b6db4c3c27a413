// SPDX-License-Identifier: MIT
/* When gidsink says that frames are to be shown, and what it does where upstream wants them back.
 */
#include <errno.h>
#include <gst/video/video.h>

#include "sink_pair.h"

#define BASE (GST_SECOND * 3)
#define DELAY (GST_SECOND / 2)

static uint64_t received_present_time(struct gid_consumer *consumer) {
	struct gid_frame frame;

	if (gid_consumer_wait(consumer, COCKPIT_PATIENCE_MS) != 1 ||
			gid_consumer_receive(consumer, &frame) != 1) {
		return GID_TIME_NONE;
	}
	gid_consumer_release(consumer, &frame);
	return frame.present_time;
}

static uint64_t next_present_time(struct gid_consumer *consumer) {
	return pair_push() ? received_present_time(consumer) : GID_TIME_NONE;
}

/* As playbin has it for its av-offset. */
static void test_offset(struct gid_consumer *consumer) {
	g_autoptr(GstClock) clock = gst_system_clock_obtain();

	gst_element_set_clock(pair.sink, clock);
	gst_element_set_base_time(pair.sink, BASE);
	next_present_time(consumer); /* the first is sent at once */
	tap_ok(next_present_time(consumer) == BASE + PERIOD, "a frame is to be shown at its time");
	g_object_set(pair.sink, "ts-offset", (gint64)DELAY, NULL);
	tap_ok(next_present_time(consumer) == BASE + 2 * PERIOD + DELAY,
			"later, where ts-offset delays it");
	g_object_set(pair.sink, "ts-offset", -(gint64)DELAY, NULL);
	tap_ok(next_present_time(consumer) == BASE + 3 * PERIOD,
			"and not sooner, where ts-offset has it sent early");
}

static uint64_t present_time_of(
		struct gid_consumer *consumer, GstClockTime pts, GstClockTime duration) {
	GstBuffer *buffer = gst_buffer_new_allocate(NULL, pair.bytes, NULL);

	GST_BUFFER_PTS(buffer) = pts;
	GST_BUFFER_DURATION(buffer) = duration;
	return gst_pad_push(pair.pad, buffer) == GST_FLOW_OK ? received_present_time(consumer)
							     : GID_TIME_NONE;
}

/* A picture is shown from its end to its beginning, and the segment likewise. */
static void test_reverse(struct gid_consumer *consumer) {
	GstSegment segment;

	g_object_set(pair.sink, "ts-offset", (gint64)0, NULL);
	gst_segment_init(&segment, GST_FORMAT_TIME);
	segment.start = DELAY;
	segment.stop = 10 * GST_SECOND;
	gst_pad_push_event(pair.pad, gst_event_new_segment(&segment));
	tap_ok(present_time_of(consumer, 0, GST_SECOND) == BASE,
			"what is left of a picture after a seek is to be shown at once");
	segment.rate = -2;
	gst_pad_push_event(pair.pad, gst_event_new_segment(&segment));
	tap_ok(present_time_of(consumer, 9 * GST_SECOND, GST_SECOND) == BASE,
			"in reverse, the last picture is to be shown at once");
	tap_ok(present_time_of(consumer, 7 * GST_SECOND, GST_SECOND) == BASE + GST_SECOND,
			"and another when its end is reached");
	tap_ok(present_time_of(consumer, 6 * GST_SECOND, GST_CLOCK_TIME_NONE) ==
					BASE + 2 * GST_SECOND,
			"or its time, where no duration is known");
}

/* One of a stream that was left for the next, whose caps are there already. */
static bool push_late(const char *format, bool with_meta) {
	GstVideoInfo info;

	gst_video_info_set_format(&info, gst_video_format_from_string(format), 64, 16);
	GstBuffer *buffer = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(&info), NULL);
	if (with_meta) {
		gst_buffer_add_video_meta(buffer, GST_VIDEO_FRAME_FLAG_NONE,
				GST_VIDEO_INFO_FORMAT(&info), 64, 16);
	}
	GST_BUFFER_PTS(buffer) = pair.pushed * PERIOD;
	return gst_pad_push(pair.pad, buffer) == GST_FLOW_OK;
}

static void push_caps(const char *format) {
	g_autoptr(GstCaps) caps = gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING,
			format, "width", G_TYPE_INT, 64, "height", G_TYPE_INT, 16, "framerate",
			GST_TYPE_FRACTION, 60, 1, NULL);

	gst_pad_push_event(pair.pad, gst_event_new_caps(caps));
}

static guint count_warnings(void) {
	GstMessage *message;
	guint count = 0;

	while ((message = gst_bus_pop_filtered(pair.bus, GST_MESSAGE_WARNING)) != NULL) {
		gst_message_unref(message);
		count++;
	}
	return count;
}

/* As input-selector does it: a frame of the stream before behind the caps of the next. */
static void test_late_frames(struct gid_consumer *consumer) {
	static const struct {
		const char *before, *now;
		bool with_meta;
	} changes[] = {{"BGRx", "I420", false}, {"I420", "BGRx", true}, {"BGRx", "RGBx", true}};
	struct gid_frame frame;

	for (guint i = 0; i < G_N_ELEMENTS(changes); i++) {
		push_caps(changes[i].before);
		push_caps(changes[i].now);
		count_warnings();
		tap_ok(push_late(changes[i].before, changes[i].with_meta) &&
						gid_consumer_receive(consumer, &frame) == -EAGAIN,
				"a frame of %s is not sent as one of %s", changes[i].before,
				changes[i].now);
		tap_ok(count_warnings() == 1, "but told");
		tap_ok(push_late(changes[i].now, true) &&
						received_present_time(consumer) != GID_TIME_NONE &&
						count_warnings() == 0,
				"and the next is sent");
	}
	push_caps("BGRx");
}

struct told {
	guint people, programs; /* messages for them */
	guint64 all;		/* as the last one for programs says it */
};

/* What the bus has of frames that are not sent, and whatever else it has goes. */
static struct told take_told(void) {
	struct told told = {0};
	GstMessage *message;

	while ((message = gst_bus_pop(pair.bus)) != NULL) {
		const GstStructure *said = gst_message_get_structure(message);
		if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING) {
			told.people++;
		} else if (said != NULL && gst_structure_has_name(said, "gid-refused")) {
			gst_structure_get_uint64(said, "all", &told.all);
			told.programs++;
		}
		gst_message_unref(message);
	}
	return told;
}

/* A time that no stream can carry: libgid takes no such frame, and people hear of the first. */
static void test_refused_frames(struct gid_consumer *consumer) {
	struct gid_frame frame;
	guint64 counted = 0;
	guint sent = 0;

	take_told();
	for (guint i = 0; i < 5; i++) {
		GstBuffer *buffer = gst_buffer_new_allocate(NULL, pair.bytes, NULL);
		GST_BUFFER_PTS(buffer) = (GstClockTime)G_MAXINT64 + 2 + i;
		gst_pad_push(pair.pad, buffer);
		sent += gid_consumer_receive(consumer, &frame) == 1;
	}
	g_autoptr(GstStructure) stats = NULL;
	g_object_get(pair.sink, "stats", &stats, NULL);
	gst_structure_get_uint64(stats, "refused", &counted);
	tap_ok(sent == 0 && counted == 5, "frames that are not sent are counted: %u",
			(guint)counted);
	struct told told = take_told();
	tap_ok(told.people == 1, "people hear of the first: %u", told.people);
	tap_ok(told.programs >= 1 && told.all >= 1, "and programs, seldom: %u", told.programs);
	tap_ok(pair_push() && received_present_time(consumer) != GID_TIME_NONE,
			"upstream goes on with the next");
}

static gpointer drain(gpointer done) {
	GstQuery *query = gst_query_new_drain();

	gst_pad_peer_query(pair.pad, query);
	gst_query_unref(query);
	g_atomic_int_set((gint *)done, TRUE);
	return NULL;
}

/* As decoders do it before other caps. */
static void test_drain(struct gid_consumer *consumer, gboolean leaky) {
	struct gid_frame frame;
	gint drained = FALSE;
	int count = 0;

	g_object_set(pair.sink, "leaky", leaky, NULL);
	for (int i = 0; i < 3; i++) {
		pair_push();
	}
	GThread *thread = g_thread_new("drain", drain, &drained);
	/* Whether it waits cannot be seen. If it does not, it is long over by then. */
	cockpit_sleep_ms(100);
	tap_ok(!g_atomic_int_get(&drained), "upstream waits until its frames are read");
	while (!g_atomic_int_get(&drained)) {
		if (gid_consumer_receive(consumer, &frame) == 1) {
			gid_consumer_release(consumer, &frame);
			count++;
		}
	}
	g_thread_join(thread);
	tap_ok(count == 3, "and none is lost with leaky=%s", leaky ? "true" : "false");
}

/* The sink hears of it by a connection of its own: nothing need come by the reader's. */
static bool becomes_unread(void) {
	guint consumers = 1;

	for (int i = 0; i < COCKPIT_PATIENCE_MS && consumers > 0; i++) {
		g_autoptr(GstStructure) stats = NULL;
		g_object_get(pair.sink, "stats", &stats, NULL);
		gst_structure_get_uint(stats, "consumers", &consumers);
		cockpit_sleep_ms(1);
	}
	return consumers == 0;
}

static gpointer push_one(gpointer pushed) {
	bool good = pair_push();

	g_atomic_int_set((gint *)pushed, TRUE);
	return GINT_TO_POINTER(good);
}

/* As an application does it that ends a film, and plays the next one: it need not go to NULL. */
static void test_again(void) {
	gint pushed = FALSE;

	g_object_set(pair.sink, "leaky", TRUE, "wait-for-connection", TRUE, NULL);
	tap_ok(becomes_unread(), "nobody reads any more");
	gst_element_send_event(pair.sink, gst_event_new_eos());
	tap_ok(pair_push(), "once the end is asked for, nobody is waited for");
	gst_element_set_state(pair.sink, GST_STATE_READY);
	gst_element_set_state(pair.sink, GST_STATE_PLAYING);
	pair_begin();
	GThread *thread = g_thread_new("push", push_one, &pushed);
	/* Whether it waits cannot be seen. If it does not, it is long over by then. */
	cockpit_sleep_ms(100);
	tap_ok(!g_atomic_int_get(&pushed), "behind READY it is waited for readers again");
	struct gid_consumer *consumer = pair_consume();
	tap_ok(GPOINTER_TO_INT(g_thread_join(thread)), "and no longer");
	gid_consumer_destroy(consumer);
}

static bool is_waiting(void *consumer) {
	return gid_consumer_get_state(consumer) == GID_CONSUMER_WAITING;
}

static struct gid_consumer *subscribe(const char *stream) {
	struct gid_consumer_options options = {.size = sizeof(options), .reconnect = true};
	struct gid_consumer *consumer = NULL;

	gid_consumer_create(pair.reader, "open", stream, &options, &consumer);
	return consumer;
}

static void play_again(void) {
	gst_element_set_state(pair.sink, GST_STATE_PLAYING);
	pair_begin();
}

/* In READY, where properties can be changed, GstBaseSink has started its sinks already. */
static void test_changed_in_ready(void) {
	gst_element_set_state(pair.sink, GST_STATE_READY);
	g_object_set(pair.sink, "stream", "camera/rear", "leaky", TRUE, "wait-for-connection",
			FALSE, NULL);
	play_again();
	struct gid_consumer *consumer = subscribe("camera/rear");
	tap_ok(pair_push() && cockpit_until(pair.reader, pair_is_live, consumer),
			"the stream has the name that was set in READY");
	g_object_set(pair.sink, "stream", "movie", NULL);
	tap_ok(pair_push() && gid_consumer_get_state(consumer) == GID_CONSUMER_LIVE,
			"and keeps it while it plays");
	gst_element_set_state(pair.sink, GST_STATE_READY);
	g_object_set(pair.sink, "stream", "camera/rear", "readers", "open", NULL);
	play_again();
	tap_ok(cockpit_until(pair.reader, is_waiting, consumer),
			"who is no reader since READY has it no more");
	gid_consumer_destroy(consumer);
	gst_element_set_state(pair.sink, GST_STATE_READY);
	g_object_set(pair.sink, "readers", "nobody", NULL);
	tap_ok(gst_element_set_state(pair.sink, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE,
			"with a reader that there is not it does not play");
	g_object_set(pair.sink, "readers", NULL, NULL);
	play_again();
	tap_ok(pair_push(), "and without it plays again");
}

/* Also that of a property whose neighbour is set after it. */
static void test_properties(void) {
	static const char *const names[] = {
			"display-domain", "timeline", "stream", "domain", "readers"};
	g_autoptr(GstElement) sink = gst_element_factory_make("gidsink", NULL);
	guint right = 0;

	gst_object_ref_sink(sink);
	for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
		g_object_set(sink, names[i], names[i], NULL);
	}
	for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *value = NULL;
		g_object_get(sink, names[i], &value, NULL);
		right += g_strcmp0(value, names[i]) == 0;
	}
	tap_ok(right == G_N_ELEMENTS(names), "each property keeps its own text: %u", right);
}

int main(int argc, char **argv) {
	gst_init(&argc, &argv);
	GST_PLUGIN_STATIC_REGISTER(gid);
	if (!tap_ok(cockpit_init(), "two domains") ||
			!pair_init("video/x-raw,format=BGRx,width=64,height=16,framerate=60/1",
					4096, "lease=60000")) {
		cockpit_finish();
		return 1;
	}
	struct gid_consumer *consumer = pair_consume();
	test_offset(consumer);
	test_late_frames(consumer);
	test_refused_frames(consumer);
	test_reverse(consumer);
	test_drain(consumer, FALSE);
	test_drain(consumer, TRUE);
	test_properties();
	gid_consumer_destroy(consumer);
	test_again();
	test_changed_in_ready();
	pair_finish();
	cockpit_finish();
	return tap_finish();
}
