// SPDX-License-Identifier: MIT
#include "truncation.h"

#include <errno.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int truncation_forbid(void) {
	/* The ruleset handles this one right, and allows it for no file. */
	const struct landlock_ruleset_attr none = {
			.handled_access_fs = LANDLOCK_ACCESS_FS_TRUNCATE,
	};
	int rules = (int)syscall(SYS_landlock_create_ruleset, &none, sizeof(none), 0);
	if (rules < 0) {
		return -errno;
	}
	int error = 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
			syscall(SYS_landlock_restrict_self, rules, 0) < 0) {
		error = -errno;
	}
	close(rules);
	return error;
}
