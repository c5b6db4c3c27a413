// SPDX-License-Identifier: MIT
/* The wire that clients were built against: names, versions and the order of messages never change.
 */
#ifndef TESTS_PROTOCOL_MESSAGES_H
#define TESTS_PROTOCOL_MESSAGES_H

#include <stdio.h>
#include <string.h>
#include <wayland-util.h>

static int failures;

static inline void check_messages(const char *interface, int count,
		const struct wl_message *messages, const char *const *expected) {
	for (int i = 0; i < count || expected[i] != NULL; i++) {
		char found[64] = "nothing";
		if (i < count) {
			snprintf(found, sizeof(found), "%s(%s)", messages[i].name,
					messages[i].signature);
		}
		if (expected[i] == NULL || strcmp(found, expected[i]) != 0) {
			fprintf(stderr, "%s, message %d: %s, expected %s\n", interface, i, found,
					expected[i] != NULL ? expected[i] : "nothing");
			failures++;
			return;
		}
	}
}

static inline void check_interface(const struct wl_interface *interface, const char *name,
		int version, const char *const *requests, const char *const *events) {
	if (strcmp(interface->name, name) != 0 || interface->version != version) {
		fprintf(stderr, "%s is %s version %d\n", name, interface->name, interface->version);
		failures++;
	}
	check_messages(name, interface->method_count, interface->methods, requests);
	check_messages(name, interface->event_count, interface->events, events);
}

#define LIST(...)                                                                                  \
	(const char *const[]) {                                                                    \
		__VA_ARGS__, NULL                                                                  \
	}

#endif
