// SPDX-License-Identifier: MIT
#include "messages.h"

static void put_picture(struct gid_wire_layout *layout) {
	*layout = (struct gid_wire_layout){
			.fourcc = XRGB8888,
			.width = 64,
			.height = 16,
			.plane_count = 1,
			.planes = {{0, 256}},
	};
}

void fill(union gid_wire_message *m, uint32_t type) {
	gid_wire_begin(m, type, 7);
	switch ((enum gid_wire_type)type) {
	case GID_WIRE_HELLO:
		m->hello.version = GID_WIRE_VERSION;
		strcpy(m->hello.name, "film « é »");
		break;
	case GID_WIRE_WELCOME:
		m->welcome.version = GID_WIRE_VERSION;
		m->welcome.domain = 254;
		strcpy(m->welcome.name, "open");
		break;
	case GID_WIRE_RESULT:
		m->result.error = -ENOENT;
		strcpy(m->result.text, "no such slab");
		break;
	case GID_WIRE_EXPORT:
		m->export.slab = 3;
		m->export.memory = GID_MEMORY_MEMFD;
		m->export.slot_size = 4096;
		m->export.slot_count = 4;
		m->export.generations = UINT64_C(4) * 4096;
		put_picture(&m->export.layout);
		strcpy(m->export.description, "video/x-raw");
		m->export.description_size = 11;
		break;
	case GID_WIRE_IMPORTED:
		m->imported.domain = 1;
		m->imported.slab = 3;
		m->imported.memory = GID_MEMORY_DMABUF;
		m->imported.slot_size = 4097;
		m->imported.slot_count = 1;
		m->imported.offset = 77;
		put_picture(&m->imported.layout);
		break;
	case GID_WIRE_UNEXPORT:
		m->unexport.slab = GID_SLAB_MAX;
		break;
	case GID_WIRE_GRANT:
		m->grant.slab = 1;
		m->grant.domain = 2;
		m->grant.allow = 1;
		break;
	case GID_WIRE_IMPORT:
	case GID_WIRE_UNIMPORT:
		m->import.gid = UINT64_MAX;
		break;
	case GID_WIRE_REVOKED:
		m->revoked.gid = gid_make(1, 2, 3, 4);
		break;
	case GID_WIRE_PUBLISH:
		strcpy(m->publish.name, "camera/rear");
		break;
	case GID_WIRE_SUBSCRIBE:
		m->subscribe.subscription = UINT32_MAX;
		m->subscribe.credit = GID_CREDIT_MAX;
		m->subscribe.flags = GID_WIRE_SUBSCRIBE_FLAGS;
		strcpy(m->subscribe.domain_name, "open");
		strcpy(m->subscribe.name, "movie");
		break;
	case GID_WIRE_SUBSCRIBER:
		m->subscriber.domain = 2;
		m->subscriber.credit = 1;
		break;
	case GID_WIRE_SUBSCRIPTION_END:
		m->subscription_end.reason = -EPIPE;
		break;
	case GID_WIRE_OFFERS:
		m->offers.count = 2;
		strcpy(m->offers.names[0], "movie");
		strcpy(m->offers.names[1], "camera/rear");
		break;
	case GID_WIRE_REPORT:
		m->report.size = 2;
		break;
	case GID_WIRE_SEAL:
		m->seal.on = 1;
		break;
	case GID_WIRE_SEALED:
		m->seal.on = 1;
		m->seal.since = 1;
		break;
	case GID_WIRE_SUBSCRIBED:
		m->subscribed.domain = 2;
		break;
	case GID_WIRE_ALLOC:
		m->alloc.size = 1;
		break;
	case GID_WIRE_ALLOCATED:
	case GID_WIRE_FREE:
		m->allocated.offset = 4096;
		m->allocated.size = 8192;
		break;
	case GID_WIRE_CLOCK:
		m->clock.domain = 1;
		m->clock.offset = -5;
		m->clock.error = 7;
		break;
	case GID_WIRE_DEVICE:
		m->device.cookie = 1;
		break;
	case GID_WIRE_VECTOR:
		m->vector.vector = 1;
		break;
	case GID_WIRE_JOIN:
		m->join.nonce = 1;
		break;
	case GID_WIRE_JOINED:
		m->join.domain = 1;
		break;
	case GID_WIRE_PEER:
		m->peer.domain = 1;
		strcpy(m->peer.why, "hung up");
		break;
	case GID_WIRE_WITHDRAW:
		strcpy(m->withdraw.owner, "open");
		strcpy(m->withdraw.reader, "cluster");
		strcpy(m->withdraw.name, "camera/*");
		break;
	case GID_WIRE_PUNCH:
	case GID_WIRE_PUNCHED:
		m->allocated.offset = 4096;
		m->allocated.size = GID_WIRE_PUNCH_MAX;
		break;
	case GID_WIRE_OWN_WINDOW:
		m->own_window.size = GID_WINDOW_MIN;
		m->own_window.filled = GID_WINDOW_MIN;
		break;
	case GID_WIRE_UNPUBLISH:
	case GID_WIRE_ACCEPT:
	case GID_WIRE_STATUS:
	case GID_WIRE_DOORBELL:
	case GID_WIRE_HEARING:
	case GID_WIRE_BELL:
	case GID_WIRE_PING:
	case GID_WIRE_PONG:
	case GID_WIRE_TYPE_END:
		break;
	}
}
