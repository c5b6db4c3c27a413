// SPDX-License-Identifier: MIT
#include "safety.h"

#include "clock.h"
#include <errno.h>
#include <gid/timeline.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <wlr/util/log.h>

/* --- the display's questions --------------------------------------------------------------------
 */

static void handle_begin(void *data, uint64_t now) {
	struct safety *safety = data;
	for (size_t i = 0; i < safety->count; i++) {
		watch_tick(&safety->watches[i], now);
	}
}

static bool handle_check(void *data, const struct pixels *composed, uint64_t now) {
	struct safety *safety = data;
	bool passed = true;
	for (size_t i = 0; i < safety->count; i++) {
		passed = watch_check(&safety->watches[i], composed, now) && passed;
	}
	return passed;
}

static void handle_presented(void *data, uint32_t commit, uint64_t when) {
	struct safety *safety = data;
	for (size_t i = 0; i < safety->count; i++) {
		watch_presented(&safety->watches[i], commit, when);
	}
}

const struct display_hooks safety_hooks = {
	.begin = handle_begin,
	.check = handle_check,
	.presented = handle_presented,
};

/* --- time ---------------------------------------------------------------------------------------
 */

/* Wakes us once a refresh, and at the very moment at which a deadline passes. */
static void safety_arm(struct safety *safety, uint64_t now) {
	uint64_t next = now + display_refresh_ns(safety->display);
	for (size_t i = 0; i < safety->count; i++) {
		uint64_t tick = role_next_tick(&safety->watches[i].role);
		if (tick > now && tick < next) {
			next = tick;
		}
	}
	struct itimerspec when = {
		.it_value = {(time_t)(next / 1000000000u), (long)(next % 1000000000u)},
	};
	timerfd_settime(safety->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static int handle_timer(int fd, uint32_t mask, void *data) {
	struct safety *safety = data;
	uint64_t expirations;
	if (read(fd, &expirations, sizeof(expirations)) < 0) {
		return 0;
	}
	uint64_t now = clock_now();
	for (size_t i = 0; i < safety->count; i++) {
		watch_tick(&safety->watches[i], now);
		subscription_tick(&safety->subscriptions[i]);
	}
	safety_arm(safety, now);
	return 0;
}

/* --- the domain ---------------------------------------------------------------------------------
 */

int safety_log(const char *format, ...) {
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
	struct safety *safety = data;
	/* Told from within connection_create(), too. */
	struct gid_domain *domain =
		safety->connection != NULL ? connection_get_domain(safety->connection) : NULL;
	for (size_t i = 0; domain != NULL && i < safety->count; i++) {
		if (safety->subscriptions[i].domain == NULL) {
			subscription_start(&safety->subscriptions[i], domain);
		}
	}
}

static void handle_connection_lost(void *data) {
	struct safety *safety = data;
	for (size_t i = 0; i < safety->count; i++) {
		subscription_stop(&safety->subscriptions[i]);
	}
}

static const struct connection_events connection_events = {
	.log = safety_log,
	.changed = handle_connection_changed,
	.lost = handle_connection_lost,
};

/* --- begin and end ------------------------------------------------------------------------------
 */

static int safety_init_watches(struct safety *safety) {
	const struct cluster_config *config = safety->config;
	uint64_t now = clock_now();
	for (size_t i = 0; i < config->role_count; i++) {
		int ret = watch_init(&safety->watches[i], &config->roles[i], safety->display,
			safety->display->safety, now);
		if (ret < 0) {
			wlr_log(WLR_ERROR, "role %s: %s", config->roles[i].name,
				ret == -EINVAL && config->roles[i].picture
					? "its fallback is no PNG that can be read"
					: strerror(-ret));
			return ret;
		}
		safety->watches[i].timeline = safety->timeline;
		subscription_init(&safety->subscriptions[i], &safety->watches[i], safety->loop);
		safety->count++;
	}
	return 0;
}

int safety_init(struct safety *safety, const struct cluster_config *config, struct display *display,
	const char *domain) {
	*safety = (struct safety){
		.config = config,
		.display = display,
		.loop = wl_display_get_event_loop(display->wayland),
		.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
	};
	safety->watches = calloc(config->role_count + 1, sizeof(*safety->watches));
	safety->subscriptions = calloc(config->role_count + 1, sizeof(*safety->subscriptions));
	if (safety->timer < 0 || safety->watches == NULL || safety->subscriptions == NULL) {
		return -ENOMEM;
	}
	int ret = gid_timeline_open(NULL, "gid-cluster", &safety->timeline);
	if (ret < 0) {
		wlr_log(WLR_ERROR, "no timeline: GID_TIMELINE=%s: %s", getenv("GID_TIMELINE"),
			strerror(-ret));
	}
	ret = safety_init_watches(safety);
	if (ret < 0) {
		return ret;
	}
	safety->timer_source = wl_event_loop_add_fd(
		safety->loop, safety->timer, WL_EVENT_READABLE, handle_timer, safety);
	safety->connection = connection_create(safety->loop, domain, &connection_events, safety);
	if (safety->timer_source == NULL || safety->connection == NULL) {
		return -ENOMEM;
	}
	handle_connection_changed(safety);
	safety_arm(safety, clock_now());
	return 0;
}

void safety_finish(struct safety *safety) {
	connection_destroy(safety->connection);
	safety->connection = NULL;
	for (size_t i = 0; i < safety->count; i++) {
		watch_finish(&safety->watches[i]);
	}
	gid_timeline_unref(safety->timeline);
	if (safety->timer_source != NULL) {
		wl_event_source_remove(safety->timer_source);
	}
	if (safety->timer >= 0) {
		close(safety->timer);
	}
	free(safety->watches);
	free(safety->subscriptions);
}
