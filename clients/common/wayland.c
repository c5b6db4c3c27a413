// SPDX-License-Identifier: MIT
#include "wayland.h"

#include <err.h>
#include <gid/gid.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "color-representation-v1-client-protocol.h"
#include "commit-timing-v1-client-protocol.h"
#include "display_connection.h"
#include "fifo-v1-client-protocol.h"
#include "gid-buffer-v1-client-protocol.h"
#include "gid-safety-v1-client-protocol.h"
#include "globals.h"
#include "linux-dmabuf-v1-client-protocol.h"
#include "presentation-time-client-protocol.h"
#include "single-pixel-buffer-v1-client-protocol.h"
#include "viewporter-client-protocol.h"
#include "xdg-shell-client-protocol.h"

/* How long a compositor may take to offer what is needed. */
#define GLOBALS_PATIENCE_NS 10000000000ull
#define GLOBALS_TOLD_NS 1000000000ull

static uint64_t clock_now(clockid_t clock) {
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* CLOCK_MONOTONIC minus the compositor's presentation clock, ns. */
static uint64_t clock_offset(const struct wayland *wayland) {
	uint64_t offset = 0, least = UINT64_MAX;
	// One clock is read between two readings of the other: the closest of a few counts.
	for (int i = 0; wayland->presentation_clock != CLOCK_MONOTONIC && i < 4; i++) {
		uint64_t before = gid_clock_now(), between = clock_now(wayland->presentation_clock);
		uint64_t spent = gid_clock_now() - before;
		if (spent < least) {
			least = spent;
			offset = before + spent / 2 - between;
		}
	}
	return offset;
}

uint64_t wayland_presented_time(
		const struct wayland *wayland, uint32_t sec_hi, uint32_t sec_lo, uint32_t nsec) {
	uint64_t time = (((uint64_t)sec_hi << 32) + sec_lo) * 1000000000 + nsec;
	return time + clock_offset(wayland);
}

uint64_t wayland_presentation_time(const struct wayland *wayland, uint64_t time) {
	return time - clock_offset(wayland);
}

/* --- globals ---------------------------------------------------------------------------------- */

static void wm_base_ping(void *data, struct xdg_wm_base *wm_base, uint32_t serial) {
	xdg_wm_base_pong(wm_base, serial);
}

static const struct xdg_wm_base_listener wm_base_listener = {.ping = wm_base_ping};

static void presentation_clock_id(void *data, struct wp_presentation *presentation, uint32_t id) {
	struct wayland *wayland = data;
	wayland->presentation_clock = (clockid_t)id;
}

static const struct wp_presentation_listener presentation_listener = {
		.clock_id = presentation_clock_id,
};

static void colours_alpha_mode(
		void *data, struct wp_color_representation_manager_v1 *manager, uint32_t mode) {
}

static void colours_coefficients(void *data, struct wp_color_representation_manager_v1 *manager,
		uint32_t coefficients, uint32_t range) {
	struct wayland *wayland = data;
	if (coefficients < WAYLAND_COEFFICIENTS && range < 32) {
		wayland->colour_ranges[coefficients] |= 1u << range;
	}
}

static void colours_done(void *data, struct wp_color_representation_manager_v1 *manager) {
}

static const struct wp_color_representation_manager_v1_listener colours_listener = {
		.supported_alpha_mode = colours_alpha_mode,
		.supported_coefficients_and_ranges = colours_coefficients,
		.done = colours_done,
};

/* Listeners are added at once: the first events may already be in the next batch. */
static void listen_to_global(struct wayland *wayland, const void *proxy) {
	if (proxy == wayland->wm_base) {
		xdg_wm_base_add_listener(wayland->wm_base, &wm_base_listener, wayland);
	} else if (proxy == wayland->presentation) {
		wp_presentation_add_listener(
				wayland->presentation, &presentation_listener, wayland);
	} else if (proxy == wayland->colours) {
		wp_color_representation_manager_v1_add_listener(
				wayland->colours, &colours_listener, wayland);
	}
}

#define MEMBER(member) offsetof(struct wayland, member)

static const struct global_row rows[] = {
		{&wl_compositor_interface, 4, MEMBER(compositor)},
		{&wl_subcompositor_interface, 1, MEMBER(subcompositor)},
		{&xdg_wm_base_interface, 1, MEMBER(wm_base)},
		{&wp_viewporter_interface, 1, MEMBER(viewporter)},
		{&wl_shm_interface, 1, MEMBER(shm)},
		{&wp_single_pixel_buffer_manager_v1_interface, 1, MEMBER(single_pixel)},
		{&wp_presentation_interface, 1, MEMBER(presentation)},
		{&wp_color_representation_manager_v1_interface, 1, MEMBER(colours)},
		{&wp_fifo_manager_v1_interface, 1, MEMBER(fifo)},
		{&wp_commit_timing_manager_v1_interface, 1, MEMBER(commit_timing)},
		{&zwp_linux_dmabuf_v1_interface, 3, MEMBER(linux_dmabuf)},
		{&gid_buffer_manager_v1_interface, 1, MEMBER(gid_buffers)},
		{&gid_safety_manager_v1_interface, 1, MEMBER(gid_safety)},
};
static const struct global_table globals = GLOBAL_TABLE(rows);

static void registry_global(void *data, struct wl_registry *registry, uint32_t name,
		const char *interface, uint32_t version) {
	const void *proxy = globals_bind(&globals, data, registry, name, interface, version);
	if (proxy != NULL) {
		listen_to_global(data, proxy);
	}
}

static void registry_global_remove(void *data, struct wl_registry *registry, uint32_t name) {
}

static const struct wl_registry_listener registry_listener = {
		.global = registry_global,
		.global_remove = registry_global_remove,
};

/* A global that the clients need. `hint`: how to get it. */
struct needed_global {
	const void *proxy;
	const char *name, *hint;
};

/* Finds the first needed global that is not there yet. */
static bool find_missing(const struct wayland *wayland, struct needed_global *missing) {
	const struct needed_global needed[] = {
			{wayland->compositor, "wl_compositor version 4", ""},
			{wayland->subcompositor, "wl_subcompositor", ""},
			{wayland->wm_base, "xdg_wm_base", ": a desktop shell has it"},
			{wayland->viewporter, "wp_viewporter", ""},
			{wayland->single_pixel, "wp_single_pixel_buffer_manager_v1",
					": Weston 12 or newer has it"},
			{wayland->gid_buffers, "gid_buffer_manager_v1",
					": start Weston with --modules=gid-buffer.so, or put "
					"modules=gid-buffer.so into [core] of weston.ini"},
	};
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (needed[i].proxy == NULL) {
			*missing = needed[i];
			return true;
		}
	}
	return false;
}

/* --- life ------------------------------------------------------------------------------------- */

/*
 * Waits for the needed globals: a compositor that has just started accepts clients before its shell
 * and modules are loaded.
 */
static int wait_globals(struct wayland *wayland) {
	uint64_t begin = gid_clock_now(), now = begin, told = begin + GLOBALS_TOLD_NS;
	uint64_t end = begin + GLOBALS_PATIENCE_NS;
	struct needed_global missing;
	while (find_missing(wayland, &missing) && now < end) {
		if (now >= told) {
			warnx("waiting for the compositor's %s", missing.name);
			told = end;
		}
		if (display_dispatch_until(wayland->display, told) < 0) {
			display_explain_loss(wayland->display);
			return -1;
		}
		now = gid_clock_now();
	}
	if (find_missing(wayland, &missing)) {
		warnx("the compositor has no %s%s", missing.name, missing.hint);
		return -1;
	}
	return 0;
}

const char *program_path(const char *link, char *path, size_t size) {
	ssize_t length = readlink(link, path, size - 1);
	if (length < 0) {
		snprintf(path, size, "(unknown)");
	} else {
		path[length] = '\0';
	}
	return path;
}

const char *wayland_describe_compositor(const struct wayland *wayland, char *text, size_t size) {
	const char *name = getenv("WAYLAND_DISPLAY");
	struct ucred peer = {0};
	socklen_t length = sizeof(peer);
	char link[64], path[PATH_MAX];
	getsockopt(wl_display_get_fd(wayland->display), SOL_SOCKET, SO_PEERCRED, &peer, &length);
	snprintf(link, sizeof(link), "/proc/%d/exe", peer.pid);
	snprintf(text, size, "the compositor at %s (%s, process %d)",
			name != NULL ? name : "wayland-0", program_path(link, path, sizeof(path)),
			peer.pid);
	return text;
}

int wayland_init(struct wayland *wayland, sd_event *event) {
	*wayland = (struct wayland){.presentation_clock = CLOCK_MONOTONIC};
	wayland->display = display_connect();
	if (wayland->display == NULL) {
		return -1;
	}
	wayland->registry = wl_display_get_registry(wayland->display);
	wl_registry_add_listener(wayland->registry, &registry_listener, wayland);
	if (display_roundtrip(wayland->display, NULL) < 0 || wait_globals(wayland) < 0 ||
			display_add_to_loop(wayland->display, event, &wayland->source) < 0) {
		goto error;
	}
	return 0;

error:
	wayland_finish(wayland);
	return -1;
}

void wayland_finish(struct wayland *wayland) {
	if (wayland->display == NULL) {
		return;
	}
	sd_event_source_unref(wayland->source);
	wl_display_flush(wayland->display);
	globals_finish(&globals, wayland);
	wl_registry_destroy(wayland->registry);
	wl_display_flush(wayland->display);
	wl_display_disconnect(wayland->display);
	*wayland = (struct wayland){0};
}
