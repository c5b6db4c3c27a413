// SPDX-License-Identifier: MIT
/** gid_buffer_feedback_v1: tells clients which buffers can be made. */
#include "manager.h"

#include "gid-buffer-v1-protocol.h"
#include <drm_fourcc.h>
#include <wlr/render/drm_format_set.h>
#include <wlr/types/wlr_buffer.h>

const struct wlr_drm_format_set *manager_formats(const struct gid_buffer_manager *manager) {
	return wlr_renderer_get_texture_formats(manager->renderer, WLR_BUFFER_CAP_DATA_PTR);
}

static void feedback_send(struct gid_buffer_manager *manager, struct wl_resource *resource) {
	const struct wlr_drm_format_set *formats = manager_formats(manager);
	for (size_t i = 0; formats != NULL && i < formats->len; i++) {
		const struct gid_format_info *info = gid_format_find(formats->formats[i].format);
		if (info != NULL && info->plane_count == 1) {
			gid_buffer_feedback_v1_send_format(resource, info->fourcc,
				(uint32_t)(DRM_FORMAT_MOD_LINEAR >> 32),
				(uint32_t)DRM_FORMAT_MOD_LINEAR,
				GID_BUFFER_FEEDBACK_V1_MEMORY_SHARED);
		}
	}
	if (manager->connection != NULL && connection_is_up(manager->connection)) {
		const struct gid_domain *domain = connection_get_domain(manager->connection);
		gid_buffer_feedback_v1_send_domain(
			resource, gid_domain_number(domain), gid_domain_name(domain));
	}
	gid_buffer_feedback_v1_send_done(resource);
}

void feedback_send_all(struct gid_buffer_manager *manager) {
	struct wl_resource *resource;
	wl_resource_for_each(resource, &manager->feedbacks) {
		feedback_send(manager, resource);
	}
}

static void handle_destroy(struct wl_client *client, struct wl_resource *resource) {
	wl_resource_destroy(resource);
}

static const struct gid_buffer_feedback_v1_interface feedback_implementation = {
	.destroy = handle_destroy,
};

static void feedback_unlink(struct wl_resource *resource) {
	wl_list_remove(wl_resource_get_link(resource));
	wl_list_init(wl_resource_get_link(resource));
}

void feedback_create(struct gid_buffer_manager *manager, struct wl_client *client, uint32_t version,
	uint32_t id) {
	struct wl_resource *resource =
		wl_resource_create(client, &gid_buffer_feedback_v1_interface, (int)version, id);
	if (resource == NULL) {
		wl_client_post_no_memory(client);
		return;
	}
	wl_resource_set_implementation(
		resource, &feedback_implementation, manager, feedback_unlink);
	wl_list_insert(&manager->feedbacks, wl_resource_get_link(resource));
	feedback_send(manager, resource);
}

void feedback_finish(struct gid_buffer_manager *manager) {
	struct wl_resource *resource, *next;
	wl_resource_for_each_safe(resource, next, &manager->feedbacks) {
		feedback_unlink(resource);
	}
}
