// SPDX-License-Identifier: MIT
/**
 * The hidden client's own end: an ordinary Wayland client on a socket, that binds wl_shm and
 * zwp_linux_dmabuf_v1 and learns from their events what the renderer takes. hidden_client.c has the
 * server's end.
 */
#ifndef GID_WESTON_HIDDEN_PEER_H
#define GID_WESTON_HIDDEN_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <wayland-server-core.h>

/* A format of dma-bufs. */
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

/* Starts on one end of a socket pair, which the peer owns from then on. The four first members are
 * set already. */
int hidden_peer_init(struct hidden_peer *peer, struct wl_event_loop *loop, int fd);

/* Takes a peer of zeroes, too. Not from within `done`. */
void hidden_peer_finish(struct hidden_peer *peer);

#endif
