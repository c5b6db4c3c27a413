// SPDX-License-Identifier: MIT
/*
 * The Weston module in this process, gid-safety-v1 with it: a real libweston with its headless
 * backend and pixman, before a client that says what the input says. This client is named for two
 * roles. The domain, its slabs and its streams are false ones. In place of a shell, all surfaces
 * with a buffer are shown.
 */
#include <libweston/backend-headless.h>
#include <libweston/weston-log.h>
#include <libweston/windowed-output-api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buffer_requests.h"
#include "false_domain.h"
#include "false_producer.h"
#include "gid-safety-v1-protocol.h"
#include "surface_requests.h"
#include "weston_config.h"

#define STEPS_MAX 200
#define REPAINT_MS 4

int wet_module_init(struct weston_compositor *compositor, int *argc, char *argv[]);

/* --- Weston ----------------------------------------------------------------------------------- */

static struct weston_config *config;

struct weston_config *wet_get_config(struct weston_compositor *compositor) {
	return config;
}

/* Roles of this very program; `lamp` has a size, is not to be seen here, and is never copied. */
static void read_config(void) {
	char program[4096] = "", *text;
	size_t size;
	demand(readlink("/proc/self/exe", program, sizeof(program) - 1) > 0);
	FILE *file = open_memstream(&text, &size);
	fprintf(file,
			"[gid]\non-revoke=keep\n"
			"[gid-safety]\nrole=meter\nclients=%s\nheartbeat-ms=1\nlease-ms=1\n"
			"[gid-safety]\nrole=lamp\nclients=%s\nsize=16x16\nvisible=false\ncopy=false\n",
			program, program);
	fclose(file);
	file = fmemopen(text, size, "r");
	config = weston_config_parse_fp(file);
	fclose(file);
	free(text);
	demand(config != NULL);
}

struct server {
	struct wl_display *display;
	struct weston_log_context *log;
	struct weston_compositor *compositor;
	struct weston_layer layer;
	struct wl_list shown; /* struct shown::link */
	struct wl_listener create_surface;
};

struct shown {
	struct wl_list link;
	struct server *server;
	struct weston_surface *surface;
	struct weston_view *view; /* NULL: it had no buffer yet */
	struct wl_listener commit, destroy;
};

static void handle_commit(struct wl_listener *listener, void *data) {
	struct shown *shown = wl_container_of(listener, shown, commit);
	if (shown->view == NULL && weston_surface_has_content(shown->surface)) {
		shown->view = weston_view_create(shown->surface);
		weston_surface_map(shown->surface);
		weston_view_move_to_layer(shown->view, &shown->server->layer.view_list);
	}
}

static void handle_surface_destroy(struct wl_listener *listener, void *data) {
	struct shown *shown = wl_container_of(listener, shown, destroy);
	wl_list_remove(&shown->commit.link);
	wl_list_remove(&shown->destroy.link);
	wl_list_remove(&shown->link);
	free(shown); /* its view goes with the surface */
}

static void handle_create_surface(struct wl_listener *listener, void *data) {
	struct server *server = wl_container_of(listener, server, create_surface);
	struct shown *shown = calloc(1, sizeof(*shown));
	shown->server = server;
	shown->surface = data;
	shown->commit.notify = handle_commit;
	wl_signal_add(&shown->surface->commit_signal, &shown->commit);
	shown->destroy.notify = handle_surface_destroy;
	wl_signal_add(&shown->surface->destroy_signal, &shown->destroy);
	wl_list_insert(&server->shown, &shown->link);
}

static void handle_heads_changed(struct wl_listener *listener, void *data) {
}

static void make_output(struct server *server, struct weston_backend *backend) {
	const struct weston_windowed_output_api *api = weston_windowed_output_get_api(
			server->compositor, WESTON_WINDOWED_OUTPUT_HEADLESS);
	demand(api != NULL && api->create_head(backend, "screen") == 0);
	struct weston_head *head = weston_compositor_iterate_heads(server->compositor, NULL);
	struct weston_output *output =
			weston_compositor_create_output(server->compositor, head, "screen");
	demand(output != NULL);
	weston_output_set_scale(output, 1);
	weston_output_set_transform(output, WL_OUTPUT_TRANSFORM_NORMAL);
	demand(api->output_set_size(output, 32, 32) == 0 && weston_output_enable(output) == 0);
}

static void server_init(struct server *server) {
	*server = (struct server){.display = wl_display_create(), .log = weston_log_ctx_create()};
	server->compositor = weston_compositor_create(server->display, server->log, NULL, NULL);
	demand(server->compositor != NULL);
	struct weston_headless_backend_config headless = {
			.base = {.struct_version = WESTON_HEADLESS_BACKEND_CONFIG_VERSION,
					.struct_size = sizeof(headless)},
			.renderer = WESTON_RENDERER_PIXMAN,
			.refresh = 1000000, /* mHz: a repaint each ms */
	};
	struct wl_listener heads_changed = {.notify = handle_heads_changed};
	weston_compositor_add_heads_changed_listener(server->compositor, &heads_changed);
	server->compositor->repaint_msec = 0;
	struct weston_backend *backend = weston_compositor_load_backend(
			server->compositor, WESTON_BACKEND_HEADLESS, &headless.base);
	demand(backend != NULL && weston_compositor_backends_loaded(server->compositor) == 0);
	wl_list_init(&server->shown);
	server->create_surface.notify = handle_create_surface;
	wl_signal_add(&server->compositor->create_surface_signal, &server->create_surface);
	weston_layer_init(&server->layer, server->compositor);
	weston_layer_set_position(&server->layer, WESTON_LAYER_POSITION_NORMAL);
	make_output(server, backend);
	wl_list_remove(&heads_changed.link);
	int argc = 0;
	char *argv[] = {NULL};
	demand(wet_module_init(server->compositor, &argc, argv) == 0);
	/* Until the module's hidden client is ready. */
	for (int i = 0; i < 8; i++) {
		wl_event_loop_dispatch(wl_display_get_event_loop(server->display), 0);
		wl_display_flush_clients(server->display);
	}
}

static void server_finish(struct server *server) {
	wl_display_destroy_clients(server->display);
	demand(wl_list_empty(&server->shown));
	wl_list_remove(&server->create_surface.link);
	weston_layer_fini(&server->layer);
	weston_compositor_destroy(server->compositor); /* the module goes with it */
	weston_log_ctx_destroy(server->log);
	wl_display_destroy(server->display);
}

/* --- what the client says --------------------------------------------------------------------- */

static void get_safety_surface(struct wayland_client *client, const char *role) {
	uint32_t words[24] = {0, wayland_client_pick(client, SURFACE)};
	uint32_t count = wayland_client_put_string(words, 2, role);
	uint32_t manager = wayland_client_pick(client, SAFETY_MANAGER);
	words[0] = wayland_client_add(client, SAFETY_SURFACE);
	wayland_client_send(client, manager, 1, words, count, -1);
}

/*
 * A surface that has a role, and a consumer of its stream, and a picture that can be lent; perhaps
 * with a child, so that it is drawn into a copy.
 */
static void begin_live(struct wayland_client *client) {
	false_producer_begin();
	get_safety_surface(client, take(&client->input, 2) ? "meter" : "lamp");
	buffer_requests_make_good(client);
	wayland_client_dispatch(client);
	surface_requests_send(client, SURFACE_REQUEST_KINDS - 1);
	wayland_client_dispatch(client);
	if (take(&client->input, 2) != 0) {
		surface_requests_add_child(client);
		wayland_client_dispatch(client);
	}
}

static void wait_for_repaint(struct wayland_client *client) {
	struct wl_event_loop *loop = wl_display_get_event_loop(client->display);
	for (int i = 0; i < REPAINT_MS; i++) {
		wl_event_loop_dispatch(loop, 1);
	}
}

static void act(struct wayland_client *client) {
	static const char *const roles[] = {"meter", "lamp", "", "unknown", "meter", "lamp"};
	struct input *input = &client->input;
	switch (take(input, 20)) {
	case 0:
		false_domain_set_fate(take(input, FATES));
		break;
	case 1:
		false_domain_answer(take(input, 64));
		break;
	case 2:
		false_domain_revoke(take(input, FALSE_SLABS));
		break;
	case 3:
		if (take(input, 8) == 0) {
			false_domain_lose();
		} else {
			false_domain_set_connected(take(input, 2));
		}
		break;
	case 4:
		if (take(input, 8) == 0) {
			wait_for_repaint(client);
		}
		break;
	case 5:
	case 6:
	case 7:
		wayland_client_dispatch(client);
		break;
	case 8:
	case 9:
	case 10:
		buffer_requests_send(client, take(input, BUFFER_REQUEST_KINDS));
		break;
	case 11:
		wayland_client_bind(
				client, SAFETY_MANAGER, gid_safety_manager_v1_interface.name, 1);
		break;
	case 12:
	case 13:
		get_safety_surface(client, roles[take(input, 6)]);
		break;
	case 14:
	case 15:
	case 16:
		false_producer_act(input);
		break;
	default:
		surface_requests_send(client, take(input, SURFACE_REQUEST_KINDS));
		break;
	}
}

/* --- an input --------------------------------------------------------------------------------- */

static void be_silent(const char *format, va_list arguments) {
}

static int be_silent_too(const char *format, va_list arguments) {
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct server server;
	struct wayland_client client;
	if (config == NULL) {
		wl_log_set_handler_server(be_silent);
		weston_log_set_handler(be_silent_too, be_silent_too);
		read_config();
	}
	false_domain_reset();
	server_init(&server);
	wayland_client_init(&client, server.display, (struct input){data, size});
	buffer_requests_bind(&client);
	surface_requests_begin(&client);
	wayland_client_bind(&client, SAFETY_MANAGER, gid_safety_manager_v1_interface.name, 1);
	if (take(&client.input, 4) != 0) {
		begin_live(&client);
	}
	for (int step = 0; step < STEPS_MAX && wayland_client_goes_on(&client); step++) {
		act(&client);
	}
	wayland_client_dispatch(&client);
	server_finish(&server);
	wayland_client_finish(&client);
	false_domain_demand_empty();
	false_producer_demand_empty();
	return 0;
}
