// SPDX-License-Identifier: MIT
/** What a Wayland client says about surfaces: buffers of any kind on them, in any order. */
#ifndef FUZZ_SURFACE_REQUESTS_H
#define FUZZ_SURFACE_REQUESTS_H

#include "wayland_client.h"

#define SURFACE_REQUEST_KINDS 12

/* All that is needed of the compositor, a surface with it. */
void surface_requests_begin(struct wayland_client *client);

/* A child of the first surface, with a buffer of shared memory, as a program may begin. */
void surface_requests_add_child(struct wayland_client *client);

/* One request, of the kind below SURFACE_REQUEST_KINDS. */
void surface_requests_send(struct wayland_client *client, uint32_t kind);

#endif
