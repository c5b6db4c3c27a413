// SPDX-License-Identifier: MIT
/*
 * gid-buffer-v1 as both compositors serve it: manager, params, planes and pictures of compositor/,
 * in a real libwayland server, before a client that sends what the input says. Slabs and the
 * buffers' own part are of this file: imports come at once, later, in vain or never; slabs are
 * revoked, buffers and params destroyed at any time. What a backend is told must keep to params.h.
 */
#include "../../compositor/manager.h"
#include "../../compositor/planes.h"
#include "gid-buffer-v1-protocol.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"

#define SLABS 4
#define PENDING_MAX 64
#define OBJECTS_MAX 64
#define STEPS_MAX 200

/* --- slabs ------------------------------------------------------------------------------------ */

struct listener {
	gid_revoked_func func;
	void *data;
};

struct gid_slab {
	uint32_t refs;
	struct gid_slab_info info;
	struct listener listeners[OBJECTS_MAX * GID_PLANES_MAX];
	size_t listener_count;
};

struct import {
	gid_imported_func func;
	void *data;
	gid_id gid;
};

static struct gid_slab slabs[SLABS];
static struct import pending[PENDING_MAX];
static size_t pending_count;
static uint32_t fate; /* of imports: at once, later, in vain */

static struct gid_slab *slab_of(gid_id gid) {
	struct gid_slab *slab = &slabs[gid_slab_of(gid) % SLABS];
	return slab->info.revoked ? NULL : slab;
}

int gid_slab_import_async(struct gid_domain *domain, gid_id gid, gid_imported_func done, void *data,
		struct gid_slab **slab) {
	*slab = NULL;
	if (fate % 4 == 0 && pending_count < PENDING_MAX) {
		pending[pending_count++] = (struct import){done, data, gid};
		return -EINPROGRESS;
	}
	*slab = fate % 4 == 1 ? NULL : slab_of(gid);
	if (*slab == NULL) {
		return -ENOENT;
	}
	(*slab)->refs++;
	return 0;
}

void gid_slab_import_cancel(struct gid_domain *domain, void *data) {
	size_t kept = 0;
	for (size_t i = 0; i < pending_count; i++) {
		if (pending[i].data != data) {
			pending[kept++] = pending[i];
		}
	}
	pending_count = kept;
}

void gid_slab_unref(struct gid_slab *slab) {
	if (slab != NULL) {
		demand(slab->refs > 0);
		slab->refs--;
	}
}

int gid_slab_on_revoked(struct gid_slab *slab, gid_revoked_func func, void *data) {
	demand(slab != NULL && slab->refs > 0);
	size_t kept = 0;
	for (size_t i = 0; i < slab->listener_count; i++) {
		if (slab->listeners[i].data != data) {
			slab->listeners[kept++] = slab->listeners[i];
		}
	}
	slab->listener_count = kept;
	if (func != NULL) {
		demand(kept < sizeof(slab->listeners) / sizeof(slab->listeners[0]));
		slab->listeners[slab->listener_count++] = (struct listener){func, data};
	}
	return 0;
}

void gid_slab_get_info(const struct gid_slab *slab, struct gid_slab_info *info) {
	demand(slab != NULL && slab->refs > 0);
	*info = slab->info;
}

bool gid_slab_is_current(const struct gid_slab *slab, gid_id gid) {
	return !slab->info.revoked && gid_generation_of(gid) == 0;
}

static uint8_t pixels[4096];

const void *gid_slab_view(const struct gid_slab *slab, uint32_t slot) {
	demand(slab != NULL && slab->refs > 0 && slot < slab->info.slot_count);
	return pixels;
}

static void answer_import(uint32_t which) {
	if (pending_count == 0) {
		return;
	}
	struct import import = pending[which % pending_count];
	memmove(&pending[which % pending_count], &pending[which % pending_count + 1],
			(pending_count - which % pending_count - 1) * sizeof(pending[0]));
	pending_count--;
	struct gid_slab *slab = fate % 4 == 1 ? NULL : slab_of(import.gid);
	if (slab != NULL) {
		slab->refs++;
	}
	import.func(import.data, import.gid, slab != NULL ? 0 : -ENOENT, slab);
}

static void revoke_slab(struct gid_slab *slab) {
	slab->info.revoked = true;
	while (slab->listener_count > 0) { /* each is called once */
		struct listener listener = slab->listeners[--slab->listener_count];
		listener.func(listener.data, slab);
	}
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
		planes_listen(&buffer->planes);
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

uint32_t gid_domain_number(const struct gid_domain *domain) {
	return 1;
}

const char *gid_domain_name(const struct gid_domain *domain) {
	return "open";
}

/* --- the client ------------------------------------------------------------------------------- */

enum object {
	NOTHING,
	MANAGER,
	PARAMS,
	BUFFER,
	FEEDBACK,
};

struct client {
	struct input input;
	struct wl_display *display;
	int fd;
	uint32_t next; /* object */
	uint8_t objects[OBJECTS_MAX];
};

#define FIRST_OBJECT 3u /* behind wl_display and wl_registry */

static void send_request(struct client *client, uint32_t object, uint32_t opcode,
		const uint32_t *words, uint32_t count) {
	uint32_t message[32] = {object, (2 + count) * 4 << 16 | opcode};
	for (uint32_t i = 0; i < count; i++) {
		message[2 + i] = words[i];
	}
	/* A server that closed the connection does not read any more. */
	(void)!send(client->fd, message, (2 + count) * 4, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static uint32_t add_object(struct client *client, enum object kind) {
	uint32_t id = client->next++;
	client->objects[id % OBJECTS_MAX] = (uint8_t)kind;
	return id;
}

/* One of the kind, most of the time. */
static uint32_t pick(struct client *client, enum object kind) {
	uint32_t start = take(&client->input, OBJECTS_MAX);
	for (uint32_t i = 0; i < OBJECTS_MAX; i++) {
		uint32_t id = (start + i) % OBJECTS_MAX;
		if (id >= FIRST_OBJECT && id < client->next && client->objects[id] == kind) {
			return id;
		}
	}
	return start;
}

static void bind_manager(struct client *client) {
	const char *name = gid_buffer_manager_v1_interface.name;
	uint32_t words[16] = {1, (uint32_t)strlen(name) + 1}, count = 2;
	memcpy(words + count, name, strlen(name) + 1);
	count += (uint32_t)(strlen(name) + 4) / 4;
	words[count++] = 1;
	words[count++] = add_object(client, MANAGER);
	send_request(client, 2, 0, words, count);
}

static uint32_t take_number(struct input *input) {
	static const uint32_t numbers[] = {
			0, 1, 4, 64, 256, 4096, 16384, 0x7fffffff, 0x80000000, ~0u};
	uint32_t which = take(input, 16);
	return which < 10 ? numbers[which]
			  : take(input, 256) << 24 | take(input, 256) << 8 | take(input, 256);
}

static void add_plane(struct client *client) {
	struct input *input = &client->input;
	gid_id gid = gid_make(1, take(input, SLABS + 1), take(input, 5), take(input, 8) == 7);
	uint32_t modifier = take(input, 8) == 0 ? 7 : 0;
	uint32_t words[] = {(uint32_t)(gid >> 32), (uint32_t)gid, take(input, 5),
			take(input, 2) ? take_number(input) : 0,
			take(input, 2) ? take_number(input) : 256, 0, modifier};
	send_request(client, pick(client, PARAMS), 1, words, 7);
}

static void ask_for_buffer(struct client *client) {
	static const uint32_t formats[] = {DRM_FORMAT_XRGB8888, DRM_FORMAT_ARGB8888,
			DRM_FORMAT_NV12, DRM_FORMAT_YUV420, DRM_FORMAT_YUYV, DRM_FORMAT_P010};
	struct input *input = &client->input;
	uint32_t format = take(input, 8), params = pick(client, PARAMS);
	uint32_t words[] = {0, take(input, 2) ? 16 : take_number(input),
			take(input, 2) ? 16 : take_number(input),
			format < 6 ? formats[format] : take_number(input)};
	if (take(input, 2) == 0) {
		send_request(client, params, 2, words + 1, 3);
	} else {
		words[0] = add_object(client, BUFFER);
		send_request(client, params, 3, words, 4);
	}
}

static void send_anything(struct client *client) {
	uint32_t words[8];
	for (size_t i = 0; i < 8; i++) {
		words[i] = take_number(&client->input);
	}
	uint32_t object = take(&client->input, OBJECTS_MAX), opcode = take(&client->input, 6);
	send_request(client, object, opcode, words, take(&client->input, 9));
}

static void act(struct client *client, struct manager *manager) {
	uint32_t id;
	switch (take(&client->input, 16)) {
	case 0:
		bind_manager(client);
		break;
	case 1:
	case 2:
		id = pick(client, MANAGER);
		uint32_t params = add_object(client, PARAMS);
		send_request(client, id, 1, &params, 1);
		break;
	case 3:
	case 4:
	case 5:
		add_plane(client);
		break;
	case 6:
	case 7:
		ask_for_buffer(client);
		break;
	case 8:
		id = pick(client, MANAGER);
		uint32_t feedback = add_object(client, FEEDBACK);
		send_request(client, id, 2, &feedback, 1);
		break;
	case 9:
		id = pick(client, 1 + take(&client->input, 4));
		send_request(client, id, 0, NULL, 0);
		client->objects[id % OBJECTS_MAX] = NOTHING;
		break;
	case 10:
		send_anything(client);
		break;
	case 11:
		fate = take(&client->input, 4);
		break;
	case 12:
		answer_import(take(&client->input, PENDING_MAX));
		break;
	case 13:
		revoke_slab(&slabs[take(&client->input, SLABS)]);
		break;
	case 14:
		is_up = !is_up;
		manager_send_feedback(manager);
		break;
	default:
		wl_event_loop_dispatch(wl_display_get_event_loop(client->display), 0);
		wl_display_flush_clients(client->display);
		break;
	}
}

static void drain(int fd) {
	char bytes[4096];
	while (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0) {
	}
}

static void be_silent(const char *format, va_list arguments) {
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	wl_log_set_handler_server(be_silent);
	memset(slabs, 0, sizeof(slabs));
	pending_count = 0;
	is_up = false;
	for (uint32_t i = 0; i < SLABS; i++) {
		slabs[i].info = (struct gid_slab_info){
				.gid = gid_make(1, i, 0, 0),
				.memory = i == 3 ? GID_MEMORY_DMABUF : GID_MEMORY_MEMFD,
				.slot_count = 4,
				.slot_size = i == 0 ? 4096 : 65536,
				.imported = true,
				.description = "",
		};
	}
	struct client client = {.input = {.data = data, .size = size}, .next = FIRST_OBJECT};
	int fds[2];
	demand(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	client.fd = fds[0];
	client.display = wl_display_create();
	demand(client.display != NULL && wl_client_create(client.display, fds[1]) != NULL);
	struct manager manager;
	demand(manager_init(&manager, client.display, NULL, &backend, NULL) == 0);
	uint32_t registry = 2;
	fate = take(&client.input, 4);
	send_request(&client, 1, 1, &registry, 1);
	bind_manager(&client);
	for (int step = 0; step < STEPS_MAX && client.input.size > 0 && client.next < OBJECTS_MAX;
			step++) {
		act(&client, &manager);
		drain(client.fd);
	}
	wl_event_loop_dispatch(wl_display_get_event_loop(client.display), 0);
	manager_finish(&manager);
	wl_display_destroy_clients(client.display);
	wl_display_destroy(client.display);
	close(client.fd);
	demand(buffer_count == 0 && pending_count == 0);
	for (uint32_t i = 0; i < SLABS; i++) {
		demand(slabs[i].refs == 0 && slabs[i].listener_count == 0);
	}
	return 0;
}
