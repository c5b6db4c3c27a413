// SPDX-License-Identifier: MIT
/* Any text as what a gid-cluster says of itself, to who records its roles. */
#include "role_watch.h"

#include <stdlib.h>
#include <string.h>

#include "display_socket.h"
#include "foreign_json.h"
#include "fuzz.h"

int display_socket_connect(const char *domain, int flags) {
	return -1;
}

int display_socket_connect_at(const char *path, int flags) {
	return -1;
}

static uint64_t told;

static void handle_change(void *data, const struct role_change *change) {
	demand(memchr(change->role, '\0', ROLE_WATCH_TEXT) != NULL && change->role[0] != '\0');
	demand(memchr(change->reason, '\0', ROLE_WATCH_TEXT) != NULL);
	for (const char *at = change->role; *at != '\0'; at++) {
		demand((unsigned char)*at >= 0x20 && *at != 0x7f); /* our log has it */
	}
	told++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static struct role_watch watch;
	sd_json_variant *status = NULL;
	char *text = strndup((const char *)data, size);
	told = 0;
	demand(role_watch_init(&watch, NULL, "fuzz", NULL, handle_change, NULL) == 0);
	watch.began = 0;
	if (foreign_json_parse(text, &status) == 0) {
		role_watch_take(&watch, status);
		uint64_t count = watch.change_count;
		demand(told == count && watch.role_count <= ROLE_WATCH_ROLES);
		role_watch_take(&watch, status); /* nothing of it is new */
		demand(watch.change_count == count);
	}
	sd_json_variant_unref(status);
	role_watch_finish(&watch);
	free(text);
	return 0;
}
