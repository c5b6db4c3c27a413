// SPDX-License-Identifier: MIT
/*
 * Pipelines that an application drives as it likes: any state at any time, properties, seeks,
 * flushes and ends, while a producer that is a program of its own is killed now and then. None
 * stands still, all play again in the end, and nothing of them is left.
 *
 * What is done follows from a number, $GIDWAY_SEED, so that a failure can be had again, about.
 */
#include <gst/gst.h>
#include <sys/prctl.h>

#include "cockpit.h"
#include "repeated.h"
#include "tap.h"

GST_PLUGIN_STATIC_DECLARE(gid);

#define STEPS 60
#define STEPS_AT_LENGTH 1500
#define SOME 10
#define STUCK_MS 60000 /* for which one step took longer than a busy machine has it take */
#define PICTURES                                                                                   \
	"videotestsrc is-live=true ! video/x-raw,format=I420,width=64,height=48,framerate=100/1"
#define PRODUCER PICTURES " ! gidsink domain=open stream=movie slots=8"

/* What is driven: `gid` has the properties that change, and `watch` counts what comes. */
static const char *const kinds[] = {
		"gidsrc name=gid domain=open reader=cluster stream=movie ! queue "
		"! fakesink name=watch sync=false signal-handoffs=true",
		"gidsrc name=gid domain=open reader=cluster stream=movie ! tee name=t "
		"t. ! queue ! fakesink name=watch sync=true signal-handoffs=true "
		"t. ! queue leaky=downstream ! videoconvert ! fakesink async=false",
		"videotestsrc ! video/x-raw,format=I420,width=64,height=48,framerate=100/1 "
		"! queue ! identity name=watch signal-handoffs=true "
		"! gidsink name=gid domain=open stream=camera/rear",
		"gidsrc name=gid domain=open reader=open stream=movie "
		"! identity name=watch signal-handoffs=true "
		"! gidsink domain=open stream=camera/left",
};

#define KINDS G_N_ELEMENTS(kinds)

static struct {
	GstElement *pipeline, *gid;
	gint frames;
} driven[KINDS];

static GRand *chance;
static char *self;
static pid_t producer;

/* --- what stands still ------------------------------------------------------------------------ */

static gint step_begun; /* ms; what is done now, as long as it takes */
static const char *step_name = "nothing";

static gpointer watch_steps(gpointer data) {
	while (true) {
		cockpit_sleep_ms(500);
		guint took = (guint)cockpit_now_ms() - (guint)g_atomic_int_get(&step_begun);
		if (took > STUCK_MS) {
			printf("Bail out! %s takes longer than %d ms\n", step_name, STUCK_MS);
			fflush(stdout);
			abort();
		}
	}
	return NULL;
}

static void begin_step(const char *name) {
	step_name = name;
	g_atomic_int_set(&step_begun, (gint)cockpit_now_ms());
}

/* --- the producer ----------------------------------------------------------------------------- */

static G_NORETURN void produce(void) {
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	GstElement *pipeline = gst_parse_launch(PRODUCER, NULL);
	while (gst_element_set_state(pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
		gst_element_set_state(pipeline, GST_STATE_NULL); /* its gidd is started again */
		cockpit_sleep_ms(20);
	}
	while (true) {
		pause();
	}
}

static void start_producer(void) {
	producer = fork();
	if (producer == 0) {
		unsetenv("GST_TRACERS");
		execl(self, self, "produce", NULL);
		_exit(127);
	}
}

static void kill_producer(void) {
	kill(producer, SIGKILL);
	waitpid(producer, NULL, 0);
}

static void restart_gidd(int number) {
	cockpit_kill(number);
	cockpit_start(number);
}

/* --- what is done ----------------------------------------------------------------------------- */

static void on_watched(GstElement *element, GstBuffer *buffer, gpointer frames) {
	g_atomic_int_inc((gint *)frames);
}

static void on_handoff(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer frames) {
	on_watched(sink, buffer, frames);
}

static void make(guint i) {
	driven[i].pipeline = gst_parse_launch(kinds[i], NULL);
	driven[i].gid = gst_bin_get_by_name(GST_BIN(driven[i].pipeline), "gid");
	g_autoptr(GstElement) watch = gst_bin_get_by_name(GST_BIN(driven[i].pipeline), "watch");
	bool is_sink = GST_OBJECT_FLAG_IS_SET(watch, GST_ELEMENT_FLAG_SINK);
	g_signal_connect(watch, "handoff",
			is_sink ? G_CALLBACK(on_handoff) : G_CALLBACK(on_watched),
			&driven[i].frames);
}

static void unmake(guint i) {
	gst_element_set_state(driven[i].pipeline, GST_STATE_NULL);
	g_clear_object(&driven[i].gid);
	g_clear_object(&driven[i].pipeline);
}

/* Any value but those that need what this machine may not have. */
static void set_any(GObject *object, GParamSpec *spec) {
	static const char *const others[] = {"dmabuf", "protection", "qos", "fill", "num-buffers",
			"blocksize", "wait-for-connection"};
	GValue value = G_VALUE_INIT;

	for (guint i = 0; i < G_N_ELEMENTS(others); i++) {
		if (strcmp(spec->name, others[i]) == 0) {
			return;
		}
	}
	g_value_init(&value, spec->value_type);
	g_param_value_set_default(spec, &value);
	if (G_IS_PARAM_SPEC_BOOLEAN(spec)) {
		g_value_set_boolean(&value, g_rand_boolean(chance));
	} else if (G_IS_PARAM_SPEC_UINT(spec) && g_rand_boolean(chance)) {
		const GParamSpecUInt *range = G_PARAM_SPEC_UINT(spec);
		g_value_set_uint(&value,
				MIN(range->minimum + g_rand_int_range(chance, 0, 50),
						range->maximum));
	} else if (G_IS_PARAM_SPEC_ENUM(spec)) {
		g_value_set_enum(&value, g_rand_int_range(chance, 0, 3));
	}
	if (!G_IS_PARAM_SPEC_STRING(spec) && !G_IS_PARAM_SPEC_OBJECT(spec)) {
		g_object_set_property(object, spec->name, &value);
	}
	g_value_unset(&value);
}

/* All as at first, where `any` is false. */
static void set_properties(guint i, bool any) {
	guint count;
	g_autofree GParamSpec **specs =
			g_object_class_list_properties(G_OBJECT_GET_CLASS(driven[i].gid), &count);
	for (guint k = 0; k < count; k++) {
		GParamSpec *spec = specs[k];
		bool ours = g_str_has_prefix(g_type_name(spec->owner_type), "GstGid");
		if (!ours || !(spec->flags & G_PARAM_WRITABLE) || G_IS_PARAM_SPEC_STRING(spec)) {
			continue;
		}
		if (!any) {
			g_object_set_property(G_OBJECT(driven[i].gid), spec->name,
					g_param_spec_get_default_value(spec));
		} else if (g_rand_int_range(chance, 0, 4) == 0) {
			set_any(G_OBJECT(driven[i].gid), spec);
		}
	}
}

static void change_state(guint i) {
	GstState state = (GstState)g_rand_int_range(chance, GST_STATE_NULL, GST_STATE_PLAYING + 1);
	begin_step(gst_element_state_get_name(state));
	gst_element_set_state(driven[i].pipeline, state);
}

/* Else what is done to it is done by GStreamer's source, which waits for its queue in a pause. */
static bool is_source(guint i) {
	return !GST_OBJECT_FLAG_IS_SET(driven[i].gid, GST_ELEMENT_FLAG_SINK);
}

/* Running time goes on: GStreamer's sinks wait for the frames of before where it begins anew. */
static void flush(guint i) {
	begin_step("a flush");
	gst_element_send_event(driven[i].gid, gst_event_new_flush_start());
	gst_element_send_event(driven[i].gid, gst_event_new_flush_stop(FALSE));
}

static void seek(guint i) {
	begin_step("a seek");
	gst_element_seek_simple(driven[i].pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
			g_rand_int_range(chance, 0, 100) * GST_SECOND);
}

static void end(guint i) {
	begin_step("an end");
	gst_element_send_event(driven[i].pipeline, gst_event_new_eos());
}

static void ask(guint i) {
	g_autoptr(GstStructure) stats = NULL;
	gint64 position;
	begin_step("a question");
	g_object_get(driven[i].gid, "stats", &stats, NULL);
	gst_element_query_position(driven[i].pipeline, GST_FORMAT_TIME, &position);
	gst_bin_recalculate_latency(GST_BIN(driven[i].pipeline));
}

static void make_anew(guint i) {
	begin_step("the end of a pipeline");
	unmake(i);
	make(i);
}

static void do_something(guint i) {
	switch (g_rand_int_range(chance, 0, 20)) {
	case 0:
	case 1:
		begin_step("properties");
		set_properties(i, true);
		break;
	case 2:
		if (is_source(i)) {
			flush(i);
		}
		break;
	case 3:
		seek(i);
		break;
	case 4:
		if (is_source(i)) {
			end(i);
		}
		break;
	case 5:
	case 6:
		ask(i);
		break;
	case 7:
		make_anew(i);
		break;
	case 8:
		begin_step("another producer");
		kill_producer();
		start_producer();
		break;
	case 9:
		begin_step("another gidd");
		restart_gidd(g_rand_int_range(chance, 1, 3));
		break;
	default:
		change_state(i);
		break;
	}
}

static void drive(guint steps) {
	for (guint step = 0; step < steps; step++) {
		guint i = (guint)g_rand_int_range(chance, 0, KINDS);
		do_something(i);
		cockpit_sleep_ms(g_rand_int_range(chance, 0, 30));
	}
	begin_step("the rest");
}

/* --- what is left ----------------------------------------------------------------------------- */

static bool plays(guint i) {
	gint until = g_atomic_int_get(&driven[i].frames) + SOME;
	begin_step("frames");
	for (int ms = 0; ms < STUCK_MS / 2 && g_atomic_int_get(&driven[i].frames) < until;
			ms += 5) {
		cockpit_sleep_ms(5);
	}
	return g_atomic_int_get(&driven[i].frames) >= until;
}

/* Why it does not. */
static void explain(guint i) {
	g_autoptr(GstBus) bus = gst_element_get_bus(driven[i].pipeline);
	g_autoptr(GstStructure) stats = NULL;
	GstMessage *message;
	g_object_get(driven[i].gid, "stats", &stats, NULL);
	g_autofree char *text = gst_structure_to_string(stats);
	printf("# state %s, pending %s: %s\n",
			gst_element_state_get_name(GST_STATE(driven[i].pipeline)),
			gst_element_state_get_name(GST_STATE_PENDING(driven[i].pipeline)), text);
	while ((message = gst_bus_pop(bus)) != NULL) {
		const GstStructure *said = gst_message_get_structure(message);
		g_autofree char *words = said != NULL ? gst_structure_to_string(said) : NULL;
		if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_STATE_CHANGED) {
			printf("# %s: %.300s\n", GST_MESSAGE_TYPE_NAME(message), words);
		}
		gst_message_unref(message);
	}
}

static guint count_live_objects(void) {
	guint count = 0;
	GList *tracers = gst_tracing_get_active_tracers();
	for (GList *at = tracers; at != NULL; at = at->next) {
		GstStructure *live = NULL;
		g_signal_emit_by_name(at->data, "get-live-objects", &live);
		g_autofree char *text = gst_structure_to_string(live);
		const GValue *list = gst_structure_get_value(live, "live-objects-list");
		count += gst_value_list_get_size(list);
		printf("# %.4000s\n", text);
		gst_structure_free(live);
	}
	g_list_free_full(tracers, gst_object_unref);
	return count;
}

/* An end that was asked for in NULL is the end of what plays next, unless it was paused before. */
static void play_all(void) {
	for (guint i = 0; i < KINDS; i++) {
		gst_element_set_state(driven[i].pipeline, GST_STATE_PAUSED);
		gst_element_set_state(driven[i].pipeline, GST_STATE_NULL);
		set_properties(i, false);
		gst_element_set_state(driven[i].pipeline, GST_STATE_PLAYING);
	}
	for (guint i = 0; i < KINDS; i++) {
		if (!tap_ok(plays(i), "it plays: %s", kinds[i])) {
			explain(i);
		}
	}
	for (guint i = 0; i < KINDS; i++) {
		unmake(i);
	}
}

static void make_all(void) {
	for (guint i = 0; i < KINDS; i++) {
		make(i);
	}
}

int main(int argc, char **argv) {
	setenv("GST_TRACERS",
			"leaks(filters=\"GstElement,GstPad,GstBuffer,GstMemory,GstBufferPool\")",
			1);
	gst_init(&argc, &argv);
	GST_PLUGIN_STATIC_REGISTER(gid);
	self = argv[0];
	if (argc > 1) {
		produce();
	}
	if (!tap_ok(cockpit_init(), "two domains")) {
		cockpit_finish();
		return 1;
	}
	const char *seed = getenv("GIDWAY_SEED");
	guint32 number = seed != NULL ? (guint32)strtoul(seed, NULL, 10) : g_random_int();
	printf("# GIDWAY_SEED=%u\n", number);
	chance = g_rand_new_with_seed(number);
	start_producer();
	begin_step("the begin");
	g_thread_unref(g_thread_new("watch", watch_steps, NULL));
	make_all();
	play_all(); /* GLib keeps some of what the first ones made */
	int fds = cockpit_count_settled("/proc/self/fd");
	make_all();
	drive(repeated(STEPS, STEPS_AT_LENGTH));
	play_all();
	kill_producer();
	guint objects = count_live_objects();
	tap_ok(objects == 0, "no object of a pipeline is left: %u", objects);
	int left = cockpit_count_settled("/proc/self/fd") - fds;
	tap_ok(left == 0, "nor a descriptor: %d", left);
	g_rand_free(chance);
	cockpit_finish();
	return tap_finish();
}
