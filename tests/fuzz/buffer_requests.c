// SPDX-License-Identifier: MIT
#include "buffer_requests.h"

#include <drm_fourcc.h>

#include "false_domain.h"
#include "gid-buffer-v1-protocol.h"

/* Of gid_buffer_manager_v1 and gid_buffer_params_v1. */
enum { CREATE_PARAMS = 1, GET_FEEDBACK = 2, ADD = 1, CREATE = 2, CREATE_IMMED = 3 };

void buffer_requests_bind(struct wayland_client *client) {
	wayland_client_bind(client, BUFFER_MANAGER, gid_buffer_manager_v1_interface.name, 1);
}

static void make_object(struct wayland_client *client, uint32_t opcode, enum object kind) {
	uint32_t manager = wayland_client_pick(client, BUFFER_MANAGER);
	uint32_t id = wayland_client_add(client, kind);
	wayland_client_send(client, manager, opcode, &id, 1, -1);
}

static void add_plane(struct wayland_client *client) {
	struct input *input = &client->input;
	gid_id gid = gid_make(1, take(input, FALSE_SLABS + 1), take(input, FALSE_SLOTS + 1),
			take(input, 8) == 7);
	uint32_t modifier = take(input, 8) == 0 ? 7 : 0;
	uint32_t words[] = {(uint32_t)(gid >> 32), (uint32_t)gid, take(input, 5),
			take(input, 2) ? take_number(input) : 0,
			take(input, 2) ? take_number(input) : FALSE_STRIDE, 0, modifier};
	wayland_client_send(client, wayland_client_pick(client, BUFFER_PARAMS), ADD, words, 7, -1);
}

static void ask_for_buffer(struct wayland_client *client) {
	static const uint32_t formats[] = {DRM_FORMAT_XRGB8888, DRM_FORMAT_ARGB8888,
			DRM_FORMAT_NV12, DRM_FORMAT_YUV420, DRM_FORMAT_YUYV, DRM_FORMAT_P010};
	struct input *input = &client->input;
	uint32_t format = take(input, 8), params = wayland_client_pick(client, BUFFER_PARAMS);
	uint32_t words[] = {0, take(input, 2) ? FALSE_SIZE : take_number(input),
			take(input, 2) ? FALSE_SIZE : take_number(input),
			format < 6 ? formats[format] : take_number(input)};
	if (take(input, 2) == 0) {
		wayland_client_send(client, params, CREATE, words + 1, 3, -1);
	} else {
		words[0] = wayland_client_add(client, BUFFER);
		wayland_client_send(client, params, CREATE_IMMED, words, 4, -1);
	}
}

void buffer_requests_make_good(struct wayland_client *client) {
	uint32_t manager = wayland_client_pick(client, BUFFER_MANAGER);
	uint32_t params = wayland_client_add(client, BUFFER_PARAMS);
	gid_id gid = gid_make(
			1, take(&client->input, FALSE_SLABS), take(&client->input, FALSE_SLOTS), 0);
	uint32_t plane[] = {(uint32_t)(gid >> 32), (uint32_t)gid, 0, 0, FALSE_STRIDE, 0, 0};
	uint32_t buffer[] = {wayland_client_add(client, BUFFER), FALSE_SIZE, FALSE_SIZE,
			DRM_FORMAT_XRGB8888};
	wayland_client_send(client, manager, CREATE_PARAMS, &params, 1, -1);
	wayland_client_send(client, params, ADD, plane, 7, -1);
	wayland_client_send(client, params, CREATE_IMMED, buffer, 4, -1);
}

void buffer_requests_send(struct wayland_client *client, uint32_t kind) {
	switch (kind) {
	case 0:
		buffer_requests_bind(client);
		break;
	case 1:
	case 2:
		make_object(client, CREATE_PARAMS, BUFFER_PARAMS);
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
		make_object(client, GET_FEEDBACK, BUFFER_FEEDBACK);
		break;
	case 9:
		wayland_client_send_destroy(client);
		break;
	case 10:
		wayland_client_send_anything(client);
		break;
	default:
		buffer_requests_make_good(client);
		break;
	}
}
