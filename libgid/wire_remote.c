// SPDX-License-Identifier: MIT
/** What goes between machines: envelopes, the messages in them, the first pages of windows, bells.
 */
#include <errno.h>

#include "wire_field.h"

/* Whether the memory of a message is in a window, and the message one that gidds send each other.
 */
static bool may_be_remote(const union gid_wire_message *message) {
	switch (message->header.type) {
	case GID_WIRE_HELLO:
	case GID_WIRE_WELCOME:
	case GID_WIRE_RESULT:
	case GID_WIRE_IMPORT:
	case GID_WIRE_REVOKED:
	case GID_WIRE_SUBSCRIPTION_END:
	case GID_WIRE_BELL:
	case GID_WIRE_PING:
	case GID_WIRE_PONG:
	case GID_WIRE_DEVICE:
		return true;
	case GID_WIRE_IMPORTED:
		return message->imported.memory == GID_MEMORY_WINDOW;
	case GID_WIRE_SUBSCRIBE:
		return message->subscribe.window_offset != 0;
	case GID_WIRE_ACCEPT:
		return message->subscribed.window_offset != 0;
	default:
		return false;
	}
}

int gid_wire_check_remote(
	const union gid_wire_message *message, size_t size, bool hub, const char **why) {
	uint32_t exact_size, fd_count = 0;
	bool known = size >= sizeof(message->header) &&
		gid_wire_shape(message->header.type, &exact_size, &fd_count);
	int error = gid_wire_check(message, size, known ? fd_count : 0, why);
	if (error < 0) {
		return error;
	}
	uint32_t type = message->header.type;
	bool of_hub = type >= GID_WIRE_JOIN && type < GID_WIRE_TYPE_END;
	if (hub ? !of_hub : !may_be_remote(message)) {
		*why = "a message that does not come this way, or whose memory is in no window";
		return -EPROTO;
	}
	return 0;
}

bool gid_wire_envelope_is_valid(const struct gid_wire_envelope *copy) {
	return copy->magic == GID_ENVELOPE_MAGIC && copy->domain <= GID_DOMAIN_MAX &&
		copy->size >= sizeof(struct gid_wire_header) && copy->size <= GID_WIRE_MESSAGE_MAX;
}

bool gid_wire_window_is_valid(const struct gid_wire_window *copy, uint64_t size) {
	return copy->magic == GID_WINDOW_MAGIC && copy->version == GID_WINDOW_VERSION &&
		is_domain(copy->domain) && copy->size == size && size >= GID_WINDOW_MIN &&
		size <= INT64_MAX && size % GID_WIRE_PAGE == 0 &&
		gid_field_is_name(copy->name, sizeof(copy->name));
}

bool gid_wire_bells_is_valid(const struct gid_wire_bells *copy) {
	if (copy->magic != GID_BELLS_MAGIC || copy->version != GID_BELLS_VERSION ||
		!is_domain(copy->domain) || copy->cookie == 0 || copy->count > GID_DOMAIN_MAX ||
		copy->reserved != 0) {
		return false;
	}
	for (uint32_t i = 0; i < sizeof(copy->domains); i++) {
		if (i < copy->count ? !is_domain(copy->domains[i]) : copy->domains[i] != 0) {
			return false;
		}
	}
	return true;
}
