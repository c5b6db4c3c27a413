// SPDX-License-Identifier: MIT
/* Every type of message: its size, its descriptors, and its numbers and texts at their limits. */
#include "messages.h"

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
			exact &= (gid_wire_check(&m, other, fd_count, &why) == 0) ==
					(other == size);
		}
		tap_ok(exact, "type %u is %u bytes and nothing else", type, size);
		exact = true;
		for (uint32_t other = 0; other <= GID_WIRE_FDS_MAX + 1; other++) {
			exact &= (gid_wire_check(&m, size, other, &why) == 0) ==
					(other == fd_count);
		}
		tap_ok(exact, "type %u has %u descriptors and nothing else", type, fd_count);
		m.header.size++;
		expect(&m, -EPROTO, "a size in the header that is not its own");
		m.header.size--;
		m.header.reserved = 1;
		expect(&m, -EPROTO, "a header with a reserved bit");
	}
	tap_ok(known == 40, "40 types are known (%d)", known);
	tap_ok(!gid_wire_shape(UINT32_MAX, &(uint32_t){0}, &(uint32_t){0}),
			"the last type is none");
}

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
	m.welcome.name[0] = '/';
	expect(&m, -EPROTO, "a welcome to what is no name");

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
	fill(&m, GID_WIRE_SUBSCRIBE);
	m.subscribe.window_offset = 4096;
	expect(&m, 0, "a page in a window");
	m.subscribe.window_offset++;
	expect(&m, -EPROTO, "a page that begins within another");

	fill(&m, GID_WIRE_SUBSCRIBER);
	EXPECT_RANGE(&m, m.subscriber.domain, 1, GID_DOMAIN_MAX);
	EXPECT_RANGE(&m, m.subscriber.credit, 1, GID_CREDIT_MAX);
	EXPECT_ZERO(&m, m.subscriber.reserved);
	EXPECT_ZERO(&m, m.subscriber.ring_offset);
	m.subscriber.flags = UINT32_C(1) << 31;
	expect(&m, -EPROTO, "subscriber with an unknown flag");
	fill(&m, GID_WIRE_SUBSCRIBER);
	m.subscriber.window_offset = 4097;
	expect(&m, -EPROTO, "a subscriber's page that begins within another");

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
	m.subscribed.window_offset = 4097;
	expect(&m, -EPROTO, "a producer's ring that begins within a page");
	fill(&m, GID_WIRE_SUBSCRIPTION_END);
	EXPECT_RANGE(&m, m.subscription_end.reason, -4095, 0);
	fill(&m, GID_WIRE_REPORT);
	EXPECT_RANGE(&m, m.report.size, 1u, UINT64_C(64) << 20);
	fill(&m, GID_WIRE_SEAL);
	EXPECT_ZERO(&m, m.seal.reserved);
	EXPECT_ZERO(&m, m.seal.since);
	EXPECT_RANGE(&m, m.seal.on, 0u, 1u);
	fill(&m, GID_WIRE_SEALED);
	EXPECT_ZERO(&m, m.seal.reserved);
	m.seal.since = 0;
	expect(&m, -EPROTO, "a seal since no time");
	m.seal.on = 0;
	expect(&m, 0, "no seal");
	m.seal.since = 1;
	expect(&m, -EPROTO, "no seal since some time");
	m.seal.on = 2;
	expect(&m, -EPROTO, "neither a seal nor none");
	fill(&m, GID_WIRE_IMPORTED);
	EXPECT_ZERO(&m, m.imported.reserved);
	EXPECT_RANGE(&m, m.imported.domain, 1, GID_DOMAIN_MAX);
	EXPECT_RANGE(&m, m.imported.slab, 1, GID_SLAB_MAX);
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
			{"\u202etxt.exe", false},
			{"a\u202d", false},
			{"\u2066a\u2069", false},
			{"\u200f", false},
			{"\u061c", false},
			{"a\u2028b", false},
			{"a\u2029b", false},
			{"a\u200bb", false},
			{"\ufeffa", false},
			{"\u00ad", false},
			{"\ufff9", false},
			{"\U000e0041", false},
			{"\u2027\u202f\u205f\u2070", true},
			{"\u200c\u200d", true},
			{"\u05d0\u0627", true},
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

int main(void) {
	test_shapes();
	test_numbers();
	test_texts();
	return tap_finish();
}
