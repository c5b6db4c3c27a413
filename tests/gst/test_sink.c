// SPDX-License-Identifier: MIT
/* When gidsink says that frames are to be shown, and what it does where upstream wants them back.
 */
#include "sink_pair.h"

#define BASE (GST_SECOND * 3)
#define DELAY (GST_SECOND / 2)

static uint64_t next_present_time(struct gid_consumer *consumer) {
	struct gid_frame frame;

	if (!pair_push() || gid_consumer_wait(consumer, COCKPIT_PATIENCE_MS) != 1 ||
			gid_consumer_receive(consumer, &frame) != 1) {
		return GID_TIME_NONE;
	}
	gid_consumer_release(consumer, &frame);
	return frame.present_time;
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

static gpointer drain(gpointer done) {
	GstQuery *query = gst_query_new_drain();

	gst_pad_peer_query(pair.pad, query);
	gst_query_unref(query);
	g_atomic_int_set((gint *)done, TRUE);
	return NULL;
}

static void test_drain(struct gid_consumer *consumer) {
	struct gid_frame frame;
	gint drained = FALSE;
	int count = 0;

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
	tap_ok(count == 3, "and none is lost with leaky=false");
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
	test_drain(consumer);
	gid_consumer_destroy(consumer);
	pair_finish();
	cockpit_finish();
	return tap_finish();
}
