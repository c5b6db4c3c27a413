// SPDX-License-Identifier: MIT
#include "params.h"

#include <assert.h>
#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>

#include "client_share.h"
#include "gid-buffer-v1-protocol.h"

/* As many as a client can have buffers, and some that are not settled yet. */
#define PARAMS_OF_A_CLIENT_MAX 2048

struct params {
	const struct params_backend *backend;
	void *data;
	struct wl_resource *resource;
	struct picture picture; /* modifier and planes, as added so far */
	uint64_t modifiers[GID_PLANES_MAX];
	bool added[GID_PLANES_MAX];
	bool used, immediate;
	struct buffer *buffer; /* NULL before it was asked for, and after its end */
};

/* --- what becomes of the buffer -------------------------------------------------------------- */

static void post_out_of_bounds(struct params *params) {
	wl_resource_post_error(params->resource, GID_BUFFER_PARAMS_V1_ERROR_OUT_OF_BOUNDS,
			"a plane leaves the memory that its gid names");
}

static void handle_settled(void *data, int error) {
	struct params *params = data;
	if (error == -ERANGE) {
		post_out_of_bounds(params);
	} else if (error != 0) {
		gid_buffer_params_v1_send_failed(params->resource);
	} else if (!params->immediate) {
		gid_buffer_params_v1_send_created(
				params->resource, params->backend->get_resource(params->buffer));
	}
}

static void handle_revoked(void *data) {
	struct params *params = data;
	gid_buffer_params_v1_send_revoked(params->resource);
}

static void handle_destroyed(void *data) {
	struct params *params = data;
	params->buffer = NULL;
}

static const struct buffer_events buffer_events = {
		.settled = handle_settled,
		.revoked = handle_revoked,
		.destroyed = handle_destroyed,
};

/* --- requests -------------------------------------------------------------------------------- */

static struct params *params_from_resource(struct wl_resource *resource);

static bool params_check_unused(struct params *params) {
	if (params->used) {
		wl_resource_post_error(params->resource, GID_BUFFER_PARAMS_V1_ERROR_ALREADY_USED,
				"a buffer was already asked for");
		return false;
	}
	return true;
}

static void handle_add(struct wl_client *client, struct wl_resource *resource, uint32_t gid_hi,
		uint32_t gid_lo, uint32_t index, uint32_t offset, uint32_t stride,
		uint32_t modifier_hi, uint32_t modifier_lo) {
	struct params *params = params_from_resource(resource);
	if (!params_check_unused(params)) {
		return;
	}
	if (index >= GID_PLANES_MAX) {
		wl_resource_post_error(resource, GID_BUFFER_PARAMS_V1_ERROR_PLANE_INDEX,
				"plane index %u is above %u", index, GID_PLANES_MAX - 1);
		return;
	}
	if (params->added[index]) {
		wl_resource_post_error(resource, GID_BUFFER_PARAMS_V1_ERROR_PLANE_SET,
				"plane %u was already added", index);
		return;
	}
	params->added[index] = true;
	params->modifiers[index] = (uint64_t)modifier_hi << 32 | modifier_lo;
	params->picture.gids[index] = (uint64_t)gid_hi << 32 | gid_lo;
	params->picture.layout.planes[index].offset = offset;
	params->picture.layout.planes[index].stride = stride;
}

/* Returns n if exactly the planes 0 to n - 1 were added, else 0. */
static uint32_t params_count_planes(const struct params *params) {
	uint32_t count = 0;
	for (uint32_t i = 0; i < GID_PLANES_MAX; i++) {
		if (params->added[i] && count < i) {
			return 0;
		}
		count += params->added[i];
	}
	return count;
}

static bool params_check_format(
		struct params *params, const struct gid_format_info *info, uint32_t format) {
	struct gid_layout *layout = &params->picture.layout;
	layout->fourcc = format;
	layout->modifier = params->modifiers[0];
	layout->plane_count = params_count_planes(params);
	bool linear = layout->modifier == DRM_FORMAT_MOD_LINEAR;
	if (layout->plane_count == 0 || (info != NULL && layout->plane_count < info->plane_count) ||
			(info != NULL && linear && layout->plane_count > info->plane_count)) {
		wl_resource_post_error(params->resource, GID_BUFFER_PARAMS_V1_ERROR_INCOMPLETE,
				"the planes that were added are not those of format 0x%08x",
				format);
		return false;
	}
	bool same = true;
	for (uint32_t i = 1; i < layout->plane_count; i++) {
		same = same && params->modifiers[i] == layout->modifier;
	}
	if (info == NULL || !same ||
			!params->backend->can_show(params->data, format, layout->modifier)) {
		wl_resource_post_error(params->resource, GID_BUFFER_PARAMS_V1_ERROR_INVALID_FORMAT,
				"format 0x%08x with modifier 0x%016llx cannot be shown", format,
				(unsigned long long)layout->modifier);
		return false;
	}
	return true;
}

/* The checks of the planes that need no memory. */
static bool params_check_bounds(struct params *params) {
	const struct gid_layout *layout = &params->picture.layout;
	bool valid = gid_layout_check(layout, UINT64_MAX) == 0;
	for (uint32_t i = 0; i < layout->plane_count && valid; i++) {
		uint64_t rows = gid_format_rows(layout->fourcc, i, layout->height);
		valid = layout->planes[i].offset + rows * layout->planes[i].stride <=
				PICTURE_SIZE_MAX;
	}
	if (!valid) {
		post_out_of_bounds(params);
	}
	return valid;
}

static bool params_complete(struct params *params, int32_t width, int32_t height, uint32_t format) {
	if (!params_check_unused(params)) {
		return false;
	}
	params->used = true;
	if (!params_check_format(params, gid_format_find(format), format)) {
		return false;
	}
	if (width < 1 || height < 1 || width > (int32_t)GID_SIZE_MAX ||
			height > (int32_t)GID_SIZE_MAX) {
		wl_resource_post_error(params->resource,
				GID_BUFFER_PARAMS_V1_ERROR_INVALID_DIMENSIONS,
				"%d x %d is not in 1 to %u", width, height, GID_SIZE_MAX);
		return false;
	}
	params->picture.layout.width = (uint32_t)width;
	params->picture.layout.height = (uint32_t)height;
	return params_check_bounds(params);
}

static void params_ask(struct params *params, struct wl_client *client, uint32_t buffer_id) {
	int error = params->backend->create(params->data, client, buffer_id, &params->picture,
			&buffer_events, params, &params->buffer);
	if (error != 0) {
		wl_resource_post_no_memory(params->resource);
	}
}

static void handle_create(struct wl_client *client, struct wl_resource *resource, int32_t width,
		int32_t height, uint32_t format) {
	struct params *params = params_from_resource(resource);
	if (params_complete(params, width, height, format)) {
		params_ask(params, client, 0);
	}
}

static void handle_create_immed(struct wl_client *client, struct wl_resource *resource,
		uint32_t buffer_id, int32_t width, int32_t height, uint32_t format) {
	struct params *params = params_from_resource(resource);
	if (params_complete(params, width, height, format)) {
		params->immediate = true;
		params_ask(params, client, buffer_id);
	}
}

static void handle_destroy(struct wl_client *client, struct wl_resource *resource) {
	wl_resource_destroy(resource);
}

static const struct gid_buffer_params_v1_interface params_implementation = {
		.destroy = handle_destroy,
		.add = handle_add,
		.create = handle_create,
		.create_immed = handle_create_immed,
};

static struct params *params_from_resource(struct wl_resource *resource) {
	assert(wl_resource_instance_of(
			resource, &gid_buffer_params_v1_interface, &params_implementation));
	return wl_resource_get_user_data(resource);
}

static void params_destroy(struct wl_resource *resource) {
	struct params *params = params_from_resource(resource);
	if (params->buffer != NULL) {
		params->backend->abandon(params->buffer);
	}
	client_share_give(wl_resource_get_client(resource), CLIENT_SHARE_PARAMS, 1);
	wl_list_remove(wl_resource_get_link(resource));
	free(params);
}

void params_create(const struct params_backend *backend, void *data, struct wl_list *all,
		struct wl_client *client, uint32_t version, uint32_t id) {
	if (!client_share_take(client, CLIENT_SHARE_PARAMS, 1, PARAMS_OF_A_CLIENT_MAX)) {
		wl_client_post_no_memory(client);
		return;
	}
	struct params *params = calloc(1, sizeof(*params));
	if (params == NULL) {
		goto error_share;
	}
	params->backend = backend;
	params->data = data;
	params->resource = wl_resource_create(
			client, &gid_buffer_params_v1_interface, (int)version, id);
	if (params->resource == NULL) {
		goto error_params;
	}
	wl_resource_set_implementation(
			params->resource, &params_implementation, params, params_destroy);
	wl_list_insert(all, wl_resource_get_link(params->resource));
	return;

error_params:
	free(params);
error_share:
	client_share_give(client, CLIENT_SHARE_PARAMS, 1);
	wl_client_post_no_memory(client);
}
