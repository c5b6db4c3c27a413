// SPDX-License-Identifier: MIT
/** What a renderer really samples from dma-bufs, which may be less than its driver offers. */
#ifndef GID_WLROOTS_SAMPLED_FORMATS_H
#define GID_WLROOTS_SAMPLED_FORMATS_H

#include <wlr/render/drm_format_set.h>
#include <wlr/render/wlr_renderer.h>

/*
 * Finds the renderer's formats and modifiers of which a small picture could be imported. What
 * cannot be tried counts as offered: modifiers with layouts of their own, and formats that gidway
 * does not know. All count as offered if there is no /dev/udmabuf, or if the renderer imports none
 * of its memory. Release `found` with wlr_drm_format_set_finish().
 */
void sampled_formats_find(struct wlr_drm_format_set *found, struct wlr_renderer *renderer);

#endif
