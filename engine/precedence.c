// SPDX-License-Identifier: MIT
#include "precedence.h"

#include <errno.h>
#include <gid/gid.h>
#include <sched.h>
#include <time.h>

#define MS 1000000ull
#define WINDOW_NS (10 * MS) /* less than a refresh: so long do others wait at most */
#define BUDGET_NS (5 * MS)  /* of each window */
#define TURN_NS (2 * MS)

static uint64_t used_ns(void) {
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int set_class(struct precedence *precedence, bool before_others) {
	const struct sched_param param = {.sched_priority = before_others ? 1 : 0};
	const int policy = before_others ? SCHED_RR : SCHED_OTHER;
	/* Threads that a graphics driver starts from here do not have it: nobody would count
	 * theirs. */
	int error = sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &param) < 0 ? errno : 0;
	precedence->has = error == 0 && before_others;
	return -error;
}

int precedence_init(struct precedence *precedence, bool marked) {
	*precedence = (struct precedence){0};
	int error = set_class(precedence, marked);
	precedence->marked = precedence->has;
	precedence->began = gid_clock_now();
	precedence->used = used_ns();
	return error;
}

void precedence_add(struct precedence *precedence, uint64_t ns) {
	precedence->spent += precedence->has ? ns : 0;
}

void precedence_look(struct precedence *precedence) {
	if (!precedence->marked) {
		return; /* the kernel shares the processor in slices of a millisecond or two */
	}
	uint64_t now = gid_clock_now();
	if (precedence->has) {
		const uint64_t used = used_ns();
		precedence->spent += used - precedence->used;
		precedence->used = used;
	}
	if (now - precedence->began >= WINDOW_NS) {
		/* What a long part of the work took beyond its budget counts in the next ones. */
		const uint64_t paid = (now - precedence->began) / (WINDOW_NS / BUDGET_NS);
		precedence->spent -= paid < precedence->spent ? paid : precedence->spent;
		precedence->began = now;
		if (!precedence->has && precedence->spent <= BUDGET_NS) {
			precedence->used = used_ns();
			set_class(precedence, true);
		}
	}
	if (precedence->has && precedence->spent > BUDGET_NS) {
		set_class(precedence, false);
	}
	if (precedence->has && now - precedence->yielded >= TURN_NS) {
		precedence->yielded = now;
		sched_yield(); /* a slice of its class lasts 100 ms, which is six frames */
	}
}
