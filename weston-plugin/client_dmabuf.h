// SPDX-License-Identifier: MIT
/** The zwp_linux_dmabuf_v1 buffers of Weston's clients, as libweston stores them. */
#ifndef GID_WESTON_CLIENT_DMABUF_H
#define GID_WESTON_CLIENT_DMABUF_H

#include <libweston/libweston.h>

#include "dmabuf_claim.h"

/*
 * Reads what the client declared of the buffer, and what the kernel reports of its descriptors.
 * Asks no descriptor in a way in which its exporter could block. `fd` is that of the first plane,
 * and stays libweston's. Returns false if it is no such buffer, or if libweston stores it in a way
 * that this module does not know.
 */
bool client_dmabuf_read(const struct weston_buffer *buffer, struct dmabuf_claim *claim, int *fd);

/* The format of a buffer of the type WESTON_BUFFER_DMABUF; 0: unknown. */
uint32_t client_dmabuf_fourcc(const struct weston_buffer *buffer);

#endif
