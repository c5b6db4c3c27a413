// SPDX-License-Identifier: MIT
/* Any bytes as a message and as a ring entry: what is taken must hold what wire*.h promise. */
#include "wire.h"

#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "wire_ring.h"

static void demand_slab(const struct gid_wire_layout *wire, uint64_t slot_size, uint32_t slots,
		uint64_t offset, const char *description, uint32_t description_size) {
	struct gid_layout layout;
	gid_wire_get_layout(&layout, wire);
	demand(gid_layout_check(&layout, slot_size) == 0);
	demand(slots >= 1 && slots <= GID_SLOTS_MAX);
	demand(slot_size <= (INT64_MAX - offset) / slots);
	demand(strlen(description) == description_size);
}

/*
 * The message that the input stands for. Pure chance hardly ever hits a type, its size and its
 * number of descriptors at once: half of the inputs are given those, and zeroes where they end.
 */
static size_t take_message(union gid_wire_message *message, const uint8_t *data, size_t size,
		uint32_t *fd_count) {
	uint32_t exact;
	uint32_t type = size > 1 ? data[1] % (GID_WIRE_TYPE_END) : 0;
	bool shaped = data[0] >= 128 && gid_wire_shape(type, &exact, fd_count);
	if (!shaped) {
		*fd_count = data[0] % 4;
		size = size - 1 > sizeof(*message) ? sizeof(*message) : size - 1;
		memset(message, 0xa5, sizeof(*message));
		memcpy(message, data + 1, size);
		return size;
	}
	gid_wire_begin(message, type, 1);
	size_t body = exact - sizeof(message->header), given = size - 2;
	memcpy(message->bytes + sizeof(message->header), data + 2, given < body ? given : body);
	return exact;
}

static void try_message(const uint8_t *data, size_t input_size) {
	union gid_wire_message message;
	const char *why;
	uint32_t fd_count;
	size_t size = take_message(&message, data, input_size, &fd_count);
	int result = gid_wire_check(&message, size, fd_count, &why);
	if (result != 0) {
		demand(result == -EPROTO && why != NULL);
		return;
	}
	demand(why == NULL && size == message.header.size);
	switch (message.header.type) {
	case GID_WIRE_EXPORT:
		demand_slab(&message.export.layout, message.export.slot_size,
				message.export.slot_count, message.export.offset,
				message.export.description, message.export.description_size);
		break;
	case GID_WIRE_IMPORTED:
		demand_slab(&message.imported.layout, message.imported.slot_size,
				message.imported.slot_count, message.imported.offset,
				message.imported.description, message.imported.description_size);
		break;
	case GID_WIRE_ALLOCATED:
	case GID_WIRE_FREE:
	case GID_WIRE_PUNCH:
	case GID_WIRE_PUNCHED:
		demand(message.allocated.offset >= 4096 && message.allocated.size >= 4096);
		demand(message.allocated.size <= INT64_MAX - message.allocated.offset);
		break;
	case GID_WIRE_ACCEPT:
	case GID_WIRE_SUBSCRIBED:
		demand(message.subscribed.window_offset <=
				INT64_MAX - sizeof(struct gid_wire_ring));
		break;
	case GID_WIRE_PEER:
		demand(strnlen(message.peer.why, sizeof(message.peer.why)) <
				sizeof(message.peer.why));
		break;
	case GID_WIRE_PUBLISH:
		demand(gid_name_is_valid(message.publish.name));
		break;
	case GID_WIRE_SUBSCRIBE:
		demand(gid_name_is_valid(message.subscribe.name));
		break;
	default:
		break;
	}
}

static void try_frame(const uint8_t *data, size_t size) {
	struct gid_wire_frame wire, again;
	struct gid_frame frame, same;
	if (size < sizeof(wire)) {
		return;
	}
	memcpy(&wire, data, sizeof(wire));
	if (gid_wire_get_frame(&frame, &wire, 1) == 0) {
		demand(gid_wire_put_frame(&again, &frame) == 0);
		demand(gid_wire_get_frame(&same, &again, 1) == 0);
		demand(memcmp(&same, &frame, sizeof(frame)) == 0);
	}
	struct gid_wire_entry line, again_line;
	memcpy(&line, data, sizeof(line));
	if (gid_wire_get_picture(&same, &line, 1)) {
		demand(gid_wire_get_frame(&frame, &wire, 1) == 0);
		demand(memcmp(&same, &frame, sizeof(frame)) == 0);
		demand(gid_wire_put_picture(&again, &frame));
		demand(memcmp(&again, &line, sizeof(line)) == 0);
		again_line = gid_wire_make_line(&frame);
		demand(gid_wire_is_plain(&frame) && memcmp(&again_line, &line, sizeof(line)) == 0);
	}
}

static void try_bells(const uint8_t *data, size_t size) {
	struct gid_wire_bells bells = {.magic = GID_BELLS_MAGIC, .version = GID_BELLS_VERSION};
	size_t rest = sizeof(bells) - sizeof(bells.magic) - sizeof(bells.version);
	memcpy(&bells.domain, data, size < rest ? size : rest);
	if (gid_wire_bells_is_valid(&bells)) {
		demand(bells.count <= GID_DOMAIN_MAX && bells.cookie != 0);
		for (uint32_t i = 0; i < bells.count; i++) {
			demand(bells.domains[i] >= 1 && bells.domains[i] <= GID_DOMAIN_MAX);
		}
	}
}

/* What comes from another machine: a message to a gidd or to the hub, never to both. */
static void try_remote(const uint8_t *data, size_t size) {
	union gid_wire_message message = {0};
	size_t whole = size < sizeof(message) ? size : sizeof(message);
	const char *why = NULL;
	memcpy(&message, data, whole);
	int to_gidd = gid_wire_check_remote(&message, whole, false, &why);
	demand(to_gidd == 0 || why != NULL);
	int to_hub = gid_wire_check_remote(&message, whole, true, &why);
	demand(to_hub < 0 || to_gidd < 0);
	struct gid_wire_envelope envelope;
	if (size >= sizeof(envelope)) {
		memcpy(&envelope, data, sizeof(envelope));
		demand(!gid_wire_envelope_is_valid(&envelope) ||
				envelope.size <= GID_WIRE_MESSAGE_MAX);
	}
}

static void try_window(const uint8_t *data, size_t size) {
	struct gid_wire_window window = {.magic = GID_WINDOW_MAGIC, .version = GID_WINDOW_VERSION};
	size_t rest = sizeof(window) - sizeof(window.magic) - sizeof(window.version);
	memcpy((uint8_t *)&window + sizeof(window) - rest, data, size < rest ? size : rest);
	if (gid_wire_window_is_valid(&window, window.size)) {
		demand(window.domain >= 1 && window.domain <= GID_DOMAIN_MAX);
		demand(strnlen(window.name, sizeof(window.name)) < sizeof(window.name));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size >= 1) {
		try_message(data, size);
		try_frame(data, size);
		try_bells(data, size);
		try_remote(data, size);
		try_window(data, size);
	}
	return 0;
}
