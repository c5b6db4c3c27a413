// SPDX-License-Identifier: MIT
#include "buffer.h"

#include "buffer_state.h"
#include "gid-buffer-v1-protocol.h"
#include "safety.h"
#include "shown.h"
#include <drm_fourcc.h>
#include <errno.h>
#include <libweston/weston-log.h>
#include <stdlib.h>

/*
 * A commit that was under way when the memory was revoked shows the buffer shortly afterwards. It
 * shall find the picture, so that buffers which nobody shows keep their memory for this long.
 */
#define SETTLE_MS 250

/* Buffers cost the compositor a mapping each, of which a process has some 65,000. */
#define BUFFERS_OF_A_CLIENT_MAX 1024

static void buffer_log(const struct buffer *buffer, const char *what) {
	if (weston_log_scope_is_enabled(buffer->module->details)) {
		char gid[GID_TEXT_MAX];
		pid_t pid = 0;
		wl_client_get_credentials(buffer->client, &pid, NULL, NULL);
		weston_log_scope_printf(buffer->module->details,
			"gid: buffer %s %ux%u of process %d: %s\n",
			gid_format(buffer->picture.gids[0], gid), buffer->picture.layout.width,
			buffer->picture.layout.height, pid, what);
	}
}

static void buffer_drop_slabs(struct buffer *buffer) {
	struct gid_domain *domain = gidd_connection_get_domain(buffer->module->connection);
	for (uint32_t i = 0; i < buffer->picture.layout.plane_count; i++) {
		struct buffer_plane *plane = &buffer->planes[i];
		if (buffer->imports_pending > 0) {
			gid_slab_import_cancel(domain, plane);
		}
		if (plane->listening) {
			gid_slab_on_revoked(plane->slab, NULL, plane);
			plane->listening = false;
		}
		gid_slab_unref(plane->slab);
		plane->slab = NULL;
	}
	buffer->imports_pending = 0;
}

static void buffer_destroy(struct buffer *buffer) {
	buffer_drop_slabs(buffer);
	if (buffer->settle_timer) {
		wl_event_source_remove(buffer->settle_timer);
	}
	if (buffer->resource) {
		wl_list_remove(&buffer->resource_destroy.link);
	}
	wl_list_remove(&buffer->link);
	if (buffer->events) {
		buffer->events->destroyed(buffer->data);
	}
	free(buffer);
}

static void handle_resource_destroy(struct wl_listener *listener, void *data) {
	struct buffer *buffer = wl_container_of(listener, buffer, resource_destroy);
	buffer_destroy(buffer);
}

void buffer_set_resource(struct buffer *buffer, struct wl_resource *resource) {
	buffer->resource = resource;
	buffer->resource_destroy.notify = handle_resource_destroy;
	wl_resource_add_destroy_listener(resource, &buffer->resource_destroy);
}

void buffer_destroy_resource(struct buffer *buffer) {
	struct wl_resource *resource = buffer->resource;
	wl_list_remove(&buffer->resource_destroy.link);
	buffer->resource = NULL;
	buffer->pool = (struct pool){0};
	wl_resource_destroy(resource);
}

/* --- the memory is taken back ---------------------------------------------------------------- */

/* Afterwards the compositor reads nothing of the owner's any more. */
static void buffer_detach_memory(struct buffer *buffer, bool shown) {
	int error = -ENOTSUP;
	if (shown && buffer->module->on_revoke == ON_REVOKE_KEEP) {
		error = pool_freeze(&buffer->pool);
	}
	if (error != 0 && pool_blank(&buffer->pool) == 0 && shown) {
		shown_damage(buffer->module->compositor, buffer->resource);
	}
}

static int handle_settle(void *data) {
	struct buffer *buffer = data;
	buffer_detach_memory(buffer, shown_anywhere(buffer->module->compositor, buffer->resource));
	wl_event_source_remove(buffer->settle_timer);
	buffer->settle_timer = NULL;
	return 0;
}

static void buffer_revoke_pool(struct buffer *buffer) {
	bool shown = shown_anywhere(buffer->module->compositor, buffer->resource);
	if (!shown && buffer->module->on_revoke == ON_REVOKE_KEEP) {
		struct wl_event_loop *loop =
			wl_display_get_event_loop(buffer->module->compositor->wl_display);
		buffer->settle_timer = wl_event_loop_add_timer(loop, handle_settle, buffer);
		if (buffer->settle_timer) {
			wl_event_source_timer_update(buffer->settle_timer, SETTLE_MS);
			return;
		}
	}
	buffer_detach_memory(buffer, shown);
}

static void handle_slab_revoked(void *data, struct gid_slab *slab) {
	struct buffer_plane *plane = data;
	struct buffer *buffer = plane->buffer;
	buffer_log(buffer, "revoked");
	buffer->state = BUFFER_REVOKED;
	buffer_drop_slabs(buffer);
	if (buffer->pool.address) {
		buffer_revoke_pool(buffer);
	}
	if (buffer->events) {
		buffer->events->revoked(buffer->data);
	}
}

/* --- asking for the memory ------------------------------------------------------------------- */

static void buffer_listen(struct buffer *buffer) {
	for (uint32_t i = 0; i < buffer->picture.layout.plane_count; i++) {
		struct buffer_plane *plane = &buffer->planes[i];
		plane->listening =
			gid_slab_on_revoked(plane->slab, handle_slab_revoked, plane) == 0;
	}
}

/* Ends the import. Afterwards the buffer may be gone. */
static void buffer_settle(struct buffer *buffer, int error) {
	if (error == 0) {
		buffer->state = BUFFER_SHOWN;
		buffer_listen(buffer);
		buffer_log(buffer, buffer->pool.address ? "shown" : "shown as a dma-buf");
	} else {
		buffer->state = BUFFER_FAILED;
		buffer_drop_slabs(buffer);
		buffer_log(buffer, gid_strerror(error));
	}
	if (buffer->events) {
		buffer->events->settled(
			buffer->data, error == 0 || error == -ERANGE ? error : -ENOENT);
	}
	if (!buffer->resource) {
		buffer_destroy(buffer);
	} else {
		safety_buffer_settled(buffer->module->safety, buffer->resource);
	}
}

static void handle_imported(void *data, gid_id gid, int error, struct gid_slab *slab) {
	struct buffer_plane *plane = data;
	struct buffer *buffer = plane->buffer;
	plane->slab = slab;
	buffer->imports_pending--;
	if (error == 0 && buffer->imports_pending > 0) {
		return;
	}
	if (error == 0) {
		error = buffer_show(buffer, 0);
		if (error == 0 && buffer->pool.address) {
			shown_damage(buffer->module->compositor, buffer->resource);
		}
	}
	buffer_settle(buffer, error);
}

/* Returns 0: all there, -EINPROGRESS, or why not. */
static int buffer_import(struct buffer *buffer) {
	struct gid_domain *domain = gidd_connection_get_domain(buffer->module->connection);
	if (!domain) {
		return -ENOTCONN;
	}
	for (uint32_t i = 0; i < buffer->picture.layout.plane_count; i++) {
		struct buffer_plane *plane = &buffer->planes[i];
		int error = gid_slab_import_async(
			domain, buffer->picture.gids[i], handle_imported, plane, &plane->slab);
		if (error == -EINPROGRESS) {
			buffer->imports_pending++;
		} else if (error != 0) {
			return error;
		}
	}
	return buffer->imports_pending > 0 ? -EINPROGRESS : 0;
}

gid_id buffer_get_gid(struct wl_resource *resource) {
	struct wl_listener *listener =
		wl_resource_get_destroy_listener(resource, handle_resource_destroy);
	if (!listener) {
		return GID_NONE;
	}
	const struct buffer *buffer = wl_container_of(listener, buffer, resource_destroy);
	return buffer->picture.gids[0];
}

uint32_t buffers_count(const struct module *module, const struct wl_client *client) {
	uint32_t count = 0;
	const struct buffer *buffer;
	wl_list_for_each(buffer, &module->buffers, link) {
		count += buffer->client == client;
	}
	return count;
}

bool buffer_get_memory(const struct module *module, const struct wl_resource *resource,
	struct buffer_memory *memory) {
	const struct buffer *buffer;
	wl_list_for_each(buffer, &module->buffers, link) {
		if (buffer->resource == resource) {
			bool shown = buffer->state == BUFFER_SHOWN &&
				buffer->picture.layout.plane_count == 1;
			*memory = (struct buffer_memory){
				.gid = buffer->picture.gids[0],
				.slab = shown ? buffer->planes[0].slab : NULL,
				.layout = &buffer->picture.layout,
				.pending = buffer->state == BUFFER_IMPORTING,
			};
			return true;
		}
	}
	return false;
}

static int buffer_create(void *module_data, struct wl_client *client, uint32_t id,
	const struct picture *picture, const struct buffer_events *events, void *data,
	struct buffer **created) {
	struct module *module = module_data;
	*created = NULL;
	if (buffers_count(module, client) >= BUFFERS_OF_A_CLIENT_MAX) {
		return -ENOMEM;
	}
	struct buffer *buffer = calloc(1, sizeof(*buffer));
	if (!buffer) {
		return -ENOMEM;
	}
	buffer->module = module;
	buffer->client = client;
	buffer->picture = *picture;
	for (uint32_t i = 0; i < GID_PLANES_MAX; i++) {
		buffer->planes[i].buffer = buffer;
	}
	wl_list_insert(&module->buffers, &buffer->link);

	int error = buffer_import(buffer);
	if (error == 0) {
		error = buffer_show(buffer, id);
	}
	if (id != 0 && !buffer->resource) {
		int made = buffer_make_blank(buffer, id);
		if (made != 0) {
			buffer_destroy(buffer);
			return made;
		}
	}
	buffer->events = events;
	buffer->data = data;
	*created = buffer;
	if (error != -EINPROGRESS) {
		*created = buffer->resource ? buffer : NULL;
		buffer_settle(buffer, error);
	}
	return 0;
}

static struct wl_resource *buffer_get_resource(const struct buffer *buffer) {
	return buffer->resource;
}

static void buffer_abandon(struct buffer *buffer) {
	buffer->events = NULL;
	if (!buffer->resource) {
		buffer_destroy(buffer);
	}
}

/* In a wl_shm buffer, which shows any memory that the processor can read. */
static bool can_show_in_shm(
	const struct hidden_client *hidden, uint32_t fourcc, uint64_t modifier) {
	const struct gid_format_info *info = gid_format_find(fourcc);
	return modifier == DRM_FORMAT_MOD_LINEAR && info && info->plane_count == 1 &&
		hidden_client_has_shm_format(hidden, fourcc);
}

static bool buffer_can_show(void *data, uint32_t fourcc, uint64_t modifier) {
	const struct hidden_client *hidden = ((struct module *)data)->hidden;
	return can_show_in_shm(hidden, fourcc, modifier) ||
		hidden_client_has_dmabuf_format(hidden, fourcc, modifier);
}

static void buffer_send_formats(void *data, struct wl_resource *feedback) {
	const struct hidden_client *hidden = ((struct module *)data)->hidden;
	const struct hidden_client_formats *formats = hidden_client_get_formats(hidden);
	const uint32_t *fourcc;
	wl_array_for_each(fourcc, &formats->shm) {
		if (can_show_in_shm(hidden, *fourcc, DRM_FORMAT_MOD_LINEAR)) {
			manager_send_format(feedback, *fourcc, DRM_FORMAT_MOD_LINEAR,
				GID_BUFFER_FEEDBACK_V1_MEMORY_SHARED |
					GID_BUFFER_FEEDBACK_V1_MEMORY_DMABUF);
		}
	}
	const struct hidden_client_modifier *entry;
	wl_array_for_each(entry, &formats->dmabuf) {
		if (!can_show_in_shm(hidden, entry->fourcc, entry->modifier) &&
			gid_format_find(entry->fourcc)) {
			manager_send_format(feedback, entry->fourcc, entry->modifier,
				GID_BUFFER_FEEDBACK_V1_MEMORY_DMABUF);
		}
	}
}

const struct params_backend buffer_backend = {
	.can_show = buffer_can_show,
	.send_formats = buffer_send_formats,
	.create = buffer_create,
	.get_resource = buffer_get_resource,
	.abandon = buffer_abandon,
};

void buffers_forget_domain(struct module *module) {
	struct buffer *buffer, *next;
	wl_list_for_each_safe(buffer, next, &module->buffers, link) {
		if (buffer->state == BUFFER_IMPORTING) {
			buffer_settle(buffer, -ENOTCONN);
		} else {
			buffer_drop_slabs(buffer);
		}
	}
}

void buffers_finish(struct module *module) {
	struct buffer *buffer, *next;
	wl_list_for_each_safe(buffer, next, &module->buffers, link) {
		buffer_destroy(buffer);
	}
}
