// SPDX-License-Identifier: MIT
/* Every field of every message at its limits, just past them, and with each single byte changed. */
#include "tap.h"
#include "wire.h"
#include "wire_ring.h"

#include <errno.h>
#include <string.h>

#define XRGB8888 0x34325258u /* DRM_FORMAT_XRGB8888 */

/* The outcome of a message as it stands, with the size and descriptors of its type. */
static int check(const union gid_wire_message *message, const char **why) {
	uint32_t size = 0, fd_count = 0;
	gid_wire_shape(message->header.type, &size, &fd_count);
	return gid_wire_check(message, size, fd_count, why);
}

static void expect(const union gid_wire_message *message, int result, const char *what) {
	const char *why;
	int got = check(message, &why);
	tap_ok(got == result && (why == NULL) == (result == 0), "%s gives %d (got %d: %s)", what,
		result, got, why == NULL ? "valid" : why);
}

static void put_picture(struct gid_wire_layout *layout) {
	*layout = (struct gid_wire_layout){
		.fourcc = XRGB8888,
		.width = 64,
		.height = 16,
		.plane_count = 1,
		.planes = {{0, 256}},
	};
}

/* A valid message of the type, with something in every field that may have something. */
static void fill(union gid_wire_message *m, uint32_t type) {
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
	case GID_WIRE_REPORT:
		m->report.size = 2;
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
	case GID_WIRE_UNPUBLISH:
	case GID_WIRE_ACCEPT:
	case GID_WIRE_STATUS:
	case GID_WIRE_BELL:
	case GID_WIRE_PING:
	case GID_WIRE_PONG:
	case GID_WIRE_TYPE_END:
		break;
	}
}

/* Sizes, descriptors and the header of every type, known or not. */
static void test_shapes(void) {
	union gid_wire_message m;
	const char *why;
	int known = 0;
	for (uint32_t type = 0; type < 4096; type++) {
		uint32_t size, fd_count;
		if (!gid_wire_shape(type, &size, &fd_count)) {
			gid_wire_begin(&m, type, 0);
			m.header.size = sizeof(m.header);
			if (gid_wire_check(&m, sizeof(m.header), 0, &why) != -EPROTO) {
				tap_ok(false, "type %u is refused", type);
			}
			continue;
		}
		known++;
		fill(&m, type);
		expect(&m, 0, "a valid message");
		bool exact = true;
		for (uint32_t other = 0; other <= GID_WIRE_MESSAGE_MAX + 1; other++) {
			exact &=
				(gid_wire_check(&m, other, fd_count, &why) == 0) == (other == size);
		}
		tap_ok(exact, "type %u is %u bytes and nothing else", type, size);
		exact = true;
		for (uint32_t other = 0; other <= GID_WIRE_FDS_MAX + 1; other++) {
			exact &=
				(gid_wire_check(&m, size, other, &why) == 0) == (other == fd_count);
		}
		tap_ok(exact, "type %u has %u descriptors and nothing else", type, fd_count);
		m.header.size++;
		expect(&m, -EPROTO, "a size in the header that is not its own");
		m.header.size--;
		m.header.reserved = 1;
		expect(&m, -EPROTO, "a header with a reserved bit");
	}
	tap_ok(known == 28, "28 types are known (%d)", known);
	tap_ok(!gid_wire_shape(UINT32_MAX, &(uint32_t){0}, &(uint32_t){0}),
		"the last type is none");
}

/* Each reserved field refuses every single bit. `m` must be valid. */
#define EXPECT_ZERO(m, field)                                                                      \
	do {                                                                                       \
		bool refused = true;                                                               \
		const char *why_;                                                                  \
		for (unsigned bit = 0; bit < 8 * sizeof(field); bit++) {                           \
			(field) ^= (__typeof__(field))1 << bit;                                    \
			refused &= check(m, &why_) == -EPROTO;                                     \
			(field) ^= (__typeof__(field))1 << bit;                                    \
		}                                                                                  \
		tap_ok(refused, "%s must be 0", #field);                                           \
	} while (0)

/* The field takes `least` and `most`, and not what lies beside them. */
#define EXPECT_RANGE(m, field, least, most)                                                        \
	do {                                                                                       \
		const char *why_;                                                                  \
		__typeof__(field) old_ = (field);                                                  \
		(field) = (least);                                                                 \
		bool good_ = check(m, &why_) == 0;                                                 \
		(field) = (most);                                                                  \
		good_ &= check(m, &why_) == 0;                                                     \
		(field) = (least);                                                                 \
		(field)--;                                                                         \
		good_ &= check(m, &why_) == -EPROTO;                                               \
		(field) = (most);                                                                  \
		(field)++;                                                                         \
		good_ &= check(m, &why_) == -EPROTO;                                               \
		(field) = old_;                                                                    \
		tap_ok(good_, "%s is from %s to %s", #field, #least, #most);                       \
	} while (0)

static void test_numbers(void) {
	union gid_wire_message m;
	fill(&m, GID_WIRE_HELLO);
	m.hello.domain = GID_DOMAIN_MAX;
	expect(&m, 0, "hello of the last domain");
	m.hello.domain++;
	expect(&m, -EPROTO, "hello of a domain past the last");

	fill(&m, GID_WIRE_WELCOME);
	EXPECT_RANGE(&m, m.welcome.domain, 1, GID_DOMAIN_MAX);
	EXPECT_RANGE(&m, m.welcome.window, 0u, (uint64_t)INT64_MAX);

	fill(&m, GID_WIRE_RESULT);
	EXPECT_RANGE(&m, m.result.error, -4095, 0);

	fill(&m, GID_WIRE_UNEXPORT);
	EXPECT_RANGE(&m, m.unexport.slab, 1, GID_SLAB_MAX);
	EXPECT_ZERO(&m, m.unexport.reserved);

	fill(&m, GID_WIRE_GRANT);
	EXPECT_RANGE(&m, m.grant.slab, 1, GID_SLAB_MAX);
	EXPECT_RANGE(&m, m.grant.domain, 1, GID_DOMAIN_MAX);
	EXPECT_RANGE(&m, m.grant.allow, 0, 1);
	EXPECT_ZERO(&m, m.grant.reserved);

	fill(&m, GID_WIRE_REVOKED);
	m.revoked.gid = gid_make(1, 1, 0, 0);
	expect(&m, 0, "the first gid revoked");
	m.revoked.gid = UINT64_C(1) << 56;
	expect(&m, -EPROTO, "a gid without a slab revoked");
	m.revoked.gid = UINT64_C(255) << 56 | UINT64_C(1) << 32;
	expect(&m, -EPROTO, "a gid of domain 255 revoked");
	m.revoked.gid = UINT64_C(1) << 32;
	expect(&m, -EPROTO, "a gid of domain 0 revoked");

	fill(&m, GID_WIRE_UNPUBLISH);
	EXPECT_ZERO(&m, m.unpublish.reserved);

	fill(&m, GID_WIRE_SUBSCRIBE);
	EXPECT_RANGE(&m, m.subscribe.credit, 1, GID_CREDIT_MAX);
	m.subscribe.domain = GID_DOMAIN_MAX + 1;
	expect(&m, -EPROTO, "subscribe to a domain past the last");
	m.subscribe.domain = GID_DOMAIN_MAX;
	m.subscribe.flags = GID_WIRE_SUBSCRIBE_FLAGS + 1;
	expect(&m, -EPROTO, "subscribe with an unknown flag");

	fill(&m, GID_WIRE_SUBSCRIBER);
	EXPECT_RANGE(&m, m.subscriber.domain, 1, GID_DOMAIN_MAX);
	EXPECT_RANGE(&m, m.subscriber.credit, 1, GID_CREDIT_MAX);
	EXPECT_ZERO(&m, m.subscriber.reserved);
	m.subscriber.flags = UINT32_C(1) << 31;
	expect(&m, -EPROTO, "subscriber with an unknown flag");

	fill(&m, GID_WIRE_ACCEPT);
	EXPECT_ZERO(&m, m.subscribed.domain);
	m.subscribed.window_offset = 4096;
	expect(&m, 0, "a ring in a window");
	m.subscribed.window_offset = 4097;
	expect(&m, -EPROTO, "a ring that begins within a page");
	m.subscribed.window_offset = INT64_MAX & ~UINT64_C(4095);
	expect(&m, -EPROTO, "a ring that leaves every window");
	fill(&m, GID_WIRE_SUBSCRIBED);
	EXPECT_RANGE(&m, m.subscribed.domain, 1, GID_DOMAIN_MAX);
	fill(&m, GID_WIRE_SUBSCRIPTION_END);
	EXPECT_RANGE(&m, m.subscription_end.reason, -4095, 0);
	fill(&m, GID_WIRE_REPORT);
	EXPECT_RANGE(&m, m.report.size, 1u, UINT64_C(64) << 20);
	fill(&m, GID_WIRE_IMPORTED);
	EXPECT_ZERO(&m, m.imported.reserved);
	EXPECT_RANGE(&m, m.imported.domain, 1, GID_DOMAIN_MAX);
	EXPECT_RANGE(&m, m.imported.slab, 1, GID_SLAB_MAX);
}

/* What goes between machines. */
static void test_remote_numbers(void) {
	union gid_wire_message m;
	fill(&m, GID_WIRE_ALLOC);
	EXPECT_RANGE(&m, m.alloc.size, 1u, (uint64_t)INT64_MAX);
	fill(&m, GID_WIRE_FREE);
	m.allocated.offset = 0;
	expect(&m, -EPROTO, "a window's first page is not freed");
	m.allocated.offset = 4095;
	expect(&m, -EPROTO, "a range that begins within a page");
	m.allocated.offset = 4096;
	m.allocated.size = 4097;
	expect(&m, -EPROTO, "a range that ends within a page");
	m.allocated.size = 0;
	expect(&m, -EPROTO, "no range");
	m.allocated.size = INT64_MAX & ~UINT64_C(4095);
	expect(&m, -EPROTO, "a range that ends past all files");
	fill(&m, GID_WIRE_CLOCK);
	EXPECT_RANGE(&m, m.clock.domain, 1, GID_DOMAIN_MAX);
	EXPECT_ZERO(&m, m.clock.reserved);
	EXPECT_RANGE(&m, m.clock.error, 0u, (uint64_t)INT64_MAX);
	m.clock.offset = INT64_MIN;
	expect(&m, -EPROTO, "an offset without its opposite");
	fill(&m, GID_WIRE_BELL);
	EXPECT_RANGE(&m, m.bell.hung_up, 0u, 1u);
	fill(&m, GID_WIRE_PING);
	EXPECT_RANGE(&m, m.ping.time, 0u, (uint64_t)INT64_MAX);
	fill(&m, GID_WIRE_PONG);
	EXPECT_RANGE(&m, m.pong.time, 0u, (uint64_t)INT64_MAX);
	EXPECT_RANGE(&m, m.pong.ping_time, 0u, (uint64_t)INT64_MAX);
	fill(&m, GID_WIRE_JOIN);
	EXPECT_ZERO(&m, m.join.domain);
	m.join.nonce = 0;
	expect(&m, -EPROTO, "a join without a nonce");
	fill(&m, GID_WIRE_JOINED);
	EXPECT_RANGE(&m, m.join.domain, 1, GID_DOMAIN_MAX);
	fill(&m, GID_WIRE_PEER);
	EXPECT_RANGE(&m, m.peer.domain, 1, GID_DOMAIN_MAX);
	EXPECT_RANGE(&m, m.peer.up, 0u, 1u);
	EXPECT_ZERO(&m, m.peer.reserved);
	memset(m.peer.why, 'x', sizeof(m.peer.why));
	expect(&m, -EPROTO, "a reason without an end");
}

/* A slab in a window has its table there, too, and neither is on the first page. */
static void test_window_slabs(void) {
	union gid_wire_message m;
	fill(&m, GID_WIRE_EXPORT);
	m.export.memory = GID_MEMORY_WINDOW;
	expect(&m, -EPROTO, "a slab on a window's first page");
	m.export.offset = 4096;
	expect(&m, -EPROTO, "a table among the slots");
	m.export.generations += 4096;
	expect(&m, 0, "a slab in a window");
	m.export.offset = 4097;
	expect(&m, -EPROTO, "a slab that begins within a page");
	m.export.offset = 4096;
	m.export.generations = 0;
	m.export.slot_count = 1;
	expect(&m, -EPROTO, "a slab in a window without a table");
}

/* What may come in an envelope, from a domain or from the hub. */
static void test_remote(void) {
	union gid_wire_message m;
	const char *why;
	for (uint32_t type = 0; type < GID_WIRE_TYPE_END; type++) {
		uint32_t size, fds;
		if (!gid_wire_shape(type, &size, &fds)) {
			continue;
		}
		fill(&m, type);
		bool hub =
			type == GID_WIRE_JOIN || type == GID_WIRE_JOINED || type == GID_WIRE_PEER;
		bool peer = type <= GID_WIRE_RESULT || type == GID_WIRE_IMPORT ||
			type == GID_WIRE_REVOKED || type == GID_WIRE_SUBSCRIPTION_END ||
			(type >= GID_WIRE_BELL && type <= GID_WIRE_PONG);
		tap_ok((gid_wire_check_remote(&m, size, true, &why) == 0) == hub &&
				(gid_wire_check_remote(&m, size, false, &why) == 0) == peer,
			"type %u comes from those that may send it", type);
	}
	fill(&m, GID_WIRE_ACCEPT);
	m.subscribed.window_offset = 4096;
	tap_ok(gid_wire_check_remote(&m, sizeof(m.subscribed), false, &why) == 0,
		"a ring in a window can be told of");
	tap_ok(gid_wire_check_remote(&m, 3, false, &why) == -EPROTO, "half a header is nothing");
}

static void test_envelope_and_window(void) {
	struct gid_wire_envelope envelope = {GID_ENVELOPE_MAGIC, GID_DOMAIN_MAX, 0, 16};
	tap_ok(gid_wire_envelope_is_valid(&envelope), "an envelope of the last domain");
	envelope.domain++;
	tap_ok(!gid_wire_envelope_is_valid(&envelope), "none past it");
	envelope = (struct gid_wire_envelope){GID_ENVELOPE_MAGIC, 0, 0, 15};
	tap_ok(!gid_wire_envelope_is_valid(&envelope), "none with less than a header");
	envelope.size = GID_WIRE_MESSAGE_MAX + 1;
	tap_ok(!gid_wire_envelope_is_valid(&envelope), "none with too much");
	struct gid_wire_window window = {
		.magic = GID_WINDOW_MAGIC,
		.version = GID_WINDOW_VERSION,
		.domain = 1,
		.size = GID_WINDOW_MIN,
		.name = "open",
	};
	tap_ok(gid_wire_window_is_valid(&window, GID_WINDOW_MIN), "a window");
	tap_ok(!gid_wire_window_is_valid(&window, GID_WINDOW_MIN * 2), "of its very size");
	window.name[0] = '/';
	tap_ok(!gid_wire_window_is_valid(&window, GID_WINDOW_MIN), "with a name");
	window.name[0] = 'o';
	window.domain = 255;
	tap_ok(!gid_wire_window_is_valid(&window, GID_WINDOW_MIN), "of a domain");
}

/* Every byte value in a text: alone, at its end, and unterminated. */
static void test_texts(void) {
	union gid_wire_message m;
	const char *why;
	bool text_good = true, name_good = true;
	for (int c = 1; c < 256; c++) {
		fill(&m, GID_WIRE_HELLO);
		memset(m.hello.name, 0, sizeof(m.hello.name));
		m.hello.name[0] = (char)c;
		text_good &= (check(&m, &why) == 0) == (c >= 0x20 && c < 0x7f);
		fill(&m, GID_WIRE_PUBLISH);
		memset(m.publish.name, 0, sizeof(m.publish.name));
		m.publish.name[0] = 'a', m.publish.name[1] = (char)c, m.publish.name[2] = 'z';
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			(c >= '0' && c <= '9') || strchr("-_./", c) != NULL;
		name_good &= (check(&m, &why) == 0) == letter;
	}
	tap_ok(text_good, "a text of one byte is printable ASCII");
	tap_ok(name_good, "a name has letters, digits and -_./ only");

	static const struct {
		const char *text;
		bool valid;
	} texts[] = {
		{"", true},
		{"é", true},
		{"\u20ac", true},
		{"\U0001f4fd", true},
		{"\U0010ffff", true},
		{"\xc2\xa0", true},
		{"\xc2\x9f", false},
		{"\xc2\x80", false},
		{"\xc2", false},
		{"\xc0\x80", false},
		{"\xc1\xbf", false},
		{"\xe0\x9f\xbf", false},
		{"\xe0\xa0\x80", true},
		{"\xed\xa0\x80", false},
		{"\xed\x9f\xbf", true},
		{"\xf0\x8f\xbf\xbf", false},
		{"\xf0\x90\x80\x80", true},
		{"\xf4\x90\x80\x80", false},
		{"\xf5\x80\x80\x80", false},
		{"\x80", false},
		{"\xe2\x82", false},
		{"\xe2\x82z", false},
		{"a\x1b[31m", false},
		{"a\nb", false},
		{"a\tb", false},
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		bool got = gid_wire_text_is_valid(texts[i].text, strlen(texts[i].text));
		tap_ok(got == texts[i].valid, "text %zu is %s", i, texts[i].valid ? "good" : "bad");
	}

	fill(&m, GID_WIRE_PUBLISH);
	memset(m.publish.name, 'a', sizeof(m.publish.name) - 1);
	expect(&m, 0, "a name of 63 bytes");
	m.publish.name[63] = 'a';
	expect(&m, -EPROTO, "a name that is not terminated");
	memset(m.publish.name, 0, sizeof(m.publish.name));
	expect(&m, -EPROTO, "an empty name");
	fill(&m, GID_WIRE_PUBLISH);
	m.publish.name[63] = 'x';
	expect(&m, -EPROTO, "bytes behind a name's end");
	fill(&m, GID_WIRE_SUBSCRIBE);
	memset(m.subscribe.domain_name, 0, sizeof(m.subscribe.domain_name));
	expect(&m, 0, "subscribe to the own domain");
	m.subscribe.domain_name[1] = 'x';
	expect(&m, -EPROTO, "bytes behind an empty domain name");
	fill(&m, GID_WIRE_RESULT);
	memset(m.result.text, 'a', sizeof(m.result.text));
	expect(&m, -EPROTO, "a result's text that is not terminated");
}

static void test_slabs(void) {
	union gid_wire_message m;
	struct gid_wire_export *e = &m.export;

	fill(&m, GID_WIRE_EXPORT);
	EXPECT_RANGE(&m, e->memory, GID_MEMORY_MEMFD, GID_MEMORY_MEMFD);
	e->slab = GID_SLAB_MAX;
	expect(&m, 0, "the last slab");
	e->slab++;
	expect(&m, -EPROTO, "a slab past the last");

	fill(&m, GID_WIRE_EXPORT);
	e->generations = UINT64_C(4096) * GID_SLOTS_MAX;
	EXPECT_RANGE(&m, e->slot_count, 1, GID_SLOTS_MAX);
	e->slot_count = GID_SLOTS_MAX;
	e->generations -= 4096;
	expect(&m, -EPROTO, "a generation table inside the last slot");
	e->generations += 4097;
	expect(&m, -EPROTO, "a generation table that is not on a page");
	e->generations = INT64_MAX / 4096 * 4096;
	expect(&m, -EPROTO, "a generation table that leaves the file");
	e->generations = UINT64_MAX / 4096 * 4096;
	expect(&m, -EPROTO, "a generation table that wraps around");

	fill(&m, GID_WIRE_EXPORT);
	e->generations = 0;
	expect(&m, -EPROTO, "several slots without a generation table");
	e->slot_count = 1;
	expect(&m, 0, "one slot without a generation table");
	e->offset = 1;
	expect(&m, 0, "one slot with an offset");
	e->generations = 8192;
	expect(&m, -EPROTO, "a generation table and an offset");
	e->generations = 0;
	e->offset = INT64_MAX - 4096;
	expect(&m, 0, "a slot at the end of the largest file");
	e->offset++;
	expect(&m, -EPROTO, "a slot past the end of the largest file");
	e->offset = UINT64_MAX;
	expect(&m, -EPROTO, "an offset that wraps around");
	e->offset = 0;
	e->slot_size = 4095;
	expect(&m, -EPROTO, "a slot one byte too small for its picture");
	e->slot_size = 0;
	expect(&m, -EPROTO, "a slot of no size");
	fill(&m, GID_WIRE_EXPORT);
	e->slot_size = UINT64_MAX / 4 + 1;
	expect(&m, -EPROTO, "slots whose sum wraps to 0");
	e->slot_size = 4097;
	e->generations = 40960;
	expect(&m, -EPROTO, "slots with a table that are not whole pages");

	fill(&m, GID_WIRE_EXPORT);
	e->description_size++;
	expect(&m, -EPROTO, "a description shorter than it says");
	e->description_size -= 2;
	expect(&m, -EPROTO, "a description longer than it says");
	memset(e->description, 'a', GID_DESCRIPTION_MAX);
	e->description_size = GID_DESCRIPTION_MAX;
	expect(&m, 0, "the longest description");
	e->description[GID_DESCRIPTION_MAX] = 'a';
	e->description_size++;
	expect(&m, -EPROTO, "a description past the longest");

	fill(&m, GID_WIRE_IMPORTED);
	m.imported.generations = 8192;
	expect(&m, -EPROTO, "a dma-buf with a generation table");
}

static void test_layouts(void) {
	union gid_wire_message m;
	struct gid_wire_layout *l = &m.export.layout;
	fill(&m, GID_WIRE_EXPORT);
	m.export.slot_size = UINT64_C(1) << 31;
	m.export.slot_count = 1;
	m.export.generations = UINT64_C(1) << 31;
	EXPECT_RANGE(&m, l->plane_count, 1, 1);
	EXPECT_RANGE(&m, l->height, 1, GID_SIZE_MAX);
	l->planes[0].stride = GID_SIZE_MAX * 4 + 4;
	EXPECT_RANGE(&m, l->width, 1, GID_SIZE_MAX);
	l->fourcc = 0x20202020;
	expect(&m, -EPROTO, "an unknown format");
	l->fourcc = 0;
	expect(&m, -EPROTO, "no format");
	fill(&m, GID_WIRE_EXPORT);
	l->planes[0].stride = 255;
	expect(&m, -EPROTO, "a stride shorter than a row");
	l->planes[0].stride = UINT32_MAX;
	expect(&m, -EPROTO, "a stride that leaves the slot");
	l->planes[0].stride = 256;
	l->planes[0].offset = 1;
	expect(&m, -EPROTO, "a plane that ends one byte behind its slot");
	l->planes[0].offset = UINT32_MAX;
	expect(&m, -EPROTO, "a plane that begins behind its slot");
	fill(&m, GID_WIRE_EXPORT);
	for (uint32_t plane = 1; plane < GID_PLANES_MAX; plane++) {
		EXPECT_ZERO(&m, l->planes[plane].offset);
		EXPECT_ZERO(&m, l->planes[plane].stride);
	}
	struct gid_layout layout = {.fourcc = XRGB8888,
				  .width = 3,
				  .height = 2,
				  .plane_count = 2,
				  .modifier = 5,
				  .planes = {{1, 2}, {3, 4}, {5, 6}}},
			  back;
	struct gid_wire_layout wire;
	gid_wire_put_layout(&wire, &layout);
	gid_wire_get_layout(&back, &wire);
	tap_ok(back.planes[1].stride == 4 && back.planes[2].offset == 0 && back.modifier == 5 &&
			back.width == 3 && back.height == 2 && back.fourcc == XRGB8888,
		"a layout comes back without the planes that it does not have");
}

static const struct gid_frame good_frame = {
	.gid = UINT64_C(1) << 56 | UINT64_C(42) << 32 | 3 << 16 | 7,
	.sequence = 9,
	.capture_time = GID_TIME_NONE,
	.submit_time = 1,
	.present_time = INT64_MAX,
	.pts = 0,
	.dts = GID_TIME_NONE,
	.duration = 2,
	.damage = {1, 2, 3, 4},
	.crop = {GID_SIZE_MAX - 1, 0, 1, GID_SIZE_MAX},
	.content_hash = UINT64_MAX,
	.flags = GID_FRAME_HASH | GID_FRAME_DELTA,
	.transform = 7,
	.index = UINT64_MAX,
};

/* A bad frame is refused on the way out, and on the way in where it can be written down at all. */
static void expect_bad_frame(struct gid_frame frame, const char *what) {
	struct gid_wire_frame wire;
	tap_ok(gid_wire_put_frame(&wire, &frame) == -EINVAL, "%s is not sent", what);
}

static void test_frames(void) {
	struct gid_wire_frame wire, bad;
	struct gid_frame back;
	tap_ok(gid_wire_put_frame(&wire, &good_frame) == 0, "a good frame is sent");
	tap_ok(gid_wire_get_frame(&back, &wire, 1) == 0 &&
			memcmp(&back, &good_frame, sizeof(back)) == 0,
		"and comes back exactly");
	tap_ok(gid_wire_get_frame(&back, &wire, 2) == -EPROTO, "but not from another domain");

	struct gid_frame frame = good_frame;
	frame.flags = UINT32_C(1) << 7;
	expect_bad_frame(frame, "an unknown flag");
	frame.flags = GID_FRAME_EOS;
	expect_bad_frame(frame, "an end of stream with a picture");
	frame = good_frame, frame.gid = GID_NONE;
	expect_bad_frame(frame, "a frame without a picture");
	frame.flags = GID_FRAME_EOS;
	tap_ok(gid_wire_put_frame(&bad, &frame) == 0 && gid_wire_get_frame(&back, &bad, 1) == 0,
		"an end of stream without a picture is good");
	frame = good_frame, frame.transform = 8;
	expect_bad_frame(frame, "an unknown transform");
	frame = good_frame, frame.damage.x = -1;
	expect_bad_frame(frame, "a negative box");
	frame = good_frame, frame.damage.width = INT32_MIN;
	expect_bad_frame(frame, "a negative width");
	frame = good_frame, frame.crop.x++;
	expect_bad_frame(frame, "a box past the largest picture");
	frame = good_frame, frame.crop.height = INT32_MAX;
	expect_bad_frame(frame, "a box that overflows");
	frame = good_frame, frame.pts = (uint64_t)INT64_MAX + 1;
	expect_bad_frame(frame, "a time out of range");
	frame = good_frame, frame.gid = UINT64_C(1) << 56 | (uint64_t)GID_SLOTS_MAX << 16;
	expect_bad_frame(frame, "a gid without a slab");
	frame.gid = UINT64_C(1) << 56 | UINT64_C(1) << 32 | (uint64_t)GID_SLOTS_MAX << 16;
	expect_bad_frame(frame, "a gid with a slot past the last");

	/* The other way: single bits of what a peer wrote. Whatever is taken must be good to send.
	 */
	bool closed = true;
	for (size_t bit = 0; bit < 8 * sizeof(wire); bit++) {
		bad = wire;
		((uint8_t *)&bad)[bit / 8] ^= (uint8_t)(1u << bit % 8);
		int result = gid_wire_get_frame(&back, &bad, 1);
		bool reserved = bit / 8 >= offsetof(struct gid_wire_frame, reserved);
		if (result == 0) {
			struct gid_wire_frame again;
			closed &= !reserved && gid_wire_put_frame(&again, &back) == 0 &&
				memcmp(&again, &bad, sizeof(bad)) == 0;
		} else {
			closed &= result == -EPROTO;
		}
	}
	tap_ok(closed, "each entry with one bit changed is refused or taken exactly as it is");
}

int main(void) {
	test_shapes();
	test_numbers();
	test_remote_numbers();
	test_window_slabs();
	test_remote();
	test_envelope_and_window();
	test_texts();
	test_slabs();
	test_layouts();
	test_frames();
	return tap_finish();
}
