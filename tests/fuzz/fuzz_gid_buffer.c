// SPDX-License-Identifier: MIT
/*
 * gid-buffer-v1 as both compositors serve it: manager, params, planes and pictures of compositor/,
 * in a real libwayland server, before a client that sends what the input says. Slabs and the
 * buffers' own part are false: imports come at once, later, in vain or never; slabs are
 * revoked, buffers and params destroyed at any time, and objects find no memory. What a backend is
 * told must keep to params.h.
 */
#include <dlfcn.h>
#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <wayland-server-protocol.h>

#include "../../compositor/manager.h"
#include "../../compositor/planes.h"
#include "buffer_requests.h"
#include "false_domain.h"

#define STEPS_MAX 200

/* --- memory that there is not ------------------------------------------------------------------
 */

static bool lacks_memory; /* for the next object */

/* Stands before libwayland's. */
struct wl_resource *wl_resource_create(struct wl_client *client,
		const struct wl_interface *interface, int version, uint32_t id) {
	__typeof__(&wl_resource_create) real =
			(__typeof__(real))(uintptr_t)dlsym(RTLD_NEXT, "wl_resource_create");
	bool fails = lacks_memory;
	lacks_memory = false;
	return fails ? NULL : real(client, interface, version, id);
}

/* --- a backend as params.h wants it ----------------------------------------------------------- */

struct buffer {
	struct planes planes;
	struct wl_client *client;
	struct wl_resource *resource; /* or NULL */
	const struct buffer_events *events;
	void *data; /* NULL: nobody is to hear any more */
	bool settled, revoked;
};

static size_t buffer_count;

static void buffer_destroy(struct buffer *buffer) {
	planes_drop(&buffer->planes);
	if (buffer->data != NULL) {
		buffer->events->destroyed(buffer->data);
	}
	buffer_count--;
	free(buffer);
}

static void resource_destroyed(struct wl_resource *resource) {
	buffer_destroy(wl_resource_get_user_data(resource));
}

static void handle_destroy(struct wl_client *client, struct wl_resource *resource) {
	wl_resource_destroy(resource);
}

static const struct wl_buffer_interface buffer_implementation = {.destroy = handle_destroy};

static bool add_resource(struct buffer *buffer, uint32_t id) {
	buffer->resource = wl_resource_create(buffer->client, &wl_buffer_interface, 1, id);
	if (buffer->resource == NULL) {
		return false;
	}
	wl_resource_set_implementation(
			buffer->resource, &buffer_implementation, buffer, resource_destroyed);
	return true;
}

static void settle(struct buffer *buffer, int error) {
	demand(!buffer->settled);
	buffer->settled = true;
	if (error == 0) {
		error = planes_check(&buffer->planes);
	}
	if (error == 0 && buffer->resource == NULL && !add_resource(buffer, 0)) {
		error = -ENOENT;
	}
	if (error == 0) {
		demand(planes_listen(&buffer->planes) == 0);
		planes_view(&buffer->planes);
		struct planes_dmabuf dmabuf;
		planes_get_dmabuf(&buffer->planes, &dmabuf);
	} else {
		planes_drop(&buffer->planes);
	}
	if (buffer->data != NULL) {
		buffer->events->settled(buffer->data, error);
	}
	if (buffer->resource == NULL) {
		buffer_destroy(buffer);
	}
}

static void handle_imported(void *data, int error) {
	settle(data, error);
}

static void handle_revoked(void *data) {
	struct buffer *buffer = data;
	demand(buffer->settled && !buffer->revoked);
	buffer->revoked = true;
	if (buffer->data != NULL) {
		buffer->events->revoked(buffer->data);
	}
}

static const struct planes_events planes_events = {handle_imported, handle_revoked};

static bool can_show(void *data, uint32_t fourcc, uint64_t modifier) {
	return modifier == DRM_FORMAT_MOD_LINEAR || modifier == 7;
}

static void send_formats(void *data, struct wl_resource *feedback) {
	manager_send_format(feedback, DRM_FORMAT_XRGB8888, DRM_FORMAT_MOD_LINEAR, 1);
}

static int create(void *data, struct wl_client *client, uint32_t id, const struct picture *picture,
		const struct buffer_events *events, void *events_data, struct buffer **made) {
	const struct gid_layout *layout = &picture->layout;
	demand(gid_layout_check(layout, UINT64_MAX) == 0);
	demand(layout->plane_count >= 1 && layout->plane_count <= GID_PLANES_MAX);
	demand(can_show(data, layout->fourcc, layout->modifier));
	struct buffer *buffer = calloc(1, sizeof(*buffer));
	buffer_count++;
	buffer->client = client;
	buffer->events = events;
	buffer->data = events_data;
	planes_init(&buffer->planes, picture, &planes_events, buffer);
	if (id != 0 && !add_resource(buffer, id)) {
		buffer->data = NULL;
		buffer_destroy(buffer);
		return -ENOMEM;
	}
	*made = buffer;
	int result = planes_import(&buffer->planes, NULL);
	if (result != -EINPROGRESS) {
		settle(buffer, result);
	}
	return 0;
}

static struct wl_resource *get_resource(const struct buffer *buffer) {
	return buffer->resource;
}

static void abandon(struct buffer *buffer) {
	buffer->data = NULL;
	if (buffer->resource == NULL) {
		buffer_destroy(buffer);
	}
}

static const struct params_backend backend = {
		can_show, send_formats, create, get_resource, abandon};

/* --- gidd ------------------------------------------------------------------------------------- */

static bool is_up;

bool gidd_connection_is_up(const struct gidd_connection *connection) {
	return is_up;
}

struct gid_domain *gidd_connection_get_domain(const struct gidd_connection *connection) {
	return NULL;
}

/* --- an input --------------------------------------------------------------------------------- */

static void act(struct wayland_client *client, struct manager *manager) {
	uint32_t what = take(&client->input, BUFFER_REQUEST_KINDS + 6);
	switch (what) {
	case BUFFER_REQUEST_KINDS:
		false_domain_set_fate(take(&client->input, FATES));
		break;
	case BUFFER_REQUEST_KINDS + 1:
		false_domain_answer(take(&client->input, 64));
		break;
	case BUFFER_REQUEST_KINDS + 2:
		false_domain_revoke(take(&client->input, FALSE_SLABS));
		break;
	case BUFFER_REQUEST_KINDS + 3:
		is_up = !is_up;
		manager_send_feedback(manager);
		break;
	case BUFFER_REQUEST_KINDS + 4:
		wayland_client_dispatch(client);
		break;
	case BUFFER_REQUEST_KINDS + 5:
		lacks_memory = true;
		break;
	default:
		buffer_requests_send(client, what);
		break;
	}
}

static void be_silent(const char *format, va_list arguments) {
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	wl_log_set_handler_server(be_silent);
	false_domain_reset();
	is_up = lacks_memory = false;
	struct wl_display *display = wl_display_create();
	struct manager manager;
	demand(display != NULL && manager_init(&manager, display, NULL, &backend, NULL) == 0);
	struct wayland_client client;
	wayland_client_init(&client, display, (struct input){data, size});
	false_domain_set_fate(take(&client.input, FATES));
	buffer_requests_bind(&client);
	for (int step = 0; step < STEPS_MAX && wayland_client_goes_on(&client); step++) {
		act(&client, &manager);
	}
	wayland_client_dispatch(&client);
	manager_finish(&manager);
	wl_display_destroy_clients(display);
	wl_display_destroy(display);
	wayland_client_finish(&client);
	demand(buffer_count == 0);
	false_domain_demand_empty();
	return 0;
}
