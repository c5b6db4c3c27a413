// SPDX-License-Identifier: MIT
/* Changes of roles, each once, of whatever a status says; and a display that hangs. */
#include "role_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "tap.h"

#define LONG_NS UINT64_C(3000000000) /* after which one that gives no answer is gone */

static int told, refusal, tries, waits;
static char last[ROLE_WATCH_TEXT];

/* In the place of the C library's: nobody is let in, and who can wait would do so. */
int connect(int fd, const struct sockaddr *address, socklen_t size) {
	tries++;
	waits += (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0;
	errno = refusal;
	return -1;
}

static void handle_change(void *data, const struct role_change *change) {
	told++;
	memcpy(last, change->to, sizeof(last));
}

static void take(struct role_watch *watch, const char *text) {
	sd_json_variant *status = NULL;
	if (sd_json_parse(text, 0, &status, NULL, NULL) >= 0) {
		role_watch_take(watch, status);
	}
	sd_json_variant_unref(status);
}

#define CHANGE(from, to, decided, shown)                                                           \
	"{\"from\":\"" from "\",\"to\":\"" to "\",\"reason\":\"died\",\"decided_ns\":" decided     \
	",\"shown_ns\":" shown "}"
#define ROLE(name, changes) "{\"roles\":[{\"name\":\"" name "\",\"transitions\":[" changes "]}]}"

static void test_changes(struct role_watch *watch) {
	watch->began = 100;
	take(watch, ROLE("light", CHANGE("waiting", "live", "50", "60")));
	tap_ok(told == 0 && watch->change_count == 1, "what was before is known, and no incident");
	for (int i = 0; i < 3; i++) {
		take(watch,
				ROLE("light",
						CHANGE("waiting", "live", "50", "60") "," CHANGE(
								"live", "lost", "200", "0")));
	}
	tap_ok(told == 1 && strcmp(last, "lost") == 0, "a change is told once");
	take(watch, ROLE("light", CHANGE("live", "lost", "200", "216")));
	tap_ok(told == 1 && role_watch_get(watch, 1)->shown == 216,
			"when it was shown may come later");
	take(watch, ROLE("other", CHANGE("live", "wrong", "150", "0")));
	tap_ok(told == 2 && watch->role_count == 2, "another role has changes of its own");
}

static void test_strangers(struct role_watch *watch) {
	static const char *const texts[] = {"[]", "{}", "{\"roles\":7}", "{\"roles\":[7,[],{}]}",
			"{\"roles\":[{\"name\":7}]}",
			"{\"roles\":[{\"name\":\"a\",\"transitions\":{}}]}",
			"{\"roles\":[{\"name\":\"a\",\"transitions\":[7,{\"decided_ns\":-1}]}]}"};
	uint64_t count = watch->change_count;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		take(watch, texts[i]);
	}
	tap_ok(watch->change_count == count, "what is no status changes nothing");
	char text[256];
	for (int i = 0; i < 3000; i++) {
		snprintf(text, sizeof(text), ROLE("light", CHANGE("live", "late", "2%06d", "0")),
				i);
		take(watch, text);
	}
	tap_ok(watch->change_count - role_watch_first(watch) == ROLE_WATCH_CHANGES,
			"as many changes as there is room for");
	tap_ok(role_watch_get(watch, watch->change_count - 1)->decided == 2002999, "the last ones");
}

/* Of roles with these numbers, without changes. */
static void take_roles(struct role_watch *watch, int first, int end) {
	static char text[8192];
	size_t size = (size_t)snprintf(text, sizeof(text), "{\"roles\":[");
	for (int i = first; i < end; i++) {
		size += (size_t)snprintf(text + size, sizeof(text) - size,
				"%s{\"name\":\"role-%03d\"}", i > first ? "," : "", i);
	}
	snprintf(text + size, sizeof(text) - size, "]}");
	take(watch, text);
}

static bool has_role(const struct role_watch *watch, const char *name) {
	for (size_t i = 0; i < watch->role_count; i++) {
		if (strcmp(watch->roles[i].name, name) == 0) {
			return true;
		}
	}
	return false;
}

static void test_other_configurations(void) {
	static struct role_watch watch;
	role_watch_init(&watch, NULL, "cluster", "no.sock", handle_change, NULL);
	take_roles(&watch, 0, 40);
	take_roles(&watch, 40, 60);
	tap_ok(watch.role_count == 60 && watch.roles[0].known < watch.known &&
					watch.roles[59].known == watch.known,
			"a role that the display has no more is known until then");
	take_roles(&watch, 60, 100);
	tap_ok(watch.role_count == ROLE_WATCH_ROLES && !watch.is_full &&
					has_role(&watch, "role-040") &&
					has_role(&watch, "role-099"),
			"others get the places of those that are gone for longest");
	take_roles(&watch, 100, 180);
	tap_ok(watch.is_full && has_role(&watch, "role-100") && !has_role(&watch, "role-179"),
			"more roles than there are places are left out, and that is told");
	role_watch_finish(&watch);
}

static void test_long_words(struct role_watch *watch) {
	char text[256], name[100] = "x";
	for (size_t i = 1; i < 81; i += 2) {
		memcpy(name + i, "\xc3\xa9", 3);
	}
	snprintf(text, sizeof(text), ROLE("light", CHANGE("%s", "live", "3000000", "0")), name);
	take(watch, text);
	const char *from = role_watch_get(watch, watch->change_count - 1)->from;
	tap_ok(strlen(from) == 63 && strncmp(from, name, 63) == 0, "a long word is cut");
	snprintf(text, sizeof(text), ROLE("light", CHANGE("%s", "live", "3000001", "0")), name + 1);
	take(watch, text);
	from = role_watch_get(watch, watch->change_count - 1)->from;
	tap_ok(strlen(from) == 62 && strncmp(from, name + 1, 62) == 0,
			"and not within a character");
}

static void test_hanging(struct role_watch *watch) {
	watch->is_there = true;
	told = 0;
	refusal = EAGAIN;
	role_watch_ask(watch);
	tap_ok(tries == 1 && waits == 0,
			"others wait there: it does not, with all that is recorded");
	role_watch_ask(watch);
	tap_ok(tries == 2 && told == 0, "who has others to answer is there");
	watch->missed -= LONG_NS;
	role_watch_ask(watch);
	tap_ok(told == 1 && strcmp(last, "gone") == 0, "who gives no answer for long is gone");
	watch->is_there = true;
	watch->missed = 0;
	refusal = ECONNREFUSED;
	role_watch_ask(watch);
	tap_ok(told == 2 && strcmp(last, "gone") == 0, "who has ended is gone at once");
}

int main(void) {
	static struct role_watch watch;
	tap_ok(role_watch_init(&watch, NULL, "cluster", "no.sock", handle_change, NULL) == 0,
			"a watch");
	test_changes(&watch);
	test_strangers(&watch);
	test_other_configurations();
	test_long_words(&watch);
	test_hanging(&watch);
	role_watch_finish(&watch);
	return tap_finish();
}
