// SPDX-License-Identifier: MIT
/**
 * The hidden client: a Wayland client inside the compositor's own process, which has a genuine
 * wl_shm and, if the renderer imports dma-bufs, zwp_linux_dmabuf_v1. Through these, the code of
 * libwayland and Weston creates genuine wl_buffers over gidway's memory, with the object ids of
 * other clients.
 *
 * Runs on the compositor's thread.
 */
#ifndef GID_WESTON_HIDDEN_CLIENT_H
#define GID_WESTON_HIDDEN_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wayland-server-core.h>

#include "hidden_peer.h"

struct hidden_client;

/* The formats that the renderer supports. */
struct hidden_client_formats {
	struct wl_array shm;	/* uint32_t: DRM_FORMAT_* */
	struct wl_array dmabuf; /* struct hidden_modifier */
};

/*
 * Called once: buffers can be created from now on. A client that is lost later is created again
 * when it is needed.
 */
typedef void (*hidden_client_ready_func)(void *data);

struct hidden_client *hidden_client_create(
		struct wl_display *display, hidden_client_ready_func became_ready, void *data);
void hidden_client_destroy(struct hidden_client *hidden);

/* The lists are empty before the client is ready. */
const struct hidden_client_formats *hidden_client_get_formats(const struct hidden_client *hidden);
bool hidden_client_has_shm_format(const struct hidden_client *hidden, uint32_t fourcc);
bool hidden_client_has_dmabuf_format(
		const struct hidden_client *hidden, uint32_t fourcc, uint64_t modifier);

/*
 * Creates a wl_shm buffer for `client`, over a pool of its own that maps `size` bytes of `fd`,
 * readable and writable. The pool lives as long as the buffer. `id` is the client's for a new
 * object, or 0 for one of the server's. `fd` stays the caller's, and the caller has checked
 * everything. Returns NULL without memory, or if the hidden client was never ready.
 */
struct hidden_client_shm {
	int fd;
	int32_t size, offset, width, height, stride;
	uint32_t fourcc;
};
struct wl_resource *hidden_client_create_shm_buffer(struct hidden_client *hidden,
		struct wl_client *client, uint32_t id, const struct hidden_client_shm *shm);

/*
 * The same with dma-bufs. Also returns NULL if the renderer refuses them; then `id` is still
 * unused.
 */
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
