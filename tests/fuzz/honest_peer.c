// SPDX-License-Identifier: MIT
#include "honest_peer.h"

#include <string.h>

#include "inside.h"

#define SELF 2u
#define EXPORT_SERIAL 40u

void honest_peer_hear(struct honest_peer *peer, const union gid_wire_message *message) {
	switch ((enum gid_wire_type)message->header.type) {
	case GID_WIRE_IMPORT:
		peer->asked = message->import;
		break;
	case GID_WIRE_SUBSCRIBE:
		peer->offered = message->subscribe.subscription;
		break;
	case GID_WIRE_SUBSCRIBER:
		peer->offered = message->subscriber.subscription;
		break;
	case GID_WIRE_RESULT:
		if (message->header.serial == EXPORT_SERIAL && message->result.error == 0) {
			peer->slab = message->result.value;
		}
		break;
	default:
		break;
	}
}

static void accept(struct honest_peer *peer, union gid_wire_message *message) {
	gid_wire_begin(message, GID_WIRE_ACCEPT, 0);
	message->subscribed.subscription = peer->offered;
	peer->offered = 0;
}

static void subscribe(union gid_wire_message *message, uint32_t subscription) {
	gid_wire_begin(message, GID_WIRE_SUBSCRIBE, 41);
	message->subscribe.subscription = subscription;
	message->subscribe.credit = 1;
	strcpy(message->subscribe.name, "movie");
}

static void import(union gid_wire_message *message, uint32_t type, uint32_t domain, uint32_t slab) {
	gid_wire_begin(message, type, type == GID_WIRE_IMPORT ? 42 : 0);
	message->import.gid = gid_make(domain, slab, 0, 0);
}

void honest_client_speak(
		struct honest_peer *client, struct input *input, union gid_wire_message *message) {
	uint32_t what = take(input, 8);
	switch (what == 5 && client->offered == 0 ? 6 : what) {
	case 0:
		gid_wire_begin(message, GID_WIRE_EXPORT, EXPORT_SERIAL);
		message->export.memory = GID_MEMORY_MEMFD;
		message->export.slot_count = 2;
		message->export.slot_size = 4096;
		message->export.generations = 8192;
		message->export.layout = inside_layout;
		break;
	case 1:
		gid_wire_begin(message, GID_WIRE_GRANT, 43);
		message->grant.slab = client->slab != 0 ? client->slab : 1 + take(input, 4);
		message->grant.domain = 1 + take(input, 3);
		message->grant.allow = take(input, 4) != 3;
		break;
	case 2:
		gid_wire_begin(message, GID_WIRE_PUBLISH, 44);
		strcpy(message->publish.name, take(input, 2) == 0 ? "movie" : "camera/rear");
		break;
	case 3:
		subscribe(message, 1 + take(input, 4));
		message->subscribe.flags = take(input, 2) == 0 ? 0 : GID_WIRE_WAIT;
		strcpy(message->subscribe.domain_name, take(input, 2) == 0 ? "open" : "");
		break;
	case 4:
		import(message, GID_WIRE_UNIMPORT, 1 + take(input, 2), 1 + take(input, 4));
		break;
	case 5:
		accept(client, message);
		break;
	default:
		import(message, GID_WIRE_IMPORT, 1 + take(input, 2), 1 + take(input, 4));
		break;
	}
}

static void answer(struct honest_peer *link, union gid_wire_message *message) {
	gid_wire_begin(message, GID_WIRE_IMPORTED, link->asked.header.serial);
	message->imported.domain = gid_domain_of(link->asked.gid);
	message->imported.slab = gid_slab_of(link->asked.gid);
	message->imported.memory = GID_MEMORY_MEMFD;
	message->imported.slot_count = 2;
	message->imported.slot_size = 4096;
	message->imported.generations = 8192;
	message->imported.layout = inside_layout;
	link->asked = (struct gid_wire_import){0};
}

void honest_link_speak(struct honest_peer *link, uint32_t number, struct input *input,
		union gid_wire_message *message) {
	if (link->asked.header.serial != 0) {
		answer(link, message);
	} else if (link->offered != 0) {
		accept(link, message);
	} else if (take(input, 2) == 0) {
		subscribe(message,
				(5 + take(input, 4)) | (number < SELF ? GID_WIRE_LOWER_SIDE : 0));
		message->subscribe.domain = SELF;
	} else {
		import(message, GID_WIRE_IMPORT, SELF, 1 + take(input, 4));
	}
}
