// SPDX-License-Identifier: MIT
#include "surface.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "gid-buffer-v1-client-protocol.h"
#include "lights.h"
#include "xdg-shell-client-protocol.h"

#define RENEW_US 300000

static void handle_release(void *data, struct wl_buffer *buffer) {
	struct surface_buffer *one = data;
	struct telltale *telltale = one->surface->telltale;
	gid_slab_give(telltale->slab, one->slot);
	if (telltale->waits) {
		surface_change(one->surface, telltale->state);
	}
}

static const struct wl_buffer_listener buffer_listener = {.release = handle_release};

static void handle_configure(void *data, struct xdg_surface *xdg_surface, uint32_t serial) {
	struct surface *surface = data;
	xdg_surface_ack_configure(xdg_surface, serial);
	if (!surface->configured) {
		surface->configured = true;
		surface_change(surface, surface->telltale->state);
	}
}

static const struct xdg_surface_listener xdg_surface_listener = {.configure = handle_configure};

static void handle_size(void *data, struct xdg_toplevel *toplevel, int32_t width, int32_t height,
		struct wl_array *states) {
}

static void handle_close(void *data, struct xdg_toplevel *toplevel) {
	struct surface *surface = data;
	sd_event_exit(sd_event_source_get_event(surface->wayland.source), 0);
}

static const struct xdg_toplevel_listener toplevel_listener = {
		.configure = handle_size,
		.close = handle_close,
};

static void open_window(struct surface *surface) {
	const struct gid_layout *layout = &surface->telltale->layout;
	struct wayland *wayland = &surface->wayland;
	surface->xdg_surface = xdg_wm_base_get_xdg_surface(wayland->wm_base, surface->surface);
	xdg_surface_add_listener(surface->xdg_surface, &xdg_surface_listener, surface);
	surface->toplevel = xdg_surface_get_toplevel(surface->xdg_surface);
	xdg_toplevel_add_listener(surface->toplevel, &toplevel_listener, surface);
	xdg_toplevel_set_title(surface->toplevel, "Telltales");
	xdg_toplevel_set_app_id(surface->toplevel, "org.gidway.telltale");
	xdg_toplevel_set_min_size(
			surface->toplevel, (int32_t)layout->width, (int32_t)layout->height);
	xdg_toplevel_set_max_size(
			surface->toplevel, (int32_t)layout->width, (int32_t)layout->height);
	wl_surface_commit(surface->surface);
}

/* --- buffers ---------------------------------------------------------------------------------- */

static void create_buffer(struct surface *surface, uint32_t slot);

static void destroy_buffer(struct surface_buffer *one) {
	if (one->buffer != NULL) {
		gid_buffer_params_v1_destroy(one->params);
		wl_buffer_destroy(one->buffer);
		one->buffer = NULL;
	}
}

static int handle_renew(sd_event_source *source, uint64_t usec, void *data) {
	struct surface *surface = data;
	surface->renew = sd_event_source_unref(surface->renew);
	for (uint32_t slot = 0; slot < TELLTALE_SLOTS; slot++) {
		if (surface->buffers[slot].lost) {
			destroy_buffer(&surface->buffers[slot]);
			gid_slab_give(surface->telltale->slab, slot);
			create_buffer(surface, slot);
		}
	}
	surface_change(surface, surface->telltale->state);
	return 0;
}

/*
 * The compositor's domain took long to find our memory again, as after a restart of its gidd: it
 * may find it now. Asked again, and drawn again, until it does.
 */
static void lose_buffer(struct surface_buffer *one) {
	struct surface *surface = one->surface;
	one->lost = true;
	if (surface->renew == NULL) {
		sd_event_add_time_relative(sd_event_source_get_event(surface->wayland.source),
				&surface->renew, CLOCK_MONOTONIC, RENEW_US, 0, handle_renew,
				surface);
	}
}

static void handle_created(
		void *data, struct gid_buffer_params_v1 *params, struct wl_buffer *buffer) {
}

static void handle_failed(void *data, struct gid_buffer_params_v1 *params) {
	lose_buffer(data);
}

static void handle_revoked(void *data, struct gid_buffer_params_v1 *params) {
	lose_buffer(data);
}

static const struct gid_buffer_params_v1_listener params_listener = {
		.created = handle_created,
		.failed = handle_failed,
		.revoked = handle_revoked,
};

static void create_buffer(struct surface *surface, uint32_t slot) {
	const struct gid_layout *layout = &surface->telltale->layout;
	gid_id gid = gid_slab_gid(surface->telltale->slab, slot);
	struct gid_buffer_params_v1 *params =
			gid_buffer_manager_v1_create_params(surface->wayland.gid_buffers);
	gid_buffer_params_v1_add(params, (uint32_t)(gid >> 32), (uint32_t)gid, 0,
			layout->planes[0].offset, layout->planes[0].stride,
			(uint32_t)(layout->modifier >> 32), (uint32_t)layout->modifier);
	struct surface_buffer *one = &surface->buffers[slot];
	*one = (struct surface_buffer){.surface = surface, .slot = slot, .params = params};
	gid_buffer_params_v1_add_listener(params, &params_listener, one);
	one->buffer = gid_buffer_params_v1_create_immed(
			params, (int32_t)layout->width, (int32_t)layout->height, layout->fourcc);
	wl_buffer_add_listener(one->buffer, &buffer_listener, one);
}

/* --- life ------------------------------------------------------------------------------------- */

int surface_init(struct surface *surface, struct telltale *telltale, sd_event *event,
		const char *role) {
	*surface = (struct surface){.telltale = telltale};
	if (wayland_init(&surface->wayland, event) < 0) {
		return -1;
	}
	surface->surface = wl_compositor_create_surface(surface->wayland.compositor);
	if (client_role_init(&surface->role, &surface->wayland, surface->surface, role) < 0) {
		return -1;
	}
	for (uint32_t slot = 0; slot < TELLTALE_SLOTS; slot++) {
		create_buffer(surface, slot);
	}
	open_window(surface);
	return 0;
}

void surface_finish(struct surface *surface) {
	if (surface->surface == NULL) {
		return;
	}
	sd_event_source_unref(surface->renew);
	if (surface->commit != NULL) {
		wl_callback_destroy(surface->commit);
	}
	client_role_finish(&surface->role);
	if (surface->toplevel != NULL) {
		xdg_toplevel_destroy(surface->toplevel);
		xdg_surface_destroy(surface->xdg_surface);
	}
	wl_surface_destroy(surface->surface);
	for (uint32_t slot = 0; slot < TELLTALE_SLOTS; slot++) {
		destroy_buffer(&surface->buffers[slot]);
	}
	wayland_finish(&surface->wayland);
}

static void handle_commit_done(void *data, struct wl_callback *callback, uint32_t serial) {
	struct surface *surface = data;
	histogram_add(&surface->commits, (gid_clock_now() - surface->committed_ns) / 1000);
	wl_callback_destroy(callback);
	surface->commit = NULL;
}

static const struct wl_callback_listener commit_listener = {.done = handle_commit_done};

/* The compositor answers once it has handled all before: no sooner than it took the commit. */
static void commit(struct surface *surface) {
	bool is_asked = surface->commit != NULL;
	surface->committed_ns = is_asked ? surface->committed_ns : gid_clock_now();
	wl_surface_commit(surface->surface);
	if (!is_asked) {
		surface->commit = wl_display_sync(surface->wayland.display);
		wl_callback_add_listener(surface->commit, &commit_listener, surface);
	}
}

int surface_change(struct surface *surface, unsigned state) {
	struct telltale *telltale = surface->telltale;
	telltale->state = state;
	if (!surface->configured) {
		return 0;
	}
	int slot = telltale_draw(telltale, state);
	if (slot < 0) {
		return slot;
	}
	wl_surface_attach(surface->surface, surface->buffers[slot].buffer, 0, 0);
	wl_surface_damage_buffer(surface->surface, 0, 0, INT32_MAX, INT32_MAX);
	commit(surface);
	return 0;
}

void surface_report(const struct surface *surface) {
	printf("{\"changes\": %" PRIu64 ", \"skipped\": %" PRIu64 ", \"shown\": %" PRIu64
	       ", \"sequence\": %" PRIu64 ", \"lost\": %" PRIu64 ", \"commits\": %" PRIu64
	       ", \"commit_p50_us\": %.0f, \"commit_p99_us\": %.0f, \"commit_max_us\": %" PRIu64
	       "}\n",
			surface->telltale->changes, surface->telltale->skipped, surface->role.shown,
			surface->role.sequence, surface->role.lost, surface->commits.count,
			histogram_percentile(&surface->commits, 50),
			histogram_percentile(&surface->commits, 99), surface->commits.max);
	fflush(stdout);
}
