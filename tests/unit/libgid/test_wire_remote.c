// SPDX-License-Identifier: MIT
/* What goes between machines: its fields at their limits, and who may send what. */
#include "messages.h"

static void test_numbers(void) {
	union gid_wire_message m;
	fill(&m, GID_WIRE_ALLOC);
	EXPECT_RANGE(&m, m.alloc.size, 1u, (uint64_t)INT64_MAX);
	EXPECT_ZERO(&m, m.alloc.domain);
	m.alloc.name[1] = 'x';
	expect(&m, -EPROTO, "something behind the end of no name");
	strcpy(m.alloc.name, "movie");
	expect(&m, -EPROTO, "a name that nobody needs");
	m.alloc.readers = GID_WIRE_READERS_STREAM;
	expect(&m, 0, "memory for a stream");
	EXPECT_ZERO(&m, m.alloc.domain);
	m.alloc.name[0] = '/';
	expect(&m, -EPROTO, "for what is no name");
	m.alloc.name[0] = '\0';
	expect(&m, -EPROTO, "for a name with something behind its end");
	memset(m.alloc.name, 0, sizeof(m.alloc.name));
	expect(&m, -EPROTO, "for none");
	m.alloc.readers = GID_WIRE_READERS_DOMAIN;
	EXPECT_RANGE(&m, m.alloc.domain, 0u, GID_DOMAIN_MAX);
	strcpy(m.alloc.name, "cluster");
	m.alloc.domain = 0;
	expect(&m, 0, "for a domain by name");
	EXPECT_ZERO(&m, m.alloc.domain);
	m.alloc.readers = GID_WIRE_READERS_DOMAIN + 1;
	expect(&m, -EPROTO, "for nobody knows whom");
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
	fill(&m, GID_WIRE_DEVICE);
	m.device.cookie = 0;
	expect(&m, -EPROTO, "a device without a cookie");
	fill(&m, GID_WIRE_VECTOR);
	EXPECT_RANGE(&m, m.vector.vector, 1u, GID_BELLS_POOL);
	fill(&m, GID_WIRE_DOORBELL);
	EXPECT_RANGE(&m, m.doorbell.way, 0u, 1u);
	fill(&m, GID_WIRE_HEARING);
	EXPECT_RANGE(&m, m.hearing.on, 0u, 1u);
	fill(&m, GID_WIRE_JOIN);
	EXPECT_ZERO(&m, m.join.domain);
	m.join.nonce = 0;
	expect(&m, -EPROTO, "a join without a nonce");
	fill(&m, GID_WIRE_JOINED);
	EXPECT_RANGE(&m, m.join.domain, 1, GID_DOMAIN_MAX);
	fill(&m, GID_WIRE_PEER);
	EXPECT_RANGE(&m, m.peer.domain, 1, GID_DOMAIN_MAX);
	EXPECT_RANGE(&m, m.peer.up, 0u, 1u);
	EXPECT_RANGE(&m, m.peer.fault, 0u, 1u);
	memset(m.peer.why, 'x', sizeof(m.peer.why));
	expect(&m, -EPROTO, "a reason without an end");
	fill(&m, GID_WIRE_PUNCH);
	m.allocated.size += 4096;
	expect(&m, -EPROTO, "too much to be emptied at once");
	fill(&m, GID_WIRE_PUNCH);
	m.allocated.offset = 0;
	expect(&m, -EPROTO, "a window's first page is not emptied");
	fill(&m, GID_WIRE_OWN_WINDOW);
	EXPECT_RANGE(&m, m.own_window.number, 0u, GID_WINDOWS_MAX - 1);
	EXPECT_RANGE(&m, m.own_window.more, 0u, 1u);
	m.own_window.size--;
	expect(&m, -EPROTO, "a window smaller than any");
	m.own_window.size += 4096;
	expect(&m, -EPROTO, "one that ends within a page");
	m.own_window.size = (UINT64_C(1) << GID_WINDOW_SHIFT) + 4096;
	expect(&m, -EPROTO, "one larger than any");
	fill(&m, GID_WIRE_OWN_WINDOW);
	m.own_window.filled += 4096;
	expect(&m, -EPROTO, "more pages than the window has");
	m.own_window.filled = 4095;
	expect(&m, -EPROTO, "a part of a page");
}

static void test_withdraw(void) {
	union gid_wire_message m;
	fill(&m, GID_WIRE_WITHDRAW);
	memset(m.withdraw.reader, 0, sizeof(m.withdraw.reader));
	expect(&m, 0, "a stream is taken from all");
	strcpy(m.withdraw.name, "a b");
	expect(&m, -EPROTO, "two patterns");
	memset(m.withdraw.name, 0, sizeof(m.withdraw.name));
	expect(&m, -EPROTO, "neither stream nor slab");
	m.withdraw.gid = gid_make(1, 2, 3, 4);
	expect(&m, 0, "a slab is taken from all");
	strcpy(m.withdraw.reader, "cluster");
	expect(&m, -EPROTO, "a slab from one");
	fill(&m, GID_WIRE_WITHDRAW);
	m.withdraw.gid = gid_make(1, 2, 3, 4);
	expect(&m, -EPROTO, "a slab and a stream");
	fill(&m, GID_WIRE_WITHDRAW);
	strcpy(m.withdraw.owner, "/");
	expect(&m, -EPROTO, "an owner that is no name");
	fill(&m, GID_WIRE_WITHDRAW);
	strcpy(m.withdraw.reader, "/");
	expect(&m, -EPROTO, "a reader that is no name");
	fill(&m, GID_WIRE_WITHDRAW);
	memset(m.withdraw.reader, 0, sizeof(m.withdraw.reader));
	m.withdraw.gid = gid_make(1, 2, 3, 4);
	expect(&m, -EPROTO, "a slab from all, and a stream");
	memset(m.withdraw.name, 0, sizeof(m.withdraw.name));
	expect(&m, 0, "the slab alone");
	m.withdraw.gid = UINT64_C(255) << 56 | UINT64_C(1) << 32;
	expect(&m, -EPROTO, "a slab of domain 255");
	m.withdraw.gid = UINT64_C(1) << 56;
	expect(&m, -EPROTO, "what is no slab");
}

static void test_offers(void) {
	union gid_wire_message m;
	fill(&m, GID_WIRE_OFFERS);
	EXPECT_RANGE(&m, m.offers.more, 0u, 1u);
	m.offers.count = 1;
	expect(&m, -EPROTO, "a name behind the last");
	m.offers.count = 3;
	expect(&m, -EPROTO, "a name that is none");
	m.offers.count = GID_WIRE_OFFERS_MAX + 1;
	expect(&m, -EPROTO, "more names than it has room for");
	memset(&m.offers.count, 0, sizeof(m.offers) - sizeof(m.offers.header));
	expect(&m, 0, "no stream at all");
	for (uint32_t i = 0; i < GID_WIRE_OFFERS_MAX; i++) {
		strcpy(m.offers.names[i], "movie");
	}
	m.offers.count = GID_WIRE_OFFERS_MAX;
	expect(&m, 0, "as many as it has room for");
	strcpy(m.offers.names[GID_WIRE_OFFERS_MAX - 1], "a//b");
	expect(&m, -EPROTO, "a last one that is no name");
}

/* What may come in an envelope, from a domain or from the hub. */
static void test_senders(void) {
	union gid_wire_message m;
	const char *why;
	for (uint32_t type = 0; type < GID_WIRE_TYPE_END; type++) {
		uint32_t size, fds;
		if (!gid_wire_shape(type, &size, &fds)) {
			continue;
		}
		fill(&m, type);
		bool hub = type == GID_WIRE_JOIN || type == GID_WIRE_JOINED ||
				(type >= GID_WIRE_PEER && type <= GID_WIRE_OWN_WINDOW);
		bool peer = type <= GID_WIRE_RESULT || type == GID_WIRE_IMPORT ||
				type == GID_WIRE_UNIMPORT || type == GID_WIRE_REVOKED ||
				type == GID_WIRE_SUBSCRIPTION_END || type == GID_WIRE_OFFERS ||
				(type >= GID_WIRE_BELL && type <= GID_WIRE_VECTOR);
		tap_ok((gid_wire_check_remote(&m, size, true, &why) == 0) == hub &&
						(gid_wire_check_remote(&m, size, false, &why) ==
								0) == peer,
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
	window.number = GID_WINDOWS_MAX;
	tap_ok(!gid_wire_window_is_valid(&window, GID_WINDOW_MIN), "with a number");
	window.number = GID_WINDOWS_MAX - 1;
	tap_ok(gid_wire_window_is_valid(&window, GID_WINDOW_MIN), "the last one, too");
	window.reserved = 1;
	tap_ok(!gid_wire_window_is_valid(&window, GID_WINDOW_MIN), "with nothing else");
	window.reserved = 0;
	window.domain = 255;
	tap_ok(!gid_wire_window_is_valid(&window, GID_WINDOW_MIN), "of a domain");
	window.domain = 1;
	window.version++;
	tap_ok(!gid_wire_window_is_valid(&window, GID_WINDOW_MIN), "of this version");
	window.version--;
	window.size -= 4096;
	tap_ok(!gid_wire_window_is_valid(&window, window.size), "not less than any has");
}

/* The memory of a doorbell device. */
static void test_bells(void) {
	const struct gid_wire_bells good = {
			.magic = GID_BELLS_MAGIC,
			.version = GID_BELLS_VERSION,
			.domain = 2,
			.cookie = 1,
			.count = 2,
			.domains = {1, GID_DOMAIN_MAX},
	};
	struct gid_wire_bells bells = good;
	tap_ok(gid_wire_bells_is_valid(&bells), "the memory of a doorbell device");
	bells.count = 3;
	tap_ok(!gid_wire_bells_is_valid(&bells), "a vector of nobody");
	bells = good;
	bells.count = GID_DOMAIN_MAX + 1;
	memset(bells.domains, 1, sizeof(bells.domains));
	tap_ok(!gid_wire_bells_is_valid(&bells), "more vectors than there are domains");
	bells = good;
	bells.domains[255] = 1;
	tap_ok(!gid_wire_bells_is_valid(&bells), "a domain behind the last vector");
	bells = good;
	bells.domains[1] = 255;
	tap_ok(!gid_wire_bells_is_valid(&bells), "no such domain");
	bells = good;
	bells.cookie = 0;
	tap_ok(!gid_wire_bells_is_valid(&bells), "no cookie");
	bells = good;
	bells.pool = GID_BELLS_POOL / bells.count;
	tap_ok(gid_wire_bells_is_valid(&bells), "with a pool");
	bells.pool++;
	tap_ok(!gid_wire_bells_is_valid(&bells), "a pool that is too large for all who ring it");
	bells.pool = UINT32_MAX / bells.count + 1;
	tap_ok(!gid_wire_bells_is_valid(&bells), "and one that only seems small");
	bells = good;
	bells.reserved1 = 1;
	tap_ok(!gid_wire_bells_is_valid(&bells), "something behind it");
	bells = good;
	bells.magic++;
	tap_ok(!gid_wire_bells_is_valid(&bells), "another magic");
	bells = good;
	bells.version++;
	tap_ok(!gid_wire_bells_is_valid(&bells), "another version");
	bells = good;
	bells.domain = 255;
	tap_ok(!gid_wire_bells_is_valid(&bells), "of no domain");
	bells = good;
	bells.reserved = 1;
	tap_ok(!gid_wire_bells_is_valid(&bells), "something before it");
}

int main(void) {
	test_numbers();
	test_withdraw();
	test_offers();
	test_senders();
	test_envelope_and_window();
	test_bells();
	return tap_finish();
}
