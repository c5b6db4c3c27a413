// SPDX-License-Identifier: MIT
#include "formats.h"

#include "gid-buffer-v1-client-protocol.h"

struct format {
	uint32_t fourcc;
	uint64_t modifier;
	uint32_t memory; // the kinds that pictures of it may lie in, as bits
};

bool formats_have(const struct formats *formats, const struct gid_slab_info *info) {
	const struct gid_layout *layout = &info->layout;
	uint32_t memory = info->memory == GID_MEMORY_DMABUF ? GID_BUFFER_FEEDBACK_V1_MEMORY_DMABUF
							    : GID_BUFFER_FEEDBACK_V1_MEMORY_SHARED;
	const struct format *format;
	wl_array_for_each(format, &formats->list) {
		if (format->fourcc == layout->fourcc && format->modifier == layout->modifier &&
				(format->memory & memory) != 0) {
			return true;
		}
	}
	return false;
}

bool formats_rows_are_words(const struct gid_slab_info *info, uint32_t slot) {
	const struct gid_plane *plane = &info->layout.planes[0];
	uint64_t offset = info->offset + info->slot_size * slot + plane->offset;
	return offset % 4 == 0 && plane->stride % 4 == 0;
}

uint32_t formats_showable(
		const struct formats *formats, struct gid_showable showable[GID_SHOWABLE_MAX]) {
	const uint32_t dmabuf = GID_BUFFER_FEEDBACK_V1_MEMORY_DMABUF;
	const uint32_t shared = GID_BUFFER_FEEDBACK_V1_MEMORY_SHARED;
	uint32_t count = 0;
	const struct format *format;
	wl_array_for_each(format, &formats->list) {
		if (count == GID_SHOWABLE_MAX) {
			break;
		}
		showable[count++] = (struct gid_showable){
				.fourcc = format->fourcc,
				.memory = (format->memory & shared ? GID_SHOWABLE_SHARED : 0) |
						(format->memory & dmabuf ? GID_SHOWABLE_DMABUF : 0),
				.modifier = format->modifier,
		};
	}
	return count;
}

static void feedback_format(void *data, struct gid_buffer_feedback_v1 *feedback, uint32_t fourcc,
		uint32_t modifier_hi, uint32_t modifier_lo, uint32_t memory) {
	struct formats *formats = data;
	if (formats->known) { // the first of a new list
		formats->list.size = 0;
		formats->known = false;
	}
	struct format *format = wl_array_add(&formats->list, sizeof(*format));
	if (format != NULL) {
		format->fourcc = fourcc;
		format->modifier = (uint64_t)modifier_hi << 32 | modifier_lo;
		format->memory = memory;
	}
}

static void feedback_domain(void *data, struct gid_buffer_feedback_v1 *feedback, uint32_t number,
		const char *name) {
}

static void feedback_done(void *data, struct gid_buffer_feedback_v1 *feedback) {
	struct formats *formats = data;
	formats->known = true;
	if (formats->changed != NULL) {
		formats->changed(formats->data);
	}
}

static const struct gid_buffer_feedback_v1_listener feedback_listener = {
		.format = feedback_format,
		.domain = feedback_domain,
		.done = feedback_done,
};

void formats_init(struct formats *formats, struct gid_buffer_manager_v1 *manager) {
	*formats = (struct formats){0};
	wl_array_init(&formats->list);
	formats->feedback = gid_buffer_manager_v1_get_feedback(manager);
	gid_buffer_feedback_v1_add_listener(formats->feedback, &feedback_listener, formats);
}

void formats_finish(struct formats *formats) {
	gid_buffer_feedback_v1_destroy(formats->feedback);
	wl_array_release(&formats->list);
}
