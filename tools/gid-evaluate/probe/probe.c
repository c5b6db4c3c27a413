// SPDX-License-Identifier: MIT
#include "probe.h"

#include <err.h>
#include <errno.h>
#include <gid/domain.h>
#include <sched.h>
#include <time.h>

void probe_connect(const char *name, struct gid_domain **domain) {
	int error = gid_domain_connect(name, domain);
	if (error < 0) {
		bool is_there = error != -ENOENT && error != -ECONNREFUSED;
		errx(is_there ? 1 : PROBE_WANTING, "%s", gid_domain_connect_error());
	}
}

uint64_t probe_now(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void probe_pin(int core) {
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(core, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0) {
		err(1, "core %d", core);
	}
}

int probe_core(int n) {
	static cpu_set_t set; /* as it was before anything was pinned */
	static int count;
	if (count == 0 && (sched_getaffinity(0, sizeof(set), &set) < 0 || CPU_COUNT(&set) == 0)) {
		err(1, "cores");
	}
	count = CPU_COUNT(&set);
	int last = 0;
	for (int core = 0; core < CPU_SETSIZE && n >= 0; core++) {
		if (CPU_ISSET(core, &set)) {
			last = core;
			n--;
		}
	}
	return last;
}
