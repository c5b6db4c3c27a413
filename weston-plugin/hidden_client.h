// SPDX-License-Identifier: MIT
/**
 * The hidden client: a Wayland client inside the compositor's own process, that owns a genuine
 * wl_shm and, where the renderer imports dma-bufs, zwp_linux_dmabuf_v1. libwayland's and Weston's
 * own code then makes genuine wl_buffers of memory that gidway brings, on the object ids of other
 * clients.
 *
 * Belongs to the compositor's thread.
 */
#ifndef GID_WESTON_HIDDEN_CLIENT_H
#define GID_WESTON_HIDDEN_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wayland-server-core.h>

#include "hidden_peer.h"

struct hidden_client;

/* What the renderer takes. */
struct hidden_client_formats {
	struct wl_array shm;	/* uint32_t: DRM_FORMAT_* */
	struct wl_array dmabuf; /* struct hidden_modifier */
};

/* Called once: buffers can be made from now on. If the client is lost it is made again by then. */
typedef void (*hidden_client_ready_func)(void *data);

struct hidden_client *hidden_client_create(
		struct wl_display *display, hidden_client_ready_func became_ready, void *data);
void hidden_client_destroy(struct hidden_client *hidden);

/* The lists; empty before the client was ready. */
const struct hidden_client_formats *hidden_client_get_formats(const struct hidden_client *hidden);
bool hidden_client_has_shm_format(const struct hidden_client *hidden, uint32_t fourcc);
bool hidden_client_has_dmabuf_format(
		const struct hidden_client *hidden, uint32_t fourcc, uint64_t modifier);

/*
 * Makes a wl_shm buffer for `client`, over a pool of its own that maps `size` bytes of `fd`,
 * readable and writable. The pool lives as long as the buffer. `id` is the client's for a new
 * object, or 0 for one of the server's. `fd` stays the caller's. The caller has checked everything:
 * NULL means no memory, or that the hidden client was never ready.
 */
struct hidden_client_shm {
	int fd;
	int32_t size, offset, width, height, stride;
	uint32_t fourcc;
};
struct wl_resource *hidden_client_create_shm_buffer(struct hidden_client *hidden,
		struct wl_client *client, uint32_t id, const struct hidden_client_shm *shm);

/* The same with dma-bufs. NULL where the renderer refuses them, too; `id` may then be used
 * otherwise. */
struct hidden_client_dmabuf {
	int32_t width, height;
	uint32_t fourcc;
	uint64_t modifier;
	uint32_t plane_count;
	struct {
		int fd;
		uint32_t offset, stride;
	} planes[4];
};
struct wl_resource *hidden_client_create_dmabuf_buffer(struct hidden_client *hidden,
		struct wl_client *client, uint32_t id, const struct hidden_client_dmabuf *dmabuf);

#endif
