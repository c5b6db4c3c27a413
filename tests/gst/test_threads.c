// SPDX-License-Identifier: MIT
/*
 * All that can happen to gidsink and gidsrc at the same time, for TSan to look at: several readers
 * in one program, other caps, seeks that flush, properties and statistics of another thread,
 * readers and producers that stop and start while frames flow; and the same with readers that are
 * programs of their own.
 */
#include <gst/gst.h>

#include "cockpit.h"
#include "tap.h"

GST_PLUGIN_STATIC_DECLARE(gid);

#define READERS 3
#define PROGRAMS 2
#define ROUNDS 6
#define SOME 15
#define SENDER                                                                                     \
	"videotestsrc name=source ! capsfilter name=caps caps=video/x-raw,format=I420,width=64,"   \
	"height=48,framerate=100/1 ! queue max-size-buffers=2 ! "                                  \
	"gidsink name=sink stream=movie slots=8"
#define READER                                                                                     \
	"gidsrc name=source domain=open reader=cluster stream=movie forward-eos=false ! "          \
	"queue max-size-buffers=2 ! fakesink name=sink sync=false signal-handoffs=true"

struct reader {
	GstElement *pipeline, *source;
	gint frames;
};

static void on_frame(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer data) {
	GstMapInfo map;
	if (gst_buffer_map(buffer, &map, GST_MAP_READ)) {
		gst_buffer_unmap(buffer, &map);
		g_atomic_int_inc(&((struct reader *)data)->frames);
	}
}

/* With a credit of 1 each frame is a copy; 0: as many as gidsrc chooses. */
static void reader_init(struct reader *reader, guint credit) {
	*reader = (struct reader){.pipeline = gst_parse_launch(READER, NULL)};
	reader->source = gst_bin_get_by_name(GST_BIN(reader->pipeline), "source");
	g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(reader->pipeline), "sink");
	g_signal_connect(sink, "handoff", G_CALLBACK(on_frame), reader);
	g_object_set(reader->source, "credit", credit, NULL);
	gst_element_set_state(reader->pipeline, GST_STATE_PLAYING);
}

static void reader_finish(struct reader *reader) {
	gst_element_set_state(reader->pipeline, GST_STATE_NULL);
	gst_object_unref(reader->source);
	gst_object_unref(reader->pipeline);
}

/* Until it got so many more; meanwhile somebody asks both ends how they do. */
static bool get_more(struct reader *reader, GstElement *sink) {
	gint until = g_atomic_int_get(&reader->frames) + SOME;
	long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
	while (g_atomic_int_get(&reader->frames) < until && cockpit_now_ms() < end) {
		g_autoptr(GstStructure) received = NULL, sent = NULL;
		g_object_get(reader->source, "stats", &received, NULL);
		g_object_set(reader->source, "copy-policy", until % 2, NULL);
		if (sink != NULL) {
			g_object_get(sink, "stats", &sent, NULL);
			g_object_set(sink, "lease", 5000, "leaky", until % 2 == 0, NULL);
		}
		cockpit_sleep_ms(5);
	}
	return g_atomic_int_get(&reader->frames) >= until;
}

static bool is_copied(struct reader *reader) {
	g_autoptr(GstStructure) stats = NULL;
	guint64 copied = 0;
	g_object_get(reader->source, "stats", &stats, NULL);
	return gst_structure_get_uint64(stats, "copied-frames", &copied) && copied > 0;
}

static bool get_more_all(struct reader *readers, GstElement *sink) {
	bool got = true;
	for (int i = 0; i < READERS; i++) {
		got = got && get_more(&readers[i], sink);
	}
	return got;
}

static void set_size(GstElement *sender, int round) {
	g_autoptr(GstElement) filter = gst_bin_get_by_name(GST_BIN(sender), "caps");
	g_autoptr(GstCaps) caps = gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING,
			round % 3 == 0 ? "BGRx" : "I420", "width", G_TYPE_INT, 64 + round * 16,
			"height", G_TYPE_INT, 48, "framerate", GST_TYPE_FRACTION, 100, 1, NULL);
	g_object_set(filter, "caps", caps, NULL);
}

static bool seek(GstElement *sender, int round) {
	return gst_element_seek_simple(sender, GST_FORMAT_TIME,
			GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, round * GST_SECOND);
}

/* As an application may do it in any state. */
static void flush(struct reader *reader) {
	gst_element_send_event(reader->source, gst_event_new_flush_start());
	gst_element_send_event(reader->source, gst_event_new_flush_stop(TRUE));
}

static void test_one_program(GstElement *sender, GstElement *sink) {
	struct reader readers[READERS];
	for (int i = 0; i < READERS; i++) {
		reader_init(&readers[i], i == 0 ? 1 : 0);
	}
	tap_ok(get_more_all(readers, sink), "%d readers in one program", READERS);
	bool resized = true, sought = true, flushed = true, stopped = true, restarted = true;
	for (int round = 0; round < ROUNDS; round++) {
		struct reader *one = &readers[round % READERS];
		set_size(sender, round);
		resized = resized && get_more_all(readers, sink);
		sought = sought && seek(sender, round) && get_more_all(readers, sink);
		flush(one);
		flushed = flushed && get_more_all(readers, sink);
		gst_element_set_state(one->pipeline, GST_STATE_NULL);
		flush(one);
		gst_element_set_state(one->pipeline, GST_STATE_PLAYING);
		stopped = stopped && get_more_all(readers, sink);
		gst_element_set_state(sender, round % 2 == 0 ? GST_STATE_READY : GST_STATE_NULL);
		gst_element_set_state(sender, GST_STATE_PLAYING);
		restarted = restarted && get_more_all(readers, sink);
	}
	tap_ok(resized, "pictures of other sizes and formats");
	tap_ok(sought, "seeks that flush");
	tap_ok(flushed, "readers that are flushed");
	tap_ok(stopped, "readers that stop and start");
	tap_ok(restarted, "a producer that stops and starts");
	tap_ok(is_copied(&readers[0]), "one of the readers gets copies");
	for (int i = 0; i < READERS; i++) {
		reader_finish(&readers[i]);
	}
}

/* --- two programs ----------------------------------------------------------------------------- */

static int read_as_program(void) {
	struct reader reader;
	bool got = true;
	reader_init(&reader, 0);
	for (int round = 0; round < ROUNDS && got; round++) {
		got = get_more(&reader, NULL);
		gst_element_set_state(reader.pipeline, GST_STATE_READY);
		gst_element_set_state(reader.pipeline, GST_STATE_PLAYING);
	}
	reader_finish(&reader);
	return got ? 0 : 1;
}

static void test_several_programs(GstElement *sender, char *self) {
	GPid programs[PROGRAMS];
	char *arguments[] = {self, (char *)"read", NULL};
	bool good = true;
	for (int i = 0; i < PROGRAMS; i++) {
		good = good &&
				g_spawn_async(NULL, arguments, NULL, G_SPAWN_DO_NOT_REAP_CHILD,
						NULL, NULL, &programs[i], NULL);
	}
	for (int round = 0; round < ROUNDS && good; round++) {
		cockpit_sleep_ms(200);
		set_size(sender, round);
		cockpit_sleep_ms(200);
		good = seek(sender, round);
	}
	for (int i = 0; i < PROGRAMS && good; i++) {
		int status = -1;
		waitpid(programs[i], &status, 0);
		good = status == 0;
	}
	tap_ok(good, "%d readers that are programs of their own", PROGRAMS);
}

int main(int argc, char **argv) {
	gst_init(&argc, &argv);
	GST_PLUGIN_STATIC_REGISTER(gid);
	if (argc > 1) {
		return read_as_program();
	}
	if (!tap_ok(cockpit_init(), "two domains")) {
		cockpit_finish();
		return 1;
	}
	g_setenv("GID_DOMAIN", "open", TRUE);
	GstElement *sender = gst_parse_launch(SENDER, NULL);
	GstElement *sink = gst_bin_get_by_name(GST_BIN(sender), "sink");
	gst_element_set_state(sender, GST_STATE_PLAYING);
	test_one_program(sender, sink);
	test_several_programs(sender, argv[0]);
	gst_element_set_state(sender, GST_STATE_NULL);
	gst_object_unref(sink);
	gst_object_unref(sender);
	cockpit_finish();
	return tap_finish();
}
