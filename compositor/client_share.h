// SPDX-License-Identifier: MIT
/**
 * Bounds what each client may have. The account of a client is found without a walk over all
 * clients, whose number strangers choose.
 */
#ifndef GID_CLIENT_SHARE_H
#define GID_CLIENT_SHARE_H

#include <stdbool.h>
#include <stdint.h>
#include <wayland-server-core.h>

enum client_share {
	CLIENT_SHARE_PARAMS,
	CLIENT_SHARE_FEEDBACKS,
	CLIENT_SHARE_BUFFERS,
	CLIENT_SHARE_KEPT_BYTES, /* of revoked buffers */
	CLIENT_SHARES,
};

/*
 * Charges `amount` to the client. Returns false, and charges nothing, if that would exceed `max`,
 * or without memory.
 */
bool client_share_take(
		struct wl_client *client, enum client_share share, uint64_t amount, uint64_t max);

/* Gives back what was taken, while the client's objects are there. */
void client_share_give(struct wl_client *client, enum client_share share, uint64_t amount);

uint64_t client_share_get(struct wl_client *client, enum client_share share);

#endif
