// SPDX-License-Identifier: MIT
/*
 * hostile-flood [STREAM [ROLE]]: commits a surface to $WAYLAND_DISPLAY as fast as the socket takes
 * it, without waiting for a frame callback or a release. With STREAM also sends frames of that
 * stream as fast as its rings take them. With ROLE the surface has that safety role, so that the
 * compositor forwards it.
 */
#include <drm_fourcc.h>
#include <errno.h>
#include <gid/stream.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/client_role.h"
#include "common/window.h"
#include "gid-buffer-v1-client-protocol.h"

#define SLOTS 2
#define WIDTH 320u
#define HEIGHT 80u
#define BATCH 16u /* commits, and frames, between two looks at anything else */

struct flood {
	struct gid_domain *domain;
	struct gid_layout layout;
	struct gid_slab *slab;
	struct gid_producer *producer; /* NULL: no stream */
	sd_event *event;
	struct wayland wayland;
	struct window window;
	struct client_role role;
	struct wl_buffer *buffers[SLOTS];
	uint64_t commits, frames;
};

static void handle_window(void *data) {
}

static void flood_surface(struct flood *flood) {
	int fd = wl_display_get_fd(flood->wayland.display);
	if (!flood->window.mapped) {
		return;
	}
	if (wl_display_flush(flood->wayland.display) < 0 && errno == EAGAIN) {
		poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, 1);
		return;
	}
	struct wl_surface *surface = flood->window.picture;
	for (unsigned i = 0; i < BATCH; i++) {
		wl_surface_attach(surface, flood->buffers[flood->commits % SLOTS], 0, 0);
		wl_surface_damage_buffer(surface, 0, 0, INT32_MAX, INT32_MAX);
		wl_surface_commit(surface);
		flood->commits++;
	}
}

static void flood_stream(struct flood *flood) {
	for (unsigned i = 0; i < BATCH && flood->producer != NULL; i++) {
		struct gid_frame frame = GID_FRAME_INIT;
		frame.gid = gid_slab_gid(flood->slab, (uint32_t)(flood->frames % SLOTS));
		flood->frames += gid_producer_send(flood->producer, &frame) >= 0;
	}
	if (flood->producer != NULL) {
		gid_producer_dispatch(flood->producer);
	}
}

static int handle_turn(sd_event_source *source, void *data) {
	struct flood *flood = data;
	gid_domain_dispatch(flood->domain);
	flood_surface(flood);
	flood_stream(flood);
	return 0;
}

static int flood_init_domain(struct flood *flood, const char *stream) {
	if (gid_domain_connect(NULL, &flood->domain) < 0) {
		fprintf(stderr, "hostile-flood: %s\n", gid_domain_connect_error());
		return -1;
	}
	int ret = gid_layout_init(&flood->layout, DRM_FORMAT_XRGB8888, WIDTH, HEIGHT, 64);
	if (ret == 0) {
		ret = gid_slab_create(flood->domain, &flood->layout, 0, SLOTS, NULL, &flood->slab);
	}
	if (ret == 0 && stream != NULL) {
		struct gid_producer_options options = {.size = sizeof(options)};
		ret = gid_producer_create(flood->domain, stream, &options, &flood->producer);
	}
	if (ret < 0) {
		fprintf(stderr, "hostile-flood: %s\n", gid_domain_error(flood->domain));
	}
	return ret;
}

static int flood_init_window(struct flood *flood, const char *role) {
	if (wayland_init(&flood->wayland, flood->event) < 0) {
		return -1;
	}
	struct window_options options = {.title = "flood", .app_id = "hostile-flood"};
	window_init(&flood->window, &flood->wayland, &options);
	flood->window.ready = handle_window;
	flood->window.closed = handle_window;
	window_set_picture_size(&flood->window, (int32_t)WIDTH, (int32_t)HEIGHT);
	if (role != NULL &&
			client_role_init(&flood->role, &flood->wayland, flood->window.picture,
					role) < 0) {
		return -1;
	}
	for (uint32_t i = 0; i < SLOTS; i++) {
		gid_id gid = gid_slab_gid(flood->slab, i);
		struct gid_buffer_params_v1 *params =
				gid_buffer_manager_v1_create_params(flood->wayland.gid_buffers);
		gid_buffer_params_v1_add(params, (uint32_t)(gid >> 32), (uint32_t)gid, 0,
				flood->layout.planes[0].offset, flood->layout.planes[0].stride,
				(uint32_t)(flood->layout.modifier >> 32),
				(uint32_t)flood->layout.modifier);
		flood->buffers[i] = gid_buffer_params_v1_create_immed(
				params, (int32_t)WIDTH, (int32_t)HEIGHT, flood->layout.fourcc);
	}
	return 0;
}

static int flood_run(struct flood *flood) {
	sd_event_source *turn;
	int ret = sd_event_add_defer(flood->event, &turn, handle_turn, flood);
	if (ret >= 0) {
		sd_event_source_set_priority(turn, SD_EVENT_PRIORITY_IDLE);
		ret = sd_event_source_set_enabled(turn, SD_EVENT_ON);
	}
	sd_event_add_signal(flood->event, NULL, SIGINT | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL);
	sd_event_add_signal(flood->event, NULL, SIGTERM | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL);
	if (ret >= 0) {
		ret = sd_event_loop(flood->event);
	}
	printf("{\"commits\": %" PRIu64 ", \"frames\": %" PRIu64 "}\n", flood->commits,
			flood->frames);
	return ret;
}

int main(int argc, char **argv) {
	static struct flood flood;
	if (argc > 3 || sd_event_default(&flood.event) < 0) {
		fprintf(stderr, "usage: hostile-flood [STREAM [ROLE]]\n");
		return EXIT_FAILURE;
	}
	if (flood_init_domain(&flood, argv[1]) < 0 ||
			flood_init_window(&flood, argc > 2 ? argv[2] : NULL) < 0) {
		return EXIT_FAILURE;
	}
	return flood_run(&flood) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
