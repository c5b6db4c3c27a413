// SPDX-License-Identifier: MIT
#include "hub_check.h"

#include "access.h"
#include "config_windows.h"
#include "descriptor.h"
#include "wire_ring.h"

/* Whether the range is in a window of the owner that the reader has. */
static bool is_in_window(const struct config_windows *windows, const struct config_domain *owner,
		const struct config_domain *reader, uint64_t place, uint64_t size) {
	const struct config_window *window =
			config_windows_find(windows, owner, gid_wire_window_number(place));
	uint64_t offset = gid_wire_window_offset(place);
	return window != NULL && domain_set_has(&window->readers, reader->number) &&
			offset <= window->size && size <= window->size - offset;
}

enum hub_verdict hub_check(const struct config *config, const struct config_windows *windows,
		const struct config_domain *from, const struct config_domain *to,
		const union gid_wire_message *message, const char **why) {
	const struct gid_wire_subscribe *subscribe = &message->subscribe;
	const struct gid_wire_imported *imported = &message->imported;
	*why = "its memory is in no window of it that the other one reads";
	switch (message->header.type) {
	case GID_WIRE_IMPORT:
		return access_may_import(config, to, from) ? HUB_PASS : HUB_REFUSE;
	case GID_WIRE_SUBSCRIBE:
		if (!access_may_read_stream(config, to, from, subscribe->name)) {
			return HUB_REFUSE;
		}
		return is_in_window(windows, from, to, subscribe->window_offset,
				       sizeof(struct gid_wire_page))
				? HUB_PASS
				: HUB_BREAK;
	case GID_WIRE_IMPORTED:
		if (!access_may_import(config, from, to)) {
			*why = "it answers what it may not be asked";
			return HUB_BREAK;
		}
		if (imported->domain != from->number) {
			*why = "it answers for another domain";
			return HUB_BREAK;
		}
		return is_in_window(windows, from, to, imported->offset,
				       descriptor_slab_end(imported) - imported->offset)
				? HUB_PASS
				: HUB_BREAK;
	case GID_WIRE_ACCEPT:
		return is_in_window(windows, from, to, message->subscribed.window_offset,
				       sizeof(struct gid_wire_ring))
				? HUB_PASS
				: HUB_BREAK;
	default:
		return HUB_PASS;
	}
}
