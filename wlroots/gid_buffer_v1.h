// SPDX-License-Identifier: MIT
/**
 * gid-buffer-v1 for wlroots compositors. A client names the memory of another domain by its gid.
 * The buffer that it attaches becomes a wlr_buffer over a read-only view of that memory.
 *
 * Link with libgid-wlroots.a, libgid and wlroots 0.18, 0.19 or 0.20; define WLR_USE_UNSTABLE. Call
 * all functions on the thread of the display's event loop. examples/compositor.c shows how.
 */
#ifndef GID_BUFFER_V1_H
#define GID_BUFFER_V1_H

#include <wayland-server-core.h>
#include <wlr/render/allocator.h>
#include <wlr/render/wlr_renderer.h>

struct gid_buffer_manager;

#pragma GCC visibility push(default)

/*
 * Creates the global. `domain` is the name of the compositor's domain; NULL: $GID_DOMAIN. The
 * string must stay valid as long as the display. `log` works like printf() and gets single lines.
 *
 * The caller owns renderer and allocator, and may destroy them only after all clients are gone.
 *
 * If gidd does not run, the manager waits for it in the background; until then all buffers fail.
 *
 * Two kinds of pictures can be shown:
 * - Linear pictures of one plane, in formats that the renderer uploads from memory: from any memory
 *   that the processor can read.
 * - All others: only from dma-bufs, if the renderer samples from them. GLES2 and Vulkan do that, in
 *   the formats and modifiers of their drivers; pixman does not. If there is a /dev/udmabuf, this
 *   function tries each format that the driver offers, because some drivers refuse what they offer.
 *   They may log errors then.
 *
 * With GLES2, linear YUV of two or three planes in dma-bufs is drawn: at each commit of such a
 * buffer the GPU draws it, in the renderer's context, into a dma-buf of `allocator`, and the
 * renderer samples from that. So its pixels are the same with every driver, even with drivers that
 * cannot import it as one image. This function tries that, too; it needs /dev/udmabuf. Without an
 * allocator (NULL) YUV is left to the driver. Framebuffer, viewport, blending and scissor are
 * restored afterwards.
 *
 * The display destroys the manager. Returns NULL without memory.
 */
struct gid_buffer_manager *gid_buffer_manager_create(struct wl_display *display,
		struct wlr_renderer *renderer, struct wlr_allocator *allocator, const char *domain,
		int (*log)(const char *format, ...) __attribute__((format(printf, 1, 2))));

/*
 * Lets the driver sample YUV where it can, instead of drawing it: this saves one pass of the GPU
 * for each picture. Each driver blends chroma between samples in its own way, and treats all YUV as
 * BT.601 of limited range: other colours are still drawn. To be called before the first client
 * connects.
 */
void gid_buffer_manager_leave_yuv_to_driver(struct gid_buffer_manager *manager);

#pragma GCC visibility pop

#endif
