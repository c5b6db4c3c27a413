// SPDX-License-Identifier: MIT
/* Gids, their text form, and names of streams and domains. */
#include <errno.h>
#include <gid/gid.h>
#include <string.h>

#include "tap.h"

static void test_parts(void) {
	gid_id gid = gid_make(254, GID_SLAB_MAX, GID_SLOTS_MAX - 1, 0xffff);
	tap_ok(gid != GID_NONE, "the greatest parts make a gid");
	tap_ok(gid_domain_of(gid) == 254 && gid_slab_of(gid) == GID_SLAB_MAX &&
					gid_slot_of(gid) == GID_SLOTS_MAX - 1 &&
					gid_generation_of(gid) == 0xffff,
			"its parts come out again");
	tap_ok(gid_slab_key(gid) == gid_slab_key(gid_make(254, GID_SLAB_MAX, 0, 1)),
			"the slab key is that of every slot and generation");
	tap_ok(gid_slab_key(gid) != gid_slab_key(gid_make(253, GID_SLAB_MAX, 0, 1)),
			"the slab key differs between domains");
	tap_ok(gid_make(1, 42, 3, 7) == 0x0100002a00030007, "1:42.3#7 has the bits of the header");
}

static void test_range(void) {
	const uint32_t bad[][4] = {
			{0, 1, 0, 0},
			{255, 1, 0, 0},
			{1, 0, 0, 0},
			{1, GID_SLAB_MAX + 1, 0, 0},
			{1, 1, GID_SLOTS_MAX, 0},
			{1, 1, 0, 0x10000},
			{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		tap_ok(gid_make(bad[i][0], bad[i][1], bad[i][2], bad[i][3]) == GID_NONE,
				"%u:%u.%u#%u is out of range", bad[i][0], bad[i][1], bad[i][2],
				bad[i][3]);
	}
}

static void test_text(void) {
	char text[GID_TEXT_MAX];
	tap_ok(strcmp(gid_format(gid_make(1, 42, 3, 7), text), "1:42.3#7") == 0, "formats %s",
			text);
	tap_ok(strcmp(gid_format(UINT64_MAX, text), "255:16777215.65535#65535") == 0,
			"formats any 64 bits: %s", text);
	const gid_id gids[] = {
			gid_make(1, 1, 0, 0),
			gid_make(254, GID_SLAB_MAX, GID_SLOTS_MAX - 1, 0xffff),
			gid_make(10, 100, 1000, 10000),
	};
	for (size_t i = 0; i < sizeof(gids) / sizeof(gids[0]); i++) {
		gid_id back = GID_NONE;
		tap_ok(gid_parse(gid_format(gids[i], text), &back) == 0 && back == gids[i],
				"%s there and back", text);
	}
	const char *bad[] = {"", "1", "1:", "1:2", "1:2.3", "1:2.3#", "1:2.3#4 ", " 1:2.3#4",
			"1:2.3#4x", "01:2.3#4", "1:2.3#04", "+1:2.3#4", "-1:2.3#4", "1:-2.3#4",
			"0:2.3#4", "1:0.0#0", "255:1.0#0", "1:16777216.0#0", "1:1.4096#0",
			"1:1.0#65536", "1.2:3#4", "1:2#3.4", "4294967297:1.0#0",
			"1:18446744073709551617.0#0", "0x1:2.3#4", ":::"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		gid_id gid = 5;
		tap_ok(gid_parse(bad[i], &gid) == -EINVAL && gid == 5, "\"%s\" is refused", bad[i]);
	}
	gid_id gid;
	tap_ok(gid_parse(NULL, &gid) == -EINVAL, "no text is refused");
}

static void test_names(void) {
	char longest[GID_NAME_MAX + 2];
	memset(longest, 'a', sizeof(longest));
	longest[GID_NAME_MAX + 1] = '\0';
	tap_ok(!gid_name_is_valid(longest), "%u bytes are too long", GID_NAME_MAX + 1);
	longest[GID_NAME_MAX] = '\0';
	tap_ok(gid_name_is_valid(longest), "%u bytes are a name", GID_NAME_MAX);
	const char *good[] = {"movie", "camera/rear", "a", "A-b_c.9", "a/b/c", "...", "v1.2", ".x"};
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		tap_ok(gid_name_is_valid(good[i]), "\"%s\" is a name", good[i]);
	}
	const char *bad[] = {"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/.", "a b",
			"a\n", "a\033[m", "a\x7f", "caf\xc3\xa9", "a*", "a\\b", "a:b"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		tap_ok(!gid_name_is_valid(bad[i]), "case %zu is no name", i);
	}
	tap_ok(!gid_name_is_valid(NULL), "no text is no name");
}

static void test_errors(void) {
	bool all = true;
	for (int error = 0; error < 300; error++) {
		all = all && gid_strerror(-error)[0] != '\0';
	}
	tap_ok(all, "every error has a sentence");
	tap_ok(gid_strerror(-ENOENT) == gid_strerror(ENOENT), "the sign does not matter");
	tap_ok(strcmp(gid_strerror(-100000), "unknown error") == 0, "an unknown one says so");
}

int main(void) {
	test_parts();
	test_range();
	test_text();
	test_names();
	test_errors();
	return tap_finish();
}
