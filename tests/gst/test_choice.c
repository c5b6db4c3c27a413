// SPDX-License-Identifier: MIT
/* How gidsink prefers what its consumers can show, and refuses nothing. */
#include <gst/video/video.h>

#include "sink_pair.h"

#define XR24 0x34325258u
#define AR24 0x34325241u
#define NV12 0x3231564eu
#define TILED 0x0100000000000002u
#define SIZE "width=64,height=16,framerate=60/1"
#define SECONDS 5

static const struct gid_showable pixman[] = {
		{XR24, GID_SHOWABLE_SHARED, 0},
		{AR24, GID_SHOWABLE_SHARED, 0},
};
static const struct gid_showable gl[] = {
		{NV12, GID_SHOWABLE_DMABUF, TILED},
		{NV12, GID_SHOWABLE_DMABUF, 0},
		{XR24, GID_SHOWABLE_SHARED | GID_SHOWABLE_DMABUF, 0},
};

/* The sink's caps for this filter, as upstream sees them. */
static GstCaps *ask(const char *filter) {
	g_autoptr(GstCaps) caps = filter != NULL ? gst_caps_from_string(filter) : NULL;
	return gst_pad_peer_query_caps(pair.pad, caps);
}

static bool is_first(const char *filter, const char *field, const char *expected) {
	g_autoptr(GstCaps) caps = ask(filter);
	g_autoptr(GstCaps) fixed = gst_caps_fixate(g_steal_pointer(&caps));
	const GstStructure *structure = gst_caps_get_structure(fixed, 0);
	return g_strcmp0(gst_structure_get_string(structure, field), expected) == 0;
}

static bool is_accepted(const char *caps) {
	g_autoptr(GstCaps) asked = gst_caps_from_string(caps);
	return gst_pad_peer_query_accept_caps(pair.pad, asked);
}

static void test_order(struct gid_consumer *consumer) {
	const char *raw = "video/x-raw,format={I420,NV12,BGRx}," SIZE;
	const char *drm = "video/x-raw(memory:DMABuf),format=DMA_DRM,"
			  "drm-format={XR24,NV12,NV12:0x0100000000000002}," SIZE;

	tap_ok(is_first(raw, "format", "I420"), "without a word of them upstream's order counts");
	gid_consumer_tell_showable(consumer, pixman, G_N_ELEMENTS(pixman));
	tap_ok(is_first(NULL, "format", "BGRx") && is_first(raw, "format", "BGRx"),
			"for a compositor with pixman RGB is first");
	tap_ok(is_accepted("video/x-raw,format=NV12," SIZE) &&
					is_accepted("video/x-raw,format=I420," SIZE) &&
					is_first("video/x-raw,format={I420,NV12}," SIZE, "format",
							"I420"),
			"all others go as before");
	gid_consumer_tell_showable(consumer, gl, G_N_ELEMENTS(gl));
	tap_ok(is_first(raw, "format", "BGRx"), "what needs a dma-buf is not preferred in others");
	g_object_set(pair.sink, "dmabuf", TRUE, NULL);
	tap_ok(is_first(raw, "format", "NV12"), "for one with GL and dma-bufs NV12 is");
	tap_ok(is_first(drm, "drm-format", "NV12:0x0100000000000002"),
			"with a modifier that only those understand who made it");
	g_object_set(pair.sink, "dmabuf", FALSE, NULL);
}

static void take_all(struct gid_consumer *consumer) {
	struct gid_frame frame;

	while (gid_consumer_receive(consumer, &frame) == 1) {
		gid_consumer_release(consumer, &frame);
	}
}

static gint64 seconds; /* that it took: more where the machine let nothing run */

/* Plays for so long, while the consumer says with each frame what `tell` says. */
static int reconfigures(struct gid_consumer *consumer,
		void (*tell)(struct gid_consumer *consumer, unsigned turn)) {
	gint64 begin = g_get_monotonic_time(), end = begin + SECONDS * G_TIME_SPAN_SECOND;
	bool pushed = true;

	pair.reconfigures = 0;
	for (unsigned i = 0; pushed && g_get_monotonic_time() < end; i++) {
		tell(consumer, i);
		pushed = pair_push();
		take_all(consumer);
		g_usleep(5000);
	}
	tap_ok(pushed, "frames go on");
	seconds = (g_get_monotonic_time() - begin) / G_TIME_SPAN_SECOND;
	return pair.reconfigures;
}

static void tell_rgb(struct gid_consumer *consumer, unsigned turn) {
	gid_consumer_tell_showable(consumer, pixman, G_N_ELEMENTS(pixman));
}

static void tell_nonsense(struct gid_consumer *consumer, unsigned turn) {
	const struct gid_showable lies[] = {
			{0, 1, 0}, {XR24, 0, 0}, {AR24, 0x80000000, 0}, {turn, turn, turn}};

	gid_consumer_tell_showable(consumer, lies, G_N_ELEMENTS(lies));
}

static void tell_anything(struct gid_consumer *consumer, unsigned turn) {
	const struct gid_showable *one = turn % 2 ? pixman : gl;

	gid_consumer_tell_showable(consumer, one, 1 + turn % 2);
}

int main(int argc, char **argv) {
	gst_init(&argc, &argv);
	GST_PLUGIN_STATIC_REGISTER(gid);
	if (!tap_ok(cockpit_init(), "two domains") ||
			!pair_init("video/x-raw,format=I420," SIZE, 1536, "")) {
		cockpit_finish();
		return 1;
	}
	struct gid_consumer *consumer = pair_consume();
	test_order(consumer);
	pair.offers = "video/x-raw,format={I420,NV12}," SIZE;
	int asked = reconfigures(consumer, tell_rgb);
	tap_ok(asked == 0, "upstream is not asked for what it has not");
	pair.offers = "video/x-raw,format={I420,BGRx}," SIZE;
	asked = reconfigures(consumer, tell_nonsense);
	tap_ok(asked == 0, "nor for what is no format");
	asked = reconfigures(consumer, tell_rgb);
	/* after a second, then after two, then after four */
	tap_ok(asked >= 1 && (1 << (asked - 1)) - 1 <= seconds,
			"but for what it has: %d times in %d s", asked, (int)seconds);
	asked = reconfigures(consumer, tell_anything);
	tap_ok(asked <= 2, "and hardly more for one that changes its mind with each frame: %d",
			asked);
	gid_consumer_destroy(consumer);
	pair_finish();
	cockpit_finish();
	return tap_finish();
}
