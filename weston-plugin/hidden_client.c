// SPDX-License-Identifier: MIT
#include "hidden_client.h"

/*
 * wayland-server.h instead of -core.h, for `resource->object.implementation`: the only way to call
 * the code behind an object without sending a request through a socket. libwayland keeps this part
 * of the struct stable, as Mesa uses it, too.
 */
#include <wayland-server.h>

#include "hidden_peer.h"
#include "linux-dmabuf-v1-protocol.h"
#include "shm_format.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RESTART_MS 100

/*
 * The implementation of a global's objects, as learned from the first one: enough to create others.
 */
struct code {
	const struct wl_interface *interface;
	const void *implementation; /* NULL: there is no such global */
	void *data;
	int version;
};

struct hidden_client {
	struct wl_display *display;
	hidden_client_ready_func became_ready;
	void *data;
	bool ready; /* `shm_code` and `dmabuf_code` are known */
	struct hidden_client_formats formats;
	struct wl_event_source *restart; /* the timer that starts it again until it is ready */
	struct code shm_code, dmabuf_code;

	struct wl_client *client; /* NULL: created when it is needed */
	struct wl_listener client_destroy, resource_created;
	struct wl_resource *shm_resource;
	struct wl_resource *dmabuf_resource; /* NULL: the renderer does not import dma-bufs */

	struct hidden_peer peer; /* its own end of the socket, until it is ready */
	int socket;		 /* its own end, if it was created again; never read; -1: none */
};

static void handle_resource_created(struct wl_listener *listener, void *data) {
	struct hidden_client *hidden = wl_container_of(listener, hidden, resource_created);
	struct wl_resource *resource = data;
	const char *interface = wl_resource_get_class(resource);
	if (strcmp(interface, wl_shm_interface.name) == 0) {
		hidden->shm_resource = resource;
	} else if (strcmp(interface, zwp_linux_dmabuf_v1_interface.name) == 0) {
		hidden->dmabuf_resource = resource;
	}
}

static void client_forget(struct hidden_client *hidden) {
	wl_list_remove(&hidden->client_destroy.link);
	wl_list_remove(&hidden->resource_created.link);
	hidden->client = NULL;
	hidden->shm_resource = hidden->dmabuf_resource = NULL;
	if (hidden->socket >= 0) {
		close(hidden->socket);
		hidden->socket = -1;
	}
}

/* Existing buffers are not affected: each holds its pool. */
static void handle_client_destroy(struct wl_listener *listener, void *data) {
	struct hidden_client *hidden = wl_container_of(listener, hidden, client_destroy);
	client_forget(hidden);
	if (!hidden->ready) {
		wl_event_source_timer_update(hidden->restart, RESTART_MS);
	}
}

static void code_learn(struct code *code, const struct wl_interface *interface,
		struct wl_resource *resource) {
	if (resource != NULL) {
		*code = (struct code){
				.interface = interface,
				.implementation = resource->object.implementation,
				.data = wl_resource_get_user_data(resource),
				.version = wl_resource_get_version(resource),
		};
	}
}

/* Returns NULL if there is no such code, or no memory. */
static struct wl_resource *code_create_resource(const struct code *code, struct wl_client *client) {
	if (code->implementation == NULL) {
		return NULL;
	}
	struct wl_resource *resource =
			wl_resource_create(client, code->interface, code->version, 0);
	if (resource != NULL) {
		wl_resource_set_implementation(resource, code->implementation, code->data, NULL);
	}
	return resource;
}

/*
 * The socket of a client that is set up is not used. Marking the client as failed makes libwayland
 * drop every event for it. This is necessary: events of the code behind its objects (errors, or
 * `created` with an object of another client) must not end the hidden client.
 */
static void client_silence(struct hidden_client *hidden) {
	wl_client_post_implementation_error(hidden->client, "set up, has stopped reading events");
}

static void handle_peer_done(void *data, bool learnt) {
	struct hidden_client *hidden = data;
	if (hidden->client == NULL) {
		return; /* the restart timer is running */
	}
	if (!learnt || hidden->shm_resource == NULL) {
		wl_client_destroy(hidden->client);
		return;
	}
	code_learn(&hidden->shm_code, &wl_shm_interface, hidden->shm_resource);
	code_learn(&hidden->dmabuf_code, &zwp_linux_dmabuf_v1_interface, hidden->dmabuf_resource);
	client_silence(hidden);
	hidden->ready = true;
	hidden->became_ready(hidden->data);
}

/* Creates the client. The caller owns the client's own end of the socket. */
static int client_create(struct hidden_client *hidden, int *socket) {
	int sockets[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
		return -errno;
	}
	hidden->client = wl_client_create(hidden->display, sockets[0]);
	if (hidden->client == NULL) {
		close(sockets[0]);
		close(sockets[1]);
		return -ENOMEM;
	}
	hidden->client_destroy.notify = handle_client_destroy;
	wl_client_add_destroy_listener(hidden->client, &hidden->client_destroy);
	hidden->resource_created.notify = handle_resource_created;
	wl_client_add_resource_created_listener(hidden->client, &hidden->resource_created);
	*socket = sockets[1];
	return 0;
}

/* Makes sure that there is a client to create buffers with. Creates another one if it was lost. */
static bool client_ensure(struct hidden_client *hidden) {
	if (!hidden->ready || hidden->client != NULL) {
		return hidden->ready;
	}
	if (client_create(hidden, &hidden->socket) != 0) {
		return false;
	}
	/* handle_resource_created() stores them. */
	code_create_resource(&hidden->shm_code, hidden->client);
	code_create_resource(&hidden->dmabuf_code, hidden->client);
	client_silence(hidden);
	if (hidden->shm_resource == NULL) {
		wl_client_destroy(hidden->client);
	}
	return hidden->client;
}

static int client_start(struct hidden_client *hidden) {
	int socket;
	int error = client_create(hidden, &socket);
	if (error != 0) {
		return error;
	}
	hidden->formats.shm.size = hidden->formats.dmabuf.size = 0;
	hidden->peer = (struct hidden_peer){
			.shm_formats = &hidden->formats.shm,
			.dmabuf_formats = &hidden->formats.dmabuf,
			.done = handle_peer_done,
			.data = hidden,
	};
	return hidden_peer_init(&hidden->peer, wl_display_get_event_loop(hidden->display), socket);
}

static int handle_restart(void *data) {
	struct hidden_client *hidden = data;
	/* Not earlier: the client before ended within its peer's own code. */
	hidden_peer_finish(&hidden->peer);
	if (client_start(hidden) != 0) {
		if (hidden->client != NULL) {
			wl_client_destroy(hidden->client);
		}
		wl_event_source_timer_update(hidden->restart, RESTART_MS);
	}
	return 0;
}

struct hidden_client *hidden_client_create(
		struct wl_display *display, hidden_client_ready_func became_ready, void *data) {
	struct hidden_client *hidden = calloc(1, sizeof(*hidden));
	if (hidden == NULL) {
		return NULL;
	}
	hidden->display = display;
	hidden->became_ready = became_ready;
	hidden->socket = -1;
	hidden->data = data;
	wl_array_init(&hidden->formats.shm);
	wl_array_init(&hidden->formats.dmabuf);
	hidden->restart = wl_event_loop_add_timer(
			wl_display_get_event_loop(display), handle_restart, hidden);
	if (hidden->restart == NULL) {
		free(hidden);
		return NULL;
	}
	handle_restart(hidden);
	return hidden;
}

void hidden_client_destroy(struct hidden_client *hidden) {
	if (hidden == NULL) {
		return;
	}
	if (hidden->client != NULL) {
		struct wl_client *client = hidden->client;
		client_forget(hidden);
		wl_client_destroy(client);
	}
	hidden_peer_finish(&hidden->peer);
	wl_event_source_remove(hidden->restart);
	wl_array_release(&hidden->formats.shm);
	wl_array_release(&hidden->formats.dmabuf);
	free(hidden);
}

const struct hidden_client_formats *hidden_client_get_formats(const struct hidden_client *hidden) {
	return &hidden->formats;
}

bool hidden_client_has_shm_format(const struct hidden_client *hidden, uint32_t fourcc) {
	const uint32_t *entry;
	wl_array_for_each(entry, &hidden->formats.shm) {
		if (*entry == fourcc) {
			return true;
		}
	}
	return false;
}

bool hidden_client_has_dmabuf_format(
		const struct hidden_client *hidden, uint32_t fourcc, uint64_t modifier) {
	const struct hidden_modifier *entry;
	wl_array_for_each(entry, &hidden->formats.dmabuf) {
		if (entry->fourcc == fourcc && entry->modifier == modifier) {
			return true;
		}
	}
	return false;
}

/* --- buffers ---------------------------------------------------------------------------------- */

/* Catches the resource that a request creates for a client: such functions return nothing. */
struct catcher {
	struct wl_listener listener;
	const struct wl_interface *interface;
	struct wl_resource *resource;
};

static void catcher_handle_created(struct wl_listener *listener, void *data) {
	struct catcher *catcher = wl_container_of(listener, catcher, listener);
	if (strcmp(wl_resource_get_class(data), catcher->interface->name) == 0) {
		catcher->resource = data;
	}
}

static void catcher_begin(struct catcher *catcher, struct wl_client *client,
		const struct wl_interface *interface) {
	*catcher = (struct catcher){.interface = interface};
	catcher->listener.notify = catcher_handle_created;
	wl_client_add_resource_created_listener(client, &catcher->listener);
}

static struct wl_resource *catcher_end(struct catcher *catcher) {
	wl_list_remove(&catcher->listener.link);
	return catcher->resource;
}

struct wl_resource *hidden_client_create_shm_buffer(struct hidden_client *hidden,
		struct wl_client *client, uint32_t id, const struct hidden_client_shm *shm) {
	if (!client_ensure(hidden)) {
		return NULL;
	}
	int fd = fcntl(shm->fd, F_DUPFD_CLOEXEC, 0); /* create_pool closes it */
	if (fd < 0) {
		return NULL;
	}

	struct catcher catcher;
	catcher_begin(&catcher, hidden->client, &wl_shm_pool_interface);
	const struct wl_shm_interface *shm_code = hidden->shm_resource->object.implementation;
	shm_code->create_pool(hidden->client, hidden->shm_resource, 0, fd, shm->size);
	struct wl_resource *pool = catcher_end(&catcher);
	if (pool == NULL) {
		return NULL;
	}

	catcher_begin(&catcher, client, &wl_buffer_interface);
	const struct wl_shm_pool_interface *pool_code = pool->object.implementation;
	pool_code->create_buffer(client, pool, id, shm->offset, shm->width, shm->height,
			shm->stride, shm_format_from_fourcc(shm->fourcc));
	struct wl_resource *buffer = catcher_end(&catcher);
	wl_resource_destroy(pool); /* the buffer holds the memory */
	return buffer;
}

struct wl_resource *hidden_client_create_dmabuf_buffer(struct hidden_client *hidden,
		struct wl_client *client, uint32_t id, const struct hidden_client_dmabuf *dmabuf) {
	if (!client_ensure(hidden) || hidden->dmabuf_resource == NULL) {
		return NULL;
	}

	struct catcher catcher;
	catcher_begin(&catcher, hidden->client, &zwp_linux_buffer_params_v1_interface);
	const struct zwp_linux_dmabuf_v1_interface *dmabuf_code =
			hidden->dmabuf_resource->object.implementation;
	dmabuf_code->create_params(hidden->client, hidden->dmabuf_resource, 0);
	struct wl_resource *params = catcher_end(&catcher);
	if (params == NULL) {
		return NULL;
	}

	struct wl_resource *buffer = NULL;
	const struct zwp_linux_buffer_params_v1_interface *params_code =
			params->object.implementation;
	for (uint32_t i = 0; i < dmabuf->plane_count; i++) {
		int fd = fcntl(dmabuf->planes[i].fd, F_DUPFD_CLOEXEC, 0); /* add takes it */
		if (fd < 0) {
			goto out;
		}
		params_code->add(hidden->client, params, fd, i, dmabuf->planes[i].offset,
				dmabuf->planes[i].stride, dmabuf->modifier >> 32,
				dmabuf->modifier & UINT32_MAX);
	}
	catcher_begin(&catcher, client, &wl_buffer_interface);
	/*
	 * With id 0 it sends `created` to the params object, whose client gets no events: see
	 * client_silence().
	 */
	params_code->create_immed(
			client, params, id, dmabuf->width, dmabuf->height, dmabuf->fourcc, 0);
	buffer = catcher_end(&catcher);
out:
	wl_resource_destroy(params);
	return buffer;
}
