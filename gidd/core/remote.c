// SPDX-License-Identifier: MIT
#include "remote.h"

#include "doorbell_device.h"
#include "doorbell_vfio.h"
#include "hub.h"
#include "hub_client.h"
#include "ivshmem_server.h"
#include "link.h"
#include "link_ivshmem.h"
#include "log.h"
#include "offers.h"
#include "seal.h"
#include "slabs.h"
#include "streams.h"
#include "subscriptions.h"

/* --- links ------------------------------------------------------------------------------------ */

static void handle_up(struct link *link) {
	stream_link_up(link->peer.gidd, &link->peer);
	offers_changed(link->peer.gidd);
	if (!link->kind->windows_only) {
		slab_revalidate_domain(link);
	}
}

static void handle_lost(struct link *link) {
	struct gidd *gidd = link->peer.gidd;
	stream_link_down(gidd, &link->peer);
	offers_forget(link);
	if (link->kind->windows_only) {
		/* Its machine died or restarted: the contents of its memory are no longer known. */
		slab_destroy_of_domain(gidd, link->peer.domain);
		slab_forget_importer(&link->peer);
	} else {
		slab_mark_unconfirmed(gidd, link->peer.domain);
	}
}

static void handle_vector(struct link *link, const struct gid_wire_vector *vector) {
	if (link->kind->windows_only) {
		subscription_vector(link, vector);
	} else {
		peer_violation(&link->peer, "a vector where there is no device");
	}
}

static void handle_message(struct link *link, const union gid_wire_message *message,
		int fds[static GID_WIRE_FDS_MAX]) {
	if (seal_refuses(&link->peer, message)) {
		return;
	}
	switch ((enum gid_wire_type)message->header.type) {
	case GID_WIRE_IMPORT:
		slab_import(&link->peer, &message->import);
		break;
	case GID_WIRE_UNIMPORT:
		slab_unimport(&link->peer, &message->import);
		break;
	case GID_WIRE_REVOKED:
		slab_revoked(&link->peer, &message->revoked);
		break;
	case GID_WIRE_SUBSCRIBE:
		stream_subscribe(&link->peer, &message->subscribe, fds);
		break;
	case GID_WIRE_ACCEPT:
		subscription_accept(&link->peer, &message->subscribed, &fds[0]);
		break;
	case GID_WIRE_SUBSCRIPTION_END:
		link_acquit(link, message->subscription_end.subscription);
		subscription_ended(&link->peer, &message->subscription_end);
		break;
	case GID_WIRE_OFFERS:
		offers_heard(link, &message->offers);
		break;
	case GID_WIRE_VECTOR:
		handle_vector(link, &message->vector);
		break;
	default:
		peer_violation(&link->peer, "a message that no gidd sends");
		break;
	}
}

static void handle_inspect(struct link *link) {
	subscription_inspect_all(link);
	subscription_poll_bells(link);
}

static const struct link_events events = {
		.up = handle_up,
		.lost = handle_lost,
		.message = handle_message,
		.clock = subscription_send_clock,
		.rung = subscription_rung,
		.should_ring = subscription_should_ring,
		.inspect = handle_inspect,
};

/* --- other machines --------------------------------------------------------------------------- */

static int open_doorbell(struct gidd *gidd) {
	char why[192] = "there is no such device";
	if (!config_has_doorbell(gidd->config, gidd->self)) {
		return 0;
	}
	if (gidd->self->kind == KIND_HOST) {
		return ivshmem_server_open(gidd, link_ivshmem_rung, &gidd->doorbell);
	}
	if (doorbell_vfio_open(gidd, link_ivshmem_rung, &gidd->doorbell, why) == 0) {
		log_info("doorbells of other machines: by the device");
	} else {
		log_info("doorbells of other machines: over the links: %s", why);
	}
	return 0;
}

/* The host's hub also joins guests with which the host shares nothing itself. */
static bool is_joined(const struct gidd *gidd) {
	return gidd->self->kind == KIND_HOST ? config_has_hub(gidd->config)
					     : config_has_window(gidd->config, gidd->self);
}

static int open_transport(struct gidd *gidd) {
	if (!is_joined(gidd)) {
		return 0;
	}
	int error = gidd->self->kind == KIND_HOST
			? hub_open(gidd, &link_ivshmem_events, &gidd->transport)
			: hub_client_open(gidd, &link_ivshmem_events, &gidd->transport);
	return error < 0 ? error : open_doorbell(gidd);
}

/* --- life ------------------------------------------------------------------------------------- */

void remote_init(struct gidd *gidd) {
	TAILQ_INIT(&gidd->links);
}

int remote_open_links(struct gidd *gidd) {
	return link_open_all(gidd, &events);
}

int remote_open(struct gidd *gidd) {
	int error = open_transport(gidd);
	return error < 0 ? error : remote_open_links(gidd);
}

void remote_close(struct gidd *gidd) {
	struct link *link;
	TAILQ_FOREACH(link, &gidd->links, entry) {
		slab_forget_importer(&link->peer);
	}
	link_close_all(gidd);
	offers_finish(gidd);
	doorbell_close(gidd);
	if (gidd->transport != NULL) {
		gidd->transport->kind->close(gidd->transport);
		gidd->transport = NULL;
	}
}
