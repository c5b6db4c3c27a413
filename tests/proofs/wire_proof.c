// SPDX-License-Identifier: MIT
/**
 * Decoding of what others wrote, for CBMC: no byte is read that is not there, no number overflows
 * or is shifted too far, whatever the bytes are.
 *
 * scripts/proofs replaces calls by what stands in for them: of bodies where messages are checked,
 * which bodies() and the like show by themselves; of texts and names there, of which text() and
 * name() do, for a loop over each of 2047 bytes is more than a solver can do; and of formats.
 */
#include "wire.c"

#include <stdlib.h>

#define promise(what) __CPROVER_assert(what, #what)
#define suppose(what) __CPROVER_assume(what)

bool nondet_bool(void);
size_t nondet_size(void);
uint32_t nondet_number(void);
uint64_t nondet_long(void);

/* --- what CBMC has not of libc: by what the standard says of it ------------------------------- */

size_t strnlen(const char *text, size_t max) {
	size_t length = 0;
	while (length < max && text[length] != '\0') {
		length++;
	}
	return length;
}

size_t strcspn(const char *text, const char *reject) {
	size_t length = 0;
	while (text[length] != '\0' && text[length] != reject[0]) { /* one character, here */
		length++;
	}
	return length;
}

size_t strspn(const char *text, const char *accept) {
	size_t length = 0;
	while (text[length] != '\0' && text[length] == accept[0]) { /* likewise */
		length++;
	}
	return length;
}

/* --- texts and names -------------------------------------------------------------------------- */

#define TEXT_MOST 8u
#define NAME_MOST 6u

static void *bytes_of(size_t size) {
	void *bytes = malloc(size);
	suppose(bytes != NULL);
	return bytes;
}

/* A field is a text only if it ends within itself, and has nothing behind its end. */
void text(void) {
	size_t size = nondet_size(), at = nondet_size();
	suppose(size >= 1 && size <= TEXT_MOST && at < size);
	char *field = bytes_of(size);
	if (field_is_text(field, size)) {
		promise(field[size - 1] == '\0');
		/* Of control characters there is none but the end. */
		promise(field[at] == '\0' || field[at] < 0 || field[at] >= 0x20);
	}
}

void name(void) {
	size_t size = nondet_size();
	suppose(size >= 1 && size <= NAME_MOST);
	char *bytes = bytes_of(size);
	suppose(bytes[size - 1] == '\0');
	if (gid_name_is_valid(bytes)) {
		promise(bytes[0] != '\0' && bytes[0] != '/');
	}
}

/* In place of field_is_text(). */
bool some_text(const char *field, size_t size) {
	promise(__CPROVER_r_ok(field, size));
	return nondet_bool() && field[size - 1] == '\0';
}

/* In place of strnlen(), of a field. */
size_t some_length(const char *field, size_t max) {
	promise(__CPROVER_r_ok(field, max));
	size_t length = nondet_size();
	suppose(length <= max && (length == max || field[length] == '\0'));
	return length;
}

/* In place of memcmp(), of a field and zeroes. */
int some_difference(const void *field, const void *other, size_t size) {
	promise(__CPROVER_r_ok(field, size) && __CPROVER_r_ok(other, size));
	return nondet_bool();
}

/* In place of gid_name_is_valid(), for fields. */
bool some_name(const char *bytes) {
	promise(__CPROVER_r_ok(bytes, GID_NAME_MAX + 1));
	promise(bytes[GID_NAME_MAX] == '\0');
	return nondet_bool();
}

/* In place of gid_format_find(), of which pages() has the other half: one layout has one format. */
const struct gid_format_info *some_format(uint32_t fourcc) {
	static uint32_t asked;
	static size_t place;
	static bool is_chosen;
	if (!is_chosen) {
		asked = fourcc;
		place = nondet_size();
		is_chosen = true;
	}
	promise(fourcc == asked);
	return gid_format_at(place);
}

/* --- messages --------------------------------------------------------------------------------- */

/* What checks a message, by its name, and what is in it. Those with much to look at come last. */
#define SMALL_BODIES(BODY)                                                                         \
	BODY(hello, hello)                                                                         \
	BODY(welcome, welcome)                                                                     \
	BODY(result, result)                                                                       \
	BODY(unexport, unexport)                                                                   \
	BODY(grant, grant)                                                                         \
	BODY(revoked, revoked)                                                                     \
	BODY(alloc, alloc)                                                                         \
	BODY(allocated, allocated)                                                                 \
	BODY(publish, publish)                                                                     \
	BODY(unpublish, unpublish)                                                                 \
	BODY(subscribe, subscribe)                                                                 \
	BODY(subscriber, subscriber)                                                               \
	BODY(accept, subscribed)                                                                   \
	BODY(subscribed, subscribed)                                                               \
	BODY(subscription_end, subscription_end)                                                   \
	BODY(clock, clock)                                                                         \
	BODY(doorbell, doorbell)                                                                   \
	BODY(hearing, hearing)                                                                     \
	BODY(report, report)                                                                       \
	BODY(seal, seal)                                                                           \
	BODY(sealed, seal)                                                                         \
	BODY(bell, bell)                                                                           \
	BODY(ping, ping)                                                                           \
	BODY(pong, pong)                                                                           \
	BODY(device, device)                                                                       \
	BODY(vector, vector)                                                                       \
	BODY(join, join)                                                                           \
	BODY(joined, join)                                                                         \
	BODY(peer, peer)                                                                           \
	BODY(withdraw, withdraw)                                                                   \
	BODY(punch, allocated)                                                                     \
	BODY(own_window, own_window)
#define BODIES(BODY)                                                                               \
	SMALL_BODIES(BODY)                                                                         \
	BODY(export, export)                                                                       \
	BODY(imported, imported)                                                                   \
	BODY(offers, offers)

static const char *some_answer(void) {
	return nondet_bool() ? NULL : "why";
}

/* So many bytes of the message have come. */
static size_t come;

/* In place of each check: it is only made where all of what it looks at has come. */
#define STAND_IN(name, type)                                                                       \
	const char *some_##name(const struct gid_wire_##type *body) {                              \
		promise(sizeof(*body) <= come);                                                    \
		return some_answer();                                                              \
	}
BODIES(STAND_IN)

static int check(const union gid_wire_message *message, const char **why) {
	return nondet_bool() ? gid_wire_check(message, come, nondet_number(), why)
			     : gid_wire_check_remote(message, come, nondet_bool(), why);
}

/* A message of any size and type, up to what is made of its body. */
void messages(void) {
	union gid_wire_message *message = bytes_of(sizeof(*message));
	uint32_t exact, fd_count;
	const char *why;
	come = nondet_size();
	suppose(come >= sizeof(message->header));
	int ret = check(message, &why);
	promise(ret == 0 || ret == -EPROTO);
	promise((ret == 0) == (why == NULL));
	if (ret == 0) {
		promise(gid_wire_shape(message->header.type, &exact, &fd_count) && exact == come);
		promise(message->header.size == come && fd_count <= GID_WIRE_FDS_MAX);
	}
}

/* One that is shorter than its header is not looked at. */
void short_message(void) {
	const char *why;
	come = nondet_size();
	suppose(come >= 1 && come < sizeof(struct gid_wire_header));
	promise(check(bytes_of(come), &why) == -EPROTO);
}

/* Each check itself, of a body of any bytes. */
#define CHECK(name, type) check_##name(bytes_of(sizeof(struct gid_wire_##type)));

void bodies(void) {
	SMALL_BODIES(CHECK)
}

void exported(void) {
	CHECK(export, export)
}

void imported(void) {
	CHECK(imported, imported)
}

void offers(void) {
	CHECK(offers, offers)
}

/* --- what lies in shared memory --------------------------------------------------------------- */

static bool is_time(uint64_t time) {
	return time <= INT64_MAX || time == GID_TIME_NONE;
}

static bool is_within(struct gid_box box) {
	return box.x >= 0 && box.y >= 0 && box.width >= 0 && box.height >= 0 &&
			box.x + box.width <= (int32_t)GID_SIZE_MAX &&
			box.y + box.height <= (int32_t)GID_SIZE_MAX;
}

void frame(void) {
	struct gid_wire_frame *copy = bytes_of(sizeof(*copy));
	struct gid_frame got;
	uint32_t domain = nondet_number();
	if (gid_wire_get_frame(&got, copy, domain) != 0) {
		return;
	}
	promise(is_time(got.submit_time) && is_time(got.capture_time) && is_time(got.pts));
	promise(is_time(got.present_time) && is_time(got.dts) && is_time(got.duration));
	promise((got.gid == GID_NONE) ==
			((got.flags & (GID_FRAME_EOS | GID_FRAME_FLUSH | GID_FRAME_HIDDEN)) != 0));
	promise(got.gid == GID_NONE ||
			(gid_domain_of(got.gid) == domain && gid_slab_of(got.gid) >= 1 &&
					gid_slot_of(got.gid) < GID_SLOTS_MAX));
	promise(is_within(got.damage) && is_within(got.crop));
	promise(got.transform <= 7 && got.note_size <= GID_NOTE_MAX && got.note == NULL);
	promise(got.metadata == GID_NONE || gid_slot_of(got.metadata) < GID_SLOTS_MAX);
}

void pages(void) {
	struct gid_shown *shown = bytes_of(sizeof(*shown));
	struct gid_showable *showable = bytes_of(sizeof(*showable));
	uint64_t last = nondet_long();
	if (gid_wire_shown_is_right(shown, last, nondet_long())) {
		promise(shown->sequence >= 1 && shown->sequence <= last);
		promise(shown->refresh_ns <= 1000000000);
		promise(shown->window_ns <= shown->refresh_ns);
	}
	if (gid_wire_showable_is_right(showable)) {
		promise(showable->memory >= 1 && showable->memory <= 3);
	}
}

void machines(void) {
	struct gid_wire_envelope *envelope = bytes_of(sizeof(*envelope));
	struct gid_wire_window *window = bytes_of(sizeof(*window));
	struct gid_wire_bells *bells = bytes_of(sizeof(*bells));
	if (gid_wire_envelope_is_valid(envelope)) {
		promise(envelope->size <= sizeof(union gid_wire_message));
	}
	uint64_t size = nondet_long();
	if (gid_wire_window_is_valid(window, size)) {
		promise(size % 4096 == 0 && size >= 1 << 20 && window->number < GID_WINDOWS_MAX);
	}
	if (gid_wire_bells_is_valid(bells)) {
		promise(bells->count <= sizeof(bells->domains) && bells->domains[255] == 0);
	}
}
