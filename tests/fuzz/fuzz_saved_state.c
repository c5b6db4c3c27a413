// SPDX-License-Identifier: MIT
/*
 * Any bytes as the file in which gid-cluster keeps its roles' state: what is believed is possible,
 * and is written again as it was read.
 */
#include "../../cluster/base/saved_state.h"

#include <errno.h>
#include <string.h>

#include "fuzz.h"

#define BOOT "b"
#define NOW 1000000u
#define ROLES 2u

static const struct saved_role nothing[ROLES] = {{.name = "left"}, {.name = "the right one"}};

static void demand_possible(const struct saved_role *role) {
	demand(role->past.since <= NOW && role->past.still_ns <= NOW);
	demand((role->past.state == ROLE_LIVE) == (role->past.reason == ROLE_REASON_NONE));
	struct role resumed;
	demand(role_init(&resumed, &(struct role_limits){.deadline_ns = 1, .good_frames = 1},
			       NOW) == 0);
	role_resume(&resumed, &role->past, NOW);
	demand(!role_is_live(&resumed));
	role_tick(&resumed, NOW + 1);
	demand(!role_is_live(&resumed));
	role_finish(&resumed);
}

/* Those that are known, as they would be written. */
static void demand_same_again(const struct saved_role *roles) {
	struct saved_role known[ROLES], again[ROLES] = {0};
	size_t count = 0;
	char text[1024];
	for (size_t i = 0; i < ROLES; i++) {
		if (roles[i].known) {
			again[count].name = roles[i].name;
			known[count++] = roles[i];
		}
	}
	int length = saved_state_format(known, count, BOOT, text, sizeof(text));
	demand(length > 0 && (size_t)length == strlen(text));
	demand(saved_state_parse(again, count, BOOT, NOW, text, (size_t)length) == 0);
	demand(memcmp(known, again, count * sizeof(known[0])) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct saved_role roles[ROLES];
	memcpy(roles, nothing, sizeof(roles));
	int ret = saved_state_parse(roles, ROLES, BOOT, NOW, (const char *)data, size);
	demand(ret == 0 || ret == -EINVAL);
	for (size_t i = 0; i < ROLES; i++) {
		demand(roles[i].name == nothing[i].name);
		demand(ret == 0 || !roles[i].known);
		if (roles[i].known) {
			demand_possible(&roles[i]);
		}
	}
	demand_same_again(roles);
	return 0;
}
