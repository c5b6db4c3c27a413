// SPDX-License-Identifier: MIT
/** What gid buffers can be shown: formats, with the memory that they may lie in. */
#ifndef GID_WLROOTS_SHOWN_FORMATS_H
#define GID_WLROOTS_SHOWN_FORMATS_H

#include <wlr/render/drm_format_set.h>

#include "yuv.h"
#include "yuv_weights.h"

struct shown_formats {
	struct wlr_renderer *renderer;
	struct wlr_drm_format_set sampled; /* from dma-bufs, as they are */
	struct wlr_drm_format_set drawn;   /* from dma-bufs, plane by plane: linear YUV */
	bool yuv_by_driver; /* sampled goes before drawn, where that shows the right colours */
};

/* Tries what the renderer can. `yuv` may be NULL. */
void shown_formats_init(
		struct shown_formats *formats, struct wlr_renderer *renderer, struct yuv *yuv);
void shown_formats_finish(struct shown_formats *formats);

/* Whether the renderer reads the format from memory: linear, of one plane. */
bool shown_formats_are_read(const struct shown_formats *formats, uint32_t fourcc);

/* Whether the renderer shows it from dma-bufs, as they are or drawn. */
bool shown_formats_are_of_dmabufs(
		const struct shown_formats *formats, uint32_t fourcc, uint64_t modifier);

bool shown_formats_have(const struct shown_formats *formats, uint32_t fourcc, uint64_t modifier);

/*
 * How a picture in dma-bufs can be shown, in the order in which it is to be tried. The renderer
 * samples all YUV alike, and blends it as its driver likes: other colours are only drawn.
 */
enum shown_way { SHOWN_NOT, SHOWN_SAMPLED, SHOWN_DRAWN };
#define SHOWN_WAYS 2

void shown_formats_get_ways(const struct shown_formats *formats, uint32_t fourcc, uint64_t modifier,
		const struct gid_colours *colours, enum shown_way ways[SHOWN_WAYS]);

/* Tells a gid_buffer_feedback_v1 all of them, each once. */
void shown_formats_send(const struct shown_formats *formats, struct wl_resource *feedback);

#endif
