// SPDX-License-Identifier: MIT
/*
 * Runs a GStreamer pipeline and writes down every frame that reaches the element named `watch`: a
 * JSON object a line on stdout, with a hash of the visible pixels, times, flags and memory.
 * Messages of the bus come as objects, too. For the tests, which tell it more on a descriptor:
 *
 *     seek NS · state playing|paused|ready|null · eos · stats ELEMENT · set ELEMENT PROPERTY VALUE
 *     flush ELEMENT · release · pass N · open · quit
 *
 * The element named `gate`, if there is one, lets no frame and no end of the stream through but so
 * many as `pass` has said, or all after `open`. So tests say what is slow, and by how much.
 */
#include <glib-unix.h>
#include <gst/allocators/allocators.h>
#include <gst/video/video.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lines.h"

static struct {
	GMainLoop *loop;
	GstElement *pipeline;
	GstVideoInfo info;
	bool have_info;
	GstSegment segment;
	GMutex lock;   /* of the held buffers */
	GQueue held;   /* struct held, the oldest first */
	gint hold;     /* how many to keep */
	gint asks_for; /* how many `watch` says that it keeps */
	gboolean stays;
	guint frames, overwritten;
	int status;
	GString *commands; /* read and not yet obeyed */
} run = {.held = G_QUEUE_INIT};

static struct {
	GMutex lock;
	GCond changed;
	guint64 passes; /* that are left */
	gboolean is_open;
} gate;

struct held {
	GstBuffer *buffer;
	GstVideoInfo info;
	guint64 sum;
	guint number;
};

/* --- frames --- */

/* A hash of the pixels that are to be seen. */
static guint64 sum_buffer(GstBuffer *buffer, GstVideoInfo *info) {
	GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta(buffer);
	GstVideoFrame frame;
	XXH3_state_t *state = XXH3_createState();
	guint64 sum = 0;

	XXH3_64bits_reset(state);
	if (gst_video_frame_map(&frame, info, buffer, GST_MAP_READ)) {
		for (guint plane = 0; plane < GST_VIDEO_FRAME_N_PLANES(&frame); plane++) {
			gint comp[GST_VIDEO_MAX_COMPONENTS];
			const guint8 *data = GST_VIDEO_FRAME_PLANE_DATA(&frame, plane);
			gint stride = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane);
			gint rows, bytes;

			gst_video_format_info_component(info->finfo, plane, comp);
			rows = GST_VIDEO_INFO_COMP_HEIGHT(info, comp[0]);
			bytes = GST_VIDEO_INFO_COMP_WIDTH(info, comp[0]) *
					GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, comp[0]);
			if (crop != NULL) {
				/* rounded down, as the numbers of samples are rounded up */
				gint x = crop->x >>
						GST_VIDEO_FORMAT_INFO_W_SUB(info->finfo, comp[0]);
				gint y = crop->y >>
						GST_VIDEO_FORMAT_INFO_H_SUB(info->finfo, comp[0]);
				data += y * stride +
						x * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, comp[0]);
			}
			for (gint row = 0; row < rows; row++) {
				XXH3_64bits_update(state, data + (gssize)row * stride, bytes);
			}
		}
		sum = XXH3_64bits_digest(state);
		gst_video_frame_unmap(&frame);
	}
	XXH3_freeState(state);
	return sum;
}

/* Looks whether the pixels are still what they were when the frame came. */
static void drop_held(struct held *held) {
	if (sum_buffer(held->buffer, &held->info) != held->sum) {
		run.overwritten++;
	}
	gst_buffer_unref(held->buffer);
	g_free(held);
}

static void hold(GstBuffer *buffer, guint64 sum) {
	struct held *held = g_new0(struct held, 1);

	held->buffer = gst_buffer_ref(buffer);
	held->info = run.info;
	held->sum = sum;
	g_mutex_lock(&run.lock);
	g_queue_push_tail(&run.held, held);
	while ((gint)g_queue_get_length(&run.held) > run.hold) {
		drop_held(g_queue_pop_head(&run.held));
	}
	g_mutex_unlock(&run.lock);
}

static void release_held(void) {
	g_mutex_lock(&run.lock);
	while (!g_queue_is_empty(&run.held)) {
		drop_held(g_queue_pop_head(&run.held));
	}
	g_mutex_unlock(&run.lock);
}

static void put_meta(GString *out, GstBuffer *buffer) {
	GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
	GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta(buffer);
	g_autoptr(GstCaps) media = gst_caps_new_empty_simple("timestamp/x-gid-media");
	g_autoptr(GstCaps) submit = gst_caps_new_empty_simple("timestamp/x-gid-submit");
	GstReferenceTimestampMeta *time;

	if (meta != NULL) {
		put_number(out, "meta_width", meta->width);
		put_number(out, "meta_height", meta->height);
		put_key(out, "strides");
		for (guint i = 0; i < meta->n_planes; i++) {
			g_string_append_printf(out, "%s%d", i ? ", " : "[", meta->stride[i]);
		}
		g_string_append(out, "]");
		put_key(out, "offsets");
		for (guint i = 0; i < meta->n_planes; i++) {
			g_string_append_printf(
					out, "%s%" G_GSIZE_FORMAT, i ? ", " : "[", meta->offset[i]);
		}
		g_string_append(out, "]");
	}
	if (crop != NULL) {
		put_key(out, "crop");
		g_string_append_printf(out, "[%u, %u, %u, %u]", crop->x, crop->y, crop->width,
				crop->height);
	}
	if ((time = gst_buffer_get_reference_timestamp_meta(buffer, media)) != NULL) {
		put_number(out, "media_time", time->timestamp);
	}
	if ((time = gst_buffer_get_reference_timestamp_meta(buffer, submit)) != NULL) {
		put_number(out, "submit_time", time->timestamp);
	}
}

static void watch_buffer(GstBuffer *buffer) {
	GString *out = g_string_new("{");
	GstMemory *mem = gst_buffer_peek_memory(buffer, 0);
	guint64 sum = run.have_info ? sum_buffer(buffer, &run.info) : 0;
	g_autofree char *text = g_strdup_printf("%016" G_GINT64_MODIFIER "x", sum);
	g_autofree char *where = g_strdup_printf("%p", (void *)mem);

	put_number(out, "frame", run.frames++);
	put_text(out, "sum", text);
	put_number(out, "pts", GST_BUFFER_PTS(buffer));
	put_number(out, "dts", GST_BUFFER_DTS(buffer));
	put_number(out, "stream_time",
			gst_segment_to_stream_time(
					&run.segment, run.segment.format, GST_BUFFER_PTS(buffer)));
	put_number(out, "running_time",
			gst_segment_to_running_time(
					&run.segment, run.segment.format, GST_BUFFER_PTS(buffer)));
	put_number(out, "duration", GST_BUFFER_DURATION(buffer));
	put_number(out, "offset", GST_BUFFER_OFFSET(buffer));
	put_number(out, "flags", GST_BUFFER_FLAGS(buffer));
	put_number(out, "time", g_get_monotonic_time() * 1000);
	put_number(out, "due", gst_element_get_base_time(run.pipeline) + GST_BUFFER_PTS(buffer));
	put_text(out, "memory", where);
	put_text(out, "memory_type", mem->allocator->mem_type);
	put_number(out, "size", gst_buffer_get_size(buffer));
	put_number(out, "read_only", GST_MEMORY_IS_READONLY(mem));
	put_number(out, "fd", gst_is_fd_memory(mem) ? gst_fd_memory_get_fd(mem) + 1 : 0);
	put_meta(out, buffer);
	print(out);
	if (run.hold) {
		hold(buffer, sum);
	}
}

static void watch_event(GstEvent *event) {
	GString *out = g_string_new("{");

	put_text(out, "event", GST_EVENT_TYPE_NAME(event));
	if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
		GstCaps *caps;

		gst_event_parse_caps(event, &caps);
		g_autofree char *text = gst_caps_to_string(caps);
		run.have_info = gst_video_info_from_caps(&run.info, caps);
		put_text(out, "caps", text);
	} else if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT) {
		gst_event_copy_segment(event, &run.segment);
	}
	print(out);
}

static GstPadProbeReturn watch_pad(GstPad *pad, GstPadProbeInfo *info, gpointer video_meta) {
	if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER) {
		watch_buffer(GST_PAD_PROBE_INFO_BUFFER(info));
	} else if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_EVENT_BOTH) {
		watch_event(GST_PAD_PROBE_INFO_EVENT(info));
	} else if (video_meta != NULL &&
			GST_QUERY_TYPE(GST_PAD_PROBE_INFO_QUERY(info)) == GST_QUERY_ALLOCATION) {
		GstQuery *query = GST_PAD_PROBE_INFO_QUERY(info);
		gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
		if (GPOINTER_TO_INT(video_meta) > 1) {
			gst_query_add_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, NULL);
		}
		if (run.asks_for > 0) {
			gst_query_add_allocation_pool(query, NULL, 1, (guint)run.asks_for, 0);
		}
		return GST_PAD_PROBE_HANDLED;
	}
	return GST_PAD_PROBE_OK;
}

/* --- the gate --- */

static void let_pass(guint64 count, gboolean all) {
	g_mutex_lock(&gate.lock);
	gate.passes += count;
	gate.is_open |= all;
	g_cond_signal(&gate.changed);
	g_mutex_unlock(&gate.lock);
}

static GstPadProbeReturn wait_at_gate(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
	if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM &&
			GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) != GST_EVENT_EOS) {
		return GST_PAD_PROBE_OK;
	}
	g_mutex_lock(&gate.lock);
	while (gate.passes == 0 && !gate.is_open) {
		g_cond_wait(&gate.changed, &gate.lock);
	}
	gate.passes -= gate.passes > 0;
	g_mutex_unlock(&gate.lock);
	return GST_PAD_PROBE_OK;
}

static void shut_gate(void) {
	g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(run.pipeline), "gate");

	if (element != NULL) {
		g_autoptr(GstPad) pad = gst_element_get_static_pad(element, "sink");
		gst_pad_add_probe(pad,
				GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
				wait_at_gate, NULL, NULL);
	}
}

/* --- the bus --- */

static void end(int status) {
	run.status = status;
	g_main_loop_quit(run.loop);
}

static gboolean on_message(GstBus *bus, GstMessage *message, gpointer data) {
	GString *out = g_string_new("{");
	g_autoptr(GError) error = NULL;
	g_autofree char *debug = NULL;

	put_text(out, "bus", GST_MESSAGE_TYPE_NAME(message));
	put_text(out, "from", GST_MESSAGE_SRC_NAME(message));
	switch (GST_MESSAGE_TYPE(message)) {
	case GST_MESSAGE_ERROR:
		gst_message_parse_error(message, &error, &debug);
		put_text(out, "text", error->message);
		put_text(out, "domain", g_quark_to_string(error->domain));
		put_number(out, "code", error->code);
		end(1);
		break;
	case GST_MESSAGE_WARNING:
		gst_message_parse_warning(message, &error, &debug);
		put_text(out, "text", error->message);
		break;
	case GST_MESSAGE_INFO:
		gst_message_parse_info(message, &error, &debug);
		put_text(out, "text", error->message);
		break;
	case GST_MESSAGE_EOS:
		if (!run.stays) {
			end(0);
		}
		break;
	case GST_MESSAGE_ELEMENT:
		put_text(out, "name", gst_structure_get_name(gst_message_get_structure(message)));
		put_key(out, "fields");
		put_structure(out, gst_message_get_structure(message));
		break;
	case GST_MESSAGE_ASYNC_DONE:
	case GST_MESSAGE_LATENCY:
		break;
	case GST_MESSAGE_STATE_CHANGED:
		if (GST_MESSAGE_SRC(message) == GST_OBJECT(run.pipeline)) {
			GstState state;
			gst_message_parse_state_changed(message, NULL, &state, NULL);
			put_text(out, "state", gst_element_state_get_name(state));
			break;
		}
		/* fallthrough */
	default:
		g_string_free(out, TRUE);
		return G_SOURCE_CONTINUE;
	}
	print(out);
	return G_SOURCE_CONTINUE;
}

/* --- commands --- */

static void print_stats(const char *name) {
	GstElement *element = gst_bin_get_by_name(GST_BIN(run.pipeline), name);
	GstStructure *stats = NULL;
	GString *out = g_string_new("{");

	g_object_get(element, "stats", &stats, NULL);
	put_text(out, "stats", name);
	put_key(out, "fields");
	put_structure(out, stats);
	print(out);
	gst_structure_free(stats);
	gst_object_unref(element);
}

/* What is behind the element forgets what it has, and the end as well. */
static void flush(const char *name) {
	GstElement *element = gst_bin_get_by_name(GST_BIN(run.pipeline), name);

	gst_element_send_event(element, gst_event_new_flush_start());
	gst_element_send_event(element, gst_event_new_flush_stop(TRUE));
	gst_object_unref(element);
}

static void set_state(const char *name) {
	GstState state = GST_STATE_NULL;

	for (GstState s = GST_STATE_NULL; s <= GST_STATE_PLAYING; s++) {
		if (g_ascii_strcasecmp(name, gst_element_state_get_name(s)) == 0) {
			state = s;
		}
	}
	gst_element_set_state(run.pipeline, state);
}

/* Of an element, or as PAD::PROPERTY of its pad. */
static void set_property(const char *name, const char *property, const char *value) {
	GstElement *element = gst_bin_get_by_name(GST_BIN(run.pipeline), name);
	g_auto(GStrv) parts = g_strsplit(property, "::", 2);

	if (parts[1] != NULL) {
		GstPad *pad = gst_element_get_static_pad(element, parts[0]);
		gst_util_set_object_arg(G_OBJECT(pad), parts[1], value);
		gst_object_unref(pad);
	} else {
		gst_util_set_object_arg(G_OBJECT(element), property, value);
	}
	gst_object_unref(element);
}

static void obey(const char *line) {
	g_auto(GStrv) words = g_strsplit(line, " ", 4);
	guint count = g_strv_length(words);

	if (strcmp(words[0], "quit") == 0) {
		end(0);
	} else if (strcmp(words[0], "eos") == 0) {
		gst_element_send_event(run.pipeline, gst_event_new_eos());
	} else if (strcmp(words[0], "flush") == 0 && count == 2) {
		flush(words[1]);
	} else if (strcmp(words[0], "release") == 0) {
		release_held();
	} else if (strcmp(words[0], "pass") == 0 && count == 2) {
		let_pass(g_ascii_strtoull(words[1], NULL, 10), FALSE);
	} else if (strcmp(words[0], "open") == 0) {
		let_pass(0, TRUE);
	} else if (strcmp(words[0], "seek") == 0 && count == 2) {
		gst_element_seek_simple(run.pipeline, GST_FORMAT_TIME,
				GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
				g_ascii_strtoll(words[1], NULL, 10));
	} else if (strcmp(words[0], "state") == 0 && count == 2) {
		set_state(words[1]);
	} else if (strcmp(words[0], "stats") == 0 && count == 2) {
		print_stats(words[1]);
	} else if (strcmp(words[0], "set") == 0 && count == 4) {
		set_property(words[1], words[2], words[3]);
	} else {
		g_error("no such command: %s", line);
	}
}

static gboolean on_commands(gint fd, GIOCondition condition, gpointer data) {
	char bytes[512];
	ssize_t size = read(fd, bytes, sizeof(bytes));
	char *newline;

	if (size <= 0) {
		return G_SOURCE_REMOVE;
	}
	g_string_append_len(run.commands, bytes, size);
	while ((newline = strchr(run.commands->str, '\n')) != NULL) {
		g_autofree char *line = g_strndup(run.commands->str, newline - run.commands->str);
		g_string_erase(run.commands, 0, strlen(line) + 1);
		obey(line);
	}
	return G_SOURCE_CONTINUE;
}

/* --- */

static void watch_element(GstElement *element, gpointer video_meta) {
	static const char key[] = "watched";
	g_autoptr(GstPad) pad = gst_element_get_static_pad(element, "sink");
	if (g_object_get_data(G_OBJECT(pad), key) != NULL) {
		return; /* playbin puts its sinks in twice: to try them, and to use them */
	}
	g_object_set_data(G_OBJECT(pad), key, pad);
	gst_pad_add_probe(pad,
			GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
					GST_PAD_PROBE_TYPE_EVENT_FLUSH |
					GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM |
					GST_PAD_PROBE_TYPE_PUSH,
			watch_pad, video_meta, NULL);
}

/* A player's sink, which is in no bin before it plays. */
static void element_added(GstBin *pipeline, GstBin *bin, GstElement *element, gpointer video_meta) {
	if (strcmp(GST_ELEMENT_NAME(element), "watch") == 0) {
		watch_element(element, video_meta);
	}
}

/* What a player is to play behind what it plays: once. */
static void play_next(GstElement *player, char **next) {
	g_autofree char *uri = g_steal_pointer(next);

	if (uri != NULL) {
		g_object_set(player, "uri", uri, NULL);
	}
}

/* What the command line says. */
static struct {
	char *next;
	int commands, video_meta;
	gboolean paused;
} words = {.commands = -1};

/* Makes the pipeline; ends the program where that cannot be. */
static void make_pipeline(int argc, char **argv) {
	const GOptionEntry options[] = {
			{"commands", 0, 0, G_OPTION_ARG_INT, &words.commands,
					"a descriptor to be told by", "FD"},
			{"hold", 0, 0, G_OPTION_ARG_INT, &run.hold,
					"keep so many frames, and hash them again before they go",
					"N"},
			{"asks-for", 0, 0, G_OPTION_ARG_INT, &run.asks_for,
					"with --video-meta: have `watch` ask for so many buffers",
					"N"},
			{"next", 0, 0, G_OPTION_ARG_STRING, &words.next,
					"of a player: what it is to play when it is about to finish",
					"URI"},
			{"paused", 0, 0, G_OPTION_ARG_NONE, &words.paused,
					"pause, and play only when told to", NULL},
			{"stay", 0, 0, G_OPTION_ARG_NONE, &run.stays,
					"keep them after the stream's end, too, until told to quit",
					NULL},
			{"video-meta", 0, 0, G_OPTION_ARG_INT, &words.video_meta,
					"have `watch` take GstVideoMeta (1), and a crop (2)", "N"},
			{0},
	};
	g_autoptr(GOptionContext) context = g_option_context_new("PIPELINE");
	g_autoptr(GError) error = NULL;

	g_option_context_add_main_entries(context, options, NULL);
	g_option_context_add_group(context, gst_init_get_option_group());
	if (!g_option_context_parse(context, &argc, &argv, &error) || argc != 2) {
		fprintf(stderr, "%s\n", error != NULL ? error->message : "one pipeline, please");
		exit(2);
	}
	run.pipeline = gst_parse_launch(argv[1], &error);
	if (run.pipeline == NULL || error != NULL) {
		fprintf(stderr, "%s\n", error->message);
		exit(2);
	}
}

int main(int argc, char **argv) {
	GString *out;

	make_pipeline(argc, argv);
	gst_segment_init(&run.segment, GST_FORMAT_TIME);
	run.loop = g_main_loop_new(NULL, FALSE);
	run.commands = g_string_new(NULL);

	g_autoptr(GstElement) watched = gst_bin_get_by_name(GST_BIN(run.pipeline), "watch");
	if (watched != NULL) {
		watch_element(watched, GINT_TO_POINTER(words.video_meta));
	}
	shut_gate();
	g_signal_connect(run.pipeline, "deep-element-added", G_CALLBACK(element_added),
			GINT_TO_POINTER(words.video_meta));
	if (words.next != NULL) {
		g_signal_connect(run.pipeline, "about-to-finish", G_CALLBACK(play_next),
				&words.next);
	}
	g_autoptr(GstBus) bus = gst_element_get_bus(run.pipeline);
	gst_bus_add_watch(bus, on_message, NULL);
	if (words.commands >= 0) {
		g_unix_fd_add(words.commands, G_IO_IN | G_IO_HUP, on_commands, NULL);
	}
	/* an error is on the bus, too */
	gst_element_set_state(run.pipeline, words.paused ? GST_STATE_PAUSED : GST_STATE_PLAYING);
	g_main_loop_run(run.loop);

	release_held();
	let_pass(0, TRUE);
	gst_element_set_state(run.pipeline, GST_STATE_NULL);
	out = g_string_new("{");
	put_number(out, "end", run.frames);
	put_number(out, "overwritten", run.overwritten);
	print(out);
	gst_object_unref(run.pipeline);
	g_main_loop_unref(run.loop);
	return run.status;
}
