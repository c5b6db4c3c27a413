// SPDX-License-Identifier: MIT
/** What a renderer really samples from dma-bufs, which may be less than its driver says. */
#ifndef GID_WLROOTS_SAMPLED_FORMATS_H
#define GID_WLROOTS_SAMPLED_FORMATS_H

#include <wlr/render/drm_format_set.h>
#include <wlr/render/wlr_renderer.h>

/*
 * Those of the renderer's formats and modifiers of which a small picture could be imported. What
 * cannot be tried counts as the renderer says: modifiers with layouts of their own, formats that
 * gidway does not know, and all where there is no /dev/udmabuf to make a picture of, or where its
 * memory is not to the renderer's taste at all. End `found` with wlr_drm_format_set_finish().
 */
void sampled_formats_find(struct wlr_drm_format_set *found, struct wlr_renderer *renderer);

#endif
