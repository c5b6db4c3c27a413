// SPDX-License-Identifier: MIT
/** The zwp_linux_dmabuf_v1 buffers of Weston's clients, as libweston keeps them. */
#ifndef GID_WESTON_CLIENT_DMABUF_H
#define GID_WESTON_CLIENT_DMABUF_H

#include <libweston/libweston.h>

#include "dmabuf_claim.h"

/*
 * What the client said of the buffer, and what the kernel says of its descriptors; no descriptor is
 * asked in a way that its maker could make wait. `fd` stays libweston's, and is that of the first
 * plane. Returns false where it is no such buffer, or libweston keeps it in another way than this
 * module knows.
 */
bool client_dmabuf_read(const struct weston_buffer *buffer, struct dmabuf_claim *claim, int *fd);

/* Its format, of a buffer that is of the type WESTON_BUFFER_DMABUF; 0: not known. */
uint32_t client_dmabuf_fourcc(const struct weston_buffer *buffer);

#endif
