// SPDX-License-Identifier: MIT
#include "hidden_peer.h"

#include <errno.h>
#include <string.h>
#include <wayland-client.h>

#include "linux-dmabuf-v1-client-protocol.h"
#include "shm_format.h"

static void shm_handle_format(void *data, struct wl_shm *shm, uint32_t format) {
	struct hidden_peer *peer = data;
	uint32_t *entry = wl_array_add(peer->shm_formats, sizeof(*entry));
	if (entry != NULL) {
		*entry = shm_format_to_fourcc(format);
	}
}

static const struct wl_shm_listener shm_listener = {
		.format = shm_handle_format,
};

static void dmabuf_handle_format(void *data, struct zwp_linux_dmabuf_v1 *dmabuf, uint32_t format) {
	/* The event `modifier` sends each format again, with its modifiers. */
}

static void dmabuf_handle_modifier(void *data, struct zwp_linux_dmabuf_v1 *dmabuf, uint32_t format,
		uint32_t modifier_hi, uint32_t modifier_lo) {
	struct hidden_peer *peer = data;
	struct hidden_modifier *entry = wl_array_add(peer->dmabuf_formats, sizeof(*entry));
	if (entry != NULL) {
		entry->fourcc = format;
		entry->modifier = (uint64_t)modifier_hi << 32 | modifier_lo;
	}
}

static const struct zwp_linux_dmabuf_v1_listener dmabuf_listener = {
		.format = dmabuf_handle_format,
		.modifier = dmabuf_handle_modifier,
};

static void registry_handle_global(void *data, struct wl_registry *registry, uint32_t name,
		const char *interface, uint32_t version) {
	struct hidden_peer *peer = data;
	if (strcmp(interface, wl_shm_interface.name) == 0) {
		peer->shm = wl_registry_bind(registry, name, &wl_shm_interface, 1);
		wl_shm_add_listener(peer->shm, &shm_listener, peer);
	} else if (strcmp(interface, zwp_linux_dmabuf_v1_interface.name) == 0 && version >= 3) {
		/*
		 * Version 3 lists modifiers by events; since version 4 they are in a shared table.
		 */
		peer->dmabuf = wl_registry_bind(registry, name, &zwp_linux_dmabuf_v1_interface, 3);
		zwp_linux_dmabuf_v1_add_listener(peer->dmabuf, &dmabuf_listener, peer);
	}
}

static void registry_handle_global_remove(void *data, struct wl_registry *registry, uint32_t name) {
}

static const struct wl_registry_listener registry_listener = {
		.global = registry_handle_global,
		.global_remove = registry_handle_global_remove,
};

static void peer_done(struct hidden_peer *peer, bool learnt) {
	wl_event_source_remove(peer->source);
	peer->source = NULL;
	peer->done(peer->data, learnt);
}

static void formats_handle_done(void *data, struct wl_callback *callback, uint32_t serial) {
	wl_callback_destroy(callback);
	peer_done(data, true);
}

static const struct wl_callback_listener formats_listener = {
		.done = formats_handle_done,
};

static void globals_handle_done(void *data, struct wl_callback *callback, uint32_t serial) {
	struct hidden_peer *peer = data;
	wl_callback_destroy(callback);
	wl_callback_add_listener(wl_display_sync(peer->display), &formats_listener, peer);
}

static const struct wl_callback_listener globals_listener = {
		.done = globals_handle_done,
};

static int peer_handle_events(int fd, uint32_t mask, void *data) {
	struct hidden_peer *peer = data;
	/* The socket is readable, so this does not block. */
	int result = wl_display_dispatch(peer->display);
	if (peer->source == NULL) {
		return 0;
	}
	if (result < 0 || wl_display_flush(peer->display) < 0) {
		peer_done(peer, false);
	}
	return 0;
}

void hidden_peer_finish(struct hidden_peer *peer) {
	if (peer->source != NULL) {
		wl_event_source_remove(peer->source);
		peer->source = NULL;
	}
	if (peer->shm != NULL) {
		wl_shm_destroy(peer->shm);
		peer->shm = NULL;
	}
	if (peer->dmabuf != NULL) {
		zwp_linux_dmabuf_v1_destroy(peer->dmabuf);
		peer->dmabuf = NULL;
	}
	if (peer->registry != NULL) {
		wl_registry_destroy(peer->registry);
		peer->registry = NULL;
	}
	if (peer->display != NULL) {
		wl_display_disconnect(peer->display);
		peer->display = NULL;
	}
}

int hidden_peer_init(struct hidden_peer *peer, struct wl_event_loop *loop, int fd) {
	peer->display = wl_display_connect_to_fd(fd);
	if (peer->display == NULL) {
		return -ENOMEM; /* `fd` is closed */
	}
	peer->registry = wl_display_get_registry(peer->display);
	struct wl_callback *globals = wl_display_sync(peer->display);
	peer->source = wl_event_loop_add_fd(loop, fd, WL_EVENT_READABLE, peer_handle_events, peer);
	if (peer->registry == NULL || globals == NULL || peer->source == NULL) {
		hidden_peer_finish(peer);
		return -ENOMEM;
	}
	wl_registry_add_listener(peer->registry, &registry_listener, peer);
	wl_callback_add_listener(globals, &globals_listener, peer);
	wl_display_flush(peer->display);
	return 0;
}
