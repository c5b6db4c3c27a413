// SPDX-License-Identifier: MIT
/** linux-dmabuf for clients of our own domain, with what the renderer really samples. */
#ifndef CLUSTER_LINUX_DMABUF_H
#define CLUSTER_LINUX_DMABUF_H

#include <stdbool.h>
#include <wlr/render/wlr_renderer.h>

/* Makes the global where the renderer is of a DRM device. False for want of memory. */
bool linux_dmabuf_offer(struct wl_display *wayland, struct wlr_renderer *renderer);

#endif
