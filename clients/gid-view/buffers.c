// SPDX-License-Identifier: MIT
#include "buffers.h"

#include <drm_fourcc.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/surface_colours.h"
#include "converter.h"
#include "gid-buffer-v1-client-protocol.h"

/* More slots than any stream uses at a time. It bounds streams whose slabs keep changing. */
#define BUFFERS_MAX 128
#define RETRY_NS 500000000ull

static uint64_t slot_key(gid_id gid) {
	return gid >> 16;
}

/* --- one buffer ------------------------------------------------------------------------------- */

static void buffer_release_frames(struct buffer *buffer) {
	struct buffers *buffers = buffer->buffers;
	for (uint32_t i = 0; i < buffer->held_count; i++) {
		buffers->released(buffers->data, &buffer->held[i]);
	}
	buffer->held_count = 0;
}

static void buffer_destroy(struct buffer *buffer) {
	struct buffers *buffers = buffer->buffers;
	gid_slab_import_cancel(buffers->domain, buffer);
	buffer_release_frames(buffer);
	if (buffer->params != NULL) {
		gid_buffer_params_v1_destroy(buffer->params);
	}
	if (buffer->wl_buffer != NULL) {
		wl_buffer_destroy(buffer->wl_buffer);
	}
	if (buffer->slab != NULL) {
		gid_slab_unref(buffer->slab);
	}
	wl_list_remove(&buffer->link);
	buffers->count--;
	free(buffer);
}

/* Each slot is tried again and again, but the reason of a failure is reported only once. */
static void buffer_fail(struct buffer *buffer, const char *why) {
	struct buffers *buffers = buffer->buffers;
	char text[GID_TEXT_MAX];
	if (why != buffers->told) {
		warnx("%s cannot be shown: %s", gid_format(buffer->gid, text), why);
		buffers->told = why;
	}
	buffer->state = BUFFER_FAILED;
	buffer->retry_time = gid_clock_now() + RETRY_NS;
	buffers->changed(buffers->data);
}

static void wl_buffer_release(void *data, struct wl_buffer *wl_buffer) {
	struct buffer *buffer = data;
	buffer->busy = false;
	buffer_release_frames(buffer);
	if (buffer->state == BUFFER_GONE) {
		buffer_destroy(buffer);
	}
}

static const struct wl_buffer_listener wl_buffer_listener = {.release = wl_buffer_release};

static void params_created(
		void *data, struct gid_buffer_params_v1 *params, struct wl_buffer *wl_buffer) {
	struct buffer *buffer = data;
	buffer->wl_buffer = wl_buffer;
	buffer->state = BUFFER_READY;
	buffer->buffers->told = NULL;
	wl_buffer_add_listener(wl_buffer, &wl_buffer_listener, buffer);
	buffer->buffers->changed(buffer->buffers->data);
}

/* The compositor does not tell why it failed: finds out here. */
static void buffer_refuse_rows(struct buffer *buffer, uint32_t stride) {
	struct buffers *buffers = buffer->buffers;
	bool can_convert = converter_can(buffer->slab);
	buffer->state = buffers->convert && can_convert ? BUFFER_FOREIGN : BUFFER_UNFIT;
	if (buffer->state == BUFFER_UNFIT) {
		warnx("the compositor cannot show pictures whose rows do not lie at multiples of "
		      "four bytes; here they are %u bytes apart: have them copied, %sby the "
		      "producer",
				stride, can_convert ? "here by --convert, or " : "");
	}
	buffers->changed(buffers->data);
}

static void params_failed(void *data, struct gid_buffer_params_v1 *params) {
	struct buffer *buffer = data;
	struct gid_slab_info info;
	gid_slab_get_info(buffer->slab, &info);
	gid_buffer_params_v1_destroy(buffer->params);
	buffer->params = NULL;
	if (!formats_rows_are_words(&info, gid_slot_of(buffer->gid))) {
		buffer_refuse_rows(buffer, info.layout.planes[0].stride);
		return;
	}
	if (info.memory == GID_MEMORY_MEMFD &&
			gid_slab_view(buffer->slab, gid_slot_of(buffer->gid)) == NULL) {
		buffer_fail(buffer, gid_strerror(-ENODATA));
		return;
	}
	buffer_fail(buffer,
			"the compositor cannot get its memory; was it started with GID_DOMAIN, does "
			"that domain's gidd run, and may it read the stream?");
}

static void params_revoked(void *data, struct gid_buffer_params_v1 *params) {
	struct buffer *buffer = data;
	buffer->state = BUFFER_GONE;
	if (!buffer->busy) {
		buffer_destroy(buffer);
	}
}

static const struct gid_buffer_params_v1_listener params_listener = {
		.created = params_created,
		.failed = params_failed,
		.revoked = params_revoked,
};

/* Plane offsets of a layout are relative to the slot, as in the protocol. */
static void buffer_ask_compositor(struct buffer *buffer) {
	const struct gid_layout *layout = &buffer->layout;
	buffer->params = gid_buffer_manager_v1_create_params(buffer->buffers->wayland->gid_buffers);
	gid_buffer_params_v1_add_listener(buffer->params, &params_listener, buffer);
	for (uint32_t i = 0; i < layout->plane_count; i++) {
		gid_buffer_params_v1_add(buffer->params, (uint32_t)(buffer->gid >> 32),
				(uint32_t)buffer->gid, i, layout->planes[i].offset,
				layout->planes[i].stride, (uint32_t)(layout->modifier >> 32),
				(uint32_t)layout->modifier);
	}
	gid_buffer_params_v1_create(buffer->params, (int32_t)layout->width, (int32_t)layout->height,
			layout->fourcc);
	buffer->state = BUFFER_CREATING;
}

static void warn_of_format(const struct gid_layout *layout, bool can_convert) {
	uint32_t code = layout->fourcc;
	char modifier[48] = "";
	if (layout->modifier != DRM_FORMAT_MOD_LINEAR) {
		snprintf(modifier, sizeof(modifier), " with modifier 0x%016" PRIx64,
				layout->modifier);
	}
	warnx("the compositor cannot show the stream's format %c%c%c%c%s; have it converted, "
	      "%sby its producer, as by: … ! videoconvert ! video/x-raw,format=BGRx ! gidsink …",
			(int)(code & 0xff), (int)(code >> 8 & 0xff), (int)(code >> 16 & 0xff),
			(int)(code >> 24 & 0xff), modifier,
			can_convert ? "here by --convert, or " : "");
}

/* A request for an unsupported format is a protocol error. */
static void buffer_decide(struct buffer *buffer) {
	const struct buffers *buffers = buffer->buffers;
	struct gid_slab_info info;
	if (!buffers->formats.known) {
		buffer->state = BUFFER_UNDECIDED;
		return;
	}
	gid_slab_get_info(buffer->slab, &info);
	bool shown = formats_have(&buffers->formats, &info);
	bool right = shown && surface_colours_are_shown(buffers->wayland, &info.layout);
	if (buffers->convert && !right && converter_can(buffer->slab)) {
		buffer->state = BUFFER_FOREIGN;
		return;
	}
	if (!shown) {
		warn_of_format(&info.layout, converter_can(buffer->slab));
		buffer->state = BUFFER_UNFIT;
		return;
	}
	buffer_ask_compositor(buffer);
}

static void buffer_use_slab(struct buffer *buffer, struct gid_slab *slab) {
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	buffer->slab = slab;
	buffer->layout = info.layout;
	buffer->shape = shape_of_description(info.description);
	buffer_decide(buffer);
}

static void buffer_imported(void *data, gid_id gid, int error, struct gid_slab *slab) {
	struct buffer *buffer = data;
	if (slab == NULL) {
		buffer_fail(buffer, gid_strerror(error));
		return;
	}
	buffer_use_slab(buffer, slab);
	buffer->buffers->changed(buffer->buffers->data);
}

static void buffer_import(struct buffer *buffer) {
	struct gid_slab *slab = NULL;
	buffer->state = BUFFER_IMPORTING;
	int result = gid_slab_import_async(
			buffer->buffers->domain, buffer->gid, buffer_imported, buffer, &slab);
	if (result == 0) {
		buffer_use_slab(buffer, slab);
	} else if (result != -EINPROGRESS) {
		buffer->state = BUFFER_FAILED;
		buffer->retry_time = gid_clock_now() + RETRY_NS;
		warnx("%s", gid_domain_error(buffer->buffers->domain));
	}
}

void buffer_take(struct buffer *buffer, const struct gid_frame *frame) {
	buffer->busy = true;
	buffer->held[buffer->held_count++] = *frame;
}

/* --- all buffers ------------------------------------------------------------------------------ */

static void drop_least_used(struct buffers *buffers) {
	struct buffer *buffer, *next;
	wl_list_for_each_reverse_safe(buffer, next, &buffers->list, link) {
		if (buffers->count < BUFFERS_MAX) {
			return;
		}
		if (!buffer->busy) {
			buffer_destroy(buffer);
		}
	}
}

static struct buffer *buffer_create(struct buffers *buffers, gid_id gid) {
	struct buffer *buffer = calloc(1, sizeof(*buffer));
	if (buffer == NULL) {
		return NULL;
	}
	buffer->buffers = buffers;
	buffer->gid = gid;
	wl_list_insert(&buffers->list, &buffer->link);
	buffers->count++;
	buffer_import(buffer);
	return buffer;
}

struct buffer *buffers_get(struct buffers *buffers, gid_id gid) {
	struct buffer *buffer, *next;
	wl_list_for_each_safe(buffer, next, &buffers->list, link) {
		if (slot_key(buffer->gid) != slot_key(gid) || buffer->state == BUFFER_GONE) {
			continue;
		}
		bool retry = buffer->state == BUFFER_FAILED &&
				gid_clock_now() >= buffer->retry_time;
		if (buffer->gid == gid && !retry && buffer->held_count < GID_CREDIT_MAX) {
			wl_list_remove(&buffer->link);
			wl_list_insert(&buffers->list, &buffer->link);
			return buffer;
		}
		// The slot was reclaimed by force since, and has a new generation.
		buffer->state = BUFFER_GONE;
		if (!buffer->busy) {
			buffer_destroy(buffer);
		}
		break;
	}
	drop_least_used(buffers);
	return buffer_create(buffers, gid);
}

void buffers_decide(struct buffers *buffers) {
	struct buffer *buffer;
	wl_list_for_each(buffer, &buffers->list, link) {
		if (buffer->state == BUFFER_UNDECIDED) {
			buffer_decide(buffer);
		}
	}
}

void buffers_forget_frames(struct buffers *buffers) {
	struct buffer *buffer;
	wl_list_for_each(buffer, &buffers->list, link) {
		buffer->held_count = 0;
	}
}

void buffers_init(struct buffers *buffers, struct wayland *wayland, struct gid_domain *domain) {
	*buffers = (struct buffers){.wayland = wayland, .domain = domain};
	wl_list_init(&buffers->list);
	formats_init(&buffers->formats, wayland->gid_buffers);
}

void buffers_finish(struct buffers *buffers) {
	struct buffer *buffer, *next;
	wl_list_for_each_safe(buffer, next, &buffers->list, link) {
		buffer_destroy(buffer);
	}
	formats_finish(&buffers->formats);
}
