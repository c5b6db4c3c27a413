// SPDX-License-Identifier: MIT
#include "hub_check.h"

#include "descriptor.h"
#include "wire_ring.h"

static bool is_in_window(const struct config_domain *owner, uint64_t offset, uint64_t size) {
	return offset <= owner->window && size <= owner->window - offset;
}

enum hub_verdict hub_check(const struct config *config, const struct config_domain *from,
		const struct config_domain *to, const union gid_wire_message *message,
		const char **why) {
	const struct config_share *asked = config_share_find(config, to, from);
	const struct config_share *given = config_share_find(config, from, to);
	const struct gid_wire_subscribe *subscribe = &message->subscribe;
	const struct gid_wire_imported *imported = &message->imported;
	*why = "its memory is not inside its window";
	switch (message->header.type) {
	case GID_WIRE_IMPORT:
		return asked == NULL ? HUB_REFUSE : HUB_PASS;
	case GID_WIRE_SUBSCRIBE:
		if (asked == NULL || !config_globs_match(&asked->streams, subscribe->name)) {
			return HUB_REFUSE;
		}
		return is_in_window(from, subscribe->window_offset, sizeof(struct gid_wire_page))
				? HUB_PASS
				: HUB_BREAK;
	case GID_WIRE_IMPORTED:
		if (given == NULL) {
			*why = "it answers what it may not be asked";
			return HUB_BREAK;
		}
		if (imported->domain != from->number) {
			*why = "it answers for another domain";
			return HUB_BREAK;
		}
		return is_in_window(from, imported->offset,
				       descriptor_slab_end(imported) - imported->offset)
				? HUB_PASS
				: HUB_BREAK;
	case GID_WIRE_ACCEPT:
		return is_in_window(from, message->subscribed.window_offset,
				       sizeof(struct gid_wire_ring))
				? HUB_PASS
				: HUB_BREAK;
	default:
		return HUB_PASS;
	}
}
