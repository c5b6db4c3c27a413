// SPDX-License-Identifier: MIT
/** Messages: the shape of each, and what its fields may hold. */
#include <errno.h>
#include <string.h>

#include "wire_field.h"
#include "wire_ring.h"

#define WIRE_REPORT_MAX (UINT64_C(64) << 20)

bool gid_wire_shape(uint32_t type, uint32_t *size, uint32_t *fd_count) {
	static const struct {
		uint16_t size;
		uint8_t fd_count;
	} shapes[] = {
		[GID_WIRE_HELLO] = {sizeof(struct gid_wire_hello), 0},
		[GID_WIRE_WELCOME] = {sizeof(struct gid_wire_welcome), 0},
		[GID_WIRE_RESULT] = {sizeof(struct gid_wire_result), 0},
		[GID_WIRE_EXPORT] = {sizeof(struct gid_wire_export), 1},
		[GID_WIRE_UNEXPORT] = {sizeof(struct gid_wire_unexport), 0},
		[GID_WIRE_GRANT] = {sizeof(struct gid_wire_grant), 0},
		[GID_WIRE_IMPORT] = {sizeof(struct gid_wire_import), 0},
		[GID_WIRE_IMPORTED] = {sizeof(struct gid_wire_imported), 1},
		[GID_WIRE_REVOKED] = {sizeof(struct gid_wire_revoked), 0},
		[GID_WIRE_ALLOC] = {sizeof(struct gid_wire_alloc), 0},
		[GID_WIRE_ALLOCATED] = {sizeof(struct gid_wire_allocated), 1},
		[GID_WIRE_FREE] = {sizeof(struct gid_wire_allocated), 0},
		[GID_WIRE_PUBLISH] = {sizeof(struct gid_wire_publish), 0},
		[GID_WIRE_UNPUBLISH] = {sizeof(struct gid_wire_unpublish), 0},
		[GID_WIRE_SUBSCRIBE] = {sizeof(struct gid_wire_subscribe), 2},
		[GID_WIRE_SUBSCRIBER] = {sizeof(struct gid_wire_subscriber), 2},
		[GID_WIRE_ACCEPT] = {sizeof(struct gid_wire_subscribed), 1},
		[GID_WIRE_SUBSCRIBED] = {sizeof(struct gid_wire_subscribed), 1},
		[GID_WIRE_SUBSCRIPTION_END] = {sizeof(struct gid_wire_subscription_end), 0},
		[GID_WIRE_CLOCK] = {sizeof(struct gid_wire_clock), 0},
		[GID_WIRE_STATUS] = {sizeof(struct gid_wire_status), 0},
		[GID_WIRE_REPORT] = {sizeof(struct gid_wire_report), 1},
		[GID_WIRE_BELL] = {sizeof(struct gid_wire_bell), 0},
		[GID_WIRE_PING] = {sizeof(struct gid_wire_ping), 0},
		[GID_WIRE_PONG] = {sizeof(struct gid_wire_pong), 0},
		[GID_WIRE_DEVICE] = {sizeof(struct gid_wire_device), 0},
		[GID_WIRE_JOIN] = {sizeof(struct gid_wire_join), 0},
		[GID_WIRE_JOINED] = {sizeof(struct gid_wire_join), 0},
		[GID_WIRE_PEER] = {sizeof(struct gid_wire_peer), 0},
	};
	if (type >= sizeof(shapes) / sizeof(shapes[0]) || shapes[type].size == 0) {
		return false;
	}
	*size = shapes[type].size;
	*fd_count = shapes[type].fd_count;
	return true;
}

void gid_wire_begin(union gid_wire_message *message, uint32_t type, uint32_t serial) {
	uint32_t size = 0, fd_count;
	gid_wire_shape(type, &size, &fd_count);
	memset(message, 0, sizeof(*message));
	message->header.type = type;
	message->header.size = size;
	message->header.serial = serial;
}

/* --- messages, in the order of enum gid_wire_type: NULL, or what is wrong -------------------- */

static const char *check_hello(const struct gid_wire_hello *hello) {
	if (hello->domain > GID_DOMAIN_MAX) {
		return "the domain is out of range";
	}
	return gid_field_is_text(hello->name, sizeof(hello->name)) ? NULL
								   : "the name is not a text";
}

static const char *check_welcome(const struct gid_wire_welcome *welcome) {
	if (!is_domain(welcome->domain) ||
		!gid_field_is_name(welcome->name, sizeof(welcome->name))) {
		return "the domain's number or name is not valid";
	}
	return welcome->window <= INT64_MAX ? NULL : "the window's size is out of range";
}

static const char *check_result(const struct gid_wire_result *result) {
	if (!is_error(result->error)) {
		return "the error is out of range";
	}
	return gid_field_is_text(result->text, sizeof(result->text)) ? NULL
								     : "the text is not a text";
}

static const char *check_export(const struct gid_wire_export *export) {
	if (export->slab > GID_SLAB_MAX) {
		return "the slab's number is out of range";
	}
	struct gid_slab_fields slab = {
		.memory = export->memory,
		.slot_count = export->slot_count,
		.description_size = export->description_size,
		.offset = export->offset,
		.slot_size = export->slot_size,
		.generations = export->generations,
		.layout = &export->layout,
		.description = export->description,
	};
	return gid_wire_check_slab(&slab);
}

static const char *check_unexport(const struct gid_wire_unexport *unexport) {
	if (!is_slab(unexport->slab)) {
		return "the slab's number is out of range";
	}
	return unexport->reserved == 0 ? NULL : "a reserved field is not 0";
}

static const char *check_grant(const struct gid_wire_grant *grant) {
	if (!is_slab(grant->slab) || !is_domain(grant->domain) || grant->allow > 1) {
		return "the slab, the domain or what is allowed is out of range";
	}
	return grant->reserved == 0 ? NULL : "a reserved field is not 0";
}

static const char *check_imported(const struct gid_wire_imported *imported) {
	if (!is_domain(imported->domain) || !is_slab(imported->slab)) {
		return "the domain's or the slab's number is out of range";
	}
	if (imported->reserved != 0) {
		return "a reserved field is not 0";
	}
	struct gid_slab_fields slab = {
		.memory = imported->memory,
		.slot_count = imported->slot_count,
		.description_size = imported->description_size,
		.offset = imported->offset,
		.slot_size = imported->slot_size,
		.generations = imported->generations,
		.layout = &imported->layout,
		.description = imported->description,
	};
	return gid_wire_check_slab(&slab);
}

static const char *check_revoked(const struct gid_wire_revoked *revoked) {
	bool valid = is_domain(gid_domain_of(revoked->gid)) && is_slab(gid_slab_of(revoked->gid));
	return valid ? NULL : "the gid names no slab";
}

static const char *check_publish(const struct gid_wire_publish *publish) {
	return gid_field_is_name(publish->name, sizeof(publish->name))
		? NULL
		: "the stream's name is not valid";
}

static const char *check_unpublish(const struct gid_wire_unpublish *unpublish) {
	return unpublish->reserved == 0 ? NULL : "a reserved field is not 0";
}

static const char *check_alloc(const struct gid_wire_alloc *alloc) {
	return alloc->size >= 1 && alloc->size <= INT64_MAX ? NULL : "the size is out of range";
}

static const char *check_allocated(const struct gid_wire_allocated *allocated) {
	bool valid = allocated->offset != 0 && is_in_window(allocated->offset, allocated->size) &&
		allocated->size != 0 && allocated->size % GID_WIRE_PAGE == 0;
	return valid ? NULL : "the range is not one of whole pages behind a window's first";
}

static const char *check_clock(const struct gid_wire_clock *clock) {
	if (!is_domain(clock->domain) || clock->offset == INT64_MIN || clock->error > INT64_MAX) {
		return "the domain, the offset or the error is out of range";
	}
	return clock->reserved == 0 ? NULL : "a reserved field is not 0";
}

static const char *check_subscribe(const struct gid_wire_subscribe *subscribe) {
	if (subscribe->domain > GID_DOMAIN_MAX || !is_credit(subscribe->credit)) {
		return "the domain or the credit is out of range";
	}
	if ((subscribe->flags & ~GID_WIRE_SUBSCRIBE_FLAGS) != 0) {
		return "a flag is unknown";
	}
	if (!is_in_window(subscribe->window_offset, sizeof(struct gid_wire_page))) {
		return "the page's place in a window is not valid";
	}
	static const char zeroes[sizeof(subscribe->domain_name)];
	bool own = memcmp(subscribe->domain_name, zeroes, sizeof(zeroes)) == 0;
	if (!own && !gid_field_is_name(subscribe->domain_name, sizeof(subscribe->domain_name))) {
		return "the domain's name is not valid";
	}
	return gid_field_is_name(subscribe->name, sizeof(subscribe->name))
		? NULL
		: "the stream's name is not valid";
}

static const char *check_subscriber(const struct gid_wire_subscriber *subscriber) {
	if (!is_domain(subscriber->domain) || !is_credit(subscriber->credit)) {
		return "the domain or the credit is out of range";
	}
	if ((subscriber->flags & ~GID_WIRE_SUBSCRIBER_FLAGS) != 0) {
		return "a flag is unknown";
	}
	if (!is_in_window(subscriber->window_offset, sizeof(struct gid_wire_page))) {
		return "the page's place in a window is not valid";
	}
	bool live = (subscriber->flags & GID_WIRE_LIVE) != 0;
	if (!is_in_window(subscriber->ring_offset, sizeof(struct gid_wire_ring)) ||
		(!live && subscriber->ring_offset != 0)) {
		return "the ring's place in a window is not valid";
	}
	return subscriber->reserved == 0 ? NULL : "a reserved field is not 0";
}

static const char *check_accept(const struct gid_wire_subscribed *accept) {
	if (!is_in_window(accept->window_offset, sizeof(struct gid_wire_ring))) {
		return "the ring's place in a window is not valid";
	}
	return accept->domain == 0 ? NULL : "a reserved field is not 0";
}

static const char *check_subscribed(const struct gid_wire_subscribed *subscribed) {
	if (!is_in_window(subscribed->window_offset, sizeof(struct gid_wire_ring))) {
		return "the ring's place in a window is not valid";
	}
	return is_domain(subscribed->domain) ? NULL : "the domain is out of range";
}

static const char *check_subscription_end(const struct gid_wire_subscription_end *end) {
	return is_error(end->reason) ? NULL : "the reason is out of range";
}

static const char *check_report(const struct gid_wire_report *report) {
	return report->size >= 1 && report->size <= WIRE_REPORT_MAX
		? NULL
		: "the report's size is out of range";
}

static const char *check_bell(const struct gid_wire_bell *bell) {
	return bell->hung_up <= 1 ? NULL : "a flag is unknown";
}

static const char *check_ping(const struct gid_wire_ping *ping) {
	return ping->time <= INT64_MAX ? NULL : "the time is out of range";
}

static const char *check_pong(const struct gid_wire_pong *pong) {
	bool valid = pong->ping_time <= INT64_MAX && pong->time <= INT64_MAX;
	return valid ? NULL : "a time is out of range";
}

static const char *check_device(const struct gid_wire_device *device) {
	return device->cookie != 0 ? NULL : "the cookie is 0";
}

static const char *check_join(const struct gid_wire_join *join) {
	return join->domain == 0 && join->nonce != 0 ? NULL
						     : "the domain is not 0, or the nonce is";
}

static const char *check_joined(const struct gid_wire_join *joined) {
	return is_domain(joined->domain) ? NULL : "the domain is out of range";
}

static const char *check_peer(const struct gid_wire_peer *peer) {
	if (!is_domain(peer->domain) || peer->up > 1 || peer->fault > 1) {
		return "the domain or a flag is out of range";
	}
	return gid_field_is_text(peer->why, sizeof(peer->why)) ? NULL : "the reason is not a text";
}

static const char *check_body(const union gid_wire_message *message) {
	switch ((enum gid_wire_type)message->header.type) {
	case GID_WIRE_HELLO:
		return check_hello(&message->hello);
	case GID_WIRE_WELCOME:
		return check_welcome(&message->welcome);
	case GID_WIRE_RESULT:
		return check_result(&message->result);
	case GID_WIRE_EXPORT:
		return check_export(&message->export);
	case GID_WIRE_UNEXPORT:
		return check_unexport(&message->unexport);
	case GID_WIRE_GRANT:
		return check_grant(&message->grant);
	case GID_WIRE_IMPORT:
		/* Any gid may be asked for: one that names nothing is as unknown as another. */
		return NULL;
	case GID_WIRE_IMPORTED:
		return check_imported(&message->imported);
	case GID_WIRE_REVOKED:
		return check_revoked(&message->revoked);
	case GID_WIRE_PUBLISH:
		return check_publish(&message->publish);
	case GID_WIRE_UNPUBLISH:
		return check_unpublish(&message->unpublish);
	case GID_WIRE_SUBSCRIBE:
		return check_subscribe(&message->subscribe);
	case GID_WIRE_SUBSCRIBER:
		return check_subscriber(&message->subscriber);
	case GID_WIRE_ACCEPT:
		return check_accept(&message->subscribed);
	case GID_WIRE_SUBSCRIBED:
		return check_subscribed(&message->subscribed);
	case GID_WIRE_SUBSCRIPTION_END:
		return check_subscription_end(&message->subscription_end);
	case GID_WIRE_STATUS:
		return NULL;
	case GID_WIRE_REPORT:
		return check_report(&message->report);
	case GID_WIRE_ALLOC:
		return check_alloc(&message->alloc);
	case GID_WIRE_ALLOCATED:
	case GID_WIRE_FREE:
		return check_allocated(&message->allocated);
	case GID_WIRE_CLOCK:
		return check_clock(&message->clock);
	case GID_WIRE_BELL:
		return check_bell(&message->bell);
	case GID_WIRE_PING:
		return check_ping(&message->ping);
	case GID_WIRE_PONG:
		return check_pong(&message->pong);
	case GID_WIRE_DEVICE:
		return check_device(&message->device);
	case GID_WIRE_JOIN:
		return check_join(&message->join);
	case GID_WIRE_JOINED:
		return check_joined(&message->join);
	case GID_WIRE_PEER:
		return check_peer(&message->peer);
	case GID_WIRE_TYPE_END:
		break;
	}
	return "the message's type is unknown";
}

int gid_wire_check(
	const union gid_wire_message *message, size_t size, uint32_t fd_count, const char **why) {
	uint32_t exact_size, exact_fd_count;
	*why = NULL;
	if (size < sizeof(message->header)) {
		*why = "the message is shorter than its header";
	} else if (!gid_wire_shape(message->header.type, &exact_size, &exact_fd_count)) {
		*why = "the message's type is unknown";
	} else if (size != exact_size || message->header.size != exact_size) {
		*why = "the message's size is not that of its type";
	} else if (fd_count != exact_fd_count) {
		*why = "the message has not as many descriptors as its type";
	} else if (message->header.reserved != 0) {
		*why = "a reserved field is not 0";
	} else {
		*why = check_body(message);
	}
	return *why == NULL ? 0 : -EPROTO;
}
