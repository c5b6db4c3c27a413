// SPDX-License-Identifier: MIT
/** Which YUV formats can really be drawn (yuv.h). */
#ifndef GID_WLROOTS_YUV_FORMATS_H
#define GID_WLROOTS_YUV_FORMATS_H

#include <wlr/render/drm_format_set.h>

#include "yuv.h"

/*
 * Finds gidway's formats with two or three planes, or with paired pixels, of which a small picture
 * in memory of /dev/udmabuf was drawn with the right colour. None without /dev/udmabuf. `yuv` may
 * be NULL. Release `found` with wlr_drm_format_set_finish().
 */
void yuv_formats_find(
		struct wlr_drm_format_set *found, struct yuv *yuv, struct wlr_renderer *renderer);

#endif
