// SPDX-License-Identifier: MIT
/**
 * All decoding of what other processes wrote in messages: what is in them, and what goes between
 * machines. Pure and total, as wire_ring.c is, which has the entries of rings.
 */
#include "wire.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <string.h>

#include "text.h"
#include "wire_ring.h"

/* As seen on the wire, whatever this machine's pages are. */
#define GID_WIRE_PAGE 4096u
#define GID_WIRE_ERRNO_MAX 4095

/* --- fields ----------------------------------------------------------------------------------- */

bool gid_wire_text_is_valid(const char *text, size_t length) {
	size_t used = 0;
	while (used < length) {
		size_t step = character_length(text + used, length - used);
		if (step == 0) {
			return false;
		}
		used += step;
	}
	return true;
}

/* A text in a field of `size` bytes: valid, terminated, and nothing but zeroes behind its end. */
static bool field_is_text(const char *field, size_t size) {
	size_t length = strnlen(field, size);
	if (length == size || !gid_wire_text_is_valid(field, length)) {
		return false;
	}
	for (size_t i = length; i < size; i++) {
		if (field[i] != '\0') {
			return false;
		}
	}
	return true;
}

static bool field_is_name(const char *field, size_t size) {
	return field_is_text(field, size) && gid_name_is_valid(field);
}

static inline bool is_error(int32_t error) {
	return error <= 0 && error >= -GID_WIRE_ERRNO_MAX;
}

static inline bool is_credit(uint32_t credit) {
	return credit >= 1 && credit <= GID_CREDIT_MAX;
}

/* A piece of a window of at least `size` bytes, or 0 for none. */
static inline bool is_in_window(uint64_t offset, uint64_t size) {
	return offset % GID_WIRE_PAGE == 0 && size <= INT64_MAX && offset <= INT64_MAX - size;
}

/* What EXPORT and IMPORTED have in common. */
struct slab_fields {
	uint32_t memory, slot_count, description_size;
	uint64_t offset, slot_size, generations;
	const struct gid_wire_layout *layout;
	const char *description;
};

/* --- layouts, and the memory that slabs lie in ------------------------------------------------ */

#define RANGE_SHIFT 6 /* in matrix_range */

void gid_wire_put_layout(struct gid_wire_layout *wire, const struct gid_layout *layout) {
	memset(wire, 0, sizeof(*wire));
	wire->fourcc = layout->fourcc;
	wire->width = layout->width;
	wire->height = layout->height;
	wire->plane_count = (uint8_t)(layout->plane_count <= UINT8_MAX ? layout->plane_count : 0);
	wire->matrix_range = (uint8_t)((layout->colours.matrix & GID_COLOUR_MATRIX_MAX) |
			layout->colours.range << RANGE_SHIFT);
	wire->transfer = layout->colours.transfer;
	wire->primaries = layout->colours.primaries;
	wire->modifier = layout->modifier;
	for (uint32_t i = 0; i < GID_PLANES_MAX && i < layout->plane_count; i++) {
		wire->planes[i].offset = layout->planes[i].offset;
		wire->planes[i].stride = layout->planes[i].stride;
	}
}

void gid_wire_get_layout(struct gid_layout *layout, const struct gid_wire_layout *wire) {
	memset(layout, 0, sizeof(*layout));
	layout->fourcc = wire->fourcc;
	layout->width = wire->width;
	layout->height = wire->height;
	layout->plane_count = wire->plane_count;
	layout->colours.matrix = wire->matrix_range & GID_COLOUR_MATRIX_MAX;
	layout->colours.range = wire->matrix_range >> RANGE_SHIFT;
	layout->colours.transfer = wire->transfer;
	layout->colours.primaries = wire->primaries;
	layout->modifier = wire->modifier;
	for (uint32_t i = 0; i < GID_PLANES_MAX; i++) {
		layout->planes[i].offset = wire->planes[i].offset;
		layout->planes[i].stride = wire->planes[i].stride;
	}
}

static const char *check_layout(const struct gid_wire_layout *wire, uint64_t slot_size) {
	struct gid_layout layout;
	gid_wire_get_layout(&layout, wire);
	for (uint32_t i = wire->plane_count; i < GID_PLANES_MAX; i++) {
		if (wire->planes[i].offset != 0 || wire->planes[i].stride != 0) {
			return "a plane that the layout does not have is not zero";
		}
	}
	switch (gid_layout_check(&layout, slot_size)) {
	case 0:
		return NULL;
	case -ENOTSUP:
		return "the layout's format is unknown";
	case -ERANGE:
		return "a plane of the layout leaves its slot";
	default:
		return "the layout's size, plane count, colour range or a stride is out of range";
	}
}

/* That all of it lies in a file whose size is at most 2^63-1, and the table behind the slots. */
static const char *check_extent(const struct slab_fields *slab) {
	uint64_t slots, end, table_end;
	if (__builtin_mul_overflow(slab->slot_size, (uint64_t)slab->slot_count, &slots) ||
			__builtin_add_overflow(slab->offset, slots, &end) || end > INT64_MAX) {
		return "the slab's offset and slots are more than a file can hold";
	}
	if (slab->generations == 0) {
		return NULL;
	}
	if (slab->memory == GID_MEMORY_DMABUF) {
		return "a dma-buf can have no generation table";
	}
	if ((slab->offset == 0) != (slab->memory == GID_MEMORY_MEMFD) ||
			slab->offset % GID_WIRE_PAGE != 0 || slab->slot_size % GID_WIRE_PAGE != 0) {
		return "slots with a generation table must be whole pages, and begin at 0, or in "
		       "a window behind its first page";
	}
	if (slab->generations < end || slab->generations % GID_WIRE_PAGE != 0 ||
			__builtin_add_overflow(slab->generations,
					(uint64_t)slab->slot_count * sizeof(uint32_t),
					&table_end) ||
			table_end > INT64_MAX) {
		return "the generation table must lie behind the slots, on a page of its own";
	}
	return NULL;
}

/* NULL, or what is wrong. */
static const char *check_slab(const struct slab_fields *slab) {
	if (slab->memory != GID_MEMORY_MEMFD && slab->memory != GID_MEMORY_DMABUF &&
			slab->memory != GID_MEMORY_WINDOW) {
		return "the kind of memory is unknown";
	}
	if (slab->memory == GID_MEMORY_WINDOW && slab->generations == 0) {
		return "a slab in a window must have a generation table";
	}
	if (slab->memory != GID_MEMORY_DMABUF && slab->layout->modifier != DRM_FORMAT_MOD_LINEAR) {
		return "only a dma-buf can have a modifier"; // others' rows are for anybody
	}
	if (slab->slot_count < 1 || slab->slot_count > GID_SLOTS_MAX) {
		return "the slot count is out of range";
	}
	if (slab->slot_count != 1 && slab->generations == 0) {
		return "a slab of several slots must have a generation table";
	}
	if (slab->slot_size == 0) {
		return "the slot size is 0";
	}
	if (slab->description_size > GID_DESCRIPTION_MAX ||
			strnlen(slab->description, GID_DESCRIPTION_MAX + 1) !=
					slab->description_size ||
			!field_is_text(slab->description, GID_DESCRIPTION_MAX + 1)) {
		return "the description is not a text of the stated size";
	}
	const char *why = check_extent(slab);
	return why != NULL ? why : check_layout(slab->layout, slab->slot_size);
}

/* --- messages: the shape of each -------------------------------------------------------------- */

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
			[GID_WIRE_UNIMPORT] = {sizeof(struct gid_wire_import), 0},
			[GID_WIRE_PUBLISH] = {sizeof(struct gid_wire_publish), 0},
			[GID_WIRE_UNPUBLISH] = {sizeof(struct gid_wire_unpublish), 0},
			[GID_WIRE_SUBSCRIBE] = {sizeof(struct gid_wire_subscribe), 2},
			[GID_WIRE_SUBSCRIBER] = {sizeof(struct gid_wire_subscriber), 2},
			[GID_WIRE_ACCEPT] = {sizeof(struct gid_wire_subscribed), 1},
			[GID_WIRE_SUBSCRIBED] = {sizeof(struct gid_wire_subscribed), 1},
			[GID_WIRE_SUBSCRIPTION_END] = {sizeof(struct gid_wire_subscription_end), 0},
			[GID_WIRE_CLOCK] = {sizeof(struct gid_wire_clock), 0},
			[GID_WIRE_DOORBELL] = {sizeof(struct gid_wire_doorbell), 1},
			[GID_WIRE_HEARING] = {sizeof(struct gid_wire_hearing), 0},
			[GID_WIRE_OFFERS] = {sizeof(struct gid_wire_offers), 0},
			[GID_WIRE_STATUS] = {sizeof(struct gid_wire_status), 0},
			[GID_WIRE_REPORT] = {sizeof(struct gid_wire_report), 1},
			[GID_WIRE_SEAL] = {sizeof(struct gid_wire_seal), 0},
			[GID_WIRE_SEALED] = {sizeof(struct gid_wire_seal), 0},
			[GID_WIRE_BELL] = {sizeof(struct gid_wire_bell), 0},
			[GID_WIRE_PING] = {sizeof(struct gid_wire_ping), 0},
			[GID_WIRE_PONG] = {sizeof(struct gid_wire_pong), 0},
			[GID_WIRE_DEVICE] = {sizeof(struct gid_wire_device), 0},
			[GID_WIRE_VECTOR] = {sizeof(struct gid_wire_vector), 0},
			[GID_WIRE_JOIN] = {sizeof(struct gid_wire_join), 0},
			[GID_WIRE_JOINED] = {sizeof(struct gid_wire_join), 0},
			[GID_WIRE_PEER] = {sizeof(struct gid_wire_peer), 0},
			[GID_WIRE_WITHDRAW] = {sizeof(struct gid_wire_withdraw), 0},
			[GID_WIRE_PUNCH] = {sizeof(struct gid_wire_allocated), 0},
			[GID_WIRE_PUNCHED] = {sizeof(struct gid_wire_allocated), 0},
			[GID_WIRE_OWN_WINDOW] = {sizeof(struct gid_wire_own_window), 0},
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
	return field_is_text(hello->name, sizeof(hello->name)) ? NULL
							       : "the name is not a valid text";
}

static const char *check_welcome(const struct gid_wire_welcome *welcome) {
	if (!gid_wire_is_domain(welcome->domain) ||
			!field_is_name(welcome->name, sizeof(welcome->name))) {
		return "the domain's number or name is not valid";
	}
	return welcome->window <= INT64_MAX ? NULL : "the window's size is out of range";
}

static const char *check_result(const struct gid_wire_result *result) {
	if (!is_error(result->error)) {
		return "the error is out of range";
	}
	return field_is_text(result->text, sizeof(result->text)) ? NULL : "the text is not valid";
}

static const char *check_export(const struct gid_wire_export *export) {
	if (export->slab > GID_SLAB_MAX) {
		return "the slab's number is out of range";
	}
	struct slab_fields slab = {
			.memory = export->memory,
			.slot_count = export->slot_count,
			.description_size = export->description_size,
			.offset = export->offset,
			.slot_size = export->slot_size,
			.generations = export->generations,
			.layout = &export->layout,
			.description = export->description,
	};
	return check_slab(&slab);
}

static const char *check_unexport(const struct gid_wire_unexport *unexport) {
	if (!gid_wire_is_slab(unexport->slab)) {
		return "the slab's number is out of range";
	}
	return unexport->reserved == 0 ? NULL : "a reserved field is not 0";
}

static const char *check_grant(const struct gid_wire_grant *grant) {
	if (!gid_wire_is_slab(grant->slab) || !gid_wire_is_domain(grant->domain) ||
			grant->allow > 1) {
		return "the slab, the domain or what is allowed is out of range";
	}
	return grant->reserved == 0 ? NULL : "a reserved field is not 0";
}

static const char *check_imported(const struct gid_wire_imported *imported) {
	if (!gid_wire_is_domain(imported->domain) || !gid_wire_is_slab(imported->slab)) {
		return "the domain's or the slab's number is out of range";
	}
	if (imported->reserved != 0) {
		return "a reserved field is not 0";
	}
	struct slab_fields slab = {
			.memory = imported->memory,
			.slot_count = imported->slot_count,
			.description_size = imported->description_size,
			.offset = imported->offset,
			.slot_size = imported->slot_size,
			.generations = imported->generations,
			.layout = &imported->layout,
			.description = imported->description,
	};
	return check_slab(&slab);
}

static const char *check_revoked(const struct gid_wire_revoked *revoked) {
	bool valid = gid_wire_is_domain(gid_domain_of(revoked->gid)) &&
			gid_wire_is_slab(gid_slab_of(revoked->gid));
	return valid ? NULL : "the gid names no slab";
}

static const char *check_publish(const struct gid_wire_publish *publish) {
	return field_is_name(publish->name, sizeof(publish->name))
			? NULL
			: "the stream's name is not valid";
}

static const char *check_unpublish(const struct gid_wire_unpublish *unpublish) {
	return unpublish->reserved == 0 ? NULL : "a reserved field is not 0";
}

static const char *check_alloc(const struct gid_wire_alloc *alloc) {
	bool named = alloc->readers == GID_WIRE_READERS_STREAM ||
			(alloc->readers == GID_WIRE_READERS_DOMAIN && alloc->name[0] != '\0');
	bool numbered = alloc->readers == GID_WIRE_READERS_DOMAIN && !named;
	if (alloc->size < 1 || alloc->size > INT64_MAX) {
		return "the size is out of range";
	}
	bool valid = alloc->readers <= GID_WIRE_READERS_DOMAIN &&
			alloc->domain <= (numbered ? GID_DOMAIN_MAX : 0) &&
			(named ? field_is_name(alloc->name, sizeof(alloc->name))
			       : field_is_text(alloc->name, sizeof(alloc->name)) &&
									alloc->name[0] == '\0');
	return valid ? NULL : "it does not say who is to read the memory";
}

static const char *check_allocated(const struct gid_wire_allocated *allocated) {
	bool valid = gid_wire_window_offset(allocated->offset) != 0 &&
			is_in_window(allocated->offset, allocated->size) && allocated->size != 0 &&
			allocated->size % GID_WIRE_PAGE == 0;
	return valid ? NULL : "the range is not one of whole pages behind a window's first";
}

static const char *check_clock(const struct gid_wire_clock *clock) {
	if (!gid_wire_is_domain(clock->domain) || clock->offset == INT64_MIN ||
			clock->error > INT64_MAX) {
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
	if (!own && !field_is_name(subscribe->domain_name, sizeof(subscribe->domain_name))) {
		return "the domain's name is not valid";
	}
	return field_is_name(subscribe->name, sizeof(subscribe->name))
			? NULL
			: "the stream's name is not valid";
}

static const char *check_subscriber(const struct gid_wire_subscriber *subscriber) {
	if (!gid_wire_is_domain(subscriber->domain) || !is_credit(subscriber->credit)) {
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
	return gid_wire_is_domain(subscribed->domain) ? NULL : "the domain is out of range";
}

static const char *check_subscription_end(const struct gid_wire_subscription_end *end) {
	return is_error(end->reason) ? NULL : "the reason is out of range";
}

static const char *check_doorbell(const struct gid_wire_doorbell *doorbell) {
	return doorbell->way <= GID_WIRE_DOORBELL_RING ? NULL : "the doorbell's way is unknown";
}

static const char *check_hearing(const struct gid_wire_hearing *hearing) {
	return hearing->on <= 1 ? NULL : "a flag is unknown";
}

static const char *check_offers(const struct gid_wire_offers *offers) {
	static const char zeroes[sizeof(offers->names[0])];
	if (offers->count > GID_WIRE_OFFERS_MAX || offers->more > 1) {
		return "the number of streams or a flag is out of range";
	}
	for (uint32_t i = 0; i < GID_WIRE_OFFERS_MAX; i++) {
		bool valid = i < offers->count
				? field_is_name(offers->names[i], sizeof(zeroes))
				: memcmp(offers->names[i], zeroes, sizeof(zeroes)) == 0;
		if (!valid) {
			return "a stream's name is not valid";
		}
	}
	return NULL;
}

static const char *check_report(const struct gid_wire_report *report) {
	return report->size >= 1 && report->size <= GID_WIRE_REPORT_MAX
			? NULL
			: "the report's size is out of range";
}

static const char *check_sealed(const struct gid_wire_seal *seal) {
	if (seal->on > 1 || seal->reserved != 0) {
		return "a flag is unknown, or a reserved field is not 0";
	}
	return (seal->since != 0) == (seal->on == 1) ? NULL : "that is no time of a seal";
}

static const char *check_seal(const struct gid_wire_seal *seal) {
	return seal->on <= 1 && seal->reserved == 0 && seal->since == 0
			? NULL
			: "a flag is unknown, or a reserved field is not 0";
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

static const char *check_vector(const struct gid_wire_vector *vector) {
	bool valid = vector->vector >= 1 && vector->vector <= GID_BELLS_POOL;
	return valid ? NULL : "the vector is out of range";
}

static const char *check_join(const struct gid_wire_join *join) {
	return join->domain == 0 && join->nonce != 0 ? NULL
						     : "the domain is not 0, or the nonce is";
}

static const char *check_joined(const struct gid_wire_join *joined) {
	return gid_wire_is_domain(joined->domain) ? NULL : "the domain is out of range";
}

static const char *check_peer(const struct gid_wire_peer *peer) {
	if (!gid_wire_is_domain(peer->domain) || peer->up > 1 || peer->fault > 1) {
		return "the domain or a flag is out of range";
	}
	return field_is_text(peer->why, sizeof(peer->why)) ? NULL
							   : "the reason is not a valid text";
}

/* A word of streams=: the name of a stream, or a pattern of names. */
static bool field_is_pattern(const char *field, size_t size) {
	return field_is_text(field, size) && field[0] != '\0' && strchr(field, ' ') == NULL;
}

static const char *check_withdraw(const struct gid_wire_withdraw *withdraw) {
	static const char zeroes[64];
	bool all = memcmp(withdraw->reader, zeroes, sizeof(zeroes)) == 0;
	bool no_stream = memcmp(withdraw->name, zeroes, sizeof(zeroes)) == 0;
	if (!field_is_name(withdraw->owner, sizeof(withdraw->owner)) ||
			(!all && !field_is_name(withdraw->reader, sizeof(withdraw->reader)))) {
		return "a domain's name is not valid";
	}
	if (withdraw->gid != 0) {
		bool valid = gid_wire_is_domain(gid_domain_of(withdraw->gid)) &&
				gid_wire_is_slab(gid_slab_of(withdraw->gid)) && all && no_stream;
		return valid ? NULL : "the gid names no slab, or is not all that is named";
	}
	return field_is_pattern(withdraw->name, sizeof(withdraw->name))
			? NULL
			: "the stream's name is not valid";
}

static const char *check_punch(const struct gid_wire_allocated *punch) {
	if (punch->size > GID_WIRE_PUNCH_MAX) {
		return "the piece is too large";
	}
	return check_allocated(punch);
}

static bool is_window_size(uint64_t size) {
	return size >= GID_WINDOW_MIN && size <= UINT64_C(1) << GID_WINDOW_SHIFT &&
			size % GID_WIRE_PAGE == 0;
}

static const char *check_own_window(const struct gid_wire_own_window *window) {
	if (window->number >= GID_WINDOWS_MAX || window->more > 1) {
		return "there is no such window";
	}
	if (!is_window_size(window->size) || window->filled > window->size ||
			window->filled % GID_WIRE_PAGE != 0) {
		return "that is no window's size";
	}
	return NULL;
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
	case GID_WIRE_UNIMPORT:
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
	case GID_WIRE_DOORBELL:
		return check_doorbell(&message->doorbell);
	case GID_WIRE_HEARING:
		return check_hearing(&message->hearing);
	case GID_WIRE_OFFERS:
		return check_offers(&message->offers);
	case GID_WIRE_STATUS:
		return NULL;
	case GID_WIRE_REPORT:
		return check_report(&message->report);
	case GID_WIRE_SEAL:
		return check_seal(&message->seal);
	case GID_WIRE_SEALED:
		return check_sealed(&message->seal);
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
	case GID_WIRE_VECTOR:
		return check_vector(&message->vector);
	case GID_WIRE_JOIN:
		return check_join(&message->join);
	case GID_WIRE_JOINED:
		return check_joined(&message->join);
	case GID_WIRE_PEER:
		return check_peer(&message->peer);
	case GID_WIRE_WITHDRAW:
		return check_withdraw(&message->withdraw);
	case GID_WIRE_PUNCH:
	case GID_WIRE_PUNCHED:
		return check_punch(&message->allocated);
	case GID_WIRE_OWN_WINDOW:
		return check_own_window(&message->own_window);
	case GID_WIRE_TYPE_END:
		break;
	}
	return "the message's type is unknown";
}

int gid_wire_check(const union gid_wire_message *message, size_t size, uint32_t fd_count,
		const char **why) {
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

/* --- between machines ------------------------------------------------------------------------- */

/* Whether the memory of a message is in a window, and the message one that gidds send each other.
 */
static bool may_be_remote(const union gid_wire_message *message) {
	switch (message->header.type) {
	case GID_WIRE_HELLO:
	case GID_WIRE_WELCOME:
	case GID_WIRE_RESULT:
	case GID_WIRE_IMPORT:
	case GID_WIRE_UNIMPORT:
	case GID_WIRE_REVOKED:
	case GID_WIRE_SUBSCRIPTION_END:
	case GID_WIRE_OFFERS:
	case GID_WIRE_BELL:
	case GID_WIRE_PING:
	case GID_WIRE_PONG:
	case GID_WIRE_DEVICE:
	case GID_WIRE_VECTOR:
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
			copy->size >= sizeof(struct gid_wire_header) &&
			copy->size <= GID_WIRE_MESSAGE_MAX;
}

bool gid_wire_window_is_valid(const struct gid_wire_window *copy, uint64_t size) {
	return copy->magic == GID_WINDOW_MAGIC && copy->version == GID_WINDOW_VERSION &&
			gid_wire_is_domain(copy->domain) && copy->size == size &&
			is_window_size(size) && copy->number < GID_WINDOWS_MAX &&
			copy->reserved == 0 && field_is_name(copy->name, sizeof(copy->name));
}

bool gid_wire_bells_is_valid(const struct gid_wire_bells *copy) {
	if (copy->magic != GID_BELLS_MAGIC || copy->version != GID_BELLS_VERSION ||
			!gid_wire_is_domain(copy->domain) || copy->cookie == 0 ||
			copy->count > GID_DOMAIN_MAX || copy->reserved != 0 ||
			copy->pool > GID_BELLS_POOL || copy->pool * copy->count > GID_BELLS_POOL ||
			copy->reserved1 != 0) {
		return false;
	}
	for (uint32_t i = 0; i < sizeof(copy->domains); i++) {
		if (i < copy->count ? !gid_wire_is_domain(copy->domains[i])
				    : copy->domains[i] != 0) {
			return false;
		}
	}
	return true;
}
