// SPDX-License-Identifier: MIT
/** gid-buffer.so: loading and unloading of the module, and its configuration. */
#include <errno.h>
#include <libweston/weston-log.h>
#include <stdlib.h>
#include <string.h>

#include "client_descriptors.h"
#include "client_list.h"
#include "client_share.h"
#include "config_keys.h"
#include "config_place.h"
#include "input_seat.h"
#include "manager.h"
#include "output_drawing.h"
#include "output_streams.h"
#include "pacer.h"
#include "pointer_guard.h"
#include "points.h"
#include "raise_guard.h"
#include "safety.h"
#include "weston_buffer.h"

struct module {
	struct weston_compositor *compositor;
	char *domain_name; /* NULL: $GID_DOMAIN, or the only one */
	struct hidden_client *hidden;
	struct gidd_connection *connection;
	struct buffers buffers;
	struct manager manager; /* its `global` is NULL until the hidden client is ready */
	struct points *points;
	struct pacer *pacer;		/* NULL: off */
	struct safety *safety;		/* NULL: weston.ini has no roles */
	struct output_streams *outputs; /* NULL: weston.ini has none */
	struct client_list capturers;
	struct wl_listener compositor_destroy, screenshot_authority;
};

__attribute__((visibility("default"))) int wet_module_init(
		struct weston_compositor *compositor, int *argc, char *argv[]);

/*
 * A screenshot is written into the client's wl_buffer. Writing into one made of gids would crash
 * the compositor: its memory is read-only. This request names the client but not the buffer: so a
 * client can have either gid buffers or screenshots.
 */
static void handle_screenshot(
		struct wl_listener *listener, struct weston_output_capture_attempt *attempt) {
	struct module *module = wl_container_of(listener, module, screenshot_authority);
	if (output_streams_have_client(module->outputs, attempt->who->client)) {
		attempt->authorized = true;
	} else if (client_share_get(attempt->who->client, CLIENT_SHARE_BUFFERS) > 0) {
		attempt->denied = true;
	} else if (client_list_has(&module->capturers, attempt->who->client)) {
		attempt->authorized = true;
	}
}

/* --- the module ------------------------------------------------------------------------------ */

static void handle_hidden_ready(void *data) {
	struct module *module = data;
	if (manager_init(&module->manager, module->compositor->wl_display, module->connection,
			    &buffer_backend, &module->buffers) < 0) {
		weston_log("gid: not enough memory\n");
		return;
	}
	weston_log("gid: ready%s\n",
			hidden_client_get_formats(module->hidden)->dmabuf.size > 0
					? "; the renderer takes dma-bufs"
					: "");
	output_streams_start(module->outputs);
}

static void handle_connection_changed(void *data) {
	struct module *module = data;
	manager_send_feedback(&module->manager);
	safety_connection_changed(module->safety);
	output_streams_connection_changed(module->outputs);
}

static void handle_connection_lost(void *data) {
	struct module *module = data;
	safety_connection_lost(module->safety);
	output_streams_connection_lost(module->outputs);
	buffers_forget_domain(&module->buffers);
}

static void handle_buffer_ready(void *data, struct wl_resource *buffer) {
	struct module *module = data;
	safety_buffer_ready(module->safety, buffer);
}

static const struct gidd_connection_events connection_events = {
		.log = weston_log,
		.changed = handle_connection_changed,
		.lost = handle_connection_lost,
};

static int module_configure(struct module *module) {
	struct weston_config *config = wet_get_config(module->compositor);
	struct config_place place = {config, weston_config_get_section(config, "gid", NULL, NULL)};
	module->domain_name = config_get_text(&place, "domain");
	char *on_revoke = config_get_text(&place, "on-revoke");
	int result = 0;
	if (on_revoke == NULL || strcmp(on_revoke, "keep") == 0) {
		module->buffers.on_revoke = ON_REVOKE_KEEP;
	} else if (strcmp(on_revoke, "blank") == 0) {
		module->buffers.on_revoke = ON_REVOKE_BLANK;
	} else {
		result = config_mistake(&place, "on-revoke", "on-revoke=%s: must be keep or blank",
				on_revoke);
	}
	free(on_revoke);
	int read = client_list_read(&module->capturers, place.section, "capture-clients");
	if (read == -EINVAL) {
		config_mistake(&place, "capture-clients",
				"capture-clients: must be absolute paths of executables");
	}
	return read != 0 ? read : result;
}

static void module_destroy(struct module *module) {
	pacer_destroy(module->pacer);
	input_seats_end();
	output_streams_destroy(module->outputs);
	module->outputs = NULL;
	safety_destroy(module->safety);
	module->safety = NULL;
	manager_finish(&module->manager);
	points_destroy(module->points);
	if (module->connection != NULL) {
		buffers_finish(&module->buffers);
		gidd_connection_destroy(module->connection);
	}
	hidden_client_destroy(module->hidden);
	if (module->buffers.details != NULL) {
		weston_log_scope_destroy(module->buffers.details);
	}
	wl_list_remove(&module->screenshot_authority.link);
	wl_list_remove(&module->compositor_destroy.link);
	client_list_finish(&module->capturers);
	free(module->domain_name);
	free(module);
}

static void handle_compositor_destroy(struct wl_listener *listener, void *data) {
	struct module *module = wl_container_of(listener, module, compositor_destroy);
	module_destroy(module);
}

/*
 * Protects Weston from clients that are not trusted. Weston works without a guard, but worse, and
 * the log says so.
 */
static void guard_weston(void) {
	static const struct {
		int (*guard)(void);
		const char *without;
	} guards[] = {
			{client_descriptors_guard,
					"descriptors of clients are closed by Weston itself, which "
					"may wait for them"},
			{pointer_guard,
					"a fullscreen window that locks a pointer which is "
					"elsewhere ends Weston"},
			{output_drawing_guard,
					"all of an output is copied for each picture, however "
					"little changed"},
			{raise_guard, "a click draws all of a window anew"},
	};
	for (size_t i = 0; i < sizeof(guards) / sizeof(guards[0]); i++) {
		int error = guards[i].guard();
		bool needless = guards[i].guard == raise_guard && error == -ENOENT;
		if (error != 0 && !needless) { /* some shells raise nothing */
			weston_log("gid: %s: %s\n", guards[i].without, gid_strerror(error));
		}
	}
}

int wet_module_init(struct weston_compositor *compositor, int *argc, char *argv[]) {
	struct module *module = calloc(1, sizeof(*module));
	if (module == NULL) {
		return -1;
	}
	if (!weston_compositor_add_destroy_listener_once(
			    compositor, &module->compositor_destroy, handle_compositor_destroy)) {
		free(module); /* the module was loaded twice */
		return 0;
	}
	weston_compositor_add_screenshot_authority(
			compositor, &module->screenshot_authority, handle_screenshot);
	guard_weston();
	module->compositor = compositor;
	module->buffers = (struct buffers){.settled = handle_buffer_ready, .data = module};
	buffers_init(&module->buffers, compositor);
	if (config_keys_check(compositor) != 0 || module_configure(module) != 0 ||
			pacer_create(compositor, &module->pacer) != 0) {
		module_destroy(module);
		return -1;
	}
	module->buffers.details = weston_compositor_add_log_scope(
			compositor, "gid", "gid buffers: what happens to each\n", NULL, NULL, NULL);

	struct wl_event_loop *loop = wl_display_get_event_loop(compositor->wl_display);
	module->connection = gidd_connection_create(
			loop, module->domain_name, &connection_events, module);
	if (module->connection != NULL) {
		module->buffers.connection = module->connection;
		module->hidden = hidden_client_create(
				compositor->wl_display, handle_hidden_ready, module);
	}
	if (module->hidden != NULL) {
		module->buffers.hidden = module->hidden;
		module->points = points_create(
				compositor, module->connection, module->pacer != NULL);
	}
	if (module->points == NULL) {
		weston_log("gid: not enough memory\n");
		module_destroy(module);
		return -1;
	}
	if (safety_create(compositor, module->connection, &module->safety) != 0 ||
			output_streams_create(compositor, module->connection, module->hidden,
					&module->outputs) != 0) {
		module_destroy(module);
		return -1;
	}
	return 0;
}
