// SPDX-License-Identifier: MIT
#include <stdio.h>

#include "handoff.h"

static GstElement *make_pipeline(const char *description) {
	GError *error = NULL;
	GstElement *pipeline = gst_parse_launch(description, &error);
	if (error != NULL) {
		fprintf(stderr, "%s: %s\n", description, error->message);
		g_clear_error(&error);
		g_clear_pointer(&pipeline, gst_object_unref);
	}
	return pipeline;
}

/* Plays until the end of the stream, `until` and a second, or an error. */
static int play(GstElement *pipeline, uint64_t until) {
	GstBus *bus = gst_element_get_bus(pipeline);
	uint64_t now = handoff_now();
	uint64_t patience = (until > now ? until - now : 0) + 1000000000;
	gst_element_set_state(pipeline, GST_STATE_PLAYING);
	GstMessage *message = gst_bus_timed_pop_filtered(
			bus, patience, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
	int status = 0;
	if (message != NULL && GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
		GError *error = NULL;
		gst_message_parse_error(message, &error, NULL);
		fprintf(stderr, "%s: %s\n", GST_MESSAGE_SRC_NAME(message), error->message);
		g_clear_error(&error);
		status = 1;
	}
	g_clear_pointer(&message, gst_message_unref);
	gst_object_unref(bus);
	gst_element_set_state(pipeline, GST_STATE_NULL);
	return status;
}

static GstPadProbeReturn wake_for_buffer(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
	sleeper_wake(data);
	return GST_PAD_PROBE_OK;
}

/* The generator and what follows it. The sleeper, where there is one, is woken for each frame. */
static int send_frames(
		const struct handoff_options *options, const char *sink, struct sleeper *sleeper) {
	struct meter meter;
	gst_element_register(NULL, "handoffgenerator", GST_RANK_NONE, handoff_generator_get_type());
	char *description = g_strdup_printf(
			"handoffgenerator name=generator ! %s ! %s", options->caps, sink);
	GstElement *pipeline = make_pipeline(description);
	g_free(description);
	if (pipeline == NULL) {
		return 1;
	}
	meter_init(&meter, options);
	GstElement *generator = gst_bin_get_by_name(GST_BIN(pipeline), "generator");
	handoff_generator_set(generator, &meter, options->rate);
	if (sleeper != NULL) {
		meter.other = sleeper->pid;
		GstPad *pad = gst_element_get_static_pad(generator, "src");
		gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, wake_for_buffer, sleeper, NULL);
		gst_object_unref(pad);
	}
	int status = play(pipeline, options->until);
	if (status == 0) {
		meter_print(&meter, 0);
	}
	gst_object_unref(generator);
	gst_object_unref(pipeline);
	meter_finish(&meter);
	return status;
}

int handoff_send(const struct handoff_options *options) {
	return send_frames(options, options->pipeline, NULL);
}

static int wake(const struct handoff_options *options, bool source) {
	struct sleeper sleeper;
	if (!sleeper_start(&sleeper, options->peer_cpu, source)) {
		return 1;
	}
	int status = send_frames(options, "fakesink sync=false", &sleeper);
	sleeper_end(&sleeper);
	return status;
}

int handoff_wake(const struct handoff_options *options) {
	return wake(options, false);
}

int handoff_wake_source(const struct handoff_options *options) {
	return wake(options, true);
}

/* --- receiving -------------------------------------------------------------------------------- */

struct receiver {
	const struct handoff_options *options;
	GstElement *pipeline;
	struct meter meter;
	uint64_t first, last, received; // sequence numbers in the window, and how many there were
	uint64_t sum;			// of what was read, so that it is read
};

static void inspect(struct receiver *receiver, GstBuffer *buffer, uint64_t now, bool counts) {
	GstMapInfo map;
	if (!gst_buffer_map(buffer, &map, GST_MAP_READ)) {
		return;
	}
	const struct handoff_header header = *(const struct handoff_header *)(const void *)map.data;
	if (counts && header.magic == HANDOFF_MAGIC) {
		receiver->first = receiver->received == 0 ? header.sequence : receiver->first;
		receiver->last = header.sequence;
		receiver->received++;
		if (!receiver->options->time_from_pts) {
			meter_latency(&receiver->meter, now - header.time);
		}
	}
	if (receiver->options->read_all) {
		receiver->sum += handoff_read(map.data, map.size);
	}
	gst_buffer_unmap(buffer, &map);
}

static GstPadProbeReturn receive_buffer(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
	struct receiver *receiver = data;
	const struct handoff_options *options = receiver->options;
	GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
	uint64_t now = handoff_now();
	bool had_ended = receiver->meter.ended;
	bool counts = meter_frame(&receiver->meter, now);
	if (options->time_from_pts && counts) {
		uint64_t base_time = gst_element_get_base_time(receiver->pipeline);
		meter_latency(&receiver->meter, now - base_time - GST_BUFFER_PTS(buffer));
	}
	if (options->read_all || !options->time_from_pts) {
		inspect(receiver, buffer, now, counts);
	}
	if (receiver->meter.ended && !had_ended) {
		gst_element_post_message(receiver->pipeline,
				gst_message_new_eos(GST_OBJECT(receiver->pipeline)));
	}
	return GST_PAD_PROBE_OK;
}

int handoff_receive(const struct handoff_options *options) {
	struct receiver receiver = {.options = options};
	char *description =
			g_strdup_printf("%s ! fakesink name=sink sync=false", options->pipeline);
	receiver.pipeline = make_pipeline(description);
	g_free(description);
	if (receiver.pipeline == NULL) {
		return 1;
	}
	meter_init(&receiver.meter, options);
	GstElement *sink = gst_bin_get_by_name(GST_BIN(receiver.pipeline), "sink");
	GstPad *pad = gst_element_get_static_pad(sink, "sink");
	gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, receive_buffer, &receiver, NULL);
	int status = play(receiver.pipeline, options->until);
	if (status == 0) {
		uint64_t sent = receiver.received > 0 ? receiver.last - receiver.first + 1 : 0;
		meter_print(&receiver.meter, sent - receiver.received);
	}
	gst_object_unref(pad);
	gst_object_unref(sink);
	gst_object_unref(receiver.pipeline);
	meter_finish(&receiver.meter);
	return status;
}
