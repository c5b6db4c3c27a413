// SPDX-License-Identifier: MIT
#include "cluster_status.h"

#include <errno.h>
#include <gid/gid.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <systemd/sd-json.h>
#include <unistd.h>
#include <wlr/types/wlr_output.h>

#include "closer.h"
#include "sealed.h"

#define RECENT_FRAMES 300u

typedef sd_json_variant variant;

static int add_transitions(variant **array, const struct history *history) {
	for (uint64_t i = 0; i < history->transition_count; i++) {
		const struct transition *transition = history_get((struct history *)history, i);
		if (transition == NULL) {
			continue;
		}
		variant *entry = NULL;
		int ret = sd_json_buildo(&entry, SD_JSON_BUILD_PAIR_UNSIGNED("number", i + 1),
				SD_JSON_BUILD_PAIR_STRING(
						"from", role_state_name(transition->from)),
				SD_JSON_BUILD_PAIR_STRING("to", role_state_name(transition->to)),
				SD_JSON_BUILD_PAIR_STRING(
						"reason", role_reason_name(transition->reason)),
				SD_JSON_BUILD_PAIR_UNSIGNED("due_ns", transition->due),
				SD_JSON_BUILD_PAIR_UNSIGNED("decided_ns", transition->decided),
				SD_JSON_BUILD_PAIR_UNSIGNED(
						"last_frame_ns", transition->last_frame),
				SD_JSON_BUILD_PAIR_UNSIGNED("shown_ns", transition->shown));
		if (ret >= 0) {
			ret = sd_json_variant_append_array(array, entry);
		}
		sd_json_variant_unref(entry);
		if (ret < 0) {
			return ret;
		}
	}
	return 0;
}

/* As configured; "" if the display chooses. */
static const char *output_name(const struct role_view *view) {
	const char *name = view->screen->config->name;
	return name != NULL ? name : "";
}

/* A word that tells more about the reason. */
static const char *role_detail(const struct role_view *view) {
	enum role_reason reason = view->role.reason;
	if (reason == ROLE_REASON_FORMAT || reason == ROLE_REASON_TRANSFORM) {
		return view->reader.not_taken;
	}
	return role_view_hidden_name(view);
}

/* Fields that roles and layers share: the work on the stream's frames, and its input. */
static int add_stream(variant **entry, const struct stream_reader *reader,
		const struct samples *latency, struct input_outlet_stats input) {
	const struct spread examine = samples_spread(&reader->spent);
	const struct spread shown = samples_spread(latency);
	return sd_json_variant_merge_objectbo(entry,
			SD_JSON_BUILD_PAIR_UNSIGNED("undrawn_frames", reader->undrawn),
			SD_JSON_BUILD_PAIR_UNSIGNED("examine_p50_ns", examine.p50),
			SD_JSON_BUILD_PAIR_UNSIGNED("examine_max_ns", examine.most),
			SD_JSON_BUILD_PAIR_UNSIGNED(
					"examine_realtime_ns", worker_realtime_ns(reader->worker)),
			SD_JSON_BUILD_PAIR_UNSIGNED("latency_p50_ns", shown.p50),
			SD_JSON_BUILD_PAIR_UNSIGNED("latency_p99_ns", shown.p99),
			SD_JSON_BUILD_PAIR_UNSIGNED("latency_max_ns", shown.most),
			SD_JSON_BUILD_PAIR_UNSIGNED("latency_count", latency->count),
			SD_JSON_BUILD_PAIR_UNSIGNED("input_events", input.events),
			SD_JSON_BUILD_PAIR_UNSIGNED("input_left_out", input.left_out),
			SD_JSON_BUILD_PAIR_UNSIGNED("input_readers", input.readers));
}

static int build_role(variant **entry, const struct role_view *view,
		struct input_outlet_stats input, uint64_t worst_frame) {
	const struct role_config *config = view->config;
	const struct history *history = &view->history;
	const struct spread captured = samples_spread(&view->shown.capture_latency);
	uint64_t fallback_bound = fallback_bound_of(
			view->screen->pace.pacing, worst_frame, screen_refresh_ns(view->screen));
	variant *transitions = NULL;
	int ret = sd_json_variant_new_array(&transitions, NULL, 0);
	if (ret >= 0) {
		ret = add_transitions(&transitions, history);
	}
	if (ret >= 0) {
		ret = sd_json_buildo(entry, SD_JSON_BUILD_PAIR_STRING("name", config->name),
				SD_JSON_BUILD_PAIR_STRING("stream", config->stream),
				SD_JSON_BUILD_PAIR_STRING("domain",
						config->domain != NULL ? config->domain : ""),
				SD_JSON_BUILD_PAIR_STRING("output", output_name(view)),
				SD_JSON_BUILD_PAIR_STRING(
						"state", role_state_name(view->role.state)),
				SD_JSON_BUILD_PAIR_STRING(
						"reason", role_reason_name(view->role.reason)),
				SD_JSON_BUILD_PAIR_STRING("detail", role_detail(view)),
				SD_JSON_BUILD_PAIR_STRING("text", role_view_text(view)),
				SD_JSON_BUILD_PAIR_UNSIGNED("since_ns", view->role.since),
				SD_JSON_BUILD_PAIR_STRING("shows",
						view->shown.is_frame ? "frame" : "fallback"),
				SD_JSON_BUILD_PAIR_STRING("place",
						shown_picture_is_on_plane(&view->shown)
								? "plane"
								: "composed"),
				SD_JSON_BUILD_PAIR_STRING("place_reason",
						shown_place_name(view->shown.place)),
				SD_JSON_BUILD_PAIR_STRING("checked_by",
						shown_picture_checked_by(&view->shown)),
				SD_JSON_BUILD_PAIR_UNSIGNED("plane_copies", view->shown.copies),
				SD_JSON_BUILD_PAIR_UNSIGNED("plane_direct", view->shown.direct),
				SD_JSON_BUILD_PAIR_UNSIGNED("read_back", history->read_back),
				SD_JSON_BUILD_PAIR_UNSIGNED("differed", history->differed),
				SD_JSON_BUILD_PAIR_UNSIGNED("sequence", view->role.last_sequence),
				SD_JSON_BUILD_PAIR_UNSIGNED("frames", history->frames),
				SD_JSON_BUILD_PAIR_UNSIGNED("shown_frames", history->shown_frames),
				SD_JSON_BUILD_PAIR_UNSIGNED(
						"converted_frames", history->converted_frames),
				SD_JSON_BUILD_PAIR_UNSIGNED(
						"refused_frames", history->refused_frames),
				SD_JSON_BUILD_PAIR_UNSIGNED("capture_latency_p50_ns", captured.p50),
				SD_JSON_BUILD_PAIR_UNSIGNED("capture_latency_p99_ns", captured.p99),
				SD_JSON_BUILD_PAIR_UNSIGNED(
						"capture_latency_max_ns", captured.most),
				SD_JSON_BUILD_PAIR_UNSIGNED("capture_latency_count",
						view->shown.capture_latency.count),
				SD_JSON_BUILD_PAIR_UNSIGNED(
						"deadline_ns", config->limits.deadline_ns),
				SD_JSON_BUILD_PAIR_UNSIGNED("fallback_bound_ns", fallback_bound),
				SD_JSON_BUILD_PAIR_UNSIGNED(
						"fallback_max_ns", history->fallback_max_ns),
				SD_JSON_BUILD_PAIR_UNSIGNED(
						"transition_count", history->transition_count),
				SD_JSON_BUILD_PAIR_VARIANT("transitions", transitions));
	}
	if (ret >= 0) {
		ret = add_stream(entry, &view->reader, &view->shown.latency, input);
	}
	sd_json_variant_unref(transitions);
	return ret;
}

static int build_layer(
		variant **entry, const struct layer *layer, struct input_outlet_stats input) {
	const struct layer_config *config = layer->config;
	const char *output = layer->screen->config->name;
	int ret = sd_json_buildo(entry, SD_JSON_BUILD_PAIR_STRING("name", config->name),
			SD_JSON_BUILD_PAIR_STRING("stream", config->stream),
			SD_JSON_BUILD_PAIR_STRING(
					"domain", config->domain != NULL ? config->domain : ""),
			SD_JSON_BUILD_PAIR_STRING("output", output != NULL ? output : ""),
			SD_JSON_BUILD_PAIR_STRING("state", layer_state_name(layer->state)),
			SD_JSON_BUILD_PAIR_STRING("reason", layer->reason),
			SD_JSON_BUILD_PAIR_UNSIGNED("since_ns", layer->since),
			SD_JSON_BUILD_PAIR_UNSIGNED("frames", layer->frames),
			SD_JSON_BUILD_PAIR_UNSIGNED("shown_frames", layer->shown_frames),
			SD_JSON_BUILD_PAIR_UNSIGNED("refused_frames", layer->refused_frames),
			SD_JSON_BUILD_PAIR_STRING("refused", layer->refused),
			SD_JSON_BUILD_PAIR_STRING("detail", layer->reader.not_taken));
	return ret < 0 ? ret : add_stream(entry, &layer->reader, &layer->shown.latency, input);
}

static int build_screen(variant **entry, const struct screen *screen) {
	const struct screen_stats *stats = &screen->stats;
	const struct gid_pacing *policy = &screen->pace.policy;
	const struct wlr_output *output = screen->output;
	const struct spread compose = samples_spread(&stats->compose);
	const uint64_t window_ns = pace_window_ns(&screen->pace, screen_refresh_ns(screen));
	return sd_json_buildo(entry,
			SD_JSON_BUILD_PAIR_STRING("output", output != NULL ? output->name : ""),
			SD_JSON_BUILD_PAIR_UNSIGNED(
					"width", (uint64_t)(output != NULL ? output->width : 0)),
			SD_JSON_BUILD_PAIR_UNSIGNED(
					"height", (uint64_t)(output != NULL ? output->height : 0)),
			SD_JSON_BUILD_PAIR_UNSIGNED("refresh_ns", screen_refresh_ns(screen)),
			SD_JSON_BUILD_PAIR_STRING("pacing", pace_name(&screen->pace)),
			SD_JSON_BUILD_PAIR_UNSIGNED("window_ns", window_ns),
			SD_JSON_BUILD_PAIR_UNSIGNED("paced_frames", policy->frames),
			SD_JSON_BUILD_PAIR_UNSIGNED("paced_late", policy->missed),
			SD_JSON_BUILD_PAIR_UNSIGNED("started_ns", stats->started),
			SD_JSON_BUILD_PAIR_UNSIGNED("frames", stats->frames),
			SD_JSON_BUILD_PAIR_UNSIGNED("composed_frames", stats->composed),
			SD_JSON_BUILD_PAIR_UNSIGNED("read_back", screen->readback.count),
			SD_JSON_BUILD_PAIR_UNSIGNED("read_back_failed", screen->readback.failed),
			SD_JSON_BUILD_PAIR_UNSIGNED("missed", stats->missed),
			SD_JSON_BUILD_PAIR_UNSIGNED("longest_gap_ns", stats->longest_gap_ns),
			SD_JSON_BUILD_PAIR_UNSIGNED("skipped_refreshes", stats->skipped),
			SD_JSON_BUILD_PAIR_UNSIGNED("late_recent_max_ns",
					samples_largest(&stats->late, RECENT_FRAMES)),
			SD_JSON_BUILD_PAIR_UNSIGNED("compose_mean_ns",
					stats->frames ? stats->compose_ns / stats->frames : 0),
			SD_JSON_BUILD_PAIR_UNSIGNED("compose_p50_ns", compose.p50),
			SD_JSON_BUILD_PAIR_UNSIGNED("compose_p99_ns", compose.p99),
			SD_JSON_BUILD_PAIR_UNSIGNED("compose_recent_max_ns",
					samples_largest(&stats->compose, RECENT_FRAMES)),
			SD_JSON_BUILD_PAIR_UNSIGNED("compose_max_ns", stats->compose_max_ns),
			SD_JSON_BUILD_PAIR_UNSIGNED("compose_cpu_recent_max_ns",
					samples_largest(&stats->cpu, RECENT_FRAMES)),
			SD_JSON_BUILD_PAIR_UNSIGNED("compose_cpu_max_ns", stats->cpu_max_ns),
			SD_JSON_BUILD_PAIR_UNSIGNED("compose_wait_recent_max_ns",
					samples_largest(&stats->wait, RECENT_FRAMES)),
			SD_JSON_BUILD_PAIR_UNSIGNED("compose_wait_max_ns", stats->wait_max_ns),
			SD_JSON_BUILD_PAIR_UNSIGNED("over_bound_frames", stats->over_bound),
			SD_JSON_BUILD_PAIR_UNSIGNED("slept_frames", stats->slept),
			SD_JSON_BUILD_PAIR_UNSIGNED("frame_bound_ns", screen->bound.total));
}

static int build_output(variant **entry, const struct screen *screen) {
	const char *name = screen->config->name;
	int ret = build_screen(entry, screen);
	return ret < 0 ? ret
		       : sd_json_variant_set_field_string(entry, "name", name != NULL ? name : "");
}

/* --- building an answer in parts -------------------------------------------------------------- */

/* The time limit of one turn: the answer for many roles takes longer than a refresh. */
#define TURN_NS UINT64_C(1000000)

/* Takes ownership of `entry`. */
static int answer_put(struct cluster_status *status, variant *entry, int ret) {
	char *text = NULL;
	if (ret >= 0) {
		ret = sd_json_variant_format(entry, 0, &text);
	}
	fputs(text != NULL ? text : "", status->answer);
	free(text);
	sd_json_variant_unref(entry);
	return ret;
}

/* Fields of the whole display, with those of the first output, before the list of outputs. */
static int answer_put_whole(struct cluster_status *status) {
	const struct roles *roles = status->roles;
	variant *whole = NULL;
	char *text = NULL;
	int ret = build_screen(&whole, &roles->display->screens[0]);
	if (ret >= 0) {
		ret = sd_json_variant_merge_objectbo(&whole,
				SD_JSON_BUILD_PAIR_BOOLEAN(
						"gidd", gidd_connection_is_up(roles->connection)),
				SD_JSON_BUILD_PAIR_BOOLEAN("sealed", sealed_is_on()));
	}
	if (ret >= 0) {
		ret = sd_json_variant_format(whole, 0, &text);
	}
	if (ret >= 0) { /* without the outer braces */
		fprintf(status->answer, "],%.*s,\"outputs\":[", (int)strlen(text) - 2, text + 1);
	}
	free(text);
	sd_json_variant_unref(whole);
	return ret;
}

static size_t answer_parts(const struct cluster_status *status) {
	const struct roles *roles = status->roles;
	return roles->count + roles->layer_count + roles->display->screen_count;
}

/* Adds the next role, layer or output. */
static int answer_add(struct cluster_status *status) {
	const struct roles *roles = status->roles;
	const size_t layers = roles->count, outputs = layers + roles->layer_count;
	const size_t part = status->part++;
	variant *entry = NULL;
	int ret = 0;
	if (part == layers) {
		fputs("],\"layers\":[", status->answer);
	}
	if (part == outputs) {
		ret = answer_put_whole(status);
	}
	if (part != 0 && part != layers && part != outputs) {
		fputc(',', status->answer);
	}
	if (part < layers) {
		ret = build_role(&entry, &roles->views[part], inputs_of_role(&roles->inputs, part),
				display_worst_frame_ns(roles->display));
	} else if (part < outputs) {
		ret = build_layer(&entry, &roles->layers[part - layers],
				inputs_of_layer(&roles->inputs, part - layers));
	} else if (ret >= 0) {
		ret = build_output(&entry, &roles->display->screens[part - outputs]);
	}
	return answer_put(status, entry, ret);
}

/* `fd` must be one of them. */
static struct unread *find_unread(struct cluster_status *status, int fd) {
	struct unread *found = status->unread;
	for (uint32_t i = 0; i < status->unread_count; i++) {
		found = status->unread[i].fd == fd ? &status->unread[i] : found;
	}
	return found;
}

/* Its answer is complete, or given up. */
static void unread_end(struct unread *unread) {
	if (unread->source != NULL) {
		wl_event_source_remove(unread->source);
		unread->source = NULL;
	}
	free(unread->text);
	unread->text = NULL;
	shutdown(unread->fd, SHUT_RDWR);
}

static int handle_writable(int fd, uint32_t mask, void *data);

/* Sends as much as the socket takes, the rest once it is writable. */
static void unread_send(struct cluster_status *status, struct unread *unread) {
	ssize_t sent = send(unread->fd, unread->text + unread->sent, unread->size - unread->sent,
			MSG_DONTWAIT | MSG_NOSIGNAL);
	bool is_over = sent < 0 && errno != EAGAIN;
	unread->sent += sent > 0 ? (size_t)sent : 0;
	if (!is_over && unread->sent < unread->size && unread->source == NULL) {
		unread->source = wl_event_loop_add_fd(status->roles->loop, unread->fd,
				WL_EVENT_WRITABLE, handle_writable, status);
	}
	if (is_over || unread->sent == unread->size || unread->source == NULL) {
		unread_end(unread);
	}
}

static int handle_writable(int fd, uint32_t mask, void *data) {
	struct cluster_status *status = data;
	unread_send(status, find_unread(status, fd));
	return 0;
}

static void answer_send(struct cluster_status *status, bool good) {
	struct unread *unread = find_unread(status, status->peer);
	good = fclose(status->answer) == 0 && good;
	status->answer = NULL;
	unread->text = status->text;
	unread->size = status->size;
	unread->sent = 0;
	if (good) {
		int size = 1 << 20; /* the kernel caps it */
		setsockopt(unread->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
		unread_send(status, unread);
	} else {
		unread_end(unread);
	}
}

/* Works until the answer is sent, or the turn that started at `begin` is over. */
static void answer_go_on(struct cluster_status *status, uint64_t begin) {
	const size_t parts = answer_parts(status);
	int ret = 0;
	while (ret >= 0 && status->part < parts && gid_clock_now() - begin < TURN_NS) {
		ret = answer_add(status);
	}
	if (ret < 0 || status->part == parts) {
		fputs("]}", status->answer);
		answer_send(status, ret >= 0);
	}
}

/* `peer` is in the list of unread answers already. */
static void answer_begin(struct cluster_status *status, int peer) {
	status->peer = peer;
	status->part = 0;
	status->answer = open_memstream(&status->text, &status->size);
	if (status->answer == NULL) {
		shutdown(peer, SHUT_RDWR);
		return;
	}
	fputs("{\"roles\":[", status->answer);
}

/* --- connections ------------------------------------------------------------------------------ */

/* Unread answers use our memory, even after we have closed the connection. */
#define UNREAD_OF_A_USER 4u
/* After an answer, the display has this many times its duration for itself. */
#define PAUSES 4
#define NS_PER_MS 1000000u

static void drop_read(struct cluster_status *status) {
	uint32_t kept = 0;
	for (uint32_t i = 0; i < status->unread_count; i++) {
		int bytes = 0;
		struct unread unread = status->unread[i];
		bool has_more = unread.text != NULL;
		if (has_more || (ioctl(unread.fd, SIOCOUTQ, &bytes) == 0 && bytes > 0)) {
			status->unread[kept++] = unread;
		} else {
			gid_closer_hang_up(unread.fd);
		}
	}
	status->unread_count = kept;
}

/*
 * Takes ownership of `peer`. Returns whether it gets an answer: not if its user does not read them.
 */
static bool add_unread(struct cluster_status *status, int peer) {
	struct ucred credentials = {.uid = (uid_t)-1};
	socklen_t size = sizeof(credentials);
	getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &credentials, &size);
	uint32_t of_user = 0;
	for (uint32_t i = 0; i < status->unread_count; i++) {
		of_user += status->unread[i].user == credentials.uid;
	}
	/* Answers need memory: in a sealed domain only users who may unseal it get one. */
	if (sealed_is_on() && credentials.uid != 0 && credentials.uid != status->user) {
		gid_closer_hang_up(peer);
		return false;
	}
	if (of_user >= UNREAD_OF_A_USER || status->unread_count >= CLUSTER_STATUS_UNREAD_MAX) {
		gid_closer_hang_up(peer);
		return false;
	}
	status->unread[status->unread_count++] =
			(struct unread){.fd = peer, .user = credentials.uid};
	return true;
}

/*
 * Ends a turn that started at `begin`. While an answer is being built others wait, so the next turn
 * comes soon.
 */
static void pause_after(struct cluster_status *status, uint64_t begin) {
	uint64_t turn = gid_clock_now() - begin;
	status->spent += turn;
	uint64_t pause = status->answer != NULL ? turn : PAUSES * status->spent;
	status->spent = status->answer != NULL ? status->spent : 0;
	wl_event_source_timer_update(status->pause, (int)(pause / NS_PER_MS + 1));
}

static int handle_pause(void *data) {
	struct cluster_status *status = data;
	uint64_t begin = gid_clock_now();
	if (status->answer != NULL) {
		answer_go_on(status, begin);
		pause_after(status, begin);
	} else {
		drop_read(status);
		wl_event_source_fd_update(status->source, WL_EVENT_READABLE);
	}
	return 0;
}

static int handle_connection(int fd, uint32_t mask, void *data) {
	struct cluster_status *status = data;
	uint64_t begin = gid_clock_now();
	int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	drop_read(status);
	if (peer >= 0 && add_unread(status, peer)) {
		answer_begin(status, peer);
	}
	if (status->answer != NULL) {
		answer_go_on(status, begin);
	}
	/* Also without a descriptor for accept4(): the connection still waits. */
	wl_event_source_fd_update(status->source, 0);
	pause_after(status, begin);
	return 0;
}

/* --- life ------------------------------------------------------------------------------------- */

void cluster_status_init(struct cluster_status *status) {
	*status = (struct cluster_status){.place = STATUS_SOCKET_NONE, .user = geteuid()};
}

int cluster_status_start(struct cluster_status *status, const struct roles *roles) {
	status->roles = roles;
	status->pause = wl_event_loop_add_timer(roles->loop, handle_pause, status);
	status->source = wl_event_loop_add_fd(roles->loop, status->place.fd, WL_EVENT_READABLE,
			handle_connection, status);
	return status->pause != NULL && status->source != NULL ? 0 : -ENOMEM;
}

void cluster_status_finish(struct cluster_status *status) {
	if (status->source != NULL) {
		wl_event_source_remove(status->source);
	}
	if (status->pause != NULL) {
		wl_event_source_remove(status->pause);
	}
	if (status->answer != NULL) {
		answer_send(status, false);
	}
	for (uint32_t i = 0; i < status->unread_count; i++) {
		unread_end(&status->unread[i]);
		gid_closer_hang_up(status->unread[i].fd);
	}
	status_socket_close(&status->place);
}
