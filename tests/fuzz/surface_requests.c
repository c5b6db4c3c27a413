// SPDX-License-Identifier: MIT
#include "surface_requests.h"

#include <sys/mman.h>
#include <unistd.h>

#define SHM_BYTES 8192u
#define SHM_SIZE 16u /* pixels, of each side */

/* Requests by their numbers in the protocols. */
enum { CREATE_SURFACE = 0, GET_SUBSURFACE = 1, GET_VIEWPORT = 1 };
enum {
	SURFACE_ATTACH = 1,
	SURFACE_DAMAGE = 2,
	SURFACE_COMMIT = 6,
	SURFACE_TRANSFORM = 7,
	SURFACE_SCALE = 8,
};
enum { POOL_CREATE_BUFFER = 0, POOL_DESTROY = 1, VIEWPORT_SET_SOURCE = 1 };

static void make(struct wayland_client *client, enum object factory, uint32_t opcode,
		enum object kind) {
	uint32_t maker = wayland_client_pick(client, factory);
	uint32_t id = wayland_client_add(client, kind);
	wayland_client_send(client, maker, opcode, &id, 1, -1);
}

void surface_requests_begin(struct wayland_client *client) {
	wayland_client_bind(client, COMPOSITOR, "wl_compositor", 4);
	wayland_client_bind(client, SUBCOMPOSITOR, "wl_subcompositor", 1);
	wayland_client_bind(client, SHM, "wl_shm", 1);
	wayland_client_bind(client, VIEWPORTER, "wp_viewporter", 1);
	make(client, COMPOSITOR, CREATE_SURFACE, SURFACE);
}

/* One memory for all, which nothing is ever written into. */
static int shm_fd(void) {
	static int fd = -1;
	if (fd < 0) {
		fd = memfd_create("fuzz-shm", MFD_CLOEXEC);
		demand(fd >= 0 && ftruncate(fd, SHM_BYTES) == 0);
	}
	return fd;
}

static uint32_t make_shm_buffer(struct wayland_client *client) {
	uint32_t shm = wayland_client_pick(client, SHM), pool = client->next++;
	uint32_t words[] = {pool, SHM_BYTES};
	wayland_client_send(client, shm, 0, words, 2, shm_fd());
	bool odd = take(&client->input, 8) == 0;
	uint32_t size = odd ? 1 + take(&client->input, 32) : SHM_SIZE;
	uint32_t buffer[] = {wayland_client_add(client, BUFFER), 0, size, size, size * 4,
			take(&client->input, 2)}; /* WL_SHM_FORMAT_ARGB8888 or _XRGB8888 */
	wayland_client_send(client, pool, POOL_CREATE_BUFFER, buffer, 6, -1);
	wayland_client_send(client, pool, POOL_DESTROY, NULL, 0, -1);
	return buffer[0];
}

static void attach(struct wayland_client *client, uint32_t surface, uint32_t buffer) {
	uint32_t words[] = {buffer, 0, 0};
	uint32_t damage[] = {0, 0, take(&client->input, 2) ? 16 : take_number(&client->input), 16};
	wayland_client_send(client, surface, SURFACE_ATTACH, words, 3, -1);
	wayland_client_send(client, surface, SURFACE_DAMAGE, damage, 4, -1);
	wayland_client_send(client, surface, SURFACE_COMMIT, NULL, 0, -1);
}

static void set_source(struct wayland_client *client) {
	struct input *input = &client->input;
	uint32_t words[4];
	for (int i = 0; i < 4; i++) {
		words[i] = take(input, 4) == 0 ? take_number(input) : take(input, 18) * 256;
	}
	wayland_client_send(client, wayland_client_pick(client, VIEWPORT), VIEWPORT_SET_SOURCE,
			words, 4, -1);
}

void surface_requests_add_child(struct wayland_client *client) {
	struct input input = client->input;
	client->input.size = 0; /* the first of each kind, and a buffer of one pixel */
	uint32_t words[3] = {0, 0, wayland_client_pick(client, SURFACE)};
	uint32_t parent = words[2], child = wayland_client_add(client, SURFACE);
	wayland_client_send(client, wayland_client_pick(client, COMPOSITOR), CREATE_SURFACE, &child,
			1, -1);
	words[0] = wayland_client_add(client, SUBSURFACE);
	words[1] = child;
	wayland_client_send(client, wayland_client_pick(client, SUBCOMPOSITOR), GET_SUBSURFACE,
			words, 3, -1);
	attach(client, child, make_shm_buffer(client));
	wayland_client_send(client, parent, SURFACE_COMMIT, NULL, 0, -1);
	client->input = input;
}

void surface_requests_send(struct wayland_client *client, uint32_t kind) {
	struct input *input = &client->input;
	uint32_t words[3];
	switch (kind) {
	case 0:
		make(client, COMPOSITOR, CREATE_SURFACE, SURFACE);
		break;
	case 1:
		words[1] = wayland_client_pick(client, SURFACE);
		words[2] = wayland_client_pick(client, SURFACE);
		uint32_t maker = wayland_client_pick(client, SUBCOMPOSITOR);
		words[0] = wayland_client_add(client, SUBSURFACE);
		wayland_client_send(client, maker, GET_SUBSURFACE, words, 3, -1);
		break;
	case 2:
		make_shm_buffer(client);
		break;
	case 3:
		words[1] = wayland_client_pick(client, SURFACE);
		maker = wayland_client_pick(client, VIEWPORTER);
		words[0] = wayland_client_add(client, VIEWPORT);
		wayland_client_send(client, maker, GET_VIEWPORT, words, 2, -1);
		break;
	case 4:
		set_source(client);
		break;
	case 5:
		words[0] = take(input, 9);
		wayland_client_send(client, wayland_client_pick(client, SURFACE),
				take(input, 2) ? SURFACE_TRANSFORM : SURFACE_SCALE, words, 1, -1);
		break;
	case 6:
		attach(client, wayland_client_pick(client, SURFACE), 0);
		break;
	case 7:
		wayland_client_send(client, wayland_client_pick(client, SURFACE), SURFACE_COMMIT,
				NULL, 0, -1);
		break;
	default:
		words[0] = wayland_client_pick(client, BUFFER);
		attach(client, wayland_client_pick(client, SURFACE), words[0]);
		break;
	}
}
