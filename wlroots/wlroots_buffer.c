// SPDX-License-Identifier: MIT
/**
 * One wl_buffer made of gids. While it is shown, the wlr_buffer (the view) outlives the wl_buffer,
 * and keeps the references to the slabs.
 */
#include "wlroots_buffer.h"

#include <assert.h>
#include <drm_fourcc.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <wlr/render/drm_format_set.h>
#include <wlr/types/wlr_buffer.h>
#include <wlr/util/log.h>

#include "client_share.h"
#include "gid-buffer-v1-protocol.h"
#include "memory_view.h"
#include "planes.h"

#define BUFFERS_OF_A_CLIENT_MAX 1024
#define DRAWN_PIXELS_OF_A_CLIENT_MAX (1u << 27) /* 512 MiB: 64 pictures of 1080p, 16 of 4K */

struct buffer {
	struct memory_view view; /* without data until the memory is there */
	struct buffers *buffers;
	struct wl_list link;	      /* buffers::list */
	struct wl_client *client;     /* NULL: it has no wl_buffer, and waits for none */
	struct wl_resource *resource; /* the wl_buffer; NULL: not yet, or destroyed */
	struct wl_listener release;
	bool trying; /* the renderer is being tried: releases are not for the client */
	struct planes planes;
	void *blank; /* shown until the memory is there, and after a revocation */
	size_t blank_size;
	const struct buffer_events *events;
	void *data;
};

/* The client has no wl_buffer any more, and waits for none; a surface may still show the view. */
static void buffer_detach(struct buffer *buffer) {
	if (buffer->events != NULL) {
		buffer->events->destroyed(buffer->data);
		buffer->events = NULL;
	}
	if (buffer->planes.pending > 0) {
		planes_drop(&buffer->planes);
	}
	client_share_give(buffer->client, CLIENT_SHARE_BUFFERS, 1);
	buffer->client = NULL;
	wlr_buffer_drop(&buffer->view.base);
}

static void handle_view_destroyed(struct memory_view *view) {
	struct buffer *buffer = wl_container_of(view, buffer, view);
	planes_drop(&buffer->planes);
	wl_list_remove(&buffer->link);
	if (buffer->blank != NULL) {
		munmap(buffer->blank, buffer->blank_size);
	}
	free(buffer);
}

/* --- the wl_buffer ---------------------------------------------------------------------------- */

static void handle_destroy(struct wl_client *client, struct wl_resource *resource) {
	wl_resource_destroy(resource);
}

static const struct wl_buffer_interface buffer_implementation = {.destroy = handle_destroy};

static bool is_instance(struct wl_resource *resource) {
	return wl_resource_instance_of(resource, &wl_buffer_interface, &buffer_implementation);
}

static struct buffer *buffer_from_resource(struct wl_resource *resource) {
	assert(is_instance(resource));
	return wl_resource_get_user_data(resource);
}

static void handle_resource_destroyed(struct wl_resource *resource) {
	struct buffer *buffer = buffer_from_resource(resource);
	buffer->resource = NULL;
	wl_list_remove(&buffer->release.link);
	buffer_detach(buffer);
}

static void handle_release(struct wl_listener *listener, void *data) {
	struct buffer *buffer = wl_container_of(listener, buffer, release);
	if (!buffer->trying) {
		wl_buffer_send_release(buffer->resource);
	}
}

static int buffer_make_resource(struct buffer *buffer, uint32_t id) {
	buffer->resource = wl_resource_create(buffer->client, &wl_buffer_interface, 1, id);
	if (buffer->resource == NULL) {
		return -ENOMEM;
	}
	wl_resource_set_implementation(buffer->resource, &buffer_implementation, buffer,
			handle_resource_destroyed);
	buffer->release.notify = handle_release;
	wl_signal_add(&buffer->view.base.events.release, &buffer->release);
	return 0;
}

/* Called by wlroots when a client attaches it. */
static struct wlr_buffer *from_resource(struct wl_resource *resource) {
	struct buffer *buffer = buffer_from_resource(resource);
	memory_view_set_stale(&buffer->view);
	return &buffer->view.base;
}

static void register_buffers(void) {
	static const struct wlr_buffer_resource_interface interface = {
			.name = "gid_buffer_v1",
			.is_instance = is_instance,
			.from_resource = from_resource,
	};
	static bool registered;
	if (!registered) {
		wlr_buffer_register_resource_interface(&interface);
		registered = true;
	}
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Zeroes of the picture's size, which take no memory. */
static bool buffer_show_blank(struct buffer *buffer) {
	if (buffer->blank == NULL) {
		size_t size = buffer->view.stride * (size_t)buffer->view.base.height;
		void *blank = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (blank == MAP_FAILED) {
			return false;
		}
		buffer->blank = blank;
		buffer->blank_size = size;
	}
	buffer->view.data = buffer->blank;
	return true;
}

static void buffer_revoke(struct buffer *buffer) {
	memory_view_forget_dmabuf(&buffer->view);
	if (!buffer_show_blank(buffer)) {
		buffer->view.data = NULL;
	}
	if (buffer->events != NULL) {
		buffer->events->revoked(buffer->data);
	}
}

static void handle_revoked(void *data) {
	buffer_revoke(data);
}

/* A drawn buffer takes memory of our own, 4 bytes a pixel, as long as it exists. */
static bool buffer_may_be_drawn(const struct buffer *buffer) {
	uint64_t pixels = 0;
	const struct buffer *other;
	wl_list_for_each(other, &buffer->buffers->list, link) {
		/* Buffers without client are still shown: any client may have caused that. */
		bool counts = other == buffer ||
				(other->view.yuv != NULL &&
						(other->client == NULL ||
								other->client == buffer->client));
		pixels += counts ? (uint64_t)other->view.base.width *
						(uint64_t)other->view.base.height
				 : 0;
	}
	return pixels <= DRAWN_PIXELS_OF_A_CLIENT_MAX;
}

static bool buffer_get_dmabuf(const struct buffer *buffer, struct wlr_dmabuf_attributes *dmabuf) {
	const struct gid_layout *layout = &buffer->planes.picture.layout;
	struct planes_dmabuf found;
	if (!planes_get_dmabuf(&buffer->planes, &found)) {
		return false;
	}
	*dmabuf = (struct wlr_dmabuf_attributes){
			.width = (int32_t)layout->width,
			.height = (int32_t)layout->height,
			.format = layout->fourcc,
			.modifier = layout->modifier,
			.n_planes = (int)layout->plane_count,
	};
	for (uint32_t i = 0; i < layout->plane_count; i++) {
		dmabuf->fd[i] = found.fd[i];
		dmabuf->offset[i] = found.offset[i];
		dmabuf->stride[i] = layout->planes[i].stride;
	}
	return true;
}

static bool buffer_show_by(struct buffer *buffer, enum shown_way way,
		const struct wlr_dmabuf_attributes *dmabuf, const struct gid_colours *colours) {
	const struct buffers *buffers = buffer->buffers;
	switch (way) {
	case SHOWN_SAMPLED:
		return memory_view_set_dmabuf(&buffer->view, dmabuf, buffers->renderer);
	case SHOWN_DRAWN:
		return buffer_may_be_drawn(buffer) &&
				memory_view_set_yuv(&buffer->view, dmabuf, colours, buffers->yuv,
						buffers->renderer);
	default:
		return false;
	}
}

static enum shown_way buffer_show_dmabuf(struct buffer *buffer) {
	const struct gid_layout *layout = &buffer->planes.picture.layout;
	struct wlr_dmabuf_attributes dmabuf;
	struct gid_slab_info info;
	gid_slab_get_info(buffer->planes.plane[0].slab, &info);
	/* A window that is read in place needs no dma-buf. */
	if (info.memory == GID_MEMORY_WINDOW &&
			!shown_formats_are_of_dmabufs(&buffer->buffers->formats, layout->fourcc,
					layout->modifier)) {
		return SHOWN_NOT;
	}
	if (!buffer_get_dmabuf(buffer, &dmabuf)) {
		return SHOWN_NOT;
	}
	const struct gid_colours *colours = &info.layout.colours;
	enum shown_way ways[SHOWN_WAYS], way = SHOWN_NOT;
	shown_formats_get_ways(
			&buffer->buffers->formats, dmabuf.format, dmabuf.modifier, colours, ways);
	buffer->trying = true;
	for (int i = 0; i < SHOWN_WAYS && way == SHOWN_NOT; i++) {
		way = buffer_show_by(buffer, ways[i], &dmabuf, colours) ? ways[i] : SHOWN_NOT;
	}
	buffer->trying = false;
	return way;
}

/* pixman only draws such rows. */
static bool rows_are_words(const struct gid_layout *layout, const void *data) {
	return (uintptr_t)data % 4 == 0 && layout->planes[0].stride % 4 == 0;
}

/* Logged once: clients may try again with each frame. */
static void buffer_log_refusal(const struct buffer *buffer, bool has_words) {
	struct buffers *buffers = buffer->buffers;
	const uint32_t fourcc = htole32(buffer->planes.picture.layout.fourcc);
	if (!has_words && !buffers->told_rows) {
		buffers->told_rows = true;
		buffers->log("gid: pictures whose rows do not lie at multiples of four bytes cannot "
			     "be read from memory\n");
	}
	if (has_words && !buffers->told_refusal) {
		buffers->told_refusal = true;
		buffers->log("gid: pictures of format %.4s cannot be shown: the renderer can "
			     "only sample them from dma-bufs, and these are not dma-bufs, or "
			     "it refuses them\n",
				(const char *)&fourcc);
	}
}

/* Returns 0, -ENOENT, -ERANGE, -ENOTSUP or -ENOMEM. */
static int buffer_show_planes(struct buffer *buffer) {
	int error = planes_check(&buffer->planes);
	if (error == 0) {
		error = planes_listen(&buffer->planes);
	}
	if (error != 0) {
		return error;
	}
	static const char *const ways[] = {
			[SHOWN_NOT] = "read from memory",
			[SHOWN_SAMPLED] = "sampled from its dma-bufs",
			[SHOWN_DRAWN] = "drawn from its dma-bufs",
	};
	const struct gid_layout *layout = &buffer->planes.picture.layout;
	const void *data = planes_view(&buffer->planes);
	bool has_words = data == NULL || rows_are_words(layout, data);
	bool readable = data != NULL && has_words &&
			shown_formats_are_read(&buffer->buffers->formats, layout->fourcc);
	enum shown_way way = buffer_show_dmabuf(buffer);
	if (way == SHOWN_NOT && !readable) {
		memory_view_forget_dmabuf(&buffer->view);
		buffer_log_refusal(buffer, has_words);
		return -ENOTSUP;
	}
	wlr_log(WLR_DEBUG, "gid: a buffer of %ux%u is %s", layout->width, layout->height,
			ways[way]);
	if (readable) {
		buffer->view.data = data;
	}
	return 0;
}

/* The import has ended. The buffer may be gone after this. */
static void buffer_send_result(struct buffer *buffer, int error) {
	if (error == 0) {
		error = buffer_show_planes(buffer);
	}
	if (error == 0 && buffer->resource == NULL) {
		error = buffer_make_resource(buffer, 0);
	}
	if (error != 0) {
		planes_drop(&buffer->planes);
	}
	if (buffer->events != NULL) {
		buffer->events->settled(
				buffer->data, error == 0 || error == -ERANGE ? error : -ENOENT);
	}
	if (buffer->resource == NULL) {
		buffer_detach(buffer);
	}
}

static void handle_imported(void *data, int error) {
	buffer_send_result(data, error);
}

static const struct planes_events planes_events = {
		.imported = handle_imported,
		.revoked = handle_revoked,
};

/* --- the backend ------------------------------------------------------------------------------ */

static bool buffer_can_show(void *data, uint32_t fourcc, uint64_t modifier) {
	const struct buffers *buffers = data;
	return shown_formats_have(&buffers->formats, fourcc, modifier);
}

static void buffer_send_formats(void *data, struct wl_resource *feedback) {
	const struct buffers *buffers = data;
	shown_formats_send(&buffers->formats, feedback);
}

static struct buffer *buffer_new(
		struct buffers *buffers, struct wl_client *client, const struct picture *picture) {
	struct buffer *buffer = calloc(1, sizeof(*buffer));
	if (buffer == NULL) {
		return NULL;
	}
	const struct gid_layout *layout = &picture->layout;
	buffer->buffers = buffers;
	buffer->client = client;
	planes_init(&buffer->planes, picture, &planes_events, buffer);
	wl_list_insert(&buffers->list, &buffer->link);
	/* Formats that the renderer cannot upload, such as YUV, are blank in another format. */
	bool read = shown_formats_are_read(&buffers->formats, layout->fourcc);
	memory_view_init(&buffer->view, NULL, read ? layout->fourcc : DRM_FORMAT_XRGB8888,
			layout->width, layout->height,
			read ? layout->planes[0].stride : layout->width * 4, handle_view_destroyed);
	return buffer;
}

static int buffer_import(struct buffer *buffer) {
	struct gid_domain *domain = gidd_connection_get_domain(buffer->buffers->connection);
	return domain != NULL ? planes_import(&buffer->planes, domain) : -ENOTCONN;
}

static int buffer_create(void *data, struct wl_client *client, uint32_t id,
		const struct picture *picture, const struct buffer_events *events,
		void *events_data, struct buffer **created) {
	*created = NULL;
	if (!client_share_take(client, CLIENT_SHARE_BUFFERS, 1, BUFFERS_OF_A_CLIENT_MAX)) {
		return -ENOMEM;
	}
	struct buffer *buffer = buffer_new(data, client, picture);
	if (buffer == NULL) {
		client_share_give(client, CLIENT_SHARE_BUFFERS, 1);
		return -ENOMEM;
	}
	if (id != 0 && (!buffer_show_blank(buffer) || buffer_make_resource(buffer, id) != 0)) {
		buffer_detach(buffer);
		return -ENOMEM;
	}
	int ret = buffer_import(buffer);
	buffer->events = events;
	buffer->data = events_data;
	*created = buffer; /* the caller looks at it, and forgets it at the event `destroyed` */
	if (ret != -EINPROGRESS) {
		buffer_send_result(buffer, ret);
	}
	return 0;
}

static struct wl_resource *buffer_get_resource(const struct buffer *buffer) {
	return buffer->resource;
}

static void buffer_abandon(struct buffer *buffer) {
	buffer->events = NULL;
	if (buffer->resource == NULL) {
		buffer_detach(buffer);
	}
}

const struct params_backend buffer_backend = {
		.can_show = buffer_can_show,
		.send_formats = buffer_send_formats,
		.create = buffer_create,
		.get_resource = buffer_get_resource,
		.abandon = buffer_abandon,
};

/* --- all buffers ------------------------------------------------------------------------------ */

void buffers_init(struct buffers *buffers, struct wlr_renderer *renderer,
		struct wlr_allocator *allocator, int (*log)(const char *format, ...)) {
	*buffers = (struct buffers){.renderer = renderer, .log = log};
	wl_list_init(&buffers->list);
	buffers->yuv = yuv_create(renderer, allocator);
	shown_formats_init(&buffers->formats, renderer, buffers->yuv);
	register_buffers();
}

void buffers_forget_domain(struct buffers *buffers) {
	struct buffer *buffer, *next;
	wl_list_for_each_safe(buffer, next, &buffers->list, link) {
		if (buffer->planes.pending > 0) {
			planes_drop(&buffer->planes);
			buffer_send_result(buffer, -ENOTCONN);
		} else if (planes_are_there(&buffer->planes)) {
			planes_drop(&buffer->planes);
			buffer_revoke(buffer);
		}
	}
}

void buffers_finish(struct buffers *buffers) {
	buffers_forget_domain(buffers);
	struct buffer *buffer, *next;
	wl_list_for_each_safe(buffer, next, &buffers->list, link) {
		wl_list_remove(&buffer->link);
		wl_list_init(&buffer->link);
	}
	shown_formats_finish(&buffers->formats);
	yuv_destroy(buffers->yuv);
}
