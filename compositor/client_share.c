// SPDX-License-Identifier: MIT
#include "client_share.h"

#include <stdlib.h>

struct shares {
	struct wl_listener gone; /* by which the client's shares are found */
	uint64_t amounts[CLIENT_SHARES];
};

/* A late listener: the client's objects, which give their shares back, are gone by now. */
static void handle_gone(struct wl_listener *listener, void *data) {
	struct shares *shares = wl_container_of(listener, shares, gone);
	free(shares);
}

static struct shares *find_shares(struct wl_client *client) {
	struct wl_listener *listener = wl_client_get_destroy_late_listener(client, handle_gone);
	struct shares *shares = NULL;
	return listener != NULL ? wl_container_of(listener, shares, gone) : NULL;
}

static struct shares *make_shares(struct wl_client *client) {
	struct shares *shares = calloc(1, sizeof(*shares));
	if (shares != NULL) {
		shares->gone.notify = handle_gone;
		wl_client_add_destroy_late_listener(client, &shares->gone);
	}
	return shares;
}

bool client_share_take(
		struct wl_client *client, enum client_share share, uint64_t amount, uint64_t max) {
	struct shares *shares = find_shares(client);
	if (shares == NULL) {
		shares = make_shares(client);
	}
	if (shares == NULL || amount > max || shares->amounts[share] > max - amount) {
		return false;
	}
	shares->amounts[share] += amount;
	return true;
}

void client_share_give(struct wl_client *client, enum client_share share, uint64_t amount) {
	find_shares(client)->amounts[share] -= amount;
}

uint64_t client_share_get(struct wl_client *client, enum client_share share) {
	const struct shares *shares = find_shares(client);
	return shares != NULL ? shares->amounts[share] : 0;
}
