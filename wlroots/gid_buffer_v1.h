// SPDX-License-Identifier: MIT
/**
 * gid-buffer-v1 for wlroots compositors: clients show the memory of other domains by its gid, and
 * what they attach becomes a wlr_buffer over a read-only view of it.
 *
 * Link with libgid-wlroots.a, libgid and wlroots 0.18, 0.19 or 0.20; define WLR_USE_UNSTABLE.
 * Everything belongs to the thread of the display's event loop. See example.c.
 */
#ifndef GID_BUFFER_V1_H
#define GID_BUFFER_V1_H

#include <wayland-server-core.h>
#include <wlr/render/allocator.h>
#include <wlr/render/wlr_renderer.h>

struct gid_buffer_manager;

#pragma GCC visibility push(default)

/*
 * Creates the global. `domain` is the name of the domain the compositor is in, NULL: $GID_DOMAIN;
 * it must outlive the display. `log` gets a line now and then, like printf().
 *
 * Renderer and allocator are borrowed, until the clients are gone.
 *
 * Where there is no gidd it is waited for in the background; buffers fail meanwhile. Of linear
 * pictures of one plane, in formats that the renderer takes from memory, any memory can be shown
 * that a processor can read. Others can be shown from dma-bufs, if the renderer samples from those:
 * GLES2 and Vulkan do, in the formats and modifiers of their drivers; pixman does not. What a
 * driver says is tried here where there is a /dev/udmabuf: some refuse what they offer, and then
 * log errors of their own.
 *
 * Linear YUV of two or three planes in dma-bufs is shown by GLES2 also where the driver does not
 * import it as one image, if it imports the planes one by one: at each commit of such a buffer the
 * GPU draws it, in the renderer's context, into a dma-buf of `allocator`, which the renderer then
 * samples from. That is tried here, too, and takes a /dev/udmabuf. NULL for `allocator`: not
 * offered. Framebuffer, viewport, blending and scissor are afterwards as they were.
 *
 * The manager ends with the display. Returns NULL for want of memory.
 */
struct gid_buffer_manager *gid_buffer_manager_create(struct wl_display *display,
		struct wlr_renderer *renderer, struct wlr_allocator *allocator, const char *domain,
		int (*log)(const char *format, ...) __attribute__((format(printf, 1, 2))));

#pragma GCC visibility pop

#endif
