// SPDX-License-Identifier: MIT
/* The wire that clients were built against: names, versions and the order of messages never change. */
#include "gid-buffer-v1-client-protocol.h"
#include "gid-buffer-v1-protocol.h"
#include <stdio.h>
#include <string.h>

static int failures;

static void check_messages(const char *interface, int count, const struct wl_message *messages,
		const char *const *expected) {
	for (int i = 0; i < count || expected[i]; i++) {
		char found[64] = "nothing";
		if (i < count) {
			snprintf(found, sizeof(found), "%s(%s)", messages[i].name, messages[i].signature);
		}
		if (!expected[i] || strcmp(found, expected[i]) != 0) {
			fprintf(stderr, "%s, message %d: %s, expected %s\n", interface, i, found,
				expected[i] ? expected[i] : "nothing");
			failures++;
			return;
		}
	}
}

static void check_interface(const struct wl_interface *interface, const char *name, int version,
		const char *const *requests, const char *const *events) {
	if (strcmp(interface->name, name) != 0 || interface->version != version) {
		fprintf(stderr, "%s is %s version %d\n", name, interface->name, interface->version);
		failures++;
	}
	check_messages(name, interface->method_count, interface->methods, requests);
	check_messages(name, interface->event_count, interface->events, events);
}

#define LIST(...) (const char *const[]){__VA_ARGS__, NULL}

int main(void) {
	check_interface(&gid_buffer_manager_v1_interface, "gid_buffer_manager_v1", 1,
		LIST("destroy()", "create_params(n)", "get_feedback(n)"), LIST(NULL));
	check_interface(&gid_buffer_params_v1_interface, "gid_buffer_params_v1", 1,
		LIST("destroy()", "add(uuuuuuu)", "create(iiu)", "create_immed(niiu)"),
		LIST("created(n)", "failed()", "revoked()"));
	check_interface(&gid_buffer_feedback_v1_interface, "gid_buffer_feedback_v1", 1,
		LIST("destroy()"), LIST("format(uuuu)", "domain(us)", "done()"));
	return failures ? 1 : 0;
}
