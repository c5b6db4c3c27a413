// SPDX-License-Identifier: MIT
#include "manager.h"

#include <assert.h>
#include <errno.h>

#include "client_share.h"
#include "gid-buffer-v1-protocol.h"

#define VERSION 1
/* All are told again at one moment, which gidd chooses: one is enough for a client. */
#define FEEDBACKS_OF_A_CLIENT_MAX 64

static void handle_destroy(struct wl_client *client, struct wl_resource *resource) {
	wl_resource_destroy(resource);
}

/* --- feedback -------------------------------------------------------------------------------- */

void manager_send_format(
		struct wl_resource *feedback, uint32_t fourcc, uint64_t modifier, uint32_t memory) {
	gid_buffer_feedback_v1_send_format(
			feedback, fourcc, (uint32_t)(modifier >> 32), (uint32_t)modifier, memory);
}

static void feedback_send(struct manager *manager, struct wl_resource *feedback) {
	manager->backend->send_formats(manager->data, feedback);
	if (gidd_connection_is_up(manager->connection)) {
		const struct gid_domain *domain = gidd_connection_get_domain(manager->connection);
		gid_buffer_feedback_v1_send_domain(
				feedback, gid_domain_number(domain), gid_domain_name(domain));
	}
	gid_buffer_feedback_v1_send_done(feedback);
}

void manager_send_feedback(struct manager *manager) {
	if (manager->global == NULL) {
		return;
	}
	struct wl_resource *feedback;
	wl_resource_for_each(feedback, &manager->feedbacks) {
		feedback_send(manager, feedback);
	}
}

static const struct gid_buffer_feedback_v1_interface feedback_implementation = {
		.destroy = handle_destroy,
};

static void resource_unlink(struct wl_resource *resource) {
	wl_list_remove(wl_resource_get_link(resource));
	wl_list_init(wl_resource_get_link(resource));
}

static void feedback_destroy(struct wl_resource *feedback) {
	client_share_give(wl_resource_get_client(feedback), CLIENT_SHARE_FEEDBACKS, 1);
	resource_unlink(feedback);
}

/* --- the global ------------------------------------------------------------------------------ */

static struct manager *manager_from_resource(struct wl_resource *resource);

static void handle_create_params(
		struct wl_client *client, struct wl_resource *resource, uint32_t id) {
	struct manager *manager = manager_from_resource(resource);
	params_create(manager->backend, manager->data, &manager->params, client,
			(uint32_t)wl_resource_get_version(resource), id);
}

static void handle_get_feedback(
		struct wl_client *client, struct wl_resource *resource, uint32_t id) {
	struct manager *manager = manager_from_resource(resource);
	if (!client_share_take(client, CLIENT_SHARE_FEEDBACKS, 1, FEEDBACKS_OF_A_CLIENT_MAX)) {
		wl_client_post_no_memory(client);
		return;
	}
	struct wl_resource *feedback = wl_resource_create(client, &gid_buffer_feedback_v1_interface,
			wl_resource_get_version(resource), id);
	if (feedback == NULL) {
		client_share_give(client, CLIENT_SHARE_FEEDBACKS, 1);
		wl_client_post_no_memory(client);
		return;
	}
	wl_resource_set_implementation(feedback, &feedback_implementation, NULL, feedback_destroy);
	wl_list_insert(&manager->feedbacks, wl_resource_get_link(feedback));
	feedback_send(manager, feedback);
}

static const struct gid_buffer_manager_v1_interface manager_implementation = {
		.destroy = handle_destroy,
		.create_params = handle_create_params,
		.get_feedback = handle_get_feedback,
};

static struct manager *manager_from_resource(struct wl_resource *resource) {
	assert(wl_resource_instance_of(
			resource, &gid_buffer_manager_v1_interface, &manager_implementation));
	return wl_resource_get_user_data(resource);
}

static void handle_bind(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
	struct wl_resource *resource = wl_resource_create(
			client, &gid_buffer_manager_v1_interface, (int)version, id);
	if (resource == NULL) {
		wl_client_post_no_memory(client);
		return;
	}
	wl_resource_set_implementation(resource, &manager_implementation, data, NULL);
}

/* --- life ------------------------------------------------------------------------------------ */

int manager_init(struct manager *manager, struct wl_display *display,
		const struct gidd_connection *connection, const struct params_backend *backend,
		void *data) {
	struct wl_global *global = wl_global_create(
			display, &gid_buffer_manager_v1_interface, VERSION, manager, handle_bind);
	if (global == NULL) {
		return -ENOMEM;
	}
	*manager = (struct manager){
			.global = global,
			.connection = connection,
			.backend = backend,
			.data = data,
	};
	wl_list_init(&manager->feedbacks);
	wl_list_init(&manager->params);
	return 0;
}

void manager_finish(struct manager *manager) {
	if (manager->global == NULL) {
		return;
	}
	struct wl_resource *resource, *next;
	wl_resource_for_each_safe(resource, next, &manager->feedbacks) {
		resource_unlink(resource);
	}
	wl_resource_for_each_safe(resource, next, &manager->params) {
		resource_unlink(resource);
	}
	wl_global_destroy(manager->global);
	*manager = (struct manager){0};
}
