// SPDX-License-Identifier: MIT
/* What gidsink tells upstream of frames that were too late for a consumer's display. */
#include "sink_pair.h"

#define IN_TIME 10000000u
#define TOO_LATE (IN_TIME + PERIOD)

/* Sends a frame that is shown so long after it was sent; the sink hears it with the next one. */
static bool show(struct gid_consumer *consumer, uint64_t latency) {
	struct gid_frame frame;

	if (!pair_push() || gid_consumer_wait(consumer, COCKPIT_PATIENCE_MS) != 1 ||
			gid_consumer_receive(consumer, &frame) != 1) {
		return tap_ok(false, "a frame comes");
	}
	const struct gid_shown shown = {.sequence = frame.sequence,
			.time = frame.submit_time + latency,
			.refresh_ns = PERIOD};
	return gid_consumer_tell_shown(consumer, &shown) == 0 &&
			gid_consumer_release(consumer, &frame) == 0;
}

static guint64 late_frames(void) {
	g_autoptr(GstStructure) stats = NULL;
	guint64 late = 0;

	g_object_get(pair.sink, "stats", &stats, NULL);
	gst_structure_get_uint64(stats, "display-late", &late);
	return late;
}

int main(int argc, char **argv) {
	gst_init(&argc, &argv);
	GST_PLUGIN_STATIC_REGISTER(gid);
	if (!tap_ok(cockpit_init(), "two domains") ||
			!pair_init("video/x-raw,format=BGRx,width=64,height=16,framerate=60/1",
					4096, "display-clock=true")) {
		cockpit_finish();
		return 1;
	}
	struct gid_consumer *consumer = pair_consume();
	bool shown = show(consumer, IN_TIME) && show(consumer, IN_TIME) && show(consumer, IN_TIME);
	tap_ok(shown && pair.qos == 0, "frames in time are no news");
	shown = show(consumer, TOO_LATE) && show(consumer, TOO_LATE) && show(consumer, IN_TIME);
	tap_ok(shown && pair.qos == 1 && pair.late_by == PERIOD && pair.late_time == 4 * PERIOD,
			"a late one is, with its time and by how much");
	shown = show(consumer, IN_TIME) && show(consumer, TOO_LATE) && show(consumer, IN_TIME);
	tap_ok(shown && pair.qos == 2 && pair.late_time == 7 * PERIOD, "and each one after it");
	tap_ok(late_frames() == 2, "they are counted");
	/* Later than any display: it is not believed. */
	shown = show(consumer, UINT64_MAX / 2) && show(consumer, IN_TIME);
	tap_ok(shown && pair.qos == 2, "what cannot be is no news");
	gid_consumer_destroy(consumer);
	pair_finish();
	cockpit_finish();
	return tap_finish();
}
