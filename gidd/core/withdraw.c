// SPDX-License-Identifier: MIT
#include "withdraw.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client.h"
#include "eviction.h"
#include "log.h"
#include "reload.h"
#include "seal.h"
#include "shm_range.h"
#include "slabs.h"
#include "transport.h"

/* --- our streams and slabs -------------------------------------------------------------------- */

static int withdraw_slab(struct gidd *gidd, gid_id gid) {
	struct slab *slab = slab_find(gidd, gid_slab_key(gid));
	if (slab == NULL || slab->owner == NULL) {
		return -ENOENT;
	}
	if (slab->description.imported.memory == GID_MEMORY_WINDOW) {
		shm_range_evict(gidd, slab->window, slab->description.imported.offset, slab->bytes);
	}
	slab_evict(slab);
	eviction_arm(gidd);
	return 0;
}

/* Applies it to our own domain, or drops what the hub still has of another one. */
static int withdraw(struct gidd *gidd, const struct config_domain *owner,
		const struct config_domain *reader, const struct gid_wire_withdraw *request) {
	if (request->gid != 0) {
		return owner == gidd->self ? withdraw_slab(gidd, request->gid) : 0;
	}
	if (gidd->reload == NULL || (reader == NULL && request->reader[0] != '\0')) {
		return -ENOENT;
	}
	int error = reload_withdraw(gidd->reload, owner, reader, request->name);
	if (error == 0) {
		char what[256];
		snprintf(what, sizeof(what), "stream %s of domain %s is taken from %s",
				request->name, owner->name,
				reader == NULL ? "all others" : reader->name);
		reload_apply(gidd, what);
	}
	return error;
}

/* --- requests --------------------------------------------------------------------------------- */

/* NULL: all other domains, or the named domain does not exist. */
static const struct config_domain *find_reader(
		const struct gidd *gidd, const struct gid_wire_withdraw *request) {
	return request->reader[0] == '\0' ? NULL
					  : config_domain_find(gidd->config, request->reader);
}

/* Checks the request: 0, or -errno after answering. */
static int check(struct client *client, const struct gid_wire_withdraw *request,
		const struct config_domain *owner, const struct config_domain *reader) {
	const struct gidd *gidd = client->peer.gidd;
	uint32_t serial = request->header.serial;
	int error = 0;
	if (!seal_is_for(client->uid)) {
		error = -EPERM;
		peer_result(&client->peer, serial, error, 0, "%s",
				"only the user of gidd may do that, or root");
	} else if (seal_is_on(gidd)) {
		/* the owner's programs would need new memory to continue */
		error = -ESHUTDOWN;
		peer_result(&client->peer, serial, error, 0, "%s", gidd->seal.text);
	} else if (owner == NULL) {
		error = -ENOENT;
		peer_refuse(&client->peer, serial, error, "there is no domain %s", request->owner);
	} else if (request->reader[0] != '\0' && reader == NULL) {
		error = -ENOENT;
		peer_refuse(&client->peer, serial, error, "there is no domain %s", request->reader);
	} else if (request->gid != 0 && gid_domain_of(request->gid) != owner->number) {
		error = -EINVAL;
		peer_result(&client->peer, serial, error, 0, "the slab is not of domain %s",
				owner->name);
	}
	return error;
}

void withdraw_request(struct client *client, const struct gid_wire_withdraw *request) {
	struct gidd *gidd = client->peer.gidd;
	const struct config_domain *owner = config_domain_find(gidd->config, request->owner);
	const struct config_domain *reader = find_reader(gidd, request);
	uint32_t serial = request->header.serial;
	if (check(client, request, owner, reader) < 0) {
		return;
	}
	struct transport *transport = gidd->transport;
	int error = transport != NULL	      ? transport->kind->withdraw(transport, owner, request)
			: owner == gidd->self ? 0
					      : -EXDEV;
	if (error == -EXDEV) {
		peer_result(&client->peer, serial, error, 0,
				"ask the gidd of domain %s (gidctl --domain %s), or that of the "
				"host",
				owner->name, owner->name);
		return;
	}
	int done = withdraw(gidd, owner, reader, request);
	if (error == -EHOSTDOWN) {
		peer_result(&client->peer, serial, error, 0,
				"domain %s is not there; it will hear of it when it comes",
				owner->name);
		return;
	}
	peer_result(&client->peer, serial, done, 0, "%s",
			done == -ENOENT ? "there is no such slab" : "");
}

static void handle_withdrawn(struct gidd *gidd, const struct gid_wire_withdraw *request) {
	if (strcmp(request->owner, gidd->self->name) == 0) {
		withdraw(gidd, gidd->self, find_reader(gidd, request), request);
	}
}

static const struct withdraw_events events = {
		.withdrawn = handle_withdrawn,
		.punched = shm_range_punched,
		.own_window = shm_range_own_window,
};

void withdraw_init(struct gidd *gidd) {
	gidd->withdraw_events = &events;
}
