// SPDX-License-Identifier: MIT
#include "weston_buffer.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <libweston/weston-log.h>
#include <stdlib.h>
#include <unistd.h>

#include "client_share.h"
#include "gid-buffer-v1-protocol.h"
#include "manager.h"
#include "planes.h"
#include "pool.h"
#include "shown.h"

/*
 * A commit that was under way at the revocation shows the buffer shortly afterwards, and should
 * find the picture. So buffers that no surface shows keep their memory for this long.
 */
#define SETTLE_MS 250

/*
 * Each buffer costs the compositor a mapping, of which a process has some 65,000. The end of a
 * buffer is found by a walk over those of the same slab. One program can be many clients.
 */
#define BUFFERS_OF_A_CLIENT_MAX 1024
#define BUFFERS_MAX 8192

/* Copies of revoked buffers that surfaces still show: one picture of 8K, or four of 4K. */
#define KEPT_BYTES_OF_A_CLIENT_MAX (UINT64_C(128) << 20)
/* The same for all clients: one program can be many clients. */
#define KEPT_BYTES_MAX (UINT64_C(512) << 20)
/* In one turn of the event loop: others wait during the copy. */
#define KEPT_BYTES_AT_ONCE_MAX KEPT_BYTES_OF_A_CLIENT_MAX

enum buffer_state {
	BUFFER_IMPORTING,
	BUFFER_SHOWN,
	BUFFER_REVOKED,
	BUFFER_FAILED, /* stays blank */
};

struct buffer {
	struct buffers *buffers;
	struct wl_list link; /* buffers::list */
	struct wl_client *client;
	const struct buffer_events *events; /* NULL: abandoned */
	void *data;

	enum buffer_state state;
	struct planes planes;
	struct wl_event_source *settle_timer; /* after a revocation */
	struct shown_mark mark;

	struct wl_resource *resource; /* the wl_buffer, or NULL */
	struct wl_listener resource_destroy;
	bool frozen;	  /* the pool has a copy of the content */
	struct pool pool; /* without address: the wl_buffer is made of dma-bufs */
	bool pool_fits;	  /* it has this layout; false: a stand-in that stays blank */
};

static void buffer_log(const struct buffer *buffer, const char *what) {
	if (weston_log_scope_is_enabled(buffer->buffers->details)) {
		char gid[GID_TEXT_MAX];
		pid_t pid = 0;
		wl_client_get_credentials(buffer->client, &pid, NULL, NULL);
		weston_log_scope_printf(buffer->buffers->details,
				"gid: buffer %s %ux%u of process %d: %s\n",
				gid_format(buffer->planes.picture.gids[0], gid),
				buffer->planes.picture.layout.width,
				buffer->planes.picture.layout.height, pid, what);
	}
}

static void buffer_give_kept(struct buffer *buffer) {
	client_share_give(buffer->client, CLIENT_SHARE_KEPT_BYTES, buffer->pool.size);
	buffer->buffers->kept.bytes -= buffer->pool.size;
}

static void buffer_destroy(struct buffer *buffer) {
	planes_drop(&buffer->planes);
	if (buffer->settle_timer != NULL) {
		wl_event_source_remove(buffer->settle_timer);
	}
	if (buffer->resource != NULL) {
		wl_list_remove(&buffer->resource_destroy.link);
	}
	wl_list_remove(&buffer->link);
	buffer->buffers->count--;
	client_share_give(buffer->client, CLIENT_SHARE_BUFFERS, 1);
	if (buffer->frozen) {
		buffer_give_kept(buffer);
	}
	if (buffer->events != NULL) {
		buffer->events->destroyed(buffer->data);
	}
	free(buffer);
}

static void handle_resource_destroy(struct wl_listener *listener, void *data) {
	struct buffer *buffer = wl_container_of(listener, buffer, resource_destroy);
	buffer_destroy(buffer);
}

/* Our wl_buffers are libwayland's or Weston's: they are recognised by our destroy listener. */
static struct buffer *buffer_from_resource(struct wl_resource *resource) {
	struct wl_listener *listener =
			wl_resource_get_destroy_listener(resource, handle_resource_destroy);
	struct buffer *buffer = NULL;
	return listener != NULL ? wl_container_of(listener, buffer, resource_destroy) : NULL;
}

static struct shown_mark *buffer_find_mark(struct wl_resource *resource) {
	struct buffer *buffer = buffer_from_resource(resource);
	return buffer != NULL ? &buffer->mark : NULL;
}

static void buffer_set_resource(struct buffer *buffer, struct wl_resource *resource) {
	buffer->resource = resource;
	buffer->resource_destroy.notify = handle_resource_destroy;
	wl_resource_add_destroy_listener(resource, &buffer->resource_destroy);
}

/* Destroys a wl_buffer that the client does not know yet; the buffer stays. */
static void buffer_destroy_resource(struct buffer *buffer) {
	struct wl_resource *resource = buffer->resource;
	wl_list_remove(&buffer->resource_destroy.link);
	buffer->resource = NULL;
	buffer->pool = (struct pool){0};
	wl_resource_destroy(resource);
}

/* --- from memory to a wl_buffer --------------------------------------------------------------- */

/*
 * Creates a genuine dma-buf buffer. -ENOTSUP: it is other memory, or the renderer does not support
 * it.
 */
static int buffer_make_of_dmabufs(struct buffer *buffer, uint32_t id) {
	const struct gid_layout *layout = &buffer->planes.picture.layout;
	if (!hidden_client_has_dmabuf_format(
			    buffer->buffers->hidden, layout->fourcc, layout->modifier)) {
		return -ENOTSUP;
	}
	struct hidden_client_dmabuf dmabuf = {
			.width = (int32_t)layout->width,
			.height = (int32_t)layout->height,
			.fourcc = layout->fourcc,
			.modifier = layout->modifier,
			.plane_count = layout->plane_count,
	};
	struct planes_dmabuf found;
	if (!planes_get_dmabuf(&buffer->planes, &found)) {
		return -ENOTSUP;
	}
	for (uint32_t i = 0; i < layout->plane_count; i++) {
		dmabuf.planes[i].fd = found.fd[i];
		dmabuf.planes[i].offset = found.offset[i];
		dmabuf.planes[i].stride = layout->planes[i].stride;
	}
	struct wl_resource *resource = hidden_client_create_dmabuf_buffer(
			buffer->buffers->hidden, buffer->client, id, &dmabuf);
	if (resource == NULL) {
		return -ENOTSUP;
	}
	buffer_set_resource(buffer, resource);
	return 0;
}

/* Whether a wl_shm buffer can show the layout. pixman reads in words of four bytes. */
static bool layout_fits_shm(
		const struct buffers *buffers, const struct gid_layout *layout, uint64_t offset) {
	return layout->plane_count == 1 && layout->modifier == DRM_FORMAT_MOD_LINEAR &&
			offset % 4 == 0 && layout->planes[0].stride % 4 == 0 &&
			hidden_client_has_shm_format(buffers->hidden, layout->fourcc);
}

static size_t offset_in_page(uint64_t offset) {
	return offset & ((uint64_t)sysconf(_SC_PAGESIZE) - 1);
}

/* Creates a blank wl_shm buffer. `offset` is where the picture will begin in its file. */
static int buffer_make_pool(struct buffer *buffer, uint32_t id, uint64_t offset) {
	const struct gid_layout *layout = &buffer->planes.picture.layout;
	uint32_t fourcc = layout->fourcc, stride = layout->planes[0].stride;
	size_t lead = offset_in_page(offset);
	buffer->pool_fits = layout_fits_shm(buffer->buffers, layout, offset);
	if (!buffer->pool_fits) {
		fourcc = DRM_FORMAT_XRGB8888;
		stride = layout->width * 4;
		lead = 0;
	}
	struct wl_resource *resource = pool_create_buffer(&buffer->pool, buffer->buffers->hidden,
			buffer->client, id, fourcc, (int32_t)layout->width, (int32_t)layout->height,
			(int32_t)stride, lead);
	if (resource == NULL) {
		return -ENOMEM;
	}
	buffer_set_resource(buffer, resource);
	return 0;
}

/* Maps the memory into the wl_shm buffer, and creates that first if there is none. */
static int buffer_map(struct buffer *buffer, uint32_t id) {
	const struct gid_layout *layout = &buffer->planes.picture.layout;
	struct gid_slab_info info;
	gid_slab_get_info(buffer->planes.plane[0].slab, &info);
	uint64_t offset = planes_offset(&buffer->planes, 0);
	bool existed = buffer->resource != NULL;
	if (!existed) {
		if (!layout_fits_shm(buffer->buffers, layout, offset)) {
			return -ENOTSUP;
		}
		int error = buffer_make_pool(buffer, id, offset);
		if (error != 0) {
			return error;
		}
	}
	if (!buffer->pool_fits) {
		return -ENOTSUP;
	}
	int error = pool_map(
			&buffer->pool, info.fd, offset, info.slot_size - layout->planes[0].offset);
	if (error != 0 && !existed && id == 0) {
		buffer_destroy_resource(buffer);
	}
	return error;
}

/*
 * All slabs are there: creates the wl_buffer, unless it exists, with `id` or an id of the server's
 * (0), and shows the memory in it. Returns 0; or -ENOENT, -ERANGE, -ENOTSUP, -ENOMEM: then there
 * may be a blank wl_buffer or none.
 */
static int buffer_show(struct buffer *buffer, uint32_t id) {
	int error = planes_check(&buffer->planes);
	if (error == 0) {
		error = planes_listen(&buffer->planes);
	}
	if (error != 0) {
		return error;
	}
	if (buffer->resource == NULL && buffer_make_of_dmabufs(buffer, id) == 0) {
		return 0;
	}
	return buffer_map(buffer, id);
}

/* Creates a blank wl_buffer. Returns 0 or -ENOMEM. */
static int buffer_make_blank(struct buffer *buffer, uint32_t id) {
	return buffer_make_pool(buffer, id, buffer->planes.picture.layout.planes[0].offset);
}

/* --- revocation ------------------------------------------------------------------------------- */

static bool buffer_take_kept(struct buffer *buffer) {
	struct buffers *buffers = buffer->buffers;
	const uint64_t size = buffer->pool.size;
	if (buffers->kept.turn != buffers->shown.turn) {
		buffers->kept.turn = buffers->shown.turn;
		buffers->kept.at_once = 0;
	}
	if (buffers->kept.bytes + size > KEPT_BYTES_MAX ||
			buffers->kept.at_once + size > KEPT_BYTES_AT_ONCE_MAX ||
			!client_share_take(buffer->client, CLIENT_SHARE_KEPT_BYTES, size,
					KEPT_BYTES_OF_A_CLIENT_MAX)) {
		return false;
	}
	buffers->kept.bytes += size;
	buffers->kept.at_once += size;
	return true;
}

/* The wl_buffer keeps its current content. */
static bool buffer_freeze(struct buffer *buffer) {
	if (!buffer_take_kept(buffer)) {
		return false;
	}
	buffer->frozen = pool_freeze(&buffer->pool) == 0;
	if (!buffer->frozen) {
		buffer_give_kept(buffer);
	}
	return buffer->frozen;
}

/* After this the compositor does not read the owner's memory any more. */
static void buffer_detach_memory(struct buffer *buffer, bool shown) {
	bool keeps = shown && buffer->buffers->on_revoke == ON_REVOKE_KEEP;
	if (!(keeps && buffer_freeze(buffer)) && pool_blank(&buffer->pool) == 0 && shown) {
		shown_damage(&buffer->buffers->shown, &buffer->mark);
	}
}

static int handle_result(void *data) {
	struct buffer *buffer = data;
	buffer_detach_memory(buffer, shown_anywhere(&buffer->buffers->shown, &buffer->mark));
	wl_event_source_remove(buffer->settle_timer);
	buffer->settle_timer = NULL;
	return 0;
}

static void buffer_revoke_pool(struct buffer *buffer) {
	bool shown = shown_anywhere(&buffer->buffers->shown, &buffer->mark);
	if (!shown && buffer->buffers->on_revoke == ON_REVOKE_KEEP) {
		struct wl_event_loop *loop =
				wl_display_get_event_loop(buffer->buffers->compositor->wl_display);
		buffer->settle_timer = wl_event_loop_add_timer(loop, handle_result, buffer);
		if (buffer->settle_timer != NULL) {
			wl_event_source_timer_update(buffer->settle_timer, SETTLE_MS);
			return;
		}
	}
	buffer_detach_memory(buffer, shown);
}

static void handle_revoked(void *data) {
	struct buffer *buffer = data;
	buffer_log(buffer, "revoked");
	buffer->state = BUFFER_REVOKED;
	if (buffer->pool.address != NULL) {
		buffer_revoke_pool(buffer);
	}
	if (buffer->events != NULL) {
		buffer->events->revoked(buffer->data);
	}
}

/* --- import ----------------------------------------------------------------------------------- */

/* Ends the import. The buffer may be gone after this. */
static void buffer_send_result(struct buffer *buffer, int error) {
	if (error == 0) {
		buffer->state = BUFFER_SHOWN;
		buffer_log(buffer, buffer->pool.address != NULL ? "shown" : "shown as a dma-buf");
	} else {
		buffer->state = BUFFER_FAILED;
		planes_drop(&buffer->planes);
		buffer_log(buffer, gid_strerror(error));
	}
	if (buffer->events != NULL) {
		buffer->events->settled(
				buffer->data, error == 0 || error == -ERANGE ? error : -ENOENT);
	}
	if (buffer->resource == NULL) {
		buffer_destroy(buffer);
	} else {
		buffer->buffers->settled(buffer->buffers->data, buffer->resource);
	}
}

static void handle_imported(void *data, int error) {
	struct buffer *buffer = data;
	if (error == 0) {
		error = buffer_show(buffer, 0);
		if (error == 0 && buffer->pool.address != NULL) {
			shown_damage(&buffer->buffers->shown, &buffer->mark);
		}
	}
	buffer_send_result(buffer, error);
}

static const struct planes_events planes_events = {
		.imported = handle_imported,
		.revoked = handle_revoked,
};

static int buffer_import(struct buffer *buffer) {
	struct gid_domain *domain = gidd_connection_get_domain(buffer->buffers->connection);
	return domain != NULL ? planes_import(&buffer->planes, domain) : -ENOTCONN;
}

gid_id buffer_get_gid(struct wl_resource *resource) {
	const struct buffer *buffer = buffer_from_resource(resource);
	return buffer != NULL ? buffer->planes.picture.gids[0] : GID_NONE;
}

bool buffer_get_memory(struct wl_resource *resource, struct buffer_memory *memory) {
	const struct buffer *buffer = buffer_from_resource(resource);
	if (buffer == NULL) {
		return false;
	}
	const struct picture *picture = &buffer->planes.picture;
	bool shown = buffer->state == BUFFER_SHOWN;
	for (uint32_t i = 1; i < picture->layout.plane_count; i++) {
		shown = shown && picture->gids[i] == picture->gids[0];
	}
	*memory = (struct buffer_memory){
			.gid = picture->gids[0],
			.slab = shown ? buffer->planes.plane[0].slab : NULL,
			.layout = &picture->layout,
			.pending = buffer->state == BUFFER_IMPORTING,
	};
	return true;
}

static bool is_opaque_twin(uint32_t a, uint32_t b) {
	return (a == DRM_FORMAT_XRGB8888 && b == DRM_FORMAT_ARGB8888) ||
			(a == DRM_FORMAT_ARGB8888 && b == DRM_FORMAT_XRGB8888);
}

static bool layout_is_the_slabs(const struct gid_layout *layout, const struct gid_layout *slab) {
	bool same = (layout->fourcc == slab->fourcc ||
				    is_opaque_twin(layout->fourcc, slab->fourcc)) &&
			slab->modifier == DRM_FORMAT_MOD_LINEAR &&
			layout->plane_count == slab->plane_count && layout->width == slab->width &&
			layout->height == slab->height;
	for (uint32_t i = 0; same && i < slab->plane_count; i++) {
		same = layout->planes[i].offset == slab->planes[i].offset &&
				layout->planes[i].stride == slab->planes[i].stride;
	}
	return same;
}

bool buffer_memory_can_be_lent(
		const struct buffer_memory *memory, const struct gid_domain *domain) {
	struct gid_slab_info info;
	gid_slab_get_info(memory->slab, &info);
	return gid_domain_of(memory->gid) == gid_domain_number(domain) &&
			layout_is_the_slabs(memory->layout, &info.layout);
}

static int buffer_create(void *buffers_data, struct wl_client *client, uint32_t id,
		const struct picture *picture, const struct buffer_events *events, void *data,
		struct buffer **created) {
	struct buffers *buffers = buffers_data;
	*created = NULL;
	if (buffers->count == BUFFERS_MAX ||
			!client_share_take(
					client, CLIENT_SHARE_BUFFERS, 1, BUFFERS_OF_A_CLIENT_MAX)) {
		return -ENOMEM;
	}
	struct buffer *buffer = calloc(1, sizeof(*buffer));
	if (buffer == NULL) {
		client_share_give(client, CLIENT_SHARE_BUFFERS, 1);
		return -ENOMEM;
	}
	buffer->buffers = buffers;
	buffer->client = client;
	planes_init(&buffer->planes, picture, &planes_events, buffer);
	wl_list_insert(&buffers->list, &buffer->link);
	buffers->count++;

	int error = buffer_import(buffer);
	if (error == 0) {
		error = buffer_show(buffer, id);
	}
	if (id != 0 && buffer->resource == NULL) {
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
		*created = buffer->resource != NULL ? buffer : NULL;
		buffer_send_result(buffer, error);
	}
	return 0;
}

static struct wl_resource *buffer_get_resource(const struct buffer *buffer) {
	return buffer->resource;
}

static void buffer_abandon(struct buffer *buffer) {
	buffer->events = NULL;
	if (buffer->resource == NULL) {
		buffer_destroy(buffer);
	}
}

/* A wl_shm buffer shows any memory that the processor can read. */
static bool can_show_in_shm(
		const struct hidden_client *hidden, uint32_t fourcc, uint64_t modifier) {
	const struct gid_format_info *info = gid_format_find(fourcc);
	return modifier == DRM_FORMAT_MOD_LINEAR && info != NULL && info->plane_count == 1 &&
			hidden_client_has_shm_format(hidden, fourcc);
}

static bool buffer_can_show(void *data, uint32_t fourcc, uint64_t modifier) {
	const struct hidden_client *hidden = ((const struct buffers *)data)->hidden;
	return can_show_in_shm(hidden, fourcc, modifier) ||
			hidden_client_has_dmabuf_format(hidden, fourcc, modifier);
}

static void buffer_send_formats(void *data, struct wl_resource *feedback) {
	const struct hidden_client *hidden = ((const struct buffers *)data)->hidden;
	const struct hidden_client_formats *formats = hidden_client_get_formats(hidden);
	const uint32_t *fourcc;
	wl_array_for_each(fourcc, &formats->shm) {
		if (can_show_in_shm(hidden, *fourcc, DRM_FORMAT_MOD_LINEAR)) {
			manager_send_format(feedback, *fourcc, DRM_FORMAT_MOD_LINEAR,
					GID_BUFFER_FEEDBACK_V1_MEMORY_SHARED |
							GID_BUFFER_FEEDBACK_V1_MEMORY_DMABUF);
		}
	}
	const struct hidden_modifier *entry;
	wl_array_for_each(entry, &formats->dmabuf) {
		if (!can_show_in_shm(hidden, entry->fourcc, entry->modifier) &&
				gid_format_find(entry->fourcc) != NULL) {
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

void buffers_forget_domain(struct buffers *buffers) {
	struct buffer *buffer, *next;
	wl_list_for_each_safe(buffer, next, &buffers->list, link) {
		if (buffer->state == BUFFER_IMPORTING) {
			buffer_send_result(buffer, -ENOTCONN);
		} else {
			planes_drop(&buffer->planes);
		}
	}
}

void buffers_init(struct buffers *buffers, struct weston_compositor *compositor) {
	wl_list_init(&buffers->list);
	buffers->compositor = compositor;
	shown_init(&buffers->shown, compositor, buffer_find_mark);
}

void buffers_finish(struct buffers *buffers) {
	struct buffer *buffer, *next;
	shown_finish(&buffers->shown);
	wl_list_for_each_safe(buffer, next, &buffers->list, link) {
		buffer_destroy(buffer);
	}
}
