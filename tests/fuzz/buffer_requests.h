// SPDX-License-Identifier: MIT
/** What a Wayland client says in gid-buffer-v1. */
#ifndef FUZZ_BUFFER_REQUESTS_H
#define FUZZ_BUFFER_REQUESTS_H

#include "wayland_client.h"

#define BUFFER_REQUEST_KINDS 12

void buffer_requests_bind(struct wayland_client *client);

/* One request, of the kind below BUFFER_REQUEST_KINDS. */
void buffer_requests_send(struct wayland_client *client, uint32_t kind);

/* A buffer that can be shown, of the slabs of false_domain.h. */
void buffer_requests_make_good(struct wayland_client *client);

#endif
