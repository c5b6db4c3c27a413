// SPDX-License-Identifier: MIT
/** Which gid buffers can be shown: their formats, and the kind of memory that each needs. */
#ifndef GID_WLROOTS_SHOWN_FORMATS_H
#define GID_WLROOTS_SHOWN_FORMATS_H

#include <wlr/render/drm_format_set.h>

#include "yuv.h"
#include "yuv_weights.h"

struct shown_formats {
	struct wlr_renderer *renderer;
	struct wlr_drm_format_set sampled; /* from dma-bufs, by the renderer itself */
	struct wlr_drm_format_set drawn;   /* from dma-bufs, plane by plane: linear YUV */
	bool yuv_by_driver; /* prefer sampling to drawing where the colours are right */
};

/* Tries what the renderer supports. `yuv` may be NULL. */
void shown_formats_init(
		struct shown_formats *formats, struct wlr_renderer *renderer, struct yuv *yuv);
void shown_formats_finish(struct shown_formats *formats);

/* Whether the renderer uploads the format from memory: linear, of one plane. */
bool shown_formats_are_read(const struct shown_formats *formats, uint32_t fourcc);

/* Whether the renderer shows it from dma-bufs, sampled or drawn. */
bool shown_formats_are_of_dmabufs(
		const struct shown_formats *formats, uint32_t fourcc, uint64_t modifier);

bool shown_formats_have(const struct shown_formats *formats, uint32_t fourcc, uint64_t modifier);

/*
 * How a picture in dma-bufs can be shown, in order of preference. A renderer samples all YUV in the
 * same way: pictures with other colours are only drawn.
 */
enum shown_way { SHOWN_NOT, SHOWN_SAMPLED, SHOWN_DRAWN };
#define SHOWN_WAYS 2

void shown_formats_get_ways(const struct shown_formats *formats, uint32_t fourcc, uint64_t modifier,
		const struct gid_colours *colours, enum shown_way ways[SHOWN_WAYS]);

/* Sends all formats to a gid_buffer_feedback_v1, each once. */
void shown_formats_send(const struct shown_formats *formats, struct wl_resource *feedback);

#endif
