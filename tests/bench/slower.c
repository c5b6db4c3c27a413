// SPDX-License-Identifier: MIT
/*
 * Preloaded, makes gid_producer_send() slower. $GIDWAY_SLOWER says how: `instructions N calls M`,
 * by N instructions each time, and by a system call each M times.
 */
#include <dlfcn.h>
#include <gid/stream.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int (*send_frame)(struct gid_producer *, struct gid_frame *);
static unsigned instructions, calls, count;

__attribute__((constructor)) static void begin(void) {
	const char *how = getenv("GIDWAY_SLOWER");
	if (how == NULL || sscanf(how, "instructions %u calls %u", &instructions, &calls) != 2) {
		return;
	}
	send_frame = (int (*)(struct gid_producer *, struct gid_frame *))dlsym(
			RTLD_NEXT, "gid_producer_send");
}

int gid_producer_send(struct gid_producer *producer, struct gid_frame *frame) {
	for (unsigned i = 0; i < instructions / 2; i++) { /* two each: add, and jump */
		__asm__ volatile("");
	}
	if (calls > 0 && ++count % calls == 0) {
		syscall(SYS_getppid);
	}
	return send_frame(producer, frame);
}
