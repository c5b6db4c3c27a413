// SPDX-License-Identifier: MIT
/**
 * Functions that libweston exports for its own backends and renderers, which are modules like this
 * one, but declares in headers that it does not install. They are the same in Weston 14 and 16, and
 * in 15, which was only read.
 */
#ifndef GID_WESTON_LIBWESTON_EXPORTS_H
#define GID_WESTON_LIBWESTON_EXPORTS_H

#include <libweston/libweston.h>

/*
 * Sets the buffer of the reference; `buffer` may be NULL. A buffer is released to its client when
 * the last reference that may access it goes.
 */
void weston_buffer_reference(struct weston_buffer_reference *reference,
		struct weston_buffer *buffer, enum weston_buffer_reference_type type);

/* The same for the release that a client requested by zwp_linux_explicit_synchronization_v1. */
void weston_buffer_release_reference(struct weston_buffer_release_reference *reference,
		struct weston_buffer_release *release);

/* From surface coordinates to the buffer's. */
void weston_surface_to_buffer_region(struct weston_surface *surface,
		pixman_region32_t *surface_region, pixman_region32_t *buffer_region);

/* From global coordinates to the output's. */
void weston_region_global_to_output(pixman_region32_t *output_region, struct weston_output *output,
		pixman_region32_t *region);

/* From the pixels of the view's buffer to those of the output. */
void weston_view_buffer_to_output_matrix(const struct weston_view *view,
		const struct weston_output *output, struct weston_matrix *matrix);

/* The next repaint draws the whole output. */
void weston_output_damage(struct weston_output *output);

/*
 * The output can repaint again; it was refreshed at `stamp`, of the presentation clock, which must
 * not be before output->frame_time.
 */
void weston_output_finish_frame(struct weston_output *output, const struct timespec *stamp,
		uint32_t presented_flags);

#endif
