// SPDX-License-Identifier: MIT
/**
 * wlroots' GLES2 renderer on a machine without a graphics card: Mesa's llvmpipe, which draws on the
 * processor, takes any linear dma-buf as a texture, and needs no DRM node.
 */
#ifndef CLUSTER_SOFTWARE_GL_H
#define CLUSTER_SOFTWARE_GL_H

#include <wlr/render/wlr_renderer.h>

/* Whether there is no card that wlroots itself could draw with. */
bool software_gl_is_needed(void);

/* Its outputs are to be dma-bufs: see udmabuf.h. NULL where EGL has no such display; says why. */
struct wlr_renderer *software_gl_create(void);

#endif
