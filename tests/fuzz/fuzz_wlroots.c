// SPDX-License-Identifier: MIT
/*
 * gid buffers in a compositor that stands on wlroots, in this process: its real backend (headless),
 * renderer (pixman), surfaces and the library of wlroots/, before a client that says what the input
 * says. The domain and its slabs are false ones. The pictures of all surfaces are drawn now and
 * then, as a compositor does at any time.
 */
#include "gid_buffer_v1.h"

#include <stdlib.h>
#include <wlr/backend/headless.h>
#include <wlr/render/allocator.h>
#include <wlr/render/pixman.h>
#include <wlr/render/wlr_texture.h>
#include <wlr/types/wlr_compositor.h>
#include <wlr/types/wlr_shm.h>
#include <wlr/types/wlr_subcompositor.h>
#include <wlr/types/wlr_viewporter.h>
#include <wlr/util/log.h>

#include "buffer_requests.h"
#include "false_domain.h"
#include "surface_requests.h"

#define STEPS_MAX 200
#define SHOWN_SIZE 8

struct shown {
	struct wl_list link; /* server::shown */
	struct wlr_surface *surface;
	struct wl_listener destroy;
};

struct server {
	struct wl_display *display;
	struct wlr_backend *backend;
	struct wlr_renderer *renderer;
	struct wlr_allocator *allocator;
	struct wl_list shown;
	struct wl_listener new_surface;
};

static void handle_surface_destroy(struct wl_listener *listener, void *data) {
	struct shown *shown = wl_container_of(listener, shown, destroy);
	wl_list_remove(&shown->destroy.link);
	wl_list_remove(&shown->link);
	free(shown);
}

static void handle_new_surface(struct wl_listener *listener, void *data) {
	struct server *server = wl_container_of(listener, server, new_surface);
	struct shown *shown = calloc(1, sizeof(*shown));
	shown->surface = data;
	shown->destroy.notify = handle_surface_destroy;
	wl_signal_add(&shown->surface->events.destroy, &shown->destroy);
	wl_list_insert(&server->shown, &shown->link);
}

/* Reads some of each surface's pixels, which a revoked slab's must allow. */
static void draw(struct server *server) {
	struct shown *shown;
	wl_list_for_each(shown, &server->shown, link) {
		struct wlr_texture *texture = wlr_surface_get_texture(shown->surface);
		uint32_t pixels[SHOWN_SIZE * SHOWN_SIZE];
		if (texture != NULL && texture->width >= SHOWN_SIZE &&
				texture->height >= SHOWN_SIZE) {
			wlr_texture_read_pixels(texture,
					&(struct wlr_texture_read_pixels_options){
							.data = pixels,
							.format = wlr_texture_preferred_read_format(
									texture),
							.stride = SHOWN_SIZE * 4,
							.src_box = {0, 0, SHOWN_SIZE, SHOWN_SIZE},
					});
		}
	}
}

static int be_silent(const char *format, ...) {
	return 0;
}

static void be_silent_list(const char *format, va_list arguments) {
}

static void server_init(struct server *server) {
	*server = (struct server){.display = wl_display_create()};
	server->backend = wlr_headless_backend_create(wl_display_get_event_loop(server->display));
	server->renderer = wlr_pixman_renderer_create();
	server->allocator = wlr_allocator_autocreate(server->backend, server->renderer);
	demand(server->renderer != NULL && server->allocator != NULL);
	demand(wlr_renderer_init_wl_shm(server->renderer, server->display));
	struct wlr_compositor *compositor =
			wlr_compositor_create(server->display, 6, server->renderer);
	wlr_subcompositor_create(server->display);
	wlr_viewporter_create(server->display);
	wl_list_init(&server->shown);
	server->new_surface.notify = handle_new_surface;
	wl_signal_add(&compositor->events.new_surface, &server->new_surface);
	demand(gid_buffer_manager_create(server->display, server->renderer, server->allocator, NULL,
			       be_silent) != NULL);
}

static void server_finish(struct server *server) {
	wl_list_remove(&server->new_surface.link);
	wl_display_destroy_clients(server->display);
	wlr_backend_destroy(server->backend);
	wlr_allocator_destroy(server->allocator);
	wl_display_destroy(server->display); /* the library of wlroots/ goes with it */
	wlr_renderer_destroy(server->renderer);
}

static void act(struct wayland_client *client, struct server *server) {
	struct input *input = &client->input;
	switch (take(input, 16)) {
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
		false_domain_set_connected(take(input, 2));
		break;
	case 4:
		if (take(input, 4) == 0) {
			false_domain_lose();
		}
		break;
	case 5:
		draw(server);
		break;
	case 6:
	case 7:
		wayland_client_dispatch(client);
		break;
	case 8:
	case 9:
	case 10:
	case 11:
		buffer_requests_send(client, take(input, BUFFER_REQUEST_KINDS));
		break;
	default:
		surface_requests_send(client, take(input, SURFACE_REQUEST_KINDS));
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct server server;
	struct wayland_client client;
	wlr_log_init(WLR_SILENT, NULL);
	wl_log_set_handler_server(be_silent_list);
	false_domain_reset();
	server_init(&server);
	wayland_client_init(&client, server.display, (struct input){data, size});
	buffer_requests_bind(&client);
	surface_requests_begin(&client);
	for (int step = 0; step < STEPS_MAX && wayland_client_goes_on(&client); step++) {
		act(&client, &server);
	}
	wayland_client_dispatch(&client);
	draw(&server);
	server_finish(&server);
	wayland_client_finish(&client);
	false_domain_demand_empty();
	return 0;
}
