// SPDX-License-Identifier: MIT
/**
 * gid_buffer_params_v1: checks a client's requests, and sends it the events of its buffer. How a
 * buffer is made of the memory differs between compositors: that is the backend's part.
 */
#ifndef GID_COMPOSITOR_PARAMS_H
#define GID_COMPOSITOR_PARAMS_H

#include <wayland-server-core.h>

#include "picture.h"

struct buffer; /* the backend's own */

/* Events of a buffer. Each is called at most once, in this order, on the compositor's thread. */
struct buffer_events {
	/*
	 * The memory is there, and shown: `error` 0. Otherwise -ENOENT, or -ERANGE: a plane leaves
	 * its slot. May be called from within buffer_create(). A buffer that has no wl_buffer yet
	 * is destroyed right after an error.
	 */
	void (*settled)(void *data, int error);
	/* The owner took the memory back. */
	void (*revoked)(void *data);
	/* The buffer ends, and `data` is not used any more. */
	void (*destroyed)(void *data);
};

/* What each compositor implements. */
struct params_backend {
	/* Whether linear memory, or dma-bufs of this modifier, can be shown. */
	bool (*can_show)(void *data, uint32_t fourcc, uint64_t modifier);
	/* Calls manager_send_format() for all that can be shown. */
	void (*send_formats)(void *data, struct wl_resource *feedback);
	/*
	 * Begins a buffer for `client`. With an `id`, the wl_buffer is made at once, and blank
	 * until the memory is there; with 0, when the memory is there. Returns 0 and, unless it was
	 * destroyed on the way, the buffer; -ENOMEM.
	 */
	int (*create)(void *data, struct wl_client *client, uint32_t id,
			const struct picture *picture, const struct buffer_events *events,
			void *events_data, struct buffer **buffer);
	/* The wl_buffer, NULL where there is none yet. */
	struct wl_resource *(*get_resource)(const struct buffer *buffer);
	/*
	 * The events' data goes away: no event is sent any more. A buffer without wl_buffer is
	 * destroyed.
	 */
	void (*abandon)(struct buffer *buffer);
};

/*
 * Makes the object `id` of gid_buffer_manager_v1.create_params. `backend` and `data` outlive all
 * such objects. `all`: their wl_resource links; a client that has too many of them gets no more.
 */
void params_create(const struct params_backend *backend, void *data, struct wl_list *all,
		struct wl_client *client, uint32_t version, uint32_t id);

#endif
