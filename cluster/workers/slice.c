// SPDX-License-Identifier: MIT
#include "slice.h"

#include <errno.h>
#include <sched.h>

int slice_ask(uint64_t ns) {
	struct sched_attr attr = {.size = sizeof(attr)};
	if (sched_getattr(0, &attr, sizeof(attr), 0) < 0) {
		return -errno;
	}
	if (attr.sched_policy != SCHED_OTHER && attr.sched_policy != SCHED_BATCH) {
		return 0;
	}
	attr.sched_flags |= SCHED_FLAG_RESET_ON_FORK;
	attr.sched_runtime = ns;
	return sched_setattr(0, &attr, 0) < 0 ? -errno : 0;
}
