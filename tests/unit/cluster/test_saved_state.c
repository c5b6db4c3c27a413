// SPDX-License-Identifier: MIT
/* What of the roles is kept in a file: each byte of it must be as this program writes it. */
#include "cluster/base/saved_state.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

#define BOOT "01234567-89ab-cdef-0123-456789abcdef"
#define HEAD "gid-cluster 2 " BOOT "\n"
#define NOW 1000

static struct saved_role roles[2];

static int parse(const char *text) {
	roles[0] = (struct saved_role){.name = "oil"};
	roles[1] = (struct saved_role){.name = "rear view"};
	return saved_state_parse(roles, 2, BOOT, NOW, text, strlen(text));
}

static void test_what_is_written_is_read(void) {
	const struct saved_role kept[] = {
			{"oil", true, 7, {ROLE_LATE, ROLE_REASON_DEADLINE, 900, 1000}},
			{"rear view", true, UINT64_C(1) << 53, {ROLE_LIVE, ROLE_REASON_NONE, 0, 0}},
	};
	char text[512];
	int length = saved_state_format(kept, 2, BOOT, text, sizeof(text));
	tap_ok(length == (int)strlen(text) && parse(text) == 0, "a file is read");
	tap_ok(roles[0].known && roles[0].transitions == 7 && roles[0].past.state == ROLE_LATE &&
					roles[0].past.reason == ROLE_REASON_DEADLINE &&
					roles[0].past.since == 900 &&
					roles[0].past.still_ns == 1000,
			"with all of a role");
	tap_ok(roles[1].known && roles[1].transitions == UINT64_C(1) << 53 &&
					roles[1].past.state == ROLE_LIVE,
			"whose name may have spaces");
	for (size_t size = 1; size <= (size_t)length; size++) {
		if (saved_state_format(kept, 2, BOOT, text, size) != -ENOSPC) {
			tap_ok(false, "what does not fit is not written: %zu bytes", size);
			return;
		}
	}
	tap_ok(saved_state_format(kept, 2, BOOT, text, (size_t)length + 1) == length,
			"what does not fit is not written");
}

static void test_what_is_taken(void) {
	tap_ok(parse(HEAD) == 0 && !roles[0].known, "no role at all");
	tap_ok(parse(HEAD "role late deadline 1 2 3 gone\n") == 0 && !roles[0].known &&
					!roles[1].known,
			"a role that the configuration has no more");
	tap_ok(parse(HEAD "role live none 1000 1000 9007199254740992 oil\n") == 0 &&
					roles[0].known && !roles[1].known,
			"the largest numbers");
}

/* One mistake in each: nothing is known then, though the line before is right. */
static void test_mistakes(void) {
	static const struct {
		const char *line, *what;
	} lines[] = {
			{"role live none 1 2 3 oil", "a line without an end"},
			{"role live none 1 2 3 oil\n", "a role twice"},
			{"rol", "less than a word"},
			{"roll live none 1 2 3 rear view\n", "another word"},
			{"role live\n", "a state without a space"},
			{"role  none 1 2 3 rear view\n", "an empty state"},
			{"role alive none 1 2 3 rear view\n", "no state"},
			{"role live none\n", "a reason without a space"},
			{"role live nothing 1 2 3 rear view\n", "no reason"},
			{"role late none 1 2 3 rear view\n", "a reason of another state"},
			{"role live none 1\n", "a time without a space"},
			{"role live none 1x 2 3 rear view\n", "a digit that is none"},
			{"role live none -1 2 3 rear view\n", "a sign"},
			{"role live none 1001 2 3 rear view\n", "a time to come"},
			{"role live none 1 2\n", "a duration without a space"},
			{"role live none 1 1001 3 rear view\n", "more than all the time"},
			{"role live none 1 2 3\n", "a count without a space"},
			{"role live none 1 2 9007199254740993 rear view\n", "too large a count"},
			{"role live none 1 2 99999999999999999999 rear view\n",
					"ten times too much"},
			{"role live none 1 2 18446744073709551616 rear view\n", "one too much"},
			{"role live none 1 2 3 \n", "no name"},
			{"\n", "an empty line"},
	};
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char text[256] = HEAD "role live none 1 2 3 oil\n";
		strcat(text, lines[i].line);
		tap_ok(parse(text) == -EINVAL && !roles[0].known && !roles[1].known &&
						strcmp(roles[1].name, "rear view") == 0,
				"%s", lines[i].what);
	}
}

static void test_heads(void) {
	static const char *const heads[] = {"", "gid-cluster 2 " BOOT, "gid-cluster 1 " BOOT "\n",
			"gid-cluster 2 \n", "gid-cluster 2 x" BOOT "\n",
			"gid-cluster 2 11234567-89ab-cdef-0123-456789abcdef\n", "gid\n"};
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		tap_ok(parse(heads[i]) == -EINVAL, "another head: %zu", i);
	}
}

int main(void) {
	test_what_is_written_is_read();
	test_what_is_taken();
	test_mistakes();
	test_heads();
	return tap_finish();
}
