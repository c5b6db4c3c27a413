// SPDX-License-Identifier: MIT
/* What options of programs take: nothing but what their manuals say. */
#include "common/option_value.h"

#include "option_number.h"
#include "tap.h"

/* Of who would else be told by argp, and ended. */
static struct argp_state state = {.flags = ARGP_NO_ERRS};

static void test_sizes(void) {
	static const char *const wrong[] = {"", "640", "640x", "x480", "640x480x", "640x480 ",
			"640 x480", "+640x480", "640x-480", "0x480", "640x0", "16385x1", "1x16385",
			"640X480", "4294967297x1", "640x0x1e0", "640x480x480", "640x480@60",
			"640.0x480", "64 0x480", "640*480", "99999999999999999999x1",
			"1x99999999999999999999", "18446744073709551617x1"};
	uint32_t width = 7, height = 8;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		option_size("size", wrong[i], &width, &height, &state);
		tap_ok(width == 7 && height == 8, "\"%s\" is no size", wrong[i]);
	}
	option_size("size", "640x480", &width, &height, &state);
	tap_ok(width == 640 && height == 480, "640x480 is one");
	option_size("size", "16384x1", &width, &height, &state);
	tap_ok(width == 16384 && height == 1, "so is the largest");
}

static void test_numbers(void) {
	static const char *const wrong[] = {
			"", "-1", "+5", " 5", "5 ", "0x5", "1", "11", "18446744073709551616"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		tap_ok(option_number("rate", wrong[i], 2, 10, &state) == 2,
				"\"%s\" is no number from 2 to 10", wrong[i]);
	}
	tap_ok(option_number("rate", "10", 2, 10, &state) == 10, "10 is one");
}

static void test_decimals(void) {
	static const char *const wrong[] = {"", ".", "-1", "+2.5", " 2.5", "2.5 ", "0x5", "2,5",
			"2.5.5", "3e0", "inf", "nan", "infinity", "1.99", "10.01", "1e308"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		tap_ok(option_decimal("wait", wrong[i], 2, 10, &state) == 2,
				"\"%s\" is no number from 2 to 10", wrong[i]);
	}
	tap_ok(option_decimal("wait", "2.5", 2, 10, &state) == 2.5, "2.5 is one");
	tap_ok(option_decimal("wait", "10", 2, 10, &state) == 10, "so is 10");
}

int main(void) {
	test_sizes();
	test_numbers();
	test_decimals();
	return tap_finish();
}
