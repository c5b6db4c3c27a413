// SPDX-License-Identifier: MIT
/** A gidsink that is fed buffer by buffer, and a consumer of its stream, both told what to do. */
#ifndef GID_TESTS_SINK_PAIR_H
#define GID_TESTS_SINK_PAIR_H

#include <gid/stream.h>
#include <gst/gst.h>

#include "cockpit.h"
#include "tap.h"

GST_PLUGIN_STATIC_DECLARE(gid);

#define PERIOD 16666667

static struct {
	GstElement *sink;
	GstPad *pad; /* upstream's */
	GstBus *bus; /* where the sink posts */
	struct gid_domain *reader;
	gsize bytes;	    /* of a picture */
	const char *caps;   /* likewise */
	const char *offers; /* upstream's caps, where it is asked */
	guint64 pushed;
	/* what came upstream */
	int qos, reconfigures;
	GstClockTimeDiff late_by;
	GstClockTime late_time;
} pair;

static inline gboolean pair_hear(GstPad *pad, GstObject *parent, GstEvent *event) {
	if (GST_EVENT_TYPE(event) == GST_EVENT_QOS) {
		pair.qos++;
		gst_event_parse_qos(event, NULL, NULL, &pair.late_by, &pair.late_time);
	} else if (GST_EVENT_TYPE(event) == GST_EVENT_RECONFIGURE) {
		pair.reconfigures++;
	}
	gst_event_unref(event);
	return TRUE;
}

static inline gboolean pair_answer(GstPad *pad, GstObject *parent, GstQuery *query) {
	GstCaps *filter;

	if (GST_QUERY_TYPE(query) != GST_QUERY_CAPS || pair.offers == NULL) {
		return gst_pad_query_default(pad, parent, query);
	}
	gst_query_parse_caps(query, &filter);
	g_autoptr(GstCaps) caps = gst_caps_from_string(pair.offers);
	g_autoptr(GstCaps) both =
			filter != NULL ? gst_caps_intersect(caps, filter) : gst_caps_ref(caps);
	gst_query_set_caps_result(query, both);
	return TRUE;
}

/* What comes before the first buffer. */
static inline void pair_begin(void) {
	g_autoptr(GstCaps) made = gst_caps_from_string(pair.caps);
	GstSegment segment;

	gst_pad_push_event(pair.pad, gst_event_new_stream_start("test"));
	gst_pad_push_event(pair.pad, gst_event_new_caps(made));
	gst_segment_init(&segment, GST_FORMAT_TIME);
	gst_pad_push_event(pair.pad, gst_event_new_segment(&segment));
}

/* `caps` and `bytes`: of the buffers; further properties of the sink as text. */
static inline bool pair_init(const char *caps, gsize bytes, const char *properties) {
	g_autofree char *text = g_strdup_printf(
			"gidsink domain=open stream=movie sync=false async=false leaky=false %s",
			properties);
	g_autoptr(GError) error = NULL;

	pair.bytes = bytes;
	pair.caps = caps;
	pair.sink = gst_parse_launch(text, &error);
	if (!tap_ok(pair.sink != NULL && gid_domain_connect("cluster", &pair.reader) == 0,
			    "a sink and a reader (%s)", error ? error->message : "")) {
		return false;
	}
	pair.bus = gst_bus_new();
	gst_element_set_bus(pair.sink, pair.bus);
	pair.pad = gst_pad_new("src", GST_PAD_SRC);
	gst_pad_set_event_function(pair.pad, pair_hear);
	gst_pad_set_query_function(pair.pad, pair_answer);
	gst_pad_set_active(pair.pad, TRUE);
	g_autoptr(GstPad) sink_pad = gst_element_get_static_pad(pair.sink, "sink");
	gst_pad_link(pair.pad, sink_pad);
	if (gst_element_set_state(pair.sink, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
		return tap_ok(false, "it plays");
	}
	pair_begin();
	return true;
}

static inline void pair_finish(void) {
	gst_element_set_state(pair.sink, GST_STATE_NULL);
	gst_pad_set_active(pair.pad, FALSE);
	gst_object_unref(pair.pad);
	gst_object_unref(pair.sink);
	gst_object_unref(pair.bus);
	gid_domain_destroy(pair.reader);
}

static inline bool pair_push(void) {
	GstBuffer *buffer = gst_buffer_new_allocate(NULL, pair.bytes, NULL);

	GST_BUFFER_PTS(buffer) = pair.pushed++ * PERIOD;
	return gst_pad_push(pair.pad, buffer) == GST_FLOW_OK;
}

static inline bool pair_is_live(void *consumer) {
	return gid_consumer_get_state(consumer) == GID_CONSUMER_LIVE;
}

static inline struct gid_consumer *pair_consume(void) {
	struct gid_consumer_options options = {.size = sizeof(options), .credit = 8};
	struct gid_consumer *consumer = NULL;

	gid_consumer_create(pair.reader, "open", "movie", &options, &consumer);
	tap_ok(consumer != NULL && cockpit_until(pair.reader, pair_is_live, consumer),
			"a consumer");
	return consumer;
}

#endif
