// SPDX-License-Identifier: MIT
/* The Wayland connection of a client that shows gid buffers, and the globals that it needs. */
#ifndef CLIENTS_WAYLAND_H
#define CLIENTS_WAYLAND_H

#include <stdint.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <wayland-client.h>

// Numbers of color-representation-v1 above this are none of its that the clients use.
#define WAYLAND_COEFFICIENTS 16

struct wayland {
	struct wl_display *display;
	struct wl_registry *registry;
	struct wl_compositor *compositor;
	struct wl_subcompositor *subcompositor;
	struct xdg_wm_base *wm_base;
	struct wp_viewporter *viewporter;
	struct wp_single_pixel_buffer_manager_v1 *single_pixel;
	struct wl_shm *shm;				    // NULL: not there
	struct wp_presentation *presentation;		    // may be NULL
	struct wp_color_representation_manager_v1 *colours; // may be NULL
	struct wp_fifo_manager_v1 *fifo;		    // may be NULL
	struct wp_commit_timing_manager_v1 *commit_timing;  // may be NULL
	uint32_t colour_ranges[WAYLAND_COEFFICIENTS]; // that it takes: bits, for each coefficients
	struct zwp_linux_dmabuf_v1 *linux_dmabuf;     // may be NULL
	struct gid_buffer_manager_v1 *gid_buffers;
	struct gid_safety_manager_v1 *gid_safety; // NULL: this program is not named for a role
	clockid_t presentation_clock;
	sd_event_source *source;
};

/*
 * Connects to $WAYLAND_DISPLAY, and binds the globals. Waits up to 10 s for those that a compositor
 * that has just started does not offer yet. Returns 0, or -1 after saying on stderr what is missing
 * and how to get it.
 */
int wayland_init(struct wayland *wayland, sd_event *event);
void wayland_finish(struct wayland *wayland);

/* Writes the target of a link in /proc, or "(unknown)". Returns `path`. */
const char *program_path(const char *link, char *path, size_t size);

/*
 * Writes who serves the display: "the compositor at wayland-1 (/usr/bin/weston, process 42)".
 * Returns `text`.
 */
const char *wayland_describe_compositor(const struct wayland *wayland, char *text, size_t size);

/* Converts a time of wp_presentation_feedback.presented to CLOCK_MONOTONIC ns. */
uint64_t wayland_presented_time(
		const struct wayland *wayland, uint32_t sec_hi, uint32_t sec_lo, uint32_t nsec);

/* The inverse: converts CLOCK_MONOTONIC ns to the compositor's presentation clock. */
uint64_t wayland_presentation_time(const struct wayland *wayland, uint64_t time);

#endif
