// SPDX-License-Identifier: MIT
/**
 * The hidden client's own end of its socket: an ordinary Wayland client that binds wl_shm and
 * zwp_linux_dmabuf_v1, and learns the renderer's formats from their events. hidden_client.c has the
 * server's end.
 */
#ifndef GID_WESTON_HIDDEN_PEER_H
#define GID_WESTON_HIDDEN_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <wayland-server-core.h>

/* A format of dma-bufs, with one of its modifiers. */
struct hidden_modifier {
	uint32_t fourcc; /* DRM_FORMAT_* */
	uint64_t modifier;
};

/* Called once: the globals are bound and the formats known, or the connection is lost. */
typedef void (*hidden_peer_done_func)(void *data, bool learnt);

struct hidden_peer {
	struct wl_array *shm_formats;	 /* uint32_t DRM_FORMAT_*, filled here */
	struct wl_array *dmabuf_formats; /* struct hidden_modifier, likewise */
	hidden_peer_done_func done;
	void *data;

	struct wl_display *display;	/* of libwayland-client */
	struct wl_event_source *source; /* NULL once done */
	struct wl_registry *registry;
	struct wl_shm *shm;
	struct zwp_linux_dmabuf_v1 *dmabuf;
};

/*
 * Starts on one end of a socket pair, which the peer owns from then on. The first four members must
 * be set.
 */
int hidden_peer_init(struct hidden_peer *peer, struct wl_event_loop *loop, int fd);

/* Accepts a peer of zeroes. Not to be called within `done`. */
void hidden_peer_finish(struct hidden_peer *peer);

#endif
