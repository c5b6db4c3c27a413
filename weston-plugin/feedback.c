// SPDX-License-Identifier: MIT
#include "feedback.h"

#include "gid-buffer-v1-protocol.h"
#include <drm_fourcc.h>

static void send_format(
	struct wl_resource *resource, uint32_t fourcc, uint64_t modifier, uint32_t memory) {
	gid_buffer_feedback_v1_send_format(
		resource, fourcc, (uint32_t)(modifier >> 32), (uint32_t)modifier, memory);
}

/* In a wl_shm buffer, which shows any memory that the processor can read. */
static bool can_show_in_shm(const struct module *module, uint32_t fourcc) {
	const struct gid_format_info *info = gid_format_find(fourcc);
	return info && info->plane_count == 1 &&
		hidden_client_has_shm_format(module->hidden, fourcc);
}

static void send_formats(struct module *module, struct wl_resource *resource) {
	const struct hidden_client_formats *formats = hidden_client_get_formats(module->hidden);
	const uint32_t *fourcc;
	wl_array_for_each(fourcc, &formats->shm) {
		if (can_show_in_shm(module, *fourcc)) {
			send_format(resource, *fourcc, DRM_FORMAT_MOD_LINEAR,
				GID_BUFFER_FEEDBACK_V1_MEMORY_SHARED |
					GID_BUFFER_FEEDBACK_V1_MEMORY_DMABUF);
		}
	}
	const struct hidden_client_modifier *entry;
	wl_array_for_each(entry, &formats->dmabuf) {
		bool sent = entry->modifier == DRM_FORMAT_MOD_LINEAR &&
			can_show_in_shm(module, entry->fourcc);
		if (!sent && gid_format_find(entry->fourcc)) {
			send_format(resource, entry->fourcc, entry->modifier,
				GID_BUFFER_FEEDBACK_V1_MEMORY_DMABUF);
		}
	}
}

static void feedback_send(struct module *module, struct wl_resource *resource) {
	send_formats(module, resource);
	if (connection_is_up(module->connection)) {
		const struct gid_domain *domain = connection_get_domain(module->connection);
		gid_buffer_feedback_v1_send_domain(
			resource, gid_domain_number(domain), gid_domain_name(domain));
	}
	gid_buffer_feedback_v1_send_done(resource);
}

void feedback_send_all(struct module *module) {
	struct wl_resource *resource;
	wl_resource_for_each(resource, &module->feedbacks) {
		feedback_send(module, resource);
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

void feedback_create(
	struct module *module, struct wl_client *client, uint32_t version, uint32_t id) {
	struct wl_resource *resource =
		wl_resource_create(client, &gid_buffer_feedback_v1_interface, (int)version, id);
	if (!resource) {
		wl_client_post_no_memory(client);
		return;
	}
	wl_resource_set_implementation(resource, &feedback_implementation, module, feedback_unlink);
	wl_list_insert(&module->feedbacks, wl_resource_get_link(resource));
	feedback_send(module, resource);
}

void feedback_finish(struct module *module) {
	struct wl_resource *resource, *next;
	wl_resource_for_each_safe(resource, next, &module->feedbacks) {
		feedback_unlink(resource);
	}
}
