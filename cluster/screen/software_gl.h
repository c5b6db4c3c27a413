// SPDX-License-Identifier: MIT
/**
 * wlroots' GLES2 renderer on a machine without a graphics card: Mesa's llvmpipe, which draws on the
 * processor, takes any linear dma-buf as a texture, and needs no DRM node. It draws into dma-bufs
 * of ordinary memory, made by /dev/udmabuf.
 */
#ifndef CLUSTER_SOFTWARE_GL_H
#define CLUSTER_SOFTWARE_GL_H

#include <wlr/render/allocator.h>
#include <wlr/render/wlr_renderer.h>

/* Whether there is no card that wlroots itself could draw with. */
bool software_gl_is_needed(void);

/* NULL where EGL has no such display; says why. */
struct wlr_renderer *software_gl_create(void);

/* Of what it draws to. NULL where there is no /dev/udmabuf that may be used; says so. */
struct wlr_allocator *software_gl_allocator_create(void);

#endif
