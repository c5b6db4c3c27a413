// SPDX-License-Identifier: MIT
#include "roles.h"

#include <errno.h>
#include <gid/timeline.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <wlr/util/log.h>

#include "kms_layer.h"
#include "work_bound.h"

/* The time limit for workers at exit: more than the most expensive format takes at 8K. */
#define DRAIN_NS UINT64_C(1000000000)

/* --- hooks of the screens --------------------------------------------------------------------- */

static void handle_attached(void *data, struct screen *screen) {
	struct roles *roles = data;
	for (size_t i = 0; i < roles->count; i++) {
		if (roles->views[i].screen == screen) {
			role_view_attach_output(&roles->views[i]);
		}
	}
	for (size_t i = 0; i < roles->layer_count; i++) {
		if (roles->layers[i].screen == screen) {
			shown_picture_attach_output(&roles->layers[i].shown);
		}
	}
}

/*
 * A reader of the screen's stream moves roles off their planes when it comes, and back when it
 * leaves: so this is logged seldom.
 */
static void roles_log_place(struct role_view *view) {
	const char *name = view->config->name;
	bool on = shown_picture_is_on_plane(&view->shown);
	if (seldom_log_may(&view->place_log_budget, WLR_INFO, "role", name, gid_clock_now())) {
		wlr_log(WLR_INFO, "role %s: %s%s", name,
				on ? "on a plane of its own" : "composed: ",
				shown_place_name(view->shown.place));
	}
}

static void handle_detaching(void *data, struct screen *screen) {
	struct roles *roles = data;
	for (size_t i = 0; i < roles->count; i++) {
		if (roles->views[i].screen == screen) {
			shown_picture_detach_output(&roles->views[i].shown);
		}
	}
}

/* A role that is partly off the output is composed: the check notices that. */
static enum shown_place roles_find_place(const struct role_view *view) {
	return screen_has_place(view->screen, &view->config->box) ? SHOWN_PLACE_PLANE
								  : SHOWN_PLACE_OFF_OUTPUT;
}

static void handle_plan(
		void *data, struct screen *screen, struct kms_output *kms, enum screen_plan plan) {
	struct roles *roles = data;
	for (size_t i = 0; i < roles->count; i++) {
		struct role_view *view = &roles->views[i];
		if (view->screen != screen) {
			continue;
		}
		if (plan == SCREEN_PLANES) {
			shown_picture_prepare_plan(&view->shown, kms, roles_find_place(view));
		} else {
			shown_picture_release_plane(&view->shown,
					plan == SCREEN_COMPOSED ? SHOWN_PLACE_COPIED
								: SHOWN_PLACE_REFUSED);
		}
	}
	if (plan == SCREEN_PLANES) {
		kms_layers_plan(kms);
	}
	for (size_t i = 0; i < roles->count; i++) {
		struct role_view *view = &roles->views[i];
		if (view->screen == screen) {
			if (plan == SCREEN_PLANES) {
				shown_picture_apply_plan(&view->shown);
			}
			roles_log_place(view);
		}
	}
}

static void handle_update_planes(void *data, struct screen *screen, uint64_t now) {
	struct roles *roles = data;
	for (size_t i = 0; i < roles->count; i++) {
		if (roles->views[i].screen == screen) {
			role_view_update_plane(&roles->views[i], now);
		}
	}
}

static void handle_expects_readback(void *data, struct screen *screen) {
	struct roles *roles = data;
	for (size_t i = 0; i < roles->count; i++) {
		if (roles->views[i].screen == screen) {
			shown_picture_expect_readback(&roles->views[i].shown);
		}
	}
}

static void handle_read_back(
		void *data, struct screen *screen, const struct pixels *shown, uint64_t now) {
	struct roles *roles = data;
	for (size_t i = 0; i < roles->count; i++) {
		if (roles->views[i].screen == screen) {
			role_view_read_back(&roles->views[i], shown, now);
		}
	}
}

static void handle_begin(void *data, struct screen *screen, uint64_t now) {
	struct roles *roles = data;
	for (size_t i = 0; i < roles->count; i++) {
		if (roles->views[i].screen == screen) {
			role_view_tick(&roles->views[i], now);
		}
	}
}

static bool handle_check(
		void *data, struct screen *screen, const struct pixels *composed, uint64_t now) {
	struct roles *roles = data;
	bool passed = true;
	for (size_t i = 0; i < roles->count; i++) {
		if (roles->views[i].screen == screen) {
			passed = role_view_check(&roles->views[i], composed, now) && passed;
		}
	}
	return passed;
}

static void handle_presented(void *data, struct screen *screen, uint32_t commit, uint64_t when) {
	struct roles *roles = data;
	for (size_t i = 0; i < roles->count; i++) {
		if (roles->views[i].screen == screen) {
			role_view_presented(&roles->views[i], commit, when);
		}
	}
	for (size_t i = 0; i < roles->layer_count; i++) {
		if (roles->layers[i].screen == screen) {
			layer_presented(&roles->layers[i], commit, when);
		}
	}
}

const struct screen_hooks roles_hooks = {
		.attached = handle_attached,
		.detaching = handle_detaching,
		.plan = handle_plan,
		.update_planes = handle_update_planes,
		.expects_readback = handle_expects_readback,
		.read_back = handle_read_back,
		.begin = handle_begin,
		.check = handle_check,
		.presented = handle_presented,
};

/* --- state that outlives the process ---------------------------------------------------------- */

/*
 * At least this long after a change, and regularly: the time for which a picture was unchanged
 * grows always.
 */
#define SAVE_SOONEST_NS UINT64_C(50000000)
#define SAVE_LATEST_NS UINT64_C(1000000000)

static void roles_save(struct roles *roles, uint64_t now) {
	uint64_t transitions = 0, passed = now - roles->saved_at;
	if (roles->writer == NULL || passed < SAVE_SOONEST_NS) {
		return;
	}
	for (size_t i = 0; i < roles->count; i++) {
		transitions += roles->views[i].history.transition_count;
	}
	if (transitions == roles->saved_transitions && passed < SAVE_LATEST_NS) {
		return;
	}
	for (size_t i = 0; i < roles->count; i++) {
		roles->saved[i] = role_view_save(&roles->views[i], now);
	}
	state_writer_write(roles->writer, roles->saved, roles->count);
	roles->saved_at = now;
	roles->saved_transitions = transitions;
}

/* The display works without saved state, too. */
static void roles_resume(struct roles *roles, const char *state) {
	uint64_t now = gid_clock_now();
	for (size_t i = 0; i < roles->count; i++) {
		roles->saved[i] = (struct saved_role){.name = roles->config->roles[i].name};
	}
	roles->writer = state_writer_create(state, roles->saved, roles->count);
	if (roles->writer == NULL) {
		wlr_log(WLR_ERROR, "the state of the roles is not kept: no memory, or no thread");
		return;
	}
	for (size_t i = 0; i < roles->count; i++) {
		role_view_resume(&roles->views[i], &roles->saved[i], now);
	}
}

/* --- time ------------------------------------------------------------------------------------- */

/* Wakes up once a refresh, and exactly when a deadline passes. */
static void roles_arm(struct roles *roles, uint64_t now) {
	uint64_t next = roles->refresh_due;
	for (size_t i = 0; i < roles->count; i++) {
		uint64_t tick = role_next_tick(&roles->views[i].role);
		if (tick > now && tick < next) {
			next = tick;
		}
	}
	struct itimerspec when = {
			.it_value = {(time_t)(next / 1000000000u), (long)(next % 1000000000u)},
	};
	timerfd_settime(roles->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

/* Not for each deadline: producers choose how many of those pass. */
static void roles_pass_refresh(struct roles *roles, uint64_t now) {
	for (size_t i = 0; i < roles->count; i++) {
		stream_reader_tick(&roles->views[i].reader);
	}
	for (size_t i = 0; i < roles->layer_count; i++) {
		layer_tick(&roles->layers[i], now);
		stream_reader_tick(&roles->layers[i].reader);
	}
	display_tick(roles->display, now);
	inputs_tick(&roles->inputs);
	notify_alive(&roles->notify, now);
}

static int handle_timer(int fd, uint32_t mask, void *data) {
	struct roles *roles = data;
	uint64_t expirations;
	if (read(fd, &expirations, sizeof(expirations)) < 0) {
		return 0;
	}
	uint64_t now = gid_clock_now();
	for (size_t i = 0; i < roles->count; i++) {
		role_view_tick(&roles->views[i], now);
	}
	if (now >= roles->refresh_due) {
		roles->refresh_due = now + display_refresh_ns(roles->display);
		roles_pass_refresh(roles, now);
	}
	roles_save(roles, now);
	roles_arm(roles, now);
	return 0;
}

/* --- the domain ------------------------------------------------------------------------------- */

int roles_log(const char *format, ...) {
	char line[512];
	va_list args;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	line[strcspn(line, "\n")] = '\0';
	wlr_log(WLR_INFO, "%s", line);
	return 0;
}

static void handle_connection_changed(void *data) {
	struct roles *roles = data;
	/* The callback also runs within gidd_connection_create(). */
	struct gid_domain *domain = roles->connection != NULL
			? gidd_connection_get_domain(roles->connection)
			: NULL;
	for (size_t i = 0; domain != NULL && i < roles->count; i++) {
		if (roles->views[i].reader.domain == NULL) {
			stream_reader_start(&roles->views[i].reader, domain);
		}
	}
	for (size_t i = 0; domain != NULL && i < roles->layer_count; i++) {
		if (roles->layers[i].reader.domain == NULL) {
			stream_reader_start(&roles->layers[i].reader, domain);
		}
	}
}

static void handle_connection_lost(void *data) {
	struct roles *roles = data;
	for (size_t i = 0; i < roles->count; i++) {
		stream_reader_stop(&roles->views[i].reader);
	}
	for (size_t i = 0; i < roles->layer_count; i++) {
		stream_reader_stop(&roles->layers[i].reader);
	}
}

static bool handle_connection_reads(void *data) {
	const struct roles *roles = data;
	bool reads = false;
	for (size_t i = 0; i < roles->count; i++) {
		reads = reads || stream_reader_reads(&roles->views[i].reader);
	}
	for (size_t i = 0; i < roles->layer_count; i++) {
		reads = reads || stream_reader_reads(&roles->layers[i].reader);
	}
	return reads;
}

static const struct gidd_connection_events connection_events = {
		.log = roles_log,
		.changed = handle_connection_changed,
		.lost = handle_connection_lost,
		.reads = handle_connection_reads,
};

/* Nothing is shown any more, but workers may still read. Returns whether all have stopped. */
static bool roles_stop(struct roles *roles) {
	const uint64_t until = gid_clock_now() + DRAIN_NS;
	bool stopped = true;
	handle_connection_lost(roles);
	for (size_t i = 0; i < roles->count; i++) {
		stopped = stream_reader_drain(&roles->views[i].reader, until) && stopped;
	}
	for (size_t i = 0; i < roles->layer_count; i++) {
		stopped = stream_reader_drain(&roles->layers[i].reader, until) && stopped;
	}
	return stopped;
}

/* --- processors ------------------------------------------------------------------------------- */

/* First the readers of roles, then those of layers. */
static struct stream_reader *roles_get_reader(struct roles *roles, size_t index) {
	return index < roles->count ? &roles->views[index].reader
				    : &roles->layers[index - roles->count].reader;
}

static bool roles_has_before(const struct roles *roles, size_t index) {
	return index < roles->count ||
			work_bound_has_layer(roles->layers[index - roles->count].config);
}

/* If it fails, workers run with ordinary priority. */
void roles_measure(struct roles *roles, int priority) {
	size_t count = roles->count + roles->layer_count;
	struct examiner_cost *costs = calloc(count + 1, sizeof(*costs));
	struct work_grant *grants = calloc(count + 1, sizeof(*grants));
	int error = costs != NULL && grants != NULL ? 0 : -ENOMEM;
	for (size_t i = 0; i < count && error == 0; i++) {
		const struct stream_reader_config *config = &roles_get_reader(roles, i)->config;
		if (roles_has_before(roles, i)) {
			error = examiner_measure_least(&config->rules, config->width,
					config->height, &costs[i].least);
		}
	}
	if (error == 0) {
		error = work_bound_grant(
				costs, count, display_refresh_ns(roles->display), priority, grants);
	}
	for (size_t i = 0; i < count && error == 0; i++) {
		roles_get_reader(roles, i)->grant = grants[i];
	}
	free(grants);
	free(costs);
}

void roles_grant_realtime(struct roles *roles) {
	for (size_t i = 0; i < roles->count + roles->layer_count; i++) {
		struct stream_reader *reader = roles_get_reader(roles, i);
		if (reader->grant.ns > 0) {
			worker_grant(reader->worker, &reader->grant,
					display_refresh_ns(roles->display));
		}
	}
}

/* --- begin and end ---------------------------------------------------------------------------- */

static int roles_init_views(struct roles *roles) {
	const struct cluster_config *config = roles->config;
	for (size_t i = 0; i < config->role_count; i++) {
		struct screen *screen = &roles->display->screens[config->roles[i].output];
		int ret = role_view_init(&roles->views[i], &config->roles[i], screen, roles->loop,
				roles->timeline);
		if (ret < 0) {
			wlr_log(WLR_ERROR, "role %s: %s", config->roles[i].name,
					ret == -EINVAL && config->roles[i].picture
							? "its fallback is no PNG that can be read"
							: strerror(-ret));
			return ret;
		}
		roles->count++;
	}
	return 0;
}

static int roles_init_layers(struct roles *roles) {
	const struct cluster_config *config = roles->config;
	for (size_t i = 0; i < config->layer_count; i++) {
		const struct layer_config *layer = &config->layers[i];
		struct screen *screen = &roles->display->screens[layer->output];
		int ret = layer_init(
				&roles->layers[i], layer, screen, roles->loop, roles->timeline);
		if (ret < 0) {
			wlr_log(WLR_ERROR, "layer %s: %s", layer->name,
					ret == -EINVAL ? "its fallback is no PNG that can be read"
						       : strerror(-ret));
			return ret;
		}
		roles->layer_count++;
	}
	return 0;
}

int roles_init(struct roles *roles, const struct cluster_config *config, struct display *display,
		const char *domain, const char *state) {
	*roles = (struct roles){
			.config = config,
			.display = display,
			.loop = display->loop,
			.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
	};
	notify_init(&roles->notify);
	roles->views = calloc(config->role_count + 1, sizeof(*roles->views));
	roles->layers = calloc(config->layer_count + 1, sizeof(*roles->layers));
	roles->saved = calloc(config->role_count + 1, sizeof(*roles->saved));
	if (roles->timer < 0 || roles->views == NULL || roles->layers == NULL ||
			roles->saved == NULL) {
		return -ENOMEM;
	}
	int ret = gid_timeline_open(NULL, "gid-cluster", &roles->timeline);
	if (ret < 0) {
		wlr_log(WLR_ERROR, "no timeline: GID_TIMELINE=%s: %s", getenv("GID_TIMELINE"),
				strerror(-ret));
	}
	ret = roles_init_views(roles);
	if (ret == 0) {
		ret = roles_init_layers(roles);
	}
	if (ret == 0) {
		const struct inputs_shown shown = {
				roles->views, roles->count, roles->layers, roles->layer_count};
		ret = inputs_init(&roles->inputs, &shown, display, domain);
	}
	if (ret < 0) {
		return ret;
	}
	if (state != NULL) {
		roles_resume(roles, state);
	}
	roles->timer_source = wl_event_loop_add_fd(
			roles->loop, roles->timer, WL_EVENT_READABLE, handle_timer, roles);
	roles->connection = gidd_connection_create(roles->loop, domain, &connection_events, roles);
	if (roles->timer_source == NULL || roles->connection == NULL) {
		return -ENOMEM;
	}
	handle_connection_changed(roles);
	roles->refresh_due = gid_clock_now() + display_refresh_ns(display);
	roles_arm(roles, gid_clock_now());
	return 0;
}

bool roles_finish(struct roles *roles) {
	inputs_finish(&roles->inputs);
	roles->saved_at = 0;
	roles_save(roles, gid_clock_now());
	state_writer_destroy(roles->writer);
	roles->writer = NULL;
	const bool stopped = roles_stop(roles);
	if (stopped) {
		gidd_connection_destroy(roles->connection);
	} else {
		wlr_log(WLR_ERROR, "a picture is being read still: it is not waited for");
	}
	roles->connection = NULL;
	for (size_t i = 0; i < roles->count; i++) {
		role_view_finish(&roles->views[i]);
	}
	for (size_t i = 0; i < roles->layer_count; i++) {
		layer_finish(&roles->layers[i]);
	}
	roles->count = roles->layer_count = 0; /* the screens may still call the hooks */
	gid_timeline_unref(roles->timeline);
	if (roles->timer_source != NULL) {
		wl_event_source_remove(roles->timer_source);
	}
	if (roles->timer >= 0) {
		close(roles->timer);
	}
	notify_finish(&roles->notify);
	free(roles->saved);
	free(roles->layers);
	free(roles->views);
	return stopped;
}
